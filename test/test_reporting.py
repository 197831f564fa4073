# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What the robot did itself explains what is seen, and what is not."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from rooms import look
from views import SECOND, seen

from memory_node import Config, Detection, Query, SpatialMemory
from memory_node.errors import InvalidValueError, ObjectEndedError, UnknownObjectError
from memory_node.model import Aspect, Check, Commit, State

CUP, CUPBOARD = (2.0, 0.0, 0.5), (2.5, 1.0, 0.5)


def cup(place: tuple[float, float, float] = CUP) -> Detection:
    return seen('cup', place, size_m=(0.1, 0.1, 0.1))


def cupboard() -> Detection:
    return seen('cupboard', CUPBOARD, size_m=(0.5, 0.5, 0.6))


@pytest.fixture
def memory() -> Iterator[SpatialMemory]:
    """A cup (1) and a cupboard (2), seen three times; sound at the end."""
    with SpatialMemory.open(':memory:') as memory:
        for k in range(3):
            memory.observe(look(1000 + 2 * k, [cup(), cupboard()], None))
        yield memory
        assert memory.check() == []
        before = memory.snapshot_hash()
        memory.rebuild()
        assert memory.snapshot_hash() == before


def empty_looks(memory: SpatialMemory, start_s: float, *there: Detection) -> None:
    for k in range(4):
        memory.observe(look(start_s + 2 * k, list(there), []))


def only(commit: Commit) -> str:
    (change,) = commit.changes
    return change.kind.value


def test_what_is_picked_is_held_and_neither_missed_nor_found_at_its_place(
    memory: SpatialMemory,
) -> None:
    assert only(memory.picked(1, 'to wash it')) == 'HELD'
    empty_looks(memory, 1010, cupboard())
    it = memory.object(1)
    assert it.state is State.HELD and it.presence(memory.newest_stamp_ns) < 0.01
    assert [c.kind.value for c in memory.changes(object_id=1)][-1] == 'HELD'
    assert [h.object.id for h in memory.query(Query(text='cup'))] == [1], 'asked by name it is'
    near = Query(text='cup', near_m=CUP, radius_m=1.0)
    assert memory.query(near) == ()
    assert memory.relate([1], 'near') == []
    [line] = memory.changes(object_id=1)[-1:]
    assert (line.actor, line.reason, line.before['state']) == ('robot', 'to wash it', 'confirmed')


def test_what_is_held_stays_so_however_often_its_place_shows_the_like(
    memory: SpatialMemory,
) -> None:
    memory.picked(1, stamp_ns=1005 * SECOND)
    for second in range(1010, 1030, 2):
        memory.observe(look(second, [cup(CUP), cupboard()], []))
    assert memory.object(1).state is State.HELD
    assert memory.versions(1)[-1].state is State.HELD


def test_what_is_placed_has_moved_and_is_there(memory: SpatialMemory) -> None:
    memory.picked(1, stamp_ns=1005 * SECOND)
    place = (3.0, -1.0, 0.5)
    commit = memory.placed(1, place, stamp_ns=1010 * SECOND)
    assert only(commit) == 'MOVED'
    assert commit.changes[0].from_m == pytest.approx(CUP) and commit.changes[0].to_m == place
    it = memory.object(1)
    assert (it.state, it.center_m) == (State.CONFIRMED, place)
    assert it.presence(1010 * SECOND) > 0.98 and it.last_checked_ns == 1010 * SECOND
    memory.observe(look(1012, [cup(place), cupboard()], []))
    assert len(memory.objects()) == 2, 'seen where it was put it is the same'
    assert [e.type for e in memory.events(object_id=1)] == ['picked', 'placed']
    assert [tuple(v.center_m) for v in memory.versions(1)][-1] == pytest.approx(place)


def test_a_place_that_a_person_pinned_ends_when_the_robot_takes_it_away(
    memory: SpatialMemory,
) -> None:
    memory.pin(1, ['pose', 'label'])
    memory.placed(1, (3.0, -1.0, 0.5))
    assert set(memory.object(1).pins) == {Aspect.LABEL}
    assert memory.changes(object_id=1)[-1].before['pins']


def test_what_is_put_inside_is_not_missed_until_that_is_opened(memory: SpatialMemory) -> None:
    assert only(memory.put_inside(1, 2)) == 'MOVED'
    assert [(r.kind, r.object_id) for r in memory.relate([1], 'inside')] == [('inside', 2)]
    empty_looks(memory, 1010, cupboard())
    it = memory.object(1)
    assert it.state is State.CONFIRMED and it.center_m == memory.object(2).center_m
    assert only(memory.opened(2)) == 'EVENT'
    assert memory.properties(2) == {'open': True}
    empty_looks(memory, 1030, cupboard())
    assert memory.object(1).state is not State.CONFIRMED, 'open it can be seen to be gone'
    memory.opened(2, False)
    assert memory.properties(2) == {'open': False}
    assert [e.type for e in memory.events(object_id=2)] == ['opened', 'closed']


def test_the_relation_inside_ends_when_it_is_taken_out(memory: SpatialMemory) -> None:
    memory.put_inside(1, 2)
    memory.picked(1)
    assert memory.relate([1], 'inside') == []
    memory.placed(1, CUP)
    empty_looks(memory, 1010, cupboard())
    assert memory.object(1).state is State.ABSENT


def test_what_stays_inside_survives_reopening(tmp_path: object) -> None:
    path = f'{tmp_path}/robot.db'
    with SpatialMemory.open(path) as memory:
        for k in range(3):
            memory.observe(look(1000 + 2 * k, [cup(), cupboard()], None))
        memory.put_inside(1, 2)
    with SpatialMemory.open(path) as memory:
        empty_looks(memory, 1010, cupboard())
        assert memory.object(1).state is State.CONFIRMED
        assert memory.check() == []


def test_what_lies_in_a_container_goes_along_with_it(memory: SpatialMemory) -> None:
    inside = seen('plate', (2.55, 1.1, 0.5), size_m=(0.2, 0.2, 0.02))
    beside = seen('lamp', (2.9, 1.0, 0.5), size_m=(0.1, 0.1, 0.2))
    for k in range(2):
        memory.observe(look(1010 + 2 * k, [cup(), cupboard(), inside, beside], None))
    memory.put_inside(1, 2)
    commit = memory.placed(2, (5.0, 0.0, 0.5), (0.0, 0.0, 0.5**0.5, 0.5**0.5))
    assert [(c.kind.value, c.object_id) for c in commit.changes] == [
        ('MOVED', 2), ('MOVED', 1), ('MOVED', 4),
    ]  # fmt: skip
    assert commit.changes[2].reason == 'object 2, in which it lay, was moved'
    assert memory.object(1).center_m == pytest.approx((5.0, 0.0, 0.5)), 'it was put inside'
    assert memory.object(4).center_m == pytest.approx((4.9, 0.05, 0.5)), 'turned by a quarter'
    assert memory.object(3).center_m == pytest.approx((2.9, 1.0, 0.5)), 'it did not lie in it'
    assert [r.object_id for r in memory.relations(1) if r.stated] == [2]
    empty_looks(memory, 1020)
    assert memory.object(1).state is State.CONFIRMED, 'what is shut in is not missed'
    assert [e.type for e in memory.events(object_id=2)] == ['placed']
    assert 'carried' not in [e.type for e in memory.events(object_id=1)]


def test_what_the_robot_holds_does_not_go_along(memory: SpatialMemory) -> None:
    memory.put_inside(1, 2)
    memory.picked(1)
    assert only(memory.placed(2, (5.0, 0.0, 0.5))) == 'MOVED'


def test_what_the_robot_did_cannot_be_undone_and_that_is_said(memory: SpatialMemory) -> None:
    commit = memory.picked(1)
    with pytest.raises(
        InvalidValueError, match=rf'line {commit.seq} is what the robot did \(picked'
    ):
        memory.undo(commit.seq)
    with pytest.raises(InvalidValueError, match='line 1 is of kind VIEW, expected a correction'):
        memory.undo(1)
    with pytest.raises(InvalidValueError, match='got 99, expected a line of the log, which has'):
        memory.undo(99)


def test_boxes_in_boxes_go_along(memory: SpatialMemory) -> None:
    memory.observe(look(1010, [seen('crate', (4.0, 0.0, 0.5), size_m=(0.8, 0.8, 0.8))], None))
    memory.put_inside(1, 2)
    memory.put_inside(2, 3)
    assert memory.object(1).center_m == pytest.approx((4.0, 0.0, 0.5))
    memory.placed(3, (6.0, 2.0, 0.5))
    for number in (1, 2, 3):
        assert memory.object(number).center_m == pytest.approx((6.0, 2.0, 0.5))


def test_not_found_is_a_miss_like_every_other(memory: SpatialMemory) -> None:
    first = memory.not_found(1, stamp_ns=1010 * SECOND)
    assert only(first) == 'DOUBTFUL' and memory.object(1).last_check is Check.MISSED
    again = memory.not_found(1, 'once more', stamp_ns=1010 * SECOND + SECOND // 2)
    assert only(again) == 'EVENT', 'the same look counts once'
    assert memory.object(1).state is State.DOUBTFUL
    last = memory.not_found(1, stamp_ns=1020 * SECOND)
    assert only(last) == 'ABSENT' and 'missed it: 2' in last.changes[0].reason
    assert memory.query(Query(text='cup')) == ()
    memory.observe(look(1030, [cup(), cupboard()], None))
    assert memory.object(1).state is State.CONFIRMED, 'it was there after all'


def test_hy16_a_wrong_landmark_is_given_up_and_the_thing_is_found(memory: SpatialMemory) -> None:
    """Not perceived at the recalled place: it is forgotten there, and found elsewhere."""
    wrong = memory.query(Query(text='cup'))[0].object.center_m
    for stamp_s in (1010, 1020):
        memory.not_found(1, f'looked at {wrong}', stamp_ns=stamp_s * SECOND)
    assert memory.object(1).state is State.ABSENT
    assert memory.query(Query(text='cup')) == (), 'the robot has to explore'
    true = (4.0, -1.5, 0.5)
    for k in range(3):
        memory.observe(look(1100 + 2 * k, [cup(true)], []))
    (hit,) = memory.query(Query(text='cup'))
    assert hit.object.id == 1 and hit.object.center_m == pytest.approx(true)
    assert hit.presence > 0.9
    [moved] = [c for c in memory.changes(object_id=1) if c.kind.value == 'MOVED']
    assert moved.from_m == pytest.approx(CUP) and moved.to_m == pytest.approx(true)


def test_a_person_who_stated_it_is_contradicted_not_overruled(memory: SpatialMemory) -> None:
    number = memory.state_object('extinguisher', (1.0, 1.0, 1.0)).changes[0].object_id or 0
    for k in range(5):
        assert only(memory.not_found(number, stamp_ns=(1010 + 10 * k) * SECOND)) == 'UPDATED'
    it = memory.object(number)
    assert it.state is State.CONFIRMED and it.presence(0) == 1.0
    assert it.conflicts == (Aspect.PRESENCE,)


def test_a_report_of_the_past_comes_too_late_to_be_evidence(memory: SpatialMemory) -> None:
    assert only(memory.not_found(1, stamp_ns=1001 * SECOND)) == 'EVENT'
    assert memory.object(1).state is State.CONFIRMED


def test_declared_absent_holds_until_it_is_seen_and_can_be_undone(memory: SpatialMemory) -> None:
    commit = memory.declare_absent(1, 'I took it', 'anna')
    it = memory.object(1)
    assert only(commit) == 'CORRECTED' and it.state is State.ABSENT
    assert it.presence(memory.newest_stamp_ns) < 0.01
    memory.undo(commit.seq)
    it = memory.object(1)
    assert it.state is State.CONFIRMED and it.presence(memory.newest_stamp_ns) > 0.9
    memory.declare_absent(1)
    memory.observe(look(1030, [cup(), cupboard()], None))
    assert memory.object(1).state is State.CONFIRMED


def test_declared_absent_takes_back_what_was_stated(memory: SpatialMemory) -> None:
    number = memory.state_object('extinguisher', (1.0, 1.0, 1.0)).changes[0].object_id or 0
    commit = memory.declare_absent(number)
    assert not memory.object(number).stated and memory.object(number).presence(0) < 0.01
    memory.undo(commit.seq)
    assert memory.object(number).stated and memory.object(number).state is State.CONFIRMED


def test_acts_about_what_is_not_there_are_refused(memory: SpatialMemory) -> None:
    seq = memory.seq
    memory.forget(2)
    for number, error in ((99, UnknownObjectError), (0, UnknownObjectError), (2, ObjectEndedError)):
        for call in (
            lambda i: memory.picked(i), lambda i: memory.placed(i, CUP), memory.opened,
            memory.not_found, lambda i: memory.put_inside(1, i), memory.declare_absent,
        ):  # fmt: skip
            with pytest.raises(error, match=str(number)):
                call(number)
    assert memory.seq == seq + 1, 'nothing was written'


def test_malformed_acts_are_refused(memory: SpatialMemory) -> None:
    memory.observe(look(1010, [seen('mug', (1.0, 1.0, 0.5)), seen('mug', (1.0, -1.0, 0.5))], None))
    memory.merge_objects(3, 4)
    with pytest.raises(ObjectEndedError, match='merged into object 3'):
        memory.picked(4)
    with pytest.raises(InvalidValueError, match='got object 1 twice'):
        memory.put_inside(1, 1)
    memory.put_inside(1, 2)
    with pytest.raises(InvalidValueError, match='object 1, which is inside object 2'):
        memory.put_inside(2, 1)
    memory.picked(1)
    with pytest.raises(InvalidValueError, match='is held'):
        memory.not_found(1)
    with pytest.raises(InvalidValueError, match='center_m'):
        memory.placed(1, (0.0, float('nan'), 0.0))
    with pytest.raises(InvalidValueError, match='stamp_ns: got -1'):
        memory.picked(1, stamp_ns=-1)


def test_what_is_inside_goes_on_with_what_a_container_becomes(memory: SpatialMemory) -> None:
    memory.state_object('cupboard', CUPBOARD, (0.6, 0.6, 0.7))
    memory.put_inside(1, 2)
    memory.merge_objects(3, 2)
    empty_looks(memory, 1010)
    assert memory.object(1).state is State.CONFIRMED
    assert [r.object_id for r in memory.relate([1], 'inside')] == [3]
    memory.forget(3)
    empty_looks(memory, 1030)
    assert memory.object(1).state is not State.CONFIRMED, 'what has ended holds nothing'


def test_a_purged_container_leaves_nothing_in_the_line_of_what_was_put_there(
    memory: SpatialMemory,
) -> None:
    line = memory.put_inside(1, 2).changes[0].seq
    memory.purge(object_id=2)
    (kept,) = [c for c in memory.changes() if c.seq == line]
    assert kept.after == {} and memory.relate([1], 'inside') == []


def test_acts_need_no_view() -> None:
    with SpatialMemory.open(':memory:') as memory:
        number = memory.state_object('extinguisher', (1.0, 1.0, 1.0)).changes[0].object_id or 0
        memory.picked(number)
        memory.placed(number, (2.0, 1.0, 1.0), stamp_ns=5 * SECOND)
        memory.not_found(number, stamp_ns=20 * SECOND)
        it = memory.object(number)
        assert it.state is State.DOUBTFUL and not it.stated
        assert memory.check() == []
        before = memory.snapshot_hash()
        memory.rebuild()
        assert memory.snapshot_hash() == before


def test_a_config_that_changes_between_views_does_not_change_what_was_reported() -> None:
    with SpatialMemory.open(':memory:', Config(not_found_if_there=0.3)) as memory:
        memory.observe(look(1000, [cup()], None))
        memory.not_found(1, stamp_ns=1010 * SECOND)
        memory.configure(Config(not_found_if_there=0.001, absent_presence=0.9))
        memory.not_found(1, stamp_ns=1020 * SECOND)
        assert memory.check() == []
