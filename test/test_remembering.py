# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Notes through the one door: in one file with the map, journal beside it."""

from __future__ import annotations

from pathlib import Path

import pytest
from notes_kit import T0, contents
from views import seen, view

from memory_node import SpatialMemory
from memory_node.errors import ReadOnlyError
from memory_node.notes.items import Note, NoteKind, NotePose, NoteQuery
from memory_node.store import audit


def test_notes_survive_closing_and_what_was_edited_meanwhile_is_taken_in(tmp_path: Path) -> None:
    path = tmp_path / 'robot.db'
    with SpatialMemory.open(str(path)) as memory:
        memory.remember(Note('The mug is red', entities=['object:1']), T0)
    day = tmp_path / 'robot.db.journal' / 'memory' / '2025-11-30.md'
    day.write_text(day.read_text().replace('red', 'blue'))
    with SpatialMemory.open(str(path), readonly=True) as memory:
        assert contents(memory.notes(NoteQuery(object_ids=[1]))) == ['The mug is red']
        with pytest.raises(ReadOnlyError):
            memory.remember(Note('x'), T0)
    with SpatialMemory.open(str(path)) as memory:
        assert contents(memory.notes(NoteQuery(object_ids=[1]))) == ['The mug is blue']
        assert memory.check() == []
        assert memory.note_problems() == []


def test_a_note_is_written_at_the_newest_stamp_and_changes_nothing_of_the_map() -> None:
    with SpatialMemory.open(':memory:') as memory:
        memory.observe(view(T0 / 1e9 + 5, seen()))
        before = audit.snapshot_hash(memory._database)
        [event] = memory.remember(Note('A mug was seen', NoteKind.EPISODIC))
        assert memory.note(event.id).valid_from_ns == T0 + 5 * 10**9
        assert audit.snapshot_hash(memory._database) == before


def test_a_lost_file_gets_its_index_back_from_the_journal(tmp_path: Path) -> None:
    path = tmp_path / 'robot.db'
    with SpatialMemory.open(str(path)) as memory:
        memory.remember(Note('kept'), T0)
        before = memory.notes_hash()
    path.unlink()
    with SpatialMemory.open(str(path)) as memory:
        assert memory.notes_hash() == before


def test_a_snapshot_takes_the_journal_along(tmp_path: Path) -> None:
    with SpatialMemory.open(str(tmp_path / 'a.db')) as memory:
        memory.remember(Note('kept'), T0)
        memory.snapshot(str(tmp_path / 'b.db'))
        before = memory.notes_hash()
    with SpatialMemory.open(str(tmp_path / 'b.db')) as memory:
        assert memory.sync_notes() == [] or memory.notes_hash() == before
        assert memory.notes_hash() == before


def test_purging_a_person_leaves_no_byte_of_their_notes(tmp_path: Path) -> None:
    path = tmp_path / 'robot.db'
    with SpatialMemory.open(str(path)) as memory:
        memory.remember([
            Note('Xaviera hides the zyxkey', scope={'user': 'Xaviera'}),
            Note('Xaviera likes plumzz', entities=['Xaviera']), Note('The hall is dark'),
        ], T0)  # fmt: skip
        memory.reflect(0, T0)
        hers = tmp_path / 'robot.db.journal' / 'bank' / 'entities' / 'xaviera.md'
        hers.write_text(hers.read_text() + 'By hand.\n')
        purged = memory.purge(person='Xaviera', recorded_ns=T0)
        assert purged.erased
        left = contents(memory.notes(NoteQuery(scope={'user': 'xaviera'})))
        assert sorted(left) == ['Removed by purge of a person: 6 lines.', 'The hall is dark']
        files = [p for p in tmp_path.rglob('*') if p.is_file()]
        assert not any('xaviera' in str(file.relative_to(tmp_path)).lower() for file in files)
        assert (tmp_path / 'robot.db.journal' / 'bank' / 'purged.md').read_text() == 'By hand.\n'
        for word in (b'xaviera', b'zyxkey', b'plumzz'):
            assert not any(word in file.read_bytes().lower() for file in files), word


def test_purging_a_label_or_an_object_takes_the_notes_that_name_it() -> None:
    with SpatialMemory.open(':memory:') as memory:
        memory.observe(view(5, seen('mug')))
        memory.remember([
            Note('It is full of tea', entities=['object:1']), Note('Wash the Mug'),
            Note('A smug smile', entities=['object:11']),
        ], T0)  # fmt: skip
        memory.purge(object_id=1, recorded_ns=T0)
        left = contents(memory.notes(NoteQuery()))
        assert 'It is full of tea' not in left and 'Wash the Mug' in left
        memory.purge(label='mug', recorded_ns=T0)
        left = contents(memory.notes(NoteQuery()))
        assert 'Wash the Mug' not in left and 'A smug smile' in left


def test_om_3_om_5_what_a_user_asks_again_and_again_becomes_a_belief() -> None:
    with SpatialMemory.open(':memory:') as memory:
        memory.remember(Note('Green tea is in the drawer', entities=['green tea']), T0)
        for n in range(3):
            found = memory.recall('where is the green tea', T0 + n, {'user': 'Anna'})
            assert len(found.items) == 1
        memory.recall('where is the green tea', T0)  # nobody asked
        memory.reflect(0, T0 + 9, {'user': 'Anna'})
        with memory.learning() as known:
            assert 'green-tea' in {b.object for b in known.persona('anna', T0 + 9)}
            assert known.persona('ben', T0 + 9) == []


def test_recall_of_a_file_opened_for_reading_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / 'robot.db'
    with SpatialMemory.open(str(path)) as memory:
        memory.remember(Note('Tea is in the drawer'), T0)
    before = {p: p.read_bytes() for p in tmp_path.rglob('*.md')}
    with SpatialMemory.open(str(path), readonly=True) as memory:
        assert memory.recall('tea', T0, {'user': 'anna'}).text.endswith('Tea is in the drawer')
    assert {p: p.read_bytes() for p in tmp_path.rglob('*.md')} == before


def test_an_opinion_is_revised_and_cited() -> None:
    with SpatialMemory.open(':memory:') as memory:
        note = Note('Anna likes jazz', network='opinion', entities=['Anna'], confidence=0.5)  # type: ignore[arg-type]
        [event] = memory.remember(note, T0)
        memory.revise_opinion(event.id, True, 'memory/2025-11-01.md:3')
        [item] = memory.recall('does Anna like jazz', T0).items
        assert item.state.note.confidence == 0.525


def test_om_8_what_is_known_of_people_is_apart_from_the_map() -> None:
    with SpatialMemory.open(':memory:') as memory:
        memory.observe(view(5, seen('mug')))
        before = audit.snapshot_hash(memory._database), memory.seq
        with memory.learning() as known:
            known.set_anchor('anna', 'home', NotePose('map', (4, 5, 0)), T0)
            known.state('anna', 'likes', 'tea', T0)
            assert known.here('anna', 'map') == (4.0, 5.0)
        assert (audit.snapshot_hash(memory._database), memory.seq) == before


def test_wm_20_facts_are_world_what_was_done_is_experience_habits_are_opinion() -> None:
    with SpatialMemory.open(':memory:') as memory:
        memory.remember([
            Note('The mug is on the table', NoteKind.SPATIAL, entities=['object:1']),
            Note('I wiped the table', NoteKind.EPISODIC),
        ], T0)  # fmt: skip
        with memory.learning() as known:
            known.state('anna', 'likes', 'tea', T0)
        hits = memory.notes(NoteQuery(scope={'user': 'anna'}))
        networks = {hit.note.content: hit.note.network for hit in hits}
        assert {word: network.value for word, network in networks.items() if network} == {
            'The mug is on the table': 'world', 'I wiped the table': 'experience',
            'anna likes tea (said so, 1.00).': 'opinion',
        }  # fmt: skip
        memory.rebuild_notes()
        assert len(memory.notes(NoteQuery(scope={'user': 'anna'}))) == 3
