# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The hash grid finds what lies in a cube, whatever was put, taken and asked."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_node.fusion.grid import Grid


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.5, 1.5, 40.0]), st.integers(0, 60))
def test_it_finds_all_that_lie_in_a_cube(seed: int, cell_m: float, count: int) -> None:
    random = np.random.default_rng(seed)
    center = random.uniform(-4, 4, (count, 3)).round(1)  # often on the face between two cells
    grid = Grid(cell_m)
    grid.put(np.arange(count), center)
    gone = np.flatnonzero(random.random(count) < 0.3)
    grid.take(gone, center[gone])
    assert len(grid) == count - len(gone)
    asked, radius = random.uniform(-5, 5, (4, 3)).round(1), random.choice([0.0, 0.3, 2.0, 50.0], 4)
    places, rows = grid.around(asked, radius)
    found = set(zip(places, rows, strict=True))
    assert len(found) == len(rows)
    for place in range(4):
        inside = (np.abs(center - asked[place]) <= radius[place]).all(axis=1)
        inside[gone] = False
        assert {(place, row) for row in np.flatnonzero(inside).tolist()} <= found
    assert not {row for _, row in found} & set(gone.tolist())


@pytest.mark.parametrize('far', [1e14, 1e300])
def test_what_lies_beyond_all_cells_is_found(far: float) -> None:
    grid = Grid(1.5)
    grid.put(np.array([7]), np.array([[far, 0.0, -far]]))
    assert grid.around(np.array([[far, 0.0, -far]]), np.array([0.5])) == ([0], [7])
    grid.take(np.array([7]), np.array([[far, 0.0, -far]]))
    assert grid.around(np.array([[far, 0.0, -far]]), np.array([1e300])) == ([], [])
