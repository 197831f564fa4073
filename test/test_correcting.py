# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""A person's corrections hold, beside the evidence, and can be undone (CH-V5, CH-W3, CH-30)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from views import seen, view

from memory_node import Config, Query, SpatialMemory
from memory_node.config import CHRONOTOPE
from memory_node.errors import (
    InvalidValueError,
    ObjectEndedError,
    StoreError,
    UnknownObjectError,
)
from memory_node.fusion.presence import BIRTH_ODDS
from memory_node.model import Aspect, ChangeKind, State
from memory_node.store.repair import repair

FEATURE = (1.0, 0.0, 0.0, 0.0)


@pytest.fixture
def memory() -> Iterator[SpatialMemory]:
    with SpatialMemory.open(':memory:') as opened:
        yield opened
        assert opened.check() == []
        hash_before = opened.snapshot_hash()
        opened.rebuild()
        assert opened.snapshot_hash() == hash_before


def show(
    memory: SpatialMemory, second: float, *things: tuple[str, float], **more: Any
) -> list[int]:
    """One view of 10 cm things on a line; returns their objects."""
    found = [seen(label, (x, 0.0, 1.0), **more) for label, x in things]
    verdicts = memory.observe(view(1000 + second, *found)).verdicts
    return [int(v.object_id or 0) for v in verdicts]


# -- label -------------------------------------------------------------------------------------


def test_ch_v5_a_relabel_survives_contrary_sightings(memory: SpatialMemory) -> None:
    (number,) = show(memory, 0, ('vase', 0.0))
    commit = memory.correct_label(number, 'urn', 'it holds ashes', 'Ada')
    for second in range(2, 40, 2):
        assert show(memory, second, ('vase', 0.0)) == [number]
    found = memory.object(number)
    assert found.label == 'urn'
    assert found.labels['vase'] == pytest.approx(20 * 0.8)  # the evidence goes on counting
    assert found.labels['urn'] == 0.0  # and what a person said is not taken for evidence
    assert not [c for c in memory.changes() if c.kind is ChangeKind.RELABELLED]
    (change,) = commit.changes
    assert (change.kind, change.actor, change.reason) == (
        ChangeKind.CORRECTED,
        'Ada',
        'it holds ashes',
    )
    assert change.before == {'label': 'vase'}
    assert change.after == {'correction': 'relabel', 'pins': {'label': 'urn'}}


def test_ch_w3_a_relabel_keeps_the_evidence_and_shows_the_conflict(memory: SpatialMemory) -> None:
    (number,) = show(memory, 0, ('vase', 0.0))
    show(memory, 2, ('vase', 0.0), ('cup', 3.0))
    memory.correct_label(number, 'urn', 'it holds ashes', 'Ada')
    (hit,) = memory.query(Query(text='urn'))
    pin = hit.object.pins[Aspect.LABEL]
    assert (pin.value, pin.evidence, pin.conflict) == ('urn', 'vase', True)
    assert hit.object.conflicts == (Aspect.LABEL,)
    text = ' '.join(memory.explain(number).text)
    assert "label is pinned to 'urn' by Ada in line" in text
    assert "the evidence says 'vase'" in text
    other = memory.query(Query(text='cup'))[0].object
    assert (other.pins, other.conflicts) == ({}, ())


def test_evidence_that_agrees_is_no_conflict(memory: SpatialMemory) -> None:
    (number,) = show(memory, 0, ('vase', 0.0))
    memory.correct_label(number, 'urn')
    show(memory, 2, ('urn', 0.0))
    assert memory.object(number).conflicts == ()  # as much speaks for each
    show(memory, 4, ('vase', 0.0))
    assert memory.object(number).conflicts == (Aspect.LABEL,)
    show(memory, 6, ('urn', 0.0))
    show(memory, 8, ('urn', 0.0))
    assert memory.object(number).conflicts == ()
    assert memory.object(number).observations == 5  # the new label finds it too


def test_a_new_label_is_found_by_its_number_after_reopening(tmp_path: Path) -> None:
    path = str(tmp_path / 'memory.db')
    with SpatialMemory.open(path) as memory:
        (number,) = show(memory, 0, ('vase', 0.0))
        memory.correct_label(number, 'urn')
        show(memory, 2, ('bowl', 4.0))
    with SpatialMemory.open(path) as memory:
        assert memory.check() == []
        assert memory.object(number).label == 'urn'
        assert memory.object(number).pins[Aspect.LABEL].value == 'urn'
        show(memory, 4, ('vase', 0.0))
        assert memory.object(number).label == 'urn'
        assert memory.check() == []


def test_the_pinned_label_has_a_slot_among_many(memory: SpatialMemory) -> None:
    others = {'a': 0.5, 'b': 0.4, 'c': 0.3, 'd': 0.2, 'e': 0.1}
    found = seen('vase', (0.0, 0.0, 1.0), alternatives=others)
    number = memory.observe(view(1000, found)).verdicts[0].object_id
    assert number is not None
    before = memory.object(number).labels
    memory.correct_label(number, 'urn')
    labels = memory.object(number).labels
    assert {**before, 'urn': 0.0} == dict(labels)
    assert show(memory, 2, ('urn', 0.0)) == [number]


# -- pose and size -----------------------------------------------------------------------------


def test_ch_30_moving_keeps_the_id_and_the_extent(memory: SpatialMemory) -> None:
    (number,) = show(memory, 0, ('vase', 0.0))
    memory.correct_pose(number, (2.0, 0.0, 1.0), reason='put there', actor='Ada')
    found = memory.object(number)
    assert (found.center_m, found.size_m) == ((2.0, 0.0, 1.0), (0.1, 0.1, 0.2))
    assert show(memory, 2, ('vase', 2.0)) == [number]  # it is found where it was put
    assert show(memory, 4, ('vase', 0.0)) != [number]
    assert [v.center_m[0] for v in memory.versions(number)][:2] == [0.0, 2.0]


def test_a_pinned_pose_is_not_moved_by_sightings_but_shows_the_conflict(
    memory: SpatialMemory,
) -> None:
    memory.configure(Config(version_distance_m=0.03))
    (number,) = show(memory, 0, ('vase', 0.0))
    memory.pin(number, ['pose', 'size'])
    assert memory.object(number).conflicts == ()
    for second in range(2, 22, 2):
        assert show(memory, second, ('vase', 0.04), size_m=(0.14, 0.1, 0.2)) == [number]
    found = memory.object(number)
    assert (found.center_m, found.size_m) == ((0.0, 0.0, 1.0), (0.1, 0.1, 0.2))
    pin = found.pins[Aspect.POSE]
    assert pin.sightings == 10
    assert pin.evidence == pytest.approx((0.04, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0))
    assert found.pins[Aspect.SIZE].evidence == pytest.approx((0.14, 0.1, 0.2))
    assert found.conflicts == (Aspect.POSE, Aspect.SIZE)
    memory.unpin(number, ['size'])
    assert memory.object(number).size_m == pytest.approx((0.14, 0.1, 0.2))
    assert memory.object(number).center_m == (0.0, 0.0, 1.0)


def test_a_doubtful_or_late_sighting_says_nothing_beside_a_pinned_pose(
    memory: SpatialMemory,
) -> None:
    (number,) = show(memory, 10, ('vase', 0.0))
    memory.pin(number, ['pose'])
    show(memory, 12, ('vase', 0.01), score=0.1)
    show(memory, 4, ('vase', 0.01))
    assert memory.object(number).pins[Aspect.POSE].sightings == 0
    assert memory.object(number).pins[Aspect.POSE].evidence is None


def test_resize(memory: SpatialMemory) -> None:
    (number,) = show(memory, 0, ('vase', 0.0))
    memory.correct_size(number, (0.2, 0.2, 0.4))
    show(memory, 2, ('vase', 0.0))
    assert memory.object(number).size_m == (0.2, 0.2, 0.4)


def test_profile_chronotope_keeps_a_box_that_a_person_gave() -> None:
    with SpatialMemory.open(':memory:', Config(profile=CHRONOTOPE)) as memory:
        thing = seen('vase', (0.0, 0.0, 1.0), feature=FEATURE)
        number = memory.observe(view(1000, thing)).verdicts[0].object_id
        assert number is not None
        memory.correct_pose(number, (0.05, 0.0, 1.0))
        memory.correct_label(number, 'urn')
        for second in (2, 4, 6):
            thing = seen('vase', (0.0, 0.0, 1.0), feature=FEATURE, size_m=(0.3, 0.3, 0.3))
            assert memory.observe(view(1000 + second, thing)).verdicts[0].object_id == number
        found = memory.object(number)
        assert (found.center_m, found.label) == ((0.05, 0.0, 1.0), 'urn')
        assert found.size_m == (0.1, 0.1, 0.2)
        assert memory.check() == []


# -- confirm, state ----------------------------------------------------------------------------


def test_ch_30_confirm_sets_state_and_confidence(memory: SpatialMemory) -> None:
    (number,) = show(memory, 0, ('vase', 0.0))
    assert memory.object(number).state is State.TENTATIVE
    commit = memory.confirm(number, 0.95, 'I see it', 'Ada')
    found = memory.object(number)
    assert (found.state, found.confidence) == (State.CONFIRMED, 0.95)
    assert commit.changes[0].before == {'state': 'tentative', 'confidence': 0.8, 'odds': BIRTH_ODDS}
    memory.undo(commit.seq)
    assert memory.object(number).state is State.TENTATIVE
    assert memory.object(number).confidence == 0.8


@pytest.mark.parametrize('confidence', [-0.1, 1.1, float('nan'), True, 'much'])
def test_ch_30_a_confidence_outside_0_to_1_is_refused(
    memory: SpatialMemory, confidence: Any
) -> None:
    (number,) = show(memory, 0, ('vase', 0.0))
    with pytest.raises(InvalidValueError, match=r'confidence: got .*, expected 0 to 1'):
        memory.confirm(number, confidence)


def test_ch_w5_a_person_states_what_nobody_has_seen(tmp_path: Path) -> None:
    path = str(tmp_path / 'memory.db')
    with SpatialMemory.open(path) as memory:
        commit = memory.state_object(
            'fire extinguisher', (3.0, 0.0, 1.0), (0.2, 0.2, 0.5), reason='on the plan', actor='Ada'
        )
        (change,) = commit.changes
        assert (change.kind, change.actor, change.reason) == (
            ChangeKind.CREATED,
            'Ada',
            'on the plan',
        )
        assert change.object is not None
        show(memory, 0, ('vase', 0.0))
    with SpatialMemory.open(path) as memory:
        found = memory.query(Query(text='fire extinguisher'))[0].object
        assert found.id == change.object_id
        assert (found.stated, found.state) == (True, State.CONFIRMED)
        assert (found.observations, memory.history(found.id)) == (0, [])
        assert show(memory, 2, ('fire extinguisher', 3.02), size_m=(0.2, 0.2, 0.5)) == [found.id]
        found = memory.object(found.id)
        assert (found.stated, found.observations) == (True, 1)
        assert found.center_m == (3.0, 0.0, 1.0)
        assert memory.check() == []
        hash_before = memory.snapshot_hash()
        memory.rebuild()
        assert memory.snapshot_hash() == hash_before


def test_stating_an_object_is_undone(memory: SpatialMemory) -> None:
    first = memory.state_object('sink', (0.0, 0.0, 1.0), (0.1, 0.1, 0.2))
    second = memory.state_object('tap', (3.0, 0.0, 1.0), (0.1, 0.1, 0.2))
    (tap,) = show(memory, 0, ('tap', 3.0))
    memory.undo(first.seq)
    assert memory.object(first.changes[0].object_id or 0).state is State.FORGOTTEN
    (sink,) = show(memory, 2, ('sink', 0.0))  # what was not forgotten by anybody is not barred
    assert sink != first.changes[0].object_id
    memory.undo(second.seq)
    assert memory.object(tap).stated is False  # it was seen, so it goes on
    with pytest.raises(InvalidValueError, match='undone'):
        memory.undo(second.seq)


def test_ch_w11_a_stated_object_and_one_that_was_seen_can_be_told_apart(
    memory: SpatialMemory,
) -> None:
    """«Last seen» is no answer for what nobody has seen: the object says that it was stated."""
    number = memory.state_object('sink', (0.0, 0.0, 1.0)).changes[0].object_id or 0
    (vase,) = show(memory, 0, ('vase', 3.0))
    assert [(o.id, o.stated, o.observations) for o in memory.objects()] == [
        (number, True, 0),
        (vase, False, 1),
    ]


# -- pins and undo -----------------------------------------------------------------------------


def test_unpin_lets_the_evidence_count_again(memory: SpatialMemory) -> None:
    (number,) = show(memory, 0, ('vase', 0.0))
    memory.correct_label(number, 'urn')
    show(memory, 2, ('vase', 0.0))
    commit = memory.unpin(number, ['label'], 'it is a vase after all', 'Ada')
    assert memory.object(number).label == 'vase'
    assert memory.object(number).pins == {}
    memory.undo(commit.seq)
    assert memory.object(number).label == 'urn'
    assert memory.object(number).pins[Aspect.LABEL].value == 'urn'


def test_a_correction_is_undone_exactly_once(memory: SpatialMemory) -> None:
    (number,) = show(memory, 0, ('vase', 0.0))
    first = memory.correct_label(number, 'urn')
    second = memory.correct_label(number, 'pot')
    with pytest.raises(InvalidValueError, match=f'followed by line {second.seq}'):
        memory.undo(first.seq)
    undone = memory.undo(second.seq, 'no pot', 'Ada')
    assert memory.object(number).label == 'urn'
    assert memory.object(number).pins[Aspect.LABEL].seq == first.seq
    with pytest.raises(InvalidValueError, match=f'undone by line {undone.seq}'):
        memory.undo(second.seq)
    with pytest.raises(InvalidValueError, match='is an undo'):
        memory.undo(undone.seq)
    memory.undo(first.seq)
    assert memory.object(number).label == 'vase'
    assert memory.object(number).pins == {}


def test_undoing_a_move_believes_what_was_seen_since(memory: SpatialMemory) -> None:
    (number,) = show(memory, 0, ('vase', 0.0))
    unseen = memory.correct_pose(number, (5.0, 0.0, 1.0))
    memory.undo(unseen.seq)
    assert memory.object(number).center_m == (0.0, 0.0, 1.0)
    commit = memory.correct_pose(number, (5.0, 0.0, 1.0))
    show(memory, 2, ('vase', 5.02))
    memory.undo(commit.seq)
    assert memory.object(number).center_m == pytest.approx((5.02, 0.0, 1.0))


def test_undo_brings_back_what_was_forgotten(memory: SpatialMemory) -> None:
    (number,) = show(memory, 0, ('vase', 0.0))
    memory.correct_label(number, 'urn')
    commit = memory.forget(number)
    memory.undo(commit.seq)
    found = memory.object(number)
    assert (found.state, found.label, found.pins[Aspect.LABEL].value) == (
        State.CONFIRMED,
        'urn',
        'urn',
    )
    show(memory, 2, ('vase', 0.0))
    assert memory.object(number).label == 'urn'


def test_an_undo_does_not_unpin_what_was_said_of_a_merged_object(memory: SpatialMemory) -> None:
    one, other = show(memory, 0, ('vase', 0.0), ('vase', 4.0))
    memory.correct_label(other, 'urn')
    merged = memory.merge_objects(one, other)
    assert memory.object(one).label == 'urn'  # its word holds of what it became
    commit = memory.correct_label(one, 'pot')
    memory.undo(commit.seq)
    assert memory.object(one).label == 'urn'
    show(memory, 2, ('vase', memory.object(one).center_m[0]))
    memory.undo(merged.first_seq)
    assert (memory.object(one).label, memory.object(one).pins) == ('vase', {})
    assert memory.object(other).label == 'urn'
    assert memory.object(other).pins[Aspect.LABEL].value == 'urn'


def test_a_split_leaves_the_pins_with_the_id(memory: SpatialMemory) -> None:
    one, other = show(memory, 0, ('vase', 0.0), ('vase', 4.0))
    show(memory, 2, ('vase', 0.0), ('vase', 4.0))
    memory.merge_objects(one, other)
    memory.correct_label(one, 'urn')
    commit = memory.split(one)
    assert memory.object(one).label == 'urn'
    new = memory.object(commit.changes[1].object_id or 0)
    assert (new.label, new.pins) == ('vase', {})


def test_consolidate_respects_that_two_were_called_differently(memory: SpatialMemory) -> None:
    config = memory.config
    (one,) = show(memory, 0, ('mug', 0.0))
    memory.configure(Config(merge_score=1.0))
    (other,) = show(memory, 4, ('mug', 0.04))
    memory.configure(config)
    memory.correct_label(one, "Ada's mug")
    memory.correct_label(other, "Bob's mug")
    assert memory.consolidate().merges == ()


@pytest.mark.parametrize('then', ['correct', 'state', 'merge', 'restore', 'view', 'undo'])
def test_a_change_tells_the_object_with_its_pins(memory: SpatialMemory, then: str) -> None:
    (one,) = show(memory, 0, ('vase', 0.0))
    (other,) = show(memory, 2, ('vase', 4.0))
    commit = memory.correct_label(other, 'urn')
    if then == 'state':
        commit = memory.state_object('sink', (8.0, 0.0, 1.0))
    elif then == 'merge':
        commit = memory.merge_objects(one, other)
    elif then == 'restore':
        memory.forget(other)
        commit = memory.restore(other)
    elif then == 'view':
        commit = memory.observe(view(1010, seen('vase', (4.0, 0.0, 1.0))))
    elif then == 'undo':
        commit = memory.undo(commit.seq)
    told = commit.changes[-1].object
    assert told == memory.object(told.id if told else 0)
    assert bool(told and told.pins) == (then != 'undo')


# -- what is refused ---------------------------------------------------------------------------


def test_bad_values_are_refused_and_nothing_is_written(memory: SpatialMemory) -> None:
    (number,) = show(memory, 0, ('vase', 0.0))
    seq = memory.seq
    for call, words in (
        (lambda: memory.correct_label(number, ''), 'label: got'),
        (lambda: memory.correct_pose(number, (0, 0)), 'center_m: got'),
        (lambda: memory.correct_pose(number, (0, 0, float('inf'))), 'center_m: got'),
        (lambda: memory.correct_pose(number, (0, 0, 0), (0, 0, 0, 0)), 'norm 1'),
        (lambda: memory.correct_size(number, (0.1, 0.0, 0.1)), 'size_m: got'),
        (lambda: memory.state_object('', (0, 0, 0)), 'label: got'),
        (lambda: memory.state_object('sink', (0, 0, 0), (-1, 1, 1)), 'size_m: got'),
        (lambda: memory.pin(number, ['colour']), "got \\['colour'\\], expected some of label"),
        (lambda: memory.pin(number, []), 'aspects: got'),
        (lambda: memory.unpin(number, ['label']), 'is not pinned'),
        (lambda: memory.undo(0), 'expected a log line'),
        (lambda: memory.undo(1), 'of kind VIEW'),
        (lambda: memory.confirm(number, actor='perception'), 'actor: got perception'),
        (lambda: memory.forget(number, until_ns=memory.newest_stamp_ns), 'until_ns: got'),
    ):
        with pytest.raises(InvalidValueError, match=words):
            call()
    with pytest.raises(UnknownObjectError):
        memory.correct_label(99, 'urn')
    memory.forget(number)
    with pytest.raises(ObjectEndedError):
        memory.correct_label(number, 'urn')
    assert memory.seq == seq + 1


def test_a_failed_commit_leaves_no_label_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(tmp_path / 'memory.db')
    with SpatialMemory.open(path) as memory:
        (number,) = show(memory, 0, ('vase', 0.0))
        with monkeypatch.context() as patch:
            patch.setattr('memory_node.store.pins._PUT', 'INSERT INTO nowhere VALUES (?)')
            with pytest.raises(StoreError):
                memory.correct_label(number, 'urn')
        assert memory.object(number).label == 'vase'
        show(memory, 2, ('bowl', 3.0))
        assert memory.check() == []


# -- forget for a time -------------------------------------------------------------------------


def test_c04_forget_works_at_run_time_and_for_a_time(memory: SpatialMemory) -> None:
    mug, bowl = show(memory, 0, ('mug', 0.0), ('bowl', 3.0))
    memory.forget(mug, 'away for now', until_ns=1010 * 10**9)
    memory.forget(bowl, 'for ever')
    assert memory.objects() == []
    assert show(memory, 9, ('mug', 0.0), ('bowl', 3.0)) == [0, 0]
    seq = memory.seq
    assert memory.object(mug).state is State.FORGOTTEN
    assert memory.seq == seq  # that time passes writes nothing (promise 9)
    new, barred = show(memory, 10, ('mug', 0.0), ('bowl', 3.0))
    assert barred == 0
    assert new not in (0, mug)
    assert memory.object(mug).state is State.FORGOTTEN


def test_forgetting_for_a_time_holds_after_reopening_and_repair(tmp_path: Path) -> None:
    path = str(tmp_path / 'memory.db')
    with SpatialMemory.open(path) as memory:
        (mug,) = show(memory, 0, ('mug', 0.0))
        memory.correct_label(mug, 'cup')
        memory.forget(mug, until_ns=1010 * 10**9)
    saved = repair(path, str(tmp_path / 'saved.db'))
    assert not saved.stopped
    for file in (path, str(tmp_path / 'saved.db')):
        with SpatialMemory.open(file) as memory:
            assert show(memory, 5, ('cup', 0.0)) == [0]
            assert show(memory, 11, ('cup', 0.0)) == [mug + 1]
            assert memory.check() == []
