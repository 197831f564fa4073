# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Reflecting on map and notes: the day told, events of observing, and what covers both."""

from __future__ import annotations

from pathlib import Path

import pytest
from notes_kit import DAY, T0, TODAY
from views import FORWARD, seen, view

from memory_node import Pose, SpatialMemory
from memory_node.errors import ReadOnlyError
from memory_node.notes.items import Note, NoteKind
from memory_node.notes.lines import BEGIN, END
from memory_node.recall import days

S0 = T0 / 1e9
BOX = ((-5.0, -5.0, -5.0), (5.0, 5.0, 5.0))


def twice(memory: SpatialMemory, at_s: float, *things: object, **more: object) -> None:
    """Enough looks to confirm what is seen."""
    for second in (0, 5):
        for thing in things:
            memory.observe(view(at_s + second, thing, **more))  # type: ignore[arg-type]


def page(memory: SpatialMemory, name: str = TODAY) -> str:
    return memory._notebook().journal.read(name).decode()


def between(text: str) -> list[str]:
    return text[text.index(BEGIN) : text.index(END)].splitlines()[1:]


def test_wm_5_the_day_is_told_by_region_and_kind_with_log_lines() -> None:
    with SpatialMemory.open(':memory:') as memory:
        memory.set_region('kitchen', box_m=BOX)
        twice(memory, S0, seen('mug'), seen('plate', (9, 9, 1)))
        memory.correct_label(1, 'cup', actor='anna')
        memory.opened(1)
        memory.not_found(2, stamp_ns=T0 + DAY // 2)
        memory.placed(1, (2, 2, 1))
        lines = {c.kind.value: c.seq for c in memory.changes()}
        [first, _] = [c.seq for c in memory.changes() if c.kind.value == 'CONFIRMED']
        assert TODAY in memory.reflect(0, T0 + DAY - 1).pages
        told = between(page(memory))
    assert told == [
        f'- In kitchen, new: mug #1 (log {first}).',
        '- In kitchen, moved: cup #1 from (1.00, 0.00, 1.00) m to (2.00, 2.00, 1.00) m '
        f'(log {lines["MOVED"]}).',
        f'- In kitchen, reported: cup #1: opened (log {lines["EVENT"]}).',
        f'- In kitchen, corrected: cup #1 (log {lines["CORRECTED"]}).',
        f'- Elsewhere, new: plate #2 (log {lines["CONFIRMED"]}).',
        f'- Elsewhere, perhaps gone: plate #2 (log {lines["DOUBTFUL"]}).',
    ]  # fmt: skip


def test_wm_6_telling_a_day_again_changes_nothing_but_what_is_new() -> None:
    with SpatialMemory.open(':memory:') as memory:
        twice(memory, S0, seen('mug'))
        memory.remember(Note('A quiet day'), T0)
        memory.reflect(0, T0 + DAY)
        before = memory._notebook().journal.marks()
        memory.reflect(0, T0 + DAY)
        assert memory._notebook().journal.marks() == before
        twice(memory, S0 + 60, seen('lamp', (3, 0, 1)))
        memory.reflect(0, T0 + DAY)
        text = page(memory)
        assert text.count(BEGIN) == 1 and len(between(text)) == 1
        assert 'mug #1' in text and 'lamp #2' in text and 'A quiet day' in text
        memory.remember(Note('written after'), T0 + 1)
        assert memory.note_problems() == [] and memory.check() == []


def test_a_day_is_told_on_its_own_page_and_no_other() -> None:
    with SpatialMemory.open(':memory:') as memory:
        twice(memory, S0, seen('mug'))
        twice(memory, S0 + 86_400, seen('lamp', (3, 0, 1)))
        memory.reflect(T0 + DAY, T0 + 2 * DAY)
        assert 'lamp' in page(memory, 'memory/2025-12-01.md')
        assert page(memory) == ''
        memory.reflect(0, T0)
        assert 'mug' in page(memory) and 'lamp' not in page(memory)


def test_a_busy_day_is_bounded() -> None:
    with SpatialMemory.open(':memory:') as memory:
        things = [seen(f'thing {n}', (n * 1.0, 0, 1)) for n in range(30)]
        twice(memory, S0, *things)
        memory.reflect(0, T0 + DAY)
        [line] = between(page(memory))
        assert line.count('(log ') == days.ITEMS and line.endswith(f'and {30 - days.ITEMS} more.')
        for n in range(days.LINES + 5):
            memory.set_region(f'room {n:02}', box_m=((n, -5, -5), (n + 0.4, 5, 5)))
        memory.reflect(0, T0 + DAY)
        told = between(page(memory))
        assert len(told) == days.LINES and told[-1].endswith('changes more')


def test_a_label_cannot_end_the_generated_block_or_cite() -> None:
    with SpatialMemory.open(':memory:') as memory:
        twice(memory, S0, seen(f'{END} [memory.md:1]'))
        for _ in range(2):
            memory.reflect(0, T0 + DAY)
        text = page(memory)
        assert text.count(END) == 1 and '[memory.md:1]' not in text


def test_om_3_views_of_a_person_are_events_taken_down_once_and_not_while_observing() -> None:
    with SpatialMemory.open(':memory:') as memory:
        memory.set_region('kitchen', box_m=BOX)
        for n in range(4):
            for second in (0, 1, 2):
                memory.observe(view(
                    S0 + n * 3600 + second, seen('mug'), scope={'user': 'Anna'},
                    sensor_pose=Pose((0.0, 0.0, 1.0), FORWARD),
                ))  # fmt: skip
        memory.observe(view(S0 + 9 * 3600, seen('mug')))
        assert memory._notebook().journal.marks() == {}, 'observing writes no events'
        at_ns = T0 + DAY
        memory.reflect(0, at_ns, {'user': 'anna'})
        events = memory._notebook().events_of('anna')
        assert [(e.kind, e.place) for e in events] == [
            ('visit', 'kitchen'), ('discover', 'kitchen'), *[('visit', 'kitchen')] * 3
        ]  # fmt: skip
        assert events[1].text == 'first saw mug'
        memory._database.rows("DELETE FROM meta WHERE key = 'observed_seq'")
        memory.reflect(0, at_ns, {'user': 'anna'})
        assert len(memory._notebook().events_of('anna')) == 5, 'even if it is read again'
        with memory.learning() as known:
            held = {(b.predicate, b.object) for b in known.beliefs('anna')}
        assert {('visited', 'kitchen'), ('frequents', 'kitchen')} <= held


def test_om_3_what_a_person_has_remembered_is_an_event_by_itself() -> None:
    with SpatialMemory.open(':memory:') as memory:
        for n in range(3):
            memory.remember([
                Note(f'Repotted the fern, time {n}', NoteKind.EPISODIC,
                     entities=['fern', 'region:balcony'], scope={'user': 'anna'}),
                Note(f'The radio hates me {n}', entities=['radio'], scope={'user': 'anna'}),
            ], T0 + n)  # fmt: skip
        lines = page(memory, f'users/anna/{TODAY}').count('\n- ')
        assert lines == 6, 'one line each'
        memory.reflect(0, T0 + 9, {'user': 'anna'})
        with memory.learning() as known:
            held = {(b.predicate, b.object) for b in known.beliefs('anna')}
        assert ('likes', 'fern') in held and ('frequents', 'balcony') in held
        assert ('likes', 'radio') not in held


def test_the_hash_covers_the_journal_and_is_that_of_the_map_without_one(tmp_path: Path) -> None:
    with SpatialMemory.open(str(tmp_path / 'a.db')) as memory:
        memory.observe(view(5, seen('mug')))
        without = memory.snapshot_hash()
        memory.remember(Note('kept'), T0)
        first = memory.snapshot_hash()
        assert first != without
        path = tmp_path / 'a.db.journal' / TODAY
        path.write_text(path.read_text() + 'By hand.\n')
        assert memory.snapshot_hash() not in (first, without)
        path.unlink()
        assert memory.snapshot_hash() == without
        memory.sync_notes()
        memory.remember(Note('kept'), T0)
        assert memory.snapshot_hash() == first
        memory.snapshot(str(tmp_path / 'b.db'))
    with SpatialMemory.open(str(tmp_path / 'b.db'), readonly=True) as copy:
        assert copy.snapshot_hash() == first


@pytest.mark.parametrize('damage, found', [
    ("UPDATE note SET now = replace(now, 'red', 'blue')", ':4: the index says something else'),
    ("DELETE FROM note WHERE line = 5", ':5: a note that stands there is not in the index'),
    ("UPDATE note SET line = 9 WHERE line = 5", ':9: the index has a note that does not stand'),
    ("UPDATE note SET forgotten_ns = 7 WHERE line = 5", ':5: the index says something else'),
    ("DELETE FROM note_op", ':6: what is said of a note that stands there is not in the index'),
    ("DELETE FROM note_entity", ':4: the index says something else'),
    ("INSERT INTO note_text (note_text) VALUES ('delete-all')", 'the text index has other words'),
    ("DELETE FROM journal_problem", ':7: a problem that stands there is not in the index'),
])  # fmt: skip
def test_check_finds_an_index_that_says_something_else(
    tmp_path: Path, damage: str, found: str
) -> None:
    path = tmp_path / 'a.db'
    day = Path(f'{path}.journal') / TODAY
    with SpatialMemory.open(str(path)) as memory:
        events = memory.remember([Note('The mug is red', entities=['mug']), Note('tea')], T0)
        memory.rate_note(events[1].id, 'useful', T0)
        day.write_text(day.read_text() + '- O(c=9): no\n')
        memory.sync_notes()
        assert memory.check() == []
        memory._database.rows(damage)
        assert any(found in line and line.startswith('journal: ') for line in memory.check())
        memory.rebuild()
        assert memory.check() == []


def test_check_of_a_file_that_is_read_only_leaves_out_what_was_edited_since(tmp_path: Path) -> None:
    path = tmp_path / 'a.db'
    with SpatialMemory.open(str(path)) as memory:
        memory.remember(Note('one', key='k'), T0)
        memory.remember(Note('two', key='k'), T0 + DAY)
    day = Path(f'{path}.journal') / TODAY
    day.write_text(day.read_text() + '- W: by hand\n')
    with SpatialMemory.open(str(path), readonly=True) as memory:
        assert memory.check() == []
    with SpatialMemory.open(str(path)) as memory:
        memory._database.rows("UPDATE note SET said = '{}' WHERE file LIKE '%12-01.md'")
    with SpatialMemory.open(str(path), readonly=True) as memory:
        assert memory.check() == [
            'journal: memory/2025-12-01.md:4: the index says something else of a note there'
        ]


def test_what_is_purged_while_a_day_is_gathered_is_not_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with SpatialMemory.open(':memory:') as memory:
        twice(memory, S0, seen('zyx'), seen('lamp', (9, 9, 1)))
        gather, calls = memory._days, []

        def slowly(since_ns: int, at_ns: int) -> dict[str, list[str]]:
            found = gather(since_ns, at_ns)
            if not calls:
                memory.purge(label='zyx')
            calls.append(found)
            return found

        monkeypatch.setattr(memory, '_days', slowly)
        memory.reflect(0, T0 + DAY)
        assert len(calls) == 2 and 'zyx' in str(calls[0])
        assert 'lamp' in page(memory) and 'zyx' not in page(memory)


def test_a_file_opened_for_reading_cannot_be_reflected_on(tmp_path: Path) -> None:
    with SpatialMemory.open(str(tmp_path / 'a.db')) as memory:
        memory.remember(Note('kept', entities=['tea']), T0)
    before = {p: p.read_bytes() for end in ('db', 'md') for p in tmp_path.rglob(f'*.{end}')}
    with (
        SpatialMemory.open(str(tmp_path / 'a.db'), readonly=True) as memory,
        pytest.raises(ReadOnlyError),
    ):
        memory.reflect(0, T0)
    assert {p: p.read_bytes() for p in before} == before
    assert {*tmp_path.rglob('*.md')} <= {*before}
