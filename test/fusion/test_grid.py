# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The hash grid finds what lies in a cube, whatever was put, taken and asked."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from interpreted import interpreted

from memory_node.fusion import grid
from memory_node.fusion.grid import KEYS

BOTH = pytest.mark.parametrize(
    'module', [grid, interpreted('fusion/grid')], ids=['installed', 'interpreted']
)
REACH_M = (0.25, 1.0, np.inf)


@BOTH
@given(st.integers(0, 2**32 - 1), st.sampled_from([0, 5, 60, 700]), st.booleans())
def test_it_finds_all_that_lie_in_a_cube(module, seed: int, count: int, reaching: bool) -> None:
    random = np.random.default_rng(seed)
    center = random.uniform(-4, 4, (count, 3)).round(1)  # often on the face between two cells
    class_of = random.choice(3, count, p=[0.6, 0.3, 0.1]).astype(np.int8)
    held = module.Grid(REACH_M)
    for part in np.array_split(np.arange(count), 3):
        held.put(part, center, class_of)
    gone = np.flatnonzero(random.random(count) < 0.3)
    held.take(gone, center, class_of)
    back = gone[::2].copy()
    held.put(back, center, class_of)
    there = np.ones(count, bool)
    there[gone[1::2]] = False
    assert len(held) == np.count_nonzero(there)
    assert held.counts.tolist() == np.bincount(class_of[there], minlength=3).tolist()
    asked, radius = random.uniform(-5, 5, (4, 3)).round(1), random.choice([0.0, 0.3, 2.0, 50.0], 4)
    pairs = held.around(asked, radius, reaching)
    found = {divmod(int(pair), KEYS) for pair in pairs}
    assert len(found) == len(pairs)
    reach = np.array(REACH_M)[class_of] if reaching else np.zeros(count)
    for place in range(4):
        inside = (np.abs(center - asked[place]) <= (radius[place] + reach)[:, None]).all(axis=1)
        assert {(place, row) for row in np.flatnonzero(inside & there).tolist()} <= found
    assert {row for _, row in found} <= set(np.flatnonzero(there).tolist())


@BOTH
def test_what_was_never_put_cannot_be_taken(module) -> None:
    held = module.Grid(REACH_M)
    with pytest.raises(KeyError, match='row 0'):
        held.take(np.array([0]), np.zeros((1, 3)), np.zeros(1, np.int8))


@BOTH
@pytest.mark.parametrize('far', [1e14, 1e300])
@pytest.mark.parametrize('size_class', [0, 2])
def test_what_lies_beyond_all_cells_is_found(module, far: float, size_class: int) -> None:
    held = module.Grid(REACH_M)
    row, center = np.array([7]), np.array([[far, 0.0, -far]])
    where = np.repeat(center, 8, axis=0), np.full(8, size_class, np.int8)
    held.put(row, *where)
    for radius in (0.5, 1e300, np.inf):
        assert held.around(center, np.array([radius]), True) == [7]
    held.take(row, *where)
    assert held.around(center, np.array([1e300]), True) == []
