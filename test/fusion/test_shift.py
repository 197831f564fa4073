# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""A displacement that all of a view shares is the robot's error, not everybody's move."""

from __future__ import annotations

import numpy as np
import pytest
from views import seen, view

from memory_node import Config, Pose, SpatialMemory

ROOM = {
    'table': (1.0, 0.0, 0.4), 'chair': (1.8, 0.3, 0.5), 'lamp': (0.2, 1.4, 1.2),
    'sofa': (3.0, 2.0, 0.4), 'tv': (0.1, 3.0, 1.0), 'plant': (2.4, 3.3, 0.5),
    'cup': (1.1, 0.1, 0.85), 'book': (0.8, -0.1, 0.8),
}  # fmt: skip


def look(stamp_s, shift=(0.0, 0.0, 0.0), names=tuple(ROOM), moved=None, sigma_m=0.0, **more):
    """A view of the room, displaced as a whole; `moved`: label → where it lies now."""
    random = np.random.default_rng(round(stamp_s * 10))
    places = {**ROOM, **(moved or {})}
    return view(stamp_s, *[
        seen(name, (np.array(places[name]) + shift + random.normal(0, sigma_m, 3)).tolist())
        for name in names
    ], **more)  # fmt: skip


def taught(config: Config | None = None, path: str = ':memory:') -> SpatialMemory:
    memory = SpatialMemory.open(path, config)
    for k in range(3):
        memory.observe(look(1000 + 2 * k))
    return memory


def shift_of(memory: SpatialMemory) -> list[float]:
    [(blob,)] = memory._database.rows('SELECT shift FROM view ORDER BY seq DESC LIMIT 1')
    return [0.0, 0.0, 0.0] if blob is None else np.frombuffer(blob).round(3).tolist()


@pytest.mark.parametrize(
    'shift', [(0.1, 0, 0), (0.0, -0.3, 0.1), (0.5, 0, 0), (0.35, 0.35, 0), (-0.6, 0.4, 0.1)]
)
def test_the_second_visit_makes_no_second_map(shift: tuple[float, ...]) -> None:
    with taught() as memory:
        for k in range(5):
            memory.observe(look(1100 + 2 * k, shift, sigma_m=0.02))
            assert shift_of(memory) == pytest.approx(shift, abs=0.04)
        found = {o.label: o.center_m for o in memory.objects()}
        assert len(memory.objects()) == len(ROOM)
        for name, place in ROOM.items():
            assert found[name] == pytest.approx(place, abs=0.04), 'nor is the first dragged along'


def test_a_view_that_lies_where_it_says_is_left_alone() -> None:
    with taught() as memory:
        for k in range(10):
            memory.observe(look(1100 + 2 * k, sigma_m=0.02))
            assert shift_of(memory) == [0, 0, 0]


def test_one_thing_that_moved_is_no_error_of_the_robot() -> None:
    with taught() as memory:
        memory.observe(look(1100, moved={'cup': (1.1, 0.5, 0.85), 'book': (0.4, -0.1, 0.8)}))
        assert shift_of(memory) == [0, 0, 0]
        assert len(memory.objects()) == len(ROOM) + 2


def test_what_moved_within_a_shifted_view_moved() -> None:
    with taught() as memory:
        commit = memory.observe(look(1100, (0.5, 0, 0), moved={'cup': (2.6, 2.2, 0.6)}))
        assert shift_of(memory) == pytest.approx([0.5, 0, 0], abs=1e-6)
        created = [c.object for c in commit.changes if c.kind == 'CREATED']
        assert [o.label for o in created] == ['cup']
        assert created[0].center_m == pytest.approx((2.6, 2.2, 0.6), abs=1e-6)


def test_new_things_in_a_shifted_view_come_to_where_they_are() -> None:
    with taught() as memory:
        memory.observe(view(1100, *look(1100, (0.5, 0, 0)).detections, seen('vase', (2.5, 0, 0))))
        [vase] = [o for o in memory.objects() if o.label == 'vase']
        assert vase.center_m == pytest.approx((2.0, 0, 0), abs=1e-6)


def test_a_poor_view_just_after_lies_as_the_last_one_did() -> None:
    with taught() as memory:
        memory.observe(look(1100, (0.5, 0, 0)))
        memory.observe(look(1101, (0.5, 0, 0), names=('cup',)))
        assert shift_of(memory) == pytest.approx([0.5, 0, 0], abs=1e-6)
        memory.observe(look(1102, names=('cup',)))
        assert shift_of(memory) == [0, 0, 0], 'a candidate that fits better says otherwise'
        assert len(memory.objects()) == len(ROOM)


def test_a_poor_view_long_after_is_taken_at_its_word() -> None:
    with taught() as memory:
        memory.observe(look(1100, (0.5, 0, 0)))
        memory.observe(look(1110, (0.5, 0, 0), names=('cup',)))
        assert shift_of(memory) == [0, 0, 0]


def test_what_a_sensor_measured_is_found_again(tmp_path) -> None:
    path = str(tmp_path / 'a.db')
    pose = Pose((0.5, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0))
    with taught(path=path) as memory:
        memory.observe(look(1100, (0.5, 0, 0), sensor_pose=pose))
        [cup] = [o for o in memory.objects() if o.label == 'cup']
        seen_at = memory.history(cup.id)[-1].sensor_m
        assert seen_at == pytest.approx((1.1, 0.1, 0.85), abs=1e-6)
        assert memory.check() == []
        before = memory.snapshot_hash()
        memory.rebuild()
        assert memory.snapshot_hash() == before


def test_closing_between_two_views_changes_nothing(tmp_path) -> None:
    views = [look(1100 + k, (0.5, 0, 0), names=('cup', 'lamp') if k % 2 else tuple(ROOM))
             for k in range(4)]  # fmt: skip
    with taught() as memory:
        for one in views:
            memory.observe(one)
        expected = memory.snapshot_hash()
    path = str(tmp_path / 'a.db')
    taught(path=path).close()
    for one in views:
        with SpatialMemory.open(path) as memory:
            memory.observe(one)
    with SpatialMemory.open(path, readonly=True) as memory:
        assert memory.snapshot_hash() == expected


def test_it_can_be_switched_off() -> None:
    with taught(Config(shared_shift=False)) as memory:
        memory.observe(look(1100, (0.5, 0, 0)))
        assert shift_of(memory) == [0, 0, 0]
        assert len(memory.objects()) == 2 * len(ROOM)


def test_a_shift_beyond_the_limit_is_another_place() -> None:
    with taught() as memory:
        memory.observe(look(1100, (1.2, 0, 0)))
        assert shift_of(memory) == [0, 0, 0]


def test_another_map_is_not_compared() -> None:
    with taught() as memory:
        memory.observe(look(1100, (0.5, 0, 0), map_id='upstairs'))
        assert shift_of(memory) == [0, 0, 0]
        assert len(memory.objects()) == 2 * len(ROOM)


@pytest.mark.parametrize('step', [(0.0, 0.4, 0.0), (0.0, 0.0, 0.4), (0.0, 0.2, 0.0)])
def test_the_next_row_of_a_shelf_is_no_shift(step: tuple[float, ...]) -> None:
    with SpatialMemory.open(':memory:') as memory:
        for again in range(2):
            for row in range(4):
                memory.observe(view(1000 + 10 * again + 2 * row, *[
                    seen(name, (0.4 * k + row * step[0], row * step[1], row * step[2]))
                    for k, name in enumerate(['box', 'jar'] * 5)
                ]))  # fmt: skip
                assert shift_of(memory) == [0, 0, 0]
        assert len(memory.objects()) == 40
