# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Where to stand: facing the object, with room, with nothing between; on a grid too."""

from __future__ import annotations

import math

import numpy as np
import pytest
from views import seen, view

from memory_node import SpatialMemory
from memory_node.errors import InvalidValueError, ObjectEndedError, UnknownObjectError
from memory_node.scene.approach import Approach, Grid

TABLE = seen('table', (2.0, 0.0, 0.4), size_m=(1.0, 0.6, 0.8))
CUP = seen('cup', (1.6, 0.0, 0.85), size_m=(0.08, 0.08, 0.1))


def remembered(*things) -> SpatialMemory:
    memory = SpatialMemory.open(':memory:')
    for k in range(3):
        memory.observe(view(1 + 2 * k, *things))
    return memory


def outside(pose, thing) -> float:
    out = np.maximum(np.abs(np.array(pose.position_m[:2]) - thing.center_m[:2])
                     - np.array(thing.size_m[:2]) / 2, 0)  # fmt: skip
    return float(np.hypot(*out))


def heading(pose) -> np.ndarray:
    x, y, z, w = pose.orientation_xyzw
    assert (x, y) == (0, 0)
    yaw = 2 * math.atan2(z, w)
    return np.array([math.cos(yaw), math.sin(yaw)])


def open_grid(width: int = 100, height: int = 100) -> np.ndarray:
    return np.zeros((height, width), bool)


def test_poses_face_the_object_at_the_distances_asked_for() -> None:
    with remembered(TABLE) as memory:
        found = memory.approach(1, distance_m=0.9, min_distance_m=0.4, limit=1000)
        assert found.reason == '' and len(found.poses) > 50
        for stand in found.poses:
            assert outside(stand.pose, TABLE) == pytest.approx(stand.distance_m, abs=1e-6)
            assert 0.4 <= stand.distance_m <= 0.9 and stand.pose.position_m[2] == 0
            way = np.array(TABLE.center_m[:2]) - stand.pose.position_m[:2]
            assert heading(stand.pose) @ way == pytest.approx(np.hypot(*way))
        assert (
            memory.approach(1, distance_m=0.9, min_distance_m=0.4, limit=3).poses
            == (found.poses[:3])
        )


def test_a_cup_on_a_table_is_reached_around_the_table() -> None:
    with remembered(TABLE, CUP) as memory:
        found = memory.approach(2, limit=1000)
        assert found.poses
        for stand in found.poses:
            assert outside(stand.pose, TABLE) >= 0.25 - 1e-9, 'the robot would stand in the table'
            assert stand.clearance_m >= 0.25
        near = memory.approach(2, limit=1, from_m=(0, 0, 0)).poses[0].pose.position_m
        far = memory.approach(2, limit=1, from_m=(0, 5, 0)).poses[0].pose.position_m
        assert near[0] < far[0] + 1 and far[1] > near[1]


def test_a_wall_between_hides_and_a_rug_does_not() -> None:
    wall = seen('wall', (2.0, 0.85, 1.25), size_m=(6, 0.1, 2.5))
    rug = seen('carpet', (2.0, -1, 0.01), size_m=(3, 1.5, 0.02))
    with remembered(TABLE, wall, rug) as memory:
        [table] = memory.named('table')
        found = memory.approach(table, distance_m=1.5, limit=1000)
        sides = {stand.pose.position_m[1] > 0.85 for stand in found.poses}
        assert sides == {False}
        assert min(stand.pose.position_m[1] for stand in found.poses) < -0.8, 'on the rug'


def test_on_a_grid_only_free_cells_have_room() -> None:
    cells = open_grid()
    cells[:, :40] = True  # x below 0 of the map: the grid begins at -2 m with cells of 5 cm
    with remembered(TABLE) as memory:
        grid = Grid(cells, 0.05, (-2.0, -2.5))
        found = memory.approach(1, distance_m=1.4, grid=grid, limit=1000)
        assert found.poses
        xs = [stand.pose.position_m[0] for stand in found.poses]
        assert 0.25 <= min(xs) < 0.45, min(xs)
        assert max(xs) < 3.0 - 0.25, 'outside of the grid nothing is known'
        assert max(stand.pose.position_m[0] for stand in
                   memory.approach(1, distance_m=1.4, limit=1000).poses) > 3.0  # fmt: skip


def test_behind_a_wall_of_the_grid_nothing_is_seen() -> None:
    cells = open_grid(200, 200)
    cells[82:84, :] = True  # a wall at y = -0.9
    with remembered(TABLE) as memory:
        found = memory.approach(1, distance_m=1.5, grid=Grid(cells, 0.05, (-5.0, -5.0)), limit=1000)
        assert found.poses and min(s.pose.position_m[1] for s in found.poses) > -0.9


def test_a_turned_grid_is_the_same_grid() -> None:
    random = np.random.default_rng(5)
    cells = random.random((100, 100)) < 0.01
    with remembered(TABLE) as memory:
        straight = memory.approach(1, grid=Grid(cells, 0.05, (-0.513, -2.487)), limit=1000)
        # Turned by a quarter: cell (row, column) lies where (column, H - 1 - row) lay.
        turned = Grid(np.rot90(cells), 0.05, (4.487, -2.487), math.pi / 2)
        again = memory.approach(1, grid=turned, limit=1000)
        assert len(straight.poses) == len(again.poses) > 0
        for a, b in zip(straight.poses, again.poses):
            assert a.pose.position_m == b.pose.position_m
            assert a.clearance_m == pytest.approx(b.clearance_m, abs=1e-6)


def test_nowhere_says_why() -> None:
    with remembered(TABLE) as memory:
        full = Grid(~open_grid(), 0.05, (-0.5, -2.5))
        found = memory.approach(1, grid=full)
        assert found == Approach((), found.reason) and 'no place around it has room' in found.reason
        memory.picked(1)
        assert memory.approach(1) == Approach((), 'the robot holds it')


def test_bad_requests() -> None:
    with remembered(TABLE) as memory:
        for bad in (
            {'distance_m': math.nan}, {'distance_m': -1}, {'distance_m': 11}, {'limit': 0},
            {'limit': 10**9}, {'robot_radius_m': math.inf}, {'robot_radius_m': 2.0},
            {'min_distance_m': 1.0}, {'from_m': (0, 0)}, {'robot_radius_m': True},
        ):  # fmt: skip
            with pytest.raises(
                InvalidValueError, match=r'^(distance_m|robot_radius_m|limit|from_m): got'
            ):
                memory.approach(1, **bad)
        with pytest.raises(UnknownObjectError):
            memory.approach(2**63)
        memory.forget(1)
        with pytest.raises(ObjectEndedError):
            memory.approach(1)
    for cells, resolution, origin in (
        (np.zeros((0, 5), bool), 0.05, (0, 0)), (np.zeros(5, bool), 0.05, (0, 0)),
        (open_grid(), 0.0, (0, 0)), (open_grid(), math.nan, (0, 0)),
        (open_grid(), 0.05, (math.inf, 0)),
    ):  # fmt: skip
        with pytest.raises(InvalidValueError, match='grid'):
            Grid(cells, resolution, origin)
    with pytest.raises(InvalidValueError, match='expected 2 × 3'):
        Grid.of_cells([0] * 5, 2, 3, 0.05, (0, 0), 0)
    with pytest.raises(InvalidValueError, match='-1 to 100'):
        Grid.of_cells([101] * 6, 2, 3, 0.05, (0, 0), 0)
    with pytest.raises(InvalidValueError, match='occupied_from'):
        Grid.of_cells([0] * 6, 2, 3, 0.05, (0, 0), 0, 0)


def test_cells_too_small_for_the_distance_are_refused() -> None:
    with remembered(TABLE) as memory, pytest.raises(InvalidValueError, match='larger ones'):
        memory.approach(1, grid=Grid(open_grid(), 1e-7, (2.0, 0.0)))


def test_unknown_cells_are_occupied() -> None:
    grid = Grid.of_cells([-1, 0, 64, 65, 100, 0], 2, 3, 1.0, (0, 0), 0)
    assert grid.occupied.tolist() == [[True, False, False], [True, True, False]]
