# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What a plan says of each detection."""

from __future__ import annotations

import numpy as np

from memory_node import Detection, SpatialMemory, View
from memory_node.fusion.arbiter import TERMS
from memory_node.model import Verdict, VerdictKind

FEATURE = np.eye(8, dtype=np.float32)[0]
S = 10**9


def cup(x: float, score: float = 0.9, feature: np.ndarray | None = FEATURE) -> Detection:
    return Detection('cup', score, (x, 0.0, 0.5), (0.1, 0.1, 0.1), feature=feature)


def test_a_verdict_for_each_with_the_terms_that_exist() -> None:
    with SpatialMemory.open(':memory:') as memory:
        memory.observe(View(1 * S, 'camera', [cup(0.0), cup(2.0)]))
        given = [cup(9.0), cup(2.0, feature=None), cup(0.0, score=float('nan')), cup(0.0)]
        new, bare, broken, whole = memory.observe(View(2 * S, 'camera', given)).verdicts
    assert new == Verdict(VerdictKind.CREATED, 3)
    assert broken == Verdict(VerdictKind.REJECTED, None, 'not_finite')
    for verdict, object_id, terms in ((whole, 1, TERMS), (bare, 2, set(TERMS) - {'feature'})):
        assert set(verdict.terms) == {*terms, 'total'}
        assert all(0.0 <= value <= 1.0 for value in verdict.terms.values())
        same = Verdict(VerdictKind.MERGED, object_id, '', verdict.terms, object_id, 0)
        assert verdict == same
        assert vars(verdict) == vars(same)


def test_what_is_rejected_again_is_counted() -> None:
    with SpatialMemory.open(':memory:') as memory:
        for k in (1, 2):
            (verdict,) = memory.observe(View(k * S, 'camera', [cup(5.0, score=0.1)])).verdicts
            assert verdict.kind is VerdictKind.REJECTED
            assert verdict.object_id is None
            assert verdict.reason
            assert verdict.repeats == k
