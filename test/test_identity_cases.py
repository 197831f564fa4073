# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""One thing one object, two things two: the cases of the list, and views that are hard to judge."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from views import FORWARD, observe_all, seen, view

from memory_node import Config, Pose, SpatialMemory
from memory_node.fusion import arbiter, shift


def confirmed(memory: SpatialMemory) -> list[str]:
    return sorted(o.label for o in memory.objects() if o.state == 'confirmed')


def test_c01_a_a_sign_that_never_overlaps_its_last_box_stays_one() -> None:
    with SpatialMemory.open(':memory:') as memory:
        for frame, x in enumerate((2.00, 2.08, 2.16, 2.08, 2.00)):
            memory.observe(view(1000 + frame, seen('sign', (x, 1, 1), 0.8, (0.05, 0.05, 0.30))))
        [sign] = memory.objects()
        assert sign.observations == 5
        assert sign.center_m[0] == pytest.approx(2.064, abs=0.05)


@pytest.mark.parametrize('features', [True, False])
def test_c02_a_what_stands_on_a_table_is_not_swallowed(features: bool) -> None:
    look = {'table': [1.0, 0.3, 0.0], 'cup': [0.3, 1.0, 0.0]}
    with SpatialMemory.open(':memory:') as memory:
        for frame in range(20):
            memory.observe(view(1000 + frame, *[
                seen(name, center, 0.8, size, feature=look[name] if features else None)
                for name, center, size in (
                    ('table', (2, 0, 0.375), (1.2, 0.8, 0.75)),
                    ('cup', (2.0, 0.1, 0.80), (0.08, 0.08, 0.10)),
                )
            ]))  # fmt: skip
        cup, table = sorted(memory.objects(), key=lambda o: o.label)
        assert (cup.label, table.label) == ('cup', 'table')
        assert cup.center_m == pytest.approx((2.0, 0.1, 0.80), abs=0.02)
        assert table.center_m == pytest.approx((2, 0, 0.375), abs=0.02)
        assert ('on', table.id) in [(r.kind, r.object_id) for r in memory.relations(cup.id)]


@pytest.mark.parametrize('features', [True, False])
def test_c02_b_two_equal_chairs_are_two_in_any_order(features: bool) -> None:
    random = np.random.default_rng(1)
    feature = [1.0, 0.0] if features else None
    pair = [seen('chair', (x, 0, 0.45), 0.8, (0.5, 0.5, 0.9), feature=feature)
            for x in (1.00, 1.35)]  # fmt: skip
    with SpatialMemory.open(':memory:') as memory:
        for frame in range(50):
            memory.observe(view(1000 + frame, *[pair[k] for k in random.permutation(2)]))
            assert len(memory.objects()) == 2, frame


def test_ch_v2_a_late_view_is_in_its_place_in_time() -> None:
    with SpatialMemory.open(':memory:') as memory:
        for stamp in (1000, 1004, 1002):
            memory.observe(view(stamp, seen('mug', (1, 0, 1))))
        memory.observe(view(999, seen('mug', (1, 0, 1))))
        [mug] = memory.objects()
        assert [o.stamp_ns // 10**9 for o in memory.history(mug.id)] == [999, 1000, 1002, 1004]
        assert mug.first_seen_ns == 999 * 10**9
        assert mug.last_seen_ns == 1004 * 10**9


@pytest.mark.parametrize('apart_m', [0.1, 0.2, 0.35, 0.42])
def test_ch_v3_two_identical_things_in_one_frame_are_two(apart_m: float) -> None:
    with SpatialMemory.open(':memory:') as memory:
        for frame in range(3):
            memory.observe(view(1000 + 2 * frame, *[
                seen('can', (x, 0, 1), 0.9, (0.07, 0.07, 0.1), feature=[1.0, 0.0])
                for x in (0.0, apart_m)
            ]))  # fmt: skip
        assert confirmed(memory) == ['can', 'can']


def test_ch_v3_a_long_thing_seen_from_its_ends_is_one() -> None:
    # The centroids are 0.56 m apart, the boxes share a quarter of their union, cosine 0.85.
    looks = [((-0.28, 0, 0.5), [1.0, 0.0]), ((0.28, 0, 0.5), [0.85, (1 - 0.85**2) ** 0.5])]
    with SpatialMemory.open(':memory:') as memory:
        for frame, (center, feature) in enumerate(looks * 2):
            memory.observe(
                view(1000 + 2 * frame, seen('sofa', center, 0.9, (1.0, 0.8, 0.9), feature=feature))
            )
        assert confirmed(memory) == ['sofa']


def test_ch_v4_a_doubtful_sighting_supports_and_rewrites_nothing() -> None:
    with SpatialMemory.open(':memory:') as memory:
        for frame in range(3):
            memory.observe(view(1000 + 2 * frame, seen('mug', (1, 0, 1), 0.9, feature=[1.0, 0.0])))
        [before] = memory.objects()
        doubtful = seen('mug', (1.03, 0, 1), 0.05, (0.3, 0.3, 0.3), feature=[0.9, 0.43])
        memory.observe(view(1010, doubtful))
        [after] = memory.objects()
        assert (after.center_m, after.size_m) == (before.center_m, before.size_m)
        assert after.observations == before.observations + 1


def test_ch_v4_nothing_lags_between_two_places_or_covers_both() -> None:
    with SpatialMemory.open(':memory:') as memory:
        for frame in range(5):
            memory.observe(view(1000 + 2 * frame, seen('mug', (1, 0, 1), 0.9, feature=[1.0, 0.0])))
        for frame in range(5):
            memory.observe(
                view(1010 + 2 * frame, seen('mug', (1.3, 0, 1), 0.9, feature=[1.0, 0.0]))
            )
        newest = max(memory.objects(), key=lambda o: o.last_seen_ns)
        assert newest.center_m == pytest.approx((1.3, 0, 1), abs=0.01)
        assert all(max(o.size_m) < 0.25 for o in memory.objects())


@pytest.mark.parametrize('features', [True, False])
@pytest.mark.parametrize(('apart_m', 'sigma_m'), [(0.1, 0.01), (0.08, 0.01)])
def test_a_shelf_of_identical_things_is_counted_exactly(
    apart_m: float, sigma_m: float, features: bool
) -> None:
    random = np.random.default_rng(4)
    places = np.array([(apart_m * k, 0.0, 0.4 * row) for row in range(2) for k in range(8)])
    own = random.normal(size=(1, 16))
    with SpatialMemory.open(':memory:') as memory:
        for number in range(50):
            detections = []
            for k in random.permutation(len(places)).tolist():
                feature = (own[0] + 0.1 * random.normal(size=16)) if features else None
                center = places[k] + random.normal(0, sigma_m, 3)
                detections.append(
                    seen('can', center.tolist(), 0.9, (apart_m * 0.7,) * 3, feature=feature)
                )
            pose = Pose((-1.0 - 0.4 * (number % 3), 0.0, 0.3), FORWARD)
            memory.observe(view(1000 + number, *detections, sensor_pose=pose))
        objects = memory.objects()
        assert len(objects) == len(places)
        assert {o.observations for o in objects} == {50}, 'each was seen by its own object'


def test_the_order_within_a_view_never_changes_the_result() -> None:
    random = np.random.default_rng(9)
    views = []
    for _ in range(12):
        centers = random.normal(0, 0.15, (7, 3)).round(2)
        views.append([
            seen(str(random.choice(['cup', 'mug'])), c.tolist(), float(random.choice([0.2, 0.9])))
            for c in centers
        ])  # fmt: skip
    hashes = set()
    for seed in range(4):
        order = np.random.default_rng(seed)
        with SpatialMemory.open(':memory:') as memory:
            observe_all(memory, (
                view(1000 + k, *[row[i] for i in order.permutation(len(row))])
                for k, row in enumerate(views)
            ))  # fmt: skip
            hashes.add(memory.snapshot_hash())
    assert len(hashes) == 1


@pytest.mark.parametrize('count', [0, 1, 500])
def test_views_of_any_size_are_answered_and_kept(count: int) -> None:
    random = np.random.default_rng(count)
    with SpatialMemory.open(':memory:') as memory:
        row = [seen('thing', random.uniform(0, 30, 3).tolist()) for _ in range(count)]
        for k in range(2):
            commit = memory.observe(view(1000 + 2 * k, *row))
            assert len(commit.verdicts) == count
        assert len(memory.objects()) == count
        assert memory.check() == []


def test_boxes_that_cover_the_whole_map_are_answered() -> None:
    random = np.random.default_rng(3)
    with SpatialMemory.open(':memory:') as memory:
        for k in range(10):
            memory.observe(
                view(
                    1000 + k, *[seen('nail', random.uniform(0, 50, 3).tolist()) for _ in range(300)]
                )
            )
        before = {o.id: o.center_m for o in memory.objects()}
        vast = [seen('hall', (25 + 0.01 * k, 25, 25), 0.9, (200, 200, 200)) for k in range(40)]
        commit = memory.observe(view(1020, *vast, *[seen('nail', (1, 2, 3))]))
        assert len(commit.verdicts) == 41
        assert {v.object_id for v in commit.verdicts[:40]} == {commit.verdicts[0].object_id}
        assert all(memory.object(i).center_m == c for i, c in itertools.islice(before.items(), 50))
        assert memory.check() == []


def test_a_covariance_that_is_none_costs_nothing_but_itself() -> None:
    bad = np.diag([1.0, -1.0, 1.0])
    with SpatialMemory.open(':memory:') as memory:
        for k in range(2):
            commit = memory.observe(
                view(1000 + 2 * k, seen('mug', position_cov=bad), localization_cov=-np.eye(6))
            )
            assert commit.verdicts[0].object_id == 1
        assert confirmed(memory) == ['mug']


@pytest.mark.parametrize(
    ('one', 'other', 'things'),
    [
        ('open door', 'Closed door', 2),
        ('drawer_open', 'drawer closed', 2),
        ('left shoe', 'right shoe', 2),
        ('open door', 'open door', 1),
        ('door', 'open door', 1),
        ('open', 'closed', 2),
    ],
)
def test_opposites_never_merge_however_alike_they_look(one: str, other: str, things: int) -> None:
    with SpatialMemory.open(':memory:') as memory:
        for k, label in enumerate([one, other] * 2):
            memory.observe(view(1000 + 2 * k, seen(label, feature=[1.0, 0.0])))
        assert len(memory.objects()) == things


def test_other_opposites_can_be_named() -> None:
    config = Config(antonyms=('clean dirty',))
    with SpatialMemory.open(':memory:', config) as memory:
        for k, label in enumerate(['clean cup', 'dirty cup', 'open door', 'closed door']):
            memory.observe(view(1000 + 2 * k, seen(label, (k // 2, 0, 0), feature=[1.0, 0.0])))
        assert sorted(o.label for o in memory.objects()) == ['clean cup', 'dirty cup', 'open door']


def test_ch_v6_a_view_of_a_hundred_asks_no_more_of_a_large_map(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Chronotope compares each sighting with every object: 1.9 s for 100 beside 2,000."""
    pairs: list[int] = []
    find = arbiter.find_pairs

    def counting(*arguments: Any) -> Any:
        found = find(*arguments)
        pairs.append(len(found))
        return found

    monkeypatch.setattr(shift, 'find_pairs', counting)
    compared = []
    for objects in (200, 2000):
        places = [(1.5 * (k % 50), 1.5 * (k // 50), 0.5) for k in range(objects)]
        with SpatialMemory.open(':memory:') as memory:
            for start in range(0, objects, 100):
                some = [seen('box', place) for place in places[start : start + 100]]
                memory.observe(view(1000 + start, *some))
            pairs.clear()
            commit = memory.observe(view(9000, *(seen('box', place) for place in places[:100])))
            assert all(verdict.kind == 'merged' for verdict in commit.verdicts)
            compared.append(sum(pairs))
    assert compared[0] == compared[1] <= 200
