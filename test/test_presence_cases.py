# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Failures that people report of memories of a world that changes, as they are written down."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from rooms import camera_depth, look
from views import SECOND, seen, view

from memory_node import Detection, FieldOfView, Query, SpatialMemory, View
from memory_node.model import Aspect, ChangeKind, Check, State, VerdictKind


def kinds(memory: SpatialMemory) -> list[str]:
    return [c.kind.value for c in memory.changes()]


def sound(memory: SpatialMemory) -> None:
    """The file is clean and what follows from its log is what it holds."""
    assert memory.check() == []
    before = memory.snapshot_hash()
    memory.rebuild()
    assert memory.snapshot_hash() == before


def test_c04_what_is_carried_out_becomes_doubtful_then_absent() -> None:
    box = seen('box', (2.0, 0.0, 0.5), size_m=(0.3, 0.3, 0.3))
    with SpatialMemory.open(':memory:') as memory:
        for k in range(10):
            memory.observe(look(1000 + k * 0.1, [box], [((2, 0, 0.5), (0.3, 0.3, 0.3))]))
        for k in range(30):
            depth = camera_depth(background_m=4.0)
            memory.observe(look(1001 + k * 0.1, [], depth=depth))
        assert kinds(memory).count('DOUBTFUL') == kinds(memory).count('ABSENT') == 1
        assert memory.query(Query(text='box')) == ()
        assert [h.object.id for h in memory.query(Query(text='box', states=['absent']))] == [1]
        assert len(memory.history(1)) == 10
        sound(memory)
        memory.forget(1, 'it was thrown away')
        assert memory.objects() == []


def backpack(place: tuple[float, float, float]) -> Detection:
    return Detection('red_backpack', 0.8, place, (0.3, 0.3, 0.3))


OLD, NEW = (1.0, 1.0, 0.3), (6.0, 4.0, 0.3)
VIEWPOINT = (-2.0, 2.0, 1.0)


def test_c05_what_is_found_elsewhere_while_its_place_is_empty_has_moved() -> None:
    with SpatialMemory.open(':memory:') as memory:
        for k in range(10):
            memory.observe(look(1000 + k * 0.1, [backpack(OLD)], None, VIEWPOINT))
        told = [
            memory.observe(look(1600 + k * 0.1, [backpack(NEW)], [], VIEWPOINT)).verdicts[0]
            for k in range(10)
        ]
        [moment] = [v for v in told if v.kind is VerdictKind.RELOCATED]
        assert moment.object_id == 1 == told[-1].object_id
        assert [o.verdict for o in memory.history(1)].count(VerdictKind.RELOCATED) == 1
        (it,) = memory.objects()
        assert it.id == 1 and it.center_m == pytest.approx(NEW) and it.observations == 20
        [moved] = [c for c in memory.changes() if c.kind is ChangeKind.MOVED]
        assert moved.object_id == 1
        assert moved.from_m == pytest.approx(OLD) and moved.to_m == pytest.approx(NEW)
        places = {tuple(np.round(o.center_m, 3)) for o in memory.history(1)}
        assert places == {OLD, NEW}
        assert [round(v.center_m[0]) for v in memory.versions(1)][:1] == [1]
        sound(memory)


def test_c05_old_place_not_in_view_both_stay_linked_until_it_is_seen_empty() -> None:
    away = (3.0, 2.0, 1.0)
    day = 86400
    with SpatialMemory.open(':memory:') as memory:
        for k in range(3):
            memory.observe(look(1000 + 2 * k, [backpack(OLD)], None, VIEWPOINT))
        for k in range(3):
            memory.observe(look(day + 2 * k, [backpack(NEW)], [], away))
        assert [o.id for o in memory.objects()] == [1, 2]
        assert not any(c.kind is ChangeKind.MOVED for c in memory.changes())
        [link] = memory.maybe_same()
        assert (link.old_id, link.new_id) == (1, 2) and link.probability > 0.5
        both = [('maybe_same', 2, 1), ('maybe_same', 1, 2)]
        told = [r for r in memory.relations(1) if not r.stated]
        assert [(r.kind, r.subject_id, r.object_id) for r in told] == both
        assert told[0].confidence == link.probability
        assert [h.object.id for h in memory.query(Query(relation=('maybe_same', 1)))] == [2]
        assert memory.relate([1], 'on') == []
        for k in range(2):
            memory.observe(look(day + 100 + 2 * k, [], [], VIEWPOINT))
        assert [o.id for o in memory.objects()] == [1]
        assert memory.object(2).id == 1, 'the other id still resolves'
        assert memory.maybe_same() == memory.relations(1) == []
        sound(memory)


def test_the_link_goes_when_the_old_place_is_not_empty() -> None:
    with SpatialMemory.open(':memory:') as memory:
        memory.observe(look(1000, [backpack(OLD)], None, VIEWPOINT))
        for k in range(3):
            memory.observe(look(86400 + 2 * k, [backpack(NEW)], [], (3.0, 2.0, 1.0)))
        assert len(memory.maybe_same()) == 1
        memory.observe(look(86500, [backpack(OLD), backpack(NEW)], None, VIEWPOINT))
        assert memory.maybe_same() == []
        assert len(memory.objects()) == 2


def test_c10_objects_of_another_map_are_neither_served_as_here_nor_touched() -> None:
    desk = seen('desk', (3.0, 2.0, 0.4), size_m=(1.0, 0.5, 0.8))
    with SpatialMemory.open(':memory:') as memory:
        memory.observe(look(1000, [desk], None, map_id='A'))
        for k in range(5):
            memory.observe(look(2000 + 2 * k, [], [], map_id='B'))
        memory.observe(look(3000, [desk], None, map_id='B'))
        first, second = memory.objects()
        assert (first.map_id, second.map_id) == ('A', 'B')
        assert (first.state, first.last_checked_ns) == (State.TENTATIVE, 1000 * SECOND)
        assert memory.maybe_same() == [], 'nothing moves from one map to another'
        memory.observe(look(4000, [desk], None, map_id='A'))
        assert memory.object(1).observations == 2


def test_ch_q1_a_moved_object_does_not_become_a_second_one() -> None:
    mug, cup = ('mug', (2.0, 0.5, 0.5)), ('cup', (4.0, -0.5, 0.5))
    things = [seen(label, place, size_m=(0.2, 0.2, 0.2)) for label, place in (mug, cup)]
    boxes = [(place, (0.2, 0.2, 0.2)) for _, place in (mug, cup)]
    with SpatialMemory.open(':memory:') as memory:
        for k in range(3):
            memory.observe(look(1000 + 2 * k, things, boxes))
        moved = seen('mug', (5.0, 1.5, 0.5), size_m=(0.2, 0.2, 0.2))
        after = [((5.0, 1.5, 0.5), (0.2, 0.2, 0.2)), boxes[1]]
        for k in range(3):
            memory.observe(look(5000 + 2 * k, [moved, things[1]], after))
        assert [(o.id, o.label, round(o.center_m[0])) for o in memory.objects()] == [
            (1, 'cup', 4),
            (2, 'mug', 5),
        ]
        sound(memory)


def test_ch_q1_two_things_that_change_places() -> None:
    places = {'mug': (3.0, 0.7, 0.5), 'bowl': (3.0, -0.7, 0.5)}
    boxes = [(place, (0.2, 0.2, 0.2)) for place in places.values()]

    def shown(swapped: bool) -> list[Detection]:
        at = dict(zip(places, reversed(places.values()))) if swapped else places
        return [seen(label, at[label], size_m=(0.2, 0.2, 0.2)) for label in places]

    with SpatialMemory.open(':memory:') as memory:
        for k in range(5):
            memory.observe(look(1000 + 2 * k, shown(False), boxes))
        ids = {o.label: o.id for o in memory.objects()}
        for k in range(6):
            memory.observe(look(5000 + 2 * k, shown(True), boxes))
        now = {o.label: (o.id, round(o.center_m[1], 1)) for o in memory.objects()}
        assert now == {'mug': (ids['mug'], -0.7), 'bowl': (ids['bowl'], 0.7)}
        assert kinds(memory).count('MOVED') == 2
        sound(memory)


def test_several_equal_things_are_matched_at_once() -> None:
    """By their features, whatever the order in which they were lost and found."""
    r = np.random.default_rng(3)
    features = [f / np.linalg.norm(f) for f in r.normal(size=(3, 32))]
    before = [(2.0 + k, 1.0, 0.5) for k in range(3)]
    after = [(2.5 + k, -1.0, 0.5) for k in (2, 0, 1)]

    def cups(places: list[tuple[float, float, float]]) -> list[Detection]:
        return [
            seen('cup', place, size_m=(0.2, 0.2, 0.2), feature=f)
            for place, f in zip(places, features)
        ]

    with SpatialMemory.open(':memory:') as memory:
        for k in range(3):
            memory.observe(look(1000 + 2 * k, cups(before), None))
        for k in range(4):
            solid = [(place, (0.2, 0.2, 0.2)) for place in after]
            memory.observe(look(5000 + 2 * k, cups(after), solid))
        found = {o.id: round(o.center_m[0], 1) for o in memory.objects()}
        assert found == {1: 4.5, 2: 2.5, 3: 3.5}
        sound(memory)


def test_what_lies_in_a_container_goes_along() -> None:
    old, new = np.array([3.0, 1.0, 0.5]), np.array([4.0, -1.5, 0.5])

    def shown(at: np.ndarray, open_: bool) -> list[Detection]:
        box = seen('box', tuple(at), size_m=(0.5, 0.5, 0.4))
        apple = seen('apple', tuple(np.add(at, (0.05, 0.0, 0.0))), size_m=(0.1, 0.1, 0.1))
        return [box, apple] if open_ else [box]

    with SpatialMemory.open(':memory:') as memory:
        for k in range(3):
            memory.observe(look(1000 + 2 * k, shown(old, True), [(old, (0.5, 0.5, 0.4))]))
        for k in range(5):
            memory.observe(look(9000 + 2 * k, shown(new, False), [(new, (0.5, 0.5, 0.4))]))
        places = {o.label: (o.state, np.round(o.center_m, 2).tolist()) for o in memory.objects()}
        assert places['box'] == (State.CONFIRMED, new.tolist())
        assert places['apple'] == (State.CONFIRMED, [4.05, -1.5, 0.5])
        moved = [c for c in memory.changes() if c.kind is ChangeKind.MOVED]
        assert len(moved) == 2 and 'in which it lay' in moved[1].reason
        sound(memory)


def test_ch_v1_asking_and_maintaining_more_often_changes_nothing() -> None:
    def live(often: bool) -> tuple[str, float]:
        with SpatialMemory.open(':memory:') as memory:
            memory.observe(look(1000, [backpack(OLD)], None, VIEWPOINT))
            for k in range(20 if often else 1):
                memory.query(Query(at_ns=(2000 + 1000 * k) * SECOND))
                memory.objects()[0].presence((3000 + k) * SECOND)
            return memory.snapshot_hash(), memory.objects()[0].presence(10**15)

    assert live(True) == live(False)


@pytest.mark.parametrize('away_m', [0.3, 2.0])
def test_ch_v4_what_is_shifted_lies_where_it_is_seen(away_m: float) -> None:
    """Chronotope lags behind, keeps both places in its box, or makes a second one of it."""
    old, new = (2.0, 0.0, 0.5), (2.0, away_m, 0.5)
    size = (0.3, 0.3, 0.3)
    with SpatialMemory.open(':memory:') as memory:
        for k in range(5):
            memory.observe(look(1000 + 2 * k, [seen('box', old, size_m=size)], [(old, size)]))
        for k in range(5):
            memory.observe(look(2000 + 2 * k, [seen('box', new, size_m=size)], [(new, size)]))
        (it,) = memory.objects()
        assert it.id == 1 and it.center_m == pytest.approx(new, abs=0.01)
        assert it.size_m == pytest.approx(size)
        assert kinds(memory).count('MOVED') == 1
        sound(memory)


@pytest.mark.parametrize(
    ('given', 'reason'),
    [
        ({'field_of_view': FieldOfView(0.0, 1.0, 0.1, 5.0)}, 'bad_field_of_view'),
        ({'field_of_view': FieldOfView(6.3, 1.0, 0.1, 5.0)}, 'bad_field_of_view'),
        ({'depth': camera_depth(background_m=0.0)}, 'no_depth'),
        ({'localization_cov': np.eye(3)}, 'bad_localization_cov'),
    ],
)
def test_what_cannot_be_right_is_counted_and_costs_nothing(given: dict, reason: str) -> None:
    with SpatialMemory.open(':memory:') as memory:
        memory.observe(look(1000, [backpack(OLD)], None, VIEWPOINT))
        commit = memory.observe(look(1010, [backpack(NEW)], position_m=VIEWPOINT, **given))
        assert commit.refused == '' and commit.verdicts[0].kind == 'created'
        assert memory.refusals == {reason: 1}
        if reason != 'bad_localization_cov':
            assert memory.object(1).state is State.TENTATIVE, 'it tells nothing of what it misses'
        assert memory.check() == []


def wandering(seed: int, count: int) -> list[View]:
    """Views with depth of things that are moved and taken away between them."""
    r = np.random.default_rng(seed)
    labels = ('mug', 'cup', 'box', 'chair', 'book')
    places = [np.array([r.uniform(1.5, 7), r.uniform(-2, 2), r.uniform(0.2, 1)]) for _ in range(14)]
    sizes = [np.full(3, r.uniform(0.1, 0.5)) for _ in places]
    views, stamp = [], 1000.0
    for k in range(count):
        stamp += float(r.choice([0.3, 2.0, 3600.0]))
        if k % 5 == 4:
            one = int(r.integers(len(places)))
            places[one] = np.array([r.uniform(1.5, 7), r.uniform(-2, 2), r.uniform(0.2, 1)])
        position = (float(r.uniform(-1, 1)), float(r.uniform(-1, 1)), 0.6)
        shown = [
            seen(labels[i % 5], tuple((p + r.normal(0, 0.02, 3)).tolist()), 0.8, tuple(s.tolist()))
            for i, (p, s) in enumerate(zip(places, sizes)) if r.random() < 0.85
        ]  # fmt: skip
        solid = [(p, s) for p, s in zip(places, sizes)]
        cov = np.eye(6) * 1e-4 if r.random() < 0.3 else None
        views.append(look(stamp, shown, solid, position, localization_cov=cov))
    return views


def test_promise_2_presence_and_motion_follow_from_the_log(tmp_path: Path) -> None:
    path = str(tmp_path / 'a.db')
    views = wandering(1, 80)
    with SpatialMemory.open(path) as memory:
        for one in views[:40]:
            memory.observe(one)
    with SpatialMemory.open(path) as memory:
        for one in views[40:]:
            memory.observe(one)
        assert {'MOVED', 'DOUBTFUL', 'ABSENT', 'MERGED'} <= set(kinds(memory))
        sound(memory)
        reopened = memory.snapshot_hash()
    with SpatialMemory.open(':memory:') as memory:
        for one in views:
            memory.observe(one)
        assert memory.snapshot_hash() == reopened, 'promise 3, also across a restart'


def test_a_failed_commit_leaves_everything_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    from memory_node.store import identity

    views = wandering(1, 80)
    with SpatialMemory.open(':memory:') as memory:
        real, failed = identity.reunite, 0

        def broken(*given: object) -> object:
            real(*given)  # type: ignore[arg-type]
            raise OSError('the disk is full')

        for one in views:
            before = memory.snapshot_hash()
            monkeypatch.setattr(identity, 'reunite', broken)
            try:
                memory.observe(one)
                continue
            except OSError:
                failed += 1
                assert memory.snapshot_hash() == before
            finally:
                monkeypatch.setattr(identity, 'reunite', real)
            memory.observe(one)
        assert failed > 2
        sound(memory)


def test_what_is_carried_past_moves_once_when_it_rests() -> None:
    with SpatialMemory.open(':memory:') as memory:
        in_motion = []
        x = [2.0] * 10 + [2.0 + 0.05 * k for k in range(60)] + [5.0] * 20
        for k, at in enumerate(x):
            cart = seen('cart', (at, 0, 0.5), size_m=(0.8, 0.8, 0.8))
            memory.observe(view(1000 + 0.1 * k, cart))
            in_motion.append(memory.object(1).in_motion)
        assert not any(in_motion[:11])
        assert all(in_motion[20:70])
        assert not in_motion[-1]
        [moved] = [c for c in memory.changes() if c.kind is ChangeKind.MOVED]
        assert moved.from_m is not None and moved.from_m[0] == pytest.approx(2.0, abs=0.1)
        assert moved.to_m is not None and moved.to_m[0] == pytest.approx(5.0, abs=0.05)
        assert [o.id for o in memory.objects()] == [1]
        sound(memory)


def test_one_sighting_that_is_off_moves_nothing() -> None:
    with SpatialMemory.open(':memory:') as memory:
        for k, x in enumerate([2.0, 2.01, 1.99, 2.0, 2.4, 2.0, 2.01, 1.99, 2.0, 2.0]):
            memory.observe(view(1000 + k, seen('cart', (x, 0, 0.5), size_m=(1, 1, 1))))
        assert 'MOVED' not in kinds(memory)


def test_what_a_person_stated_stands_against_looks_that_miss_it() -> None:
    with SpatialMemory.open(':memory:') as memory:
        stated = memory.state_object('box', (2.0, 0.0, 0.5), (0.3, 0.3, 0.3), actor='Ada')
        number = stated.changes[0].object_id
        assert number is not None
        for k in range(5):
            memory.observe(look(1000 + 2 * k, [], []))
        it = memory.object(number)
        assert (it.state, it.last_check) == (State.CONFIRMED, Check.SEEN_THROUGH)
        assert it.conflicts == (Aspect.PRESENCE,)
        [hit] = memory.query(Query(text='box', min_presence=0.99))
        assert hit.presence == 1.0 == it.presence(10**19)
        assert kinds(memory) == ['CREATED']
        sound(memory)
