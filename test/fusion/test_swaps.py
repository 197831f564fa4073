# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Things of one label that have changed places are told apart by their features."""

from __future__ import annotations

import math

import numpy as np
import pytest
from rooms import look

from memory_node import Config, Detection, SpatialMemory
from memory_node.fusion import swaps
from memory_node.model import ChangeKind

A, B, C = (3.0, 1.0, 0.5), (4.0, -1.5, 0.5), (2.5, -0.5, 0.5)
DAY_S = 86400
COSINE = 0.76
"""Of two cups, or of one that looks different from another side."""


def cup(place: tuple[float, float, float], which: int | None) -> Detection:
    """A cup whose feature has COSINE to that of any other; None: it has none."""
    feature = None
    if which is not None:
        feature = np.zeros(8, np.float32)
        feature[0], feature[which] = math.sqrt(COSINE), math.sqrt(1.0 - COSINE)
    return Detection('cup', 0.9, place, (0.1, 0.1, 0.12), feature=feature)


def places(memory: SpatialMemory) -> dict[int, tuple[float, ...]]:
    return {o.id: tuple(round(x, 2) for x in o.center_m) for o in memory.objects()}


def visit(memory: SpatialMemory, start_s: float, *cups: Detection, seen: int = 3) -> None:
    for k in range(seen):
        boxes = [(c.center_m, c.size_m) for c in cups]
        memory.observe(look(start_s + 2 * k, cups, boxes))


def test_of_two_that_changed_places_each_keeps_its_identity() -> None:
    with SpatialMemory.open(':memory:') as memory:
        visit(memory, 1000, cup(A, 1), cup(B, 2))
        visit(memory, 1000 + DAY_S, cup(A, 2), cup(B, 1), seen=5)
        assert places(memory) == {1: B, 2: A}
        assert sorted(c.object_id for c in memory.changes() if c.kind is ChangeKind.MOVED) == [1, 2]
        assert memory.check() == []


def test_one_that_took_the_place_of_another_is_itself_and_the_other_is_gone() -> None:
    with SpatialMemory.open(':memory:') as memory:
        visit(memory, 1000, cup(A, 1), cup(B, 2))
        visit(memory, 1000 + DAY_S, cup(B, 1), seen=6)
        assert places(memory)[1] == B
        assert memory.object(1).observations == 9
        assert memory.object(2).observations == 3


@pytest.mark.parametrize('features', [(None, None), (1, 1), (1, 3)])
def test_it_is_what_lay_there_where_no_other_one_looks_like_it(
    features: tuple[int | None, int | None],
) -> None:
    """No feature; the same one; a feature like nothing that is known: another side of it, maybe."""
    first, again = features
    other = None if first is None else 2
    with SpatialMemory.open(':memory:') as memory:
        visit(memory, 1000, cup(A, first), cup(B, other))
        visit(memory, 1000 + DAY_S, cup(A, again), cup(B, other))
        assert places(memory) == {1: A, 2: B}
        assert [o.observations for o in memory.objects()] == [6, 6]


def test_nothing_changed_places_within_a_moment() -> None:
    with SpatialMemory.open(':memory:') as memory:
        visit(memory, 1000, cup(A, 1), cup(B, 2))
        visit(memory, 1010, cup(A, 2))
        assert places(memory) == {1: A, 2: B}


def test_of_very_many_one_looks_like_any(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(swaps, 'MOST', 2)
    with SpatialMemory.open(':memory:') as memory:
        visit(memory, 1000, cup(A, 1), cup(B, 2), cup(C, 3))
        visit(memory, 1000 + DAY_S, cup(A, 2), cup(C, 3))
        assert memory.object(1).observations == 6
        assert len(memory.objects()) == 3


def test_places_decide_where_motion_is_off() -> None:
    with SpatialMemory.open(':memory:', Config(motion=False)) as memory:
        visit(memory, 1000, cup(A, 1), cup(B, 2))
        visit(memory, 1000 + DAY_S, cup(A, 2), cup(B, 1))
        assert places(memory) == {1: A, 2: B}
