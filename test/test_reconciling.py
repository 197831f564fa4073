# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Identity over time: split (CH-27), consolidate (CH-28), undo; ids live for ever (promise 5).

In CH-47's style each test holds what must stay out beside what must be found.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import numpy as np
import pytest
from views import SECOND, observe_all, seen, stream, view

from memory_node import Config, Query, SpatialMemory
from memory_node.errors import (
    InvalidValueError,
    ObjectEndedError,
    StoreError,
    UnknownObjectError,
)
from memory_node.model import ChangeKind, State
from memory_node.store import identity as stored
from memory_node.store.repair import repair

TABLES = ('object', 'object_feature', 'property', 'stated_relation', 'redirect')


@pytest.fixture
def memory() -> Iterator[SpatialMemory]:
    with SpatialMemory.open(':memory:') as opened:
        yield opened
        assert opened.check() == []


def show(memory: SpatialMemory, second: float, *things: tuple[str, float]) -> list[int]:
    """One view of 10 cm things on a line; returns their objects."""
    found = [seen(label, (x, 0.0, 1.0)) for label, x in things]
    verdicts = memory.observe(view(1000 + second, *found)).verdicts
    return [int(v.object_id or 0) for v in verdicts]


def two(memory: SpatialMemory) -> tuple[int, int]:
    """Two mugs 4 cm apart: the second was seen as a thing of its own, never with the first."""
    config = memory.config
    (one,) = show(memory, 0, ('mug', 0.0))
    show(memory, 2, ('mug', 0.0))
    memory.configure(Config(merge_score=1.0))
    (other,) = show(memory, 4, ('mug', 0.04))
    memory.configure(config)
    assert one != other
    return one, other


def rows(memory: SpatialMemory) -> dict[str, list[Any]]:
    """What is stored of objects, but for their versions."""
    found = {t: memory._database.rows(f'SELECT * FROM {t} ORDER BY 1, 2') for t in TABLES}
    found['object'] = [row[:25] + row[27:] for row in found['object']]
    return found


def ids(memory: SpatialMemory) -> list[int]:
    return [o.id for o in memory.objects()]


# -- merge -------------------------------------------------------------------------------------


def test_ch_28_a_merge_weighs_by_sightings_and_adds_evidence(memory: SpatialMemory) -> None:
    one, other = two(memory)
    before, gone = memory.object(one), memory.object(other)
    commit = memory.merge_objects(one, other, 'it is the same mug', 'Ada')
    assert [(c.kind, c.object_id) for c in commit.changes] == [
        (ChangeKind.MERGED, other),
        (ChangeKind.UPDATED, one),
    ]
    assert [c.object.state for c in commit.changes if c.object] == [State.MERGED, State.CONFIRMED]
    now = memory.object(one)
    assert now.observations == before.observations + gone.observations == 3
    assert now.center_m[0] == pytest.approx(0.04 / 3)
    assert now.labels == {'mug': pytest.approx(2.4)}
    assert now.confidence == pytest.approx(1 - (1 - before.confidence) * (1 - gone.confidence))
    assert (now.first_seen_ns, now.last_seen_ns) == (before.first_seen_ns, gone.last_seen_ns)
    assert ids(memory) == [one]
    line = memory.changes(object_id=other)[-1]
    assert (line.actor, line.reason) == ('Ada', 'it is the same mug')
    assert line.before['state'] == 'tentative' and line.after['into'] == one
    was = memory.changes(object_id=one)[-1].before
    assert was['observations'] == 2 and was['center_m'] == [0.0, 0.0, 1.0]


def test_promise_5_an_old_id_always_resolves_and_says_so(memory: SpatialMemory) -> None:
    one, other = two(memory)
    memory.merge_objects(one, other)
    (third,) = show(memory, 6, ('mug', 5.0))
    memory.merge_objects(third, one)
    assert [memory.object(i).id for i in (one, other, third)] == [third] * 3
    assert memory.history(other) == memory.history(third)
    assert [o.object_id for o in memory.history(third)] == [one, one, other, third]
    assert memory.explain(other).text[0] == f'Object {other} was merged into object {third}.'
    assert f'object {other} went into object {one}' in ' '.join(memory.explain(other).text)
    assert [o.id for o in memory.page(ids=[other])] == [third]
    assert [h.object.id for h in memory.query(Query(text='mug'))] == [third]
    observation = memory.history(other)[0].id
    assert f'of object {third}' in ' '.join(memory.explain(observation_id=observation).text)
    (fresh,) = show(memory, 8, ('lamp', 9.0))
    assert fresh == third + 1, 'ids are never given again'
    assert [v.state for v in memory.versions(other)][-1] is State.MERGED


def test_ch_v5_consolidate_carries_over_properties_and_stated_relations(
    memory: SpatialMemory,
) -> None:
    one, other = two(memory)
    (table, lamp) = show(memory, 6, ('table', 3.0), ('lamp', 5.0))
    memory.set_property(one, 'colour', 'red')
    memory.set_property(other, 'colour', 'blue')
    memory.set_property(other, 'owner', 'Ada')
    memory.set_property(lamp, 'owner', 'Bob')
    memory.state_relation(other, 'belongs_on', table)
    memory.state_relation(table, 'holds', other)
    memory.state_relation(other, 'twin_of', one)
    memory.state_relation(lamp, 'lights', table)
    (merge,) = memory.consolidate().merges
    assert (merge.kept_id, merge.other_id) == (one, other)
    assert memory.properties(one) == {'colour': 'red', 'owner': 'Ada'} == memory.properties(other)
    assert memory.changes(object_id=other)[-1].before['properties'] == {'colour': 'blue'}
    stated = {(r.subject_id, r.kind, r.object_id) for r in memory.relations(one) if r.stated}
    assert stated == {(one, 'belongs_on', table), (table, 'holds', one)}
    assert [r.kind for r in memory.relate([other], 'belongs_on')] == ['belongs_on']
    memory.state_relation(one, 'belongs_on', table, holds=False)
    stated = {(r.subject_id, r.kind, r.object_id) for r in memory.relations(table) if r.stated}
    assert stated == {(table, 'holds', one), (lamp, 'lights', table)}
    page = memory.page(relations=True)
    assert {(r.subject_id, r.kind) for r in page.stated} == {(table, 'holds'), (lamp, 'lights')}
    memory.undo(merge.seq)
    assert memory.properties(other) == {'colour': 'blue', 'owner': 'Ada'}
    assert memory.properties(one) == {'colour': 'red'}


def test_a_merge_refuses_what_it_cannot_do(memory: SpatialMemory) -> None:
    one, other = two(memory)
    (gone,) = show(memory, 6, ('lamp', 5.0))
    elsewhere = memory.observe(view(1008, seen('mug'), map_id='B')).verdicts[0].object_id or 0
    memory.forget(gone)
    seq = memory.seq
    with pytest.raises(InvalidValueError, match='twice'):
        memory.merge_objects(one, one)
    with pytest.raises(UnknownObjectError, match='99'):
        memory.merge_objects(one, 99)
    with pytest.raises(ObjectEndedError, match='forgotten'):
        memory.merge_objects(one, gone)
    with pytest.raises(InvalidValueError, match='different maps'):
        memory.merge_objects(one, elsewhere)
    with pytest.raises(InvalidValueError, match='perception'):
        memory.merge_objects(one, other, actor='perception')
    assert memory.seq == seq
    memory.merge_objects(one, other)
    for call in (
        lambda: memory.merge_objects(one, other),
        lambda: memory.forget(other),
        lambda: memory.split(other),
        lambda: memory.set_property(other, 'a', 1),
        lambda: memory.state_relation(other, 'on', elsewhere),
    ):
        with pytest.raises(ObjectEndedError, match=f'merged into object {one}'):
            call()
    with pytest.raises(InvalidValueError, match='expected one that was forgotten'):
        memory.restore(other)
    with pytest.raises(InvalidValueError, match='states'):
        memory.query(Query(states=['merged']))


def test_a_merge_that_cannot_be_written_changes_nothing(
    memory: SpatialMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = two(memory)
    before, seq = rows(memory), memory.seq

    def full(*args: object) -> None:
        raise apsw.FullError('database or disk is full')

    with monkeypatch.context() as patch:
        patch.setattr(stored, '_put_past', full)
        with pytest.raises(StoreError, match='full'):
            memory.merge_objects(one, other)
    assert (rows(memory), memory.seq, ids(memory)) == (before, seq, [one, other])
    assert memory.check() == []


# -- undo --------------------------------------------------------------------------------------


def test_promise_5_a_merge_is_undone_exactly(memory: SpatialMemory) -> None:
    one, other = two(memory)
    memory.set_property(other, 'owner', 'Ada')
    before = rows(memory)
    commit = memory.merge_objects(one, other)
    undone = memory.undo(commit.first_seq, 'they are two', 'Ada')
    assert [(c.kind, c.object_id) for c in undone.changes] == [
        (ChangeKind.RESTORED, other),
        (ChangeKind.UPDATED, one),
    ]
    assert rows(memory) == before
    assert memory.changes(since_seq=undone.first_seq - 1)[0].reason == 'they are two'
    assert memory.consolidate().merges == (), 'what somebody told apart stays apart'
    memory.merge_objects(one, other)
    assert ids(memory) == [one], 'but for one who says so'


def test_what_was_seen_since_a_merge_stays_with_what_holds_it(memory: SpatialMemory) -> None:
    one, other = two(memory)
    seq = memory.merge_objects(one, other).seq  # its second line is as good as its first
    assert show(memory, 10, ('mug', 0.03)) == [one]
    place = memory.object(one).center_m
    memory.undo(seq)
    now, back = memory.object(one), memory.object(other)
    assert (now.observations, back.observations) == (3, 1)
    assert now.center_m == place and back.center_m[0] == pytest.approx(0.04)
    assert now.labels == {'mug': pytest.approx(2.4)} and back.labels == {'mug': 0.8}
    assert now.last_seen_ns == 1010 * SECOND and back.last_seen_ns == 1004 * SECOND
    assert [o.object_id for o in memory.history(one)] == [one] * 3


def test_merges_are_undone_in_any_order(memory: SpatialMemory) -> None:
    numbers = [show(memory, 2 * k, ('mug', 3.0 * k))[0] for k in range(3)]
    before = rows(memory)
    first = memory.merge_objects(numbers[0], numbers[1]).first_seq
    second = memory.merge_objects(numbers[0], numbers[2]).first_seq
    memory.undo(first)
    assert memory.object(numbers[0]).observations == 2
    memory.undo(second)
    assert ids(memory) == numbers
    assert [memory.object(i).labels for i in numbers] == [{'mug': pytest.approx(0.8)}] * 3
    assert [row[:4] for row in rows(memory)['redirect']] == before['redirect'] == []


def test_an_undo_refuses_what_contradicts_it(memory: SpatialMemory) -> None:
    one, other = two(memory)
    merge = memory.merge_objects(one, other).first_seq
    with pytest.raises(InvalidValueError, match='line 1 is of kind VIEW, expected a correction'):
        memory.undo(1)
    for wrong in (0, -1, True, 'x', 2**63):
        with pytest.raises(InvalidValueError, match='seq: got'):
            memory.undo(wrong)  # type: ignore[arg-type]
    undone = memory.undo(merge)
    with pytest.raises(InvalidValueError, match='is an undo'):
        memory.undo(undone.first_seq)
    with pytest.raises(InvalidValueError, match='is an undo'):
        memory.undo(undone.seq)
    with pytest.raises(InvalidValueError, match=f'undone by line {undone.first_seq}'):
        memory.undo(merge)
    merge = memory.merge_objects(one, other).first_seq
    memory.forget(one)
    with pytest.raises(ObjectEndedError, match='forgotten'):
        memory.undo(merge)
    memory.restore(one)
    (third,) = show(memory, 20, ('mug', 9.0))
    memory.merge_objects(third, one)
    with pytest.raises(ObjectEndedError, match=f'merged into object {third}'):
        memory.undo(merge)


# -- split -------------------------------------------------------------------------------------


def fused(memory: SpatialMemory, places: list[float], label: str = 'mug') -> int:
    """One object that was seen at all of these places: merged from one for each."""
    numbers = []
    for k, x in enumerate(places):
        config = memory.config
        memory.configure(Config(merge_score=1.0))
        numbers += show(memory, 3 * k, (label, x))
        memory.configure(config)
    for other in sorted({*numbers} - {numbers[0]}):
        memory.merge_objects(numbers[0], other)
    assert memory.object(numbers[0]).observations == len(places)
    return numbers[0]


def test_ch_27_an_object_seen_at_two_places_is_split(memory: SpatialMemory) -> None:
    number = fused(memory, [0.0, 2.0, 0.02, 2.02, 0.04])
    commit = memory.split(number, 'two mugs', 'Ada')
    new = commit.changes[1].object_id or 0
    assert [(c.kind, c.object_id) for c in commit.changes] == [
        (ChangeKind.SPLIT, number),
        (ChangeKind.CREATED, new),
    ]
    old_one, new_one = memory.object(number), memory.object(new)
    assert (old_one.observations, new_one.observations) == (3, 2)
    assert old_one.center_m[0] == pytest.approx(0.02) and new_one.center_m[0] == pytest.approx(2.01)
    assert new_one.first_seen_ns == 1003 * SECOND and new_one.last_seen_ns == 1009 * SECOND
    assert [o.center_m[0] for o in memory.history(new)] == [2.0, 2.02]
    assert [o.center_m[0] for o in memory.history(number)] == [0.0, 0.02, 0.04]
    assert memory.changes(object_id=number)[-1].after['observations'] == [2, 4]
    assert show(memory, 30, ('mug', 0.01), ('mug', 2.01)) == [number, new]


def test_ch_27_the_id_stays_with_the_group_seen_first_when_both_are_as_large(
    memory: SpatialMemory,
) -> None:
    number = fused(memory, [2.0, 0.0, 2.0, 0.0])
    memory.split(number)
    assert memory.object(number).center_m[0] == 2.0


def test_ch_27_second_boxes_go_where_the_first_ones_go(memory: SpatialMemory) -> None:
    number = fused(memory, [0.0, 2.0, 0.0])
    twin = [seen('mug', (2.0, 0.0, 1.0)), seen('mug', (2.001, 0.0, 1.0), score=0.5)]
    config = memory.config
    memory.configure(Config(merge_score=1.0))
    (other,) = {v.object_id for v in memory.observe(view(1020, *twin)).verdicts}
    memory.configure(config)
    memory.merge_objects(number, other or 0)
    assert memory.object(number).observations == 4 and len(memory.history(number)) == 5
    new = memory.split(number).changes[1].object_id or 0
    assert (memory.object(number).observations, memory.object(new).observations) == (2, 2)
    assert [len(memory.history(i)) for i in (number, new)] == [2, 3]


@pytest.mark.parametrize(
    'places', [[0.0, 2.0, 2.0], [0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 0.1, 0.1, 9.0], [0.0]]
)
def test_ch_27_what_is_not_two_groups_is_not_split(
    memory: SpatialMemory, places: list[float]
) -> None:
    number = fused(memory, places)
    seq = memory.seq
    with pytest.raises(InvalidValueError, match='do not form two groups'):
        memory.split(number)
    assert memory.seq == seq
    with pytest.raises(UnknownObjectError):
        memory.split(99)


def test_promise_5_a_split_is_undone_exactly(memory: SpatialMemory) -> None:
    number = fused(memory, [0.0, 2.0, 0.02, 2.02, 0.04])
    before = memory.object(number)
    commit = memory.split(number)
    new = commit.changes[1].object_id or 0
    undone = memory.undo(commit.first_seq)
    assert [(c.kind, c.object_id) for c in undone.changes] == [
        (ChangeKind.MERGED, new),
        (ChangeKind.UPDATED, number),
    ]
    assert memory.object(number) == before == memory.object(new)
    assert len(memory.history(number)) == 5
    memory.split(number)
    assert ids(memory) == [number, new + 1]


def test_a_split_bars_undoing_the_merge_before_it(memory: SpatialMemory) -> None:
    number = fused(memory, [0.0, 2.0, 0.02, 2.02, 0.04])
    merges = [c.seq for c in memory.changes() if c.kind is ChangeKind.MERGED]
    split = memory.split(number).first_seq
    with pytest.raises(InvalidValueError, match=f'undo line {split} first'):
        memory.undo(merges[0])
    memory.undo(split)
    memory.undo(merges[0])


def test_what_was_seen_since_a_split_is_part_of_what_is_one_again(memory: SpatialMemory) -> None:
    number = fused(memory, [0.0, 2.0, 0.02, 2.02])
    commit = memory.split(number)
    show(memory, 30, ('mug', 2.01))
    memory.undo(commit.first_seq)
    assert memory.object(number).observations == 5 == len(memory.history(number))


# -- consolidate -------------------------------------------------------------------------------


def test_ch_28_consolidate_merges_what_the_arbiter_would_have_joined(
    memory: SpatialMemory,
) -> None:
    one, other = two(memory)
    show(memory, 6, ('lamp', 0.03))
    show(memory, 8, ('mug', 1.5))
    report = memory.consolidate('Ada')
    (merge,) = report.merges
    assert (merge.kept_id, merge.other_id) == (one, other)
    assert merge.score >= 0.62 and set(merge.terms) == {'geometry', 'iou', 'label'}
    line = memory.changes(object_id=other)[-1]
    assert line.seq == merge.seq and line.actor == 'Ada'
    assert line.after['score'] == merge.score and line.after['terms'] == merge.terms
    assert 'scored' in ' '.join(memory.explain(one).text)
    again = memory.consolidate()
    assert again.merges == () and again.looked_at <= 2, 'only what has changed is looked at'
    assert memory.consolidate().looked_at == 0
    show(memory, 20, ('mug', 1.5))
    assert memory.consolidate().looked_at == 1


def test_ch_28_two_that_were_seen_in_one_view_are_two(memory: SpatialMemory) -> None:
    memory.configure(Config(merge_score=1.0))
    show(memory, 0, ('mug', 0.0), ('mug', 0.04))
    memory.configure(Config())
    report = memory.consolidate()
    assert report.merges == () and report.kept_apart == 1
    assert len(memory.objects()) == 2


def test_ch_28_consolidate_goes_on_until_there_is_nothing_left(memory: SpatialMemory) -> None:
    memory.configure(Config(merge_score=1.0))
    numbers = [show(memory, 3 * k, ('mug', 0.01 * k))[0] for k in range(6)]
    memory.configure(Config())
    assert len({*numbers}) == 6
    merges = memory.consolidate().merges
    assert len(merges) == 5 and ids(memory) == [numbers[0]]
    assert memory.object(numbers[0]).observations == 6
    for merge in merges:
        assert merge.kept_id < merge.other_id


def test_ch_28_a_split_is_not_consolidated_again(memory: SpatialMemory) -> None:
    number = fused(memory, [0.0, 1.1, 0.0, 1.1])
    memory.split(number)
    memory.configure(Config(merge_score=0.0, dilation_m=2.0))
    assert memory.consolidate().merges == ()


def test_maintain_splits_only_what_was_seen_in_turns(memory: SpatialMemory) -> None:
    moved_once = fused(memory, [0.0, 0.0, 2.0, 2.0], 'chair')
    in_turns = fused(memory, [10.0, 12.0, 10.0, 12.0], 'lamp')
    told: list[Any] = []
    splits, report = memory.maintain(on_commit=told.append)
    assert [c.changes[0].object_id for c in splits] == [in_turns]
    assert told == list(splits) and report.merges == ()
    assert memory.object(moved_once).observations == 4
    memory.maintain()
    assert len(memory.objects()) == 3


# -- the file ----------------------------------------------------------------------------------


def churn(memory: SpatialMemory, seed: int, count: int = 60) -> None:
    """A stream with merges, splits and undos in it, as they come."""
    random = np.random.default_rng(seed)
    for k, one in enumerate(stream(seed, count)):
        observe_all(memory, [one])
        if k % 7 == 6:
            memory.maintain()
        live = ids(memory)
        if k % 5 == 4 and len(live) > 3:
            pair = [int(i) for i in random.choice(live, 2, replace=False)]
            memory.merge_objects(*pair, reason='a try')
        if k % 9 == 8:
            for number in live:
                try:
                    memory.split(number)
                except (InvalidValueError, ObjectEndedError):
                    continue
        if k % 4 == 3:
            lines = [c.seq for c in memory.changes(max(0, memory.seq - 90))
                     if c.kind in (ChangeKind.MERGED, ChangeKind.SPLIT)]  # fmt: skip
            try:
                memory.undo(int(random.choice(lines or [1])))
            except (InvalidValueError, ObjectEndedError):
                continue


@pytest.mark.parametrize('profile', ['default', 'chronotope'])
@pytest.mark.parametrize('seed', [1, 2, 3])
def test_promise_2_the_log_gives_identities_exactly(
    tmp_path: Path, seed: int, profile: str
) -> None:
    path = str(tmp_path / 'memory.db')
    config = Config(profile=profile)
    with SpatialMemory.open(path, config) as memory:
        churn(memory, seed)
        kinds = {c.kind for c in memory.changes(limit=1000)}
        assert kinds >= {ChangeKind.MERGED, ChangeKind.SPLIT, ChangeKind.RESTORED}
        assert memory.check() == []
        before, known = memory.snapshot_hash(), memory.objects()
        redirects = memory._database.rows('SELECT * FROM redirect ORDER BY 1')
        assert redirects
        memory.rebuild()
        assert (memory.snapshot_hash(), memory.objects()) == (before, known)
    with SpatialMemory.open(path, config) as memory:
        assert memory.objects() == known
        for old, into, _ in redirects:
            assert memory.object(old) == memory.object(into)
        churned = [sum(o.observations for o in memory.objects())]
        assert churned == [sum(len(memory.history(i)) for i in ids(memory))]
        churn(memory, seed + 10, 20)
        assert memory.check() == []


def test_equal_streams_give_equal_identities(tmp_path: Path) -> None:
    hashes = set()
    for name in 'ab':
        with SpatialMemory.open(str(tmp_path / name)) as memory:
            churn(memory, 5)
            hashes.add(memory.snapshot_hash())
    assert len(hashes) == 1


def test_repair_saves_identities(tmp_path: Path) -> None:
    path = str(tmp_path / 'memory.db')
    with SpatialMemory.open(path) as memory:
        churn(memory, 2)
        before, last = memory.snapshot_hash(), memory.seq
    connection = apsw.Connection(path)
    connection.execute('PRAGMA foreign_keys = off; DELETE FROM redirect; UPDATE object SET x = 9')
    connection.close()
    with SpatialMemory.open(path) as memory:
        assert memory.check() != []
    saved = repair(path)
    assert saved.seq == last
    with SpatialMemory.open(path) as memory:
        assert memory.snapshot_hash() == before
        assert memory.check() == []


def test_a_log_that_lies_about_a_merge_is_found(tmp_path: Path) -> None:
    path = str(tmp_path / 'memory.db')
    with SpatialMemory.open(path) as memory:
        one, other = two(memory)
        memory.merge_objects(one, other)
    connection = apsw.Connection(path)
    connection.execute("UPDATE log SET after = json_set(after, '$.into', 7) WHERE kind = 'MERGED'")
    connection.close()
    with SpatialMemory.open(path) as memory:
        assert any('cannot be replayed' in line for line in memory.check())


def test_a_file_of_the_first_schema_is_brought_forward(tmp_path: Path) -> None:
    path = str(tmp_path / 'memory.db')
    with SpatialMemory.open(path) as memory:
        (mug,) = show(memory, 0, ('mug', 0.0))
    connection = apsw.Connection(path)
    for table in (
        'seal', 'pin', 'identity_change', 'attribution', 'redirect', 'region',
        'journal_file', 'journal_problem', 'note', 'note_op', 'note_entity', 'note_text',
        'late_record',
    ):  # fmt: skip
        connection.execute(f'DROP TABLE {table}')
    connection.execute('DROP INDEX view_merged')
    connection.execute('ALTER TABLE tombstone DROP COLUMN until_ns')
    for column in ('last_checked_ns', 'last_check', 'odds', 'odds_ns', 'misses'):
        connection.execute(f'ALTER TABLE object DROP COLUMN {column}')
    for column in (
        'labels', 'map_id', 'confidence', 'observations', 'first_seen_ns', 'last_seen_ns', 'odds',
        'odds_ns',
    ):  # fmt: skip
        connection.execute(f'ALTER TABLE object_version DROP COLUMN {column}')
    connection.execute('UPDATE object SET record = substr(record, 1, 318)')
    connection.pragma('user_version', 1)
    connection.close()
    with SpatialMemory.open(path) as memory:
        assert memory.check() == []
        assert len(memory.history(mug)) == 1
        assert memory.object(mug).presence(1000 * SECOND) > 0.9
        memory.forget(mug)
        [hit] = memory.query(Query(known_at=2, min_presence=0.9))
        assert (hit.object.id, hit.object.observations) == (mug, 1)


def test_ch_w10_consolidate_does_not_compare_all_with_all(tmp_path: Path) -> None:
    """Neighbours only: four times the objects take about four times the pairs, not sixteen."""
    import memory_node.fusion.identity as module

    counted: list[int] = []
    real = module.find_pairs

    def counting(*args: Any) -> Any:
        found = real(*args)
        counted.append(len(found))
        return found

    module.find_pairs = counting  # type: ignore[assignment]
    try:
        counts = []
        for side in (10, 20):
            with SpatialMemory.open(':memory:') as memory:
                grid = [(float(x), float(y)) for x in range(side) for y in range(side)]
                things = [seen('mug', (0.3 * x, 0.3 * y, 1.0)) for x, y in grid]
                memory.observe(view(1000, *things))
                counted.clear()
                assert memory.consolidate().looked_at == side * side
                counts.append(sum(counted))
    finally:
        module.find_pairs = real  # type: ignore[assignment]
    assert counts[1] <= 5 * counts[0]
