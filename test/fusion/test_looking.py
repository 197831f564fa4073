# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What a view says of boxes: compiled beside interpreted. What it means: test_visibility.py."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from interpreted import interpreted

from memory_node.fusion import looking, visibility
from memory_node.fusion.world import OBJECT
from memory_node.model import FieldOfView
from memory_node.scene import boxes

SOURCE = interpreted('fusion/looking')


@given(st.integers(0, 2**32 - 1), st.booleans(), st.sampled_from([0.9, 1.5, 4.0]))
def test_compiled_and_interpreted_agree(seed: int, has_depth: bool, wide: float) -> None:
    random = np.random.default_rng(seed)
    n = 12
    records = np.zeros(n, OBJECT)
    records['center'] = random.uniform((-2, -2, 0), (2, 2, 4), (n, 3))
    records['size'] = random.uniform(0, 0.6, (n, 3)) * (random.random((n, 1)) > 0.2)
    turns = boxes.normalized(random.normal(size=(n + 1, 4)))
    records['orientation'] = turns[:n]
    depth = random.choice([0.0, np.nan, 1.0, 2.0, 3.0], (48, 64)).astype(np.float32)
    lens = np.array([50.0, 50.0, 31.5, 23.5])
    limits = np.array([0.6, 0.03, 0.01, 0.05, 0.5, 0.5, 0.8, 1.0])
    found = []
    for module in (looking, SOURCE):
        kind = np.full(n, 255, np.uint8)
        module.kinds(
            records, np.arange(n), np.zeros(3), np.eye(3),
            visibility.angles_of(FieldOfView(wide, 0.8, 0.3, 3.0)), np.array([0.3, 3.0]),
            visibility._PROBES, depth if has_depth else None, lens, limits, visibility._CODES, kind,
        )  # fmt: skip
        found.append(kind.tolist())
    assert found[0] == found[1]
    assert 255 not in found[0]
