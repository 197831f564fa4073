# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Notes go along with what is done to the file: purge, merging, rebuild, repair, kill -9."""

from __future__ import annotations

import random
import re
import signal
from pathlib import Path

import pytest
from children import child
from notes_kit import DAY, T0, TODAY, contents
from views import seen, view

from memory_node import SpatialMemory
from memory_node.errors import StoreError
from memory_node.notes.items import Network, Note, NoteKind, NotePose, NoteQuery
from memory_node.notes.journal import Journal
from memory_node.notes.lines import BEGIN, END
from memory_node.store.repair import repair

S0 = T0 / 1e9


def twice(memory: SpatialMemory, *things: object, at_s: float = S0) -> None:
    for second in (0, 5):
        for thing in things:
            memory.observe(view(at_s + second, thing))  # type: ignore[arg-type]


def every(memory: SpatialMemory, **more: object) -> list[str]:
    return sorted(contents(memory.notes(NoteQuery(limit=100, **more))))  # type: ignore[arg-type]


def bytes_under(folder: Path) -> bytes:
    return b'\0'.join(p.read_bytes() for p in sorted(folder.rglob('*')) if p.is_file()).lower()


# -- purge -----------------------------------------------------------------------------------------


def test_purging_a_region_takes_the_notes_about_it_and_what_lies_in_it() -> None:
    with SpatialMemory.open(':memory:') as memory:
        twice(memory, seen('mug'), seen('lamp', (9, 9, 1)))
        memory.set_region('bath', box_m=((0, -1, 0), (2, 1, 2)))
        memory.set_region('flat', box_m=((-20, -20, 0), (20, 20, 3)))
        memory.remember([
            Note('It was a present', entities=['object:1']),
            Note('Knock first', entities=['region:bath']), Note('No entry', entities=['Bath']),
            Note('Slipped here', NoteKind.EPISODIC, pose=NotePose('map', (1, 0, 0))),
            Note('Elsewhere', NoteKind.EPISODIC, pose=NotePose('map', (9, 9, 0))),
            Note('It is bright', entities=['object:2']), Note('Home', entities=['region:flat']),
        ], T0)  # fmt: skip
        memory.reflect(0, T0 + DAY)
        assert 'mug #1' in memory._notebook().journal.read(TODAY).decode()
        memory.purge(region_m=((0, -1, 0), (2, 1, 2)))
        assert every(memory) == [
            'Elsewhere', 'Home', 'It is bright', 'Removed by purge of a region: 4 lines.',
        ]  # fmt: skip
        journal = memory._notebook().journal
        assert not any(b'mug' in journal.read(name) for name in journal.marks())
        assert memory.check() == []


def test_notes_of_another_map_stay_when_a_region_is_purged() -> None:
    with SpatialMemory.open(':memory:') as memory:
        for name in 'AB':
            memory.observe(view(S0, seen('mug'), map_id=name))
        memory.remember([
            Note('one', NoteKind.EPISODIC, pose=NotePose('A', (1, 0, 1))),
            Note('two', NoteKind.EPISODIC, pose=NotePose('B', (1, 0, 1))),
        ], T0)  # fmt: skip
        memory.purge(region_m=((0, -1, 0), (2, 1, 2)), map_id='A')
        assert [text for text in every(memory) if 'purge' not in text] == ['two']


def test_purging_a_label_takes_what_a_person_wrote_by_hand_too(tmp_path: Path) -> None:
    path = tmp_path / 'a.db'
    day = Path(f'{path}.journal') / TODAY
    with SpatialMemory.open(str(path)) as memory:
        twice(memory, seen('zyxgun'), seen('lamp', (9, 9, 1)))
        long = 'A very long line that says a lot before it comes to the point of it, ' * 2
        memory.remember(Note(f'{long} zyxgun', key='k'), T0)
        memory.forget_notes(NoteQuery(key='k'), at_ns=T0)
        day.write_text(
            'We hid the zyxgun in prose.\n\nOther prose stays.\n'
            + day.read_text()
            + '- W: A bullet\n  goes on about the Zyxgun\n  and on.\n- W: mine stays\n'
        )
        memory.sync_notes()
        memory.reflect(0, T0 + DAY)
        assert memory.purge(label='zyxgun').erased
        assert every(memory) == ['Removed by purge of a label: 6 lines.', 'mine stays']
        text = day.read_text()
        assert text.startswith('\nOther prose stays.\n') and 'and on.' not in text
        assert 'A very long line' not in text, 'neither what was said when it was forgotten'
    assert b'zyxgun' not in bytes_under(tmp_path)


def test_a_purge_that_finds_nothing_leaves_every_byte(tmp_path: Path) -> None:
    with SpatialMemory.open(str(tmp_path / 'a.db')) as memory:
        twice(memory, seen('mug'))
        memory.remember(Note('tea', entities=['tea']), T0)
        memory.reflect(0, T0 + DAY)
        before = bytes_under(tmp_path / 'a.db.journal')
        memory.purge(label='unicorn')
        assert bytes_under(tmp_path / 'a.db.journal') == before


def test_what_a_purge_emptied_is_told_again_without_what_is_gone() -> None:
    with SpatialMemory.open(':memory:') as memory:
        twice(memory, seen('mug'), seen('lamp', (9, 9, 1)))
        memory.reflect(0, T0 + DAY)
        memory.purge(object_id=1)
        journal = memory._notebook().journal
        assert f'{BEGIN}\n{END}' in journal.read(TODAY).decode()
        memory.reflect(0, T0 + DAY)
        text = journal.read(TODAY).decode()
        assert 'lamp #2' in text and 'mug' not in text


# -- merge_store -----------------------------------------------------------------------------------


@pytest.fixture
def other(tmp_path: Path) -> Path:
    path = tmp_path / 'other.db'
    with SpatialMemory.open(str(path)) as memory:
        twice(memory, seen('chair', (4, 0, 0.5), size_m=(0.5, 0.5, 1.0)), at_s=500)
        memory.observe(view(506, seen('lamp', (6, 0, 1))))
        skill = Note('wipe', NoteKind.SKILL, key='wipe',
                     payload={'code': 'x', 'api_surface': 'a@1', 'trigger': 'dirty'})  # fmt: skip
        events = memory.remember([
            Note('It creaks', entities=['object:1', 'object:2']),
            Note('Secret tea', scope={'user': 'anna'}), Note('same'), Note('gone'),
            Note('Red', key='mug'), skill,
        ], T0)  # fmt: skip
        memory.remember(Note('Blue', key='mug'), T0 + 5)
        for n in range(3):
            memory.rate_note(events[5].id, 'useful', T0 + n, evidence=f'run {n}')
        memory.forget_notes(NoteQuery('gone'), at_ns=T0 + 1)
        memory.recall('tea', T0, {'user': 'anna'})
        hand = Path(f'{path}.journal') / 'bank' / 'world.md'
        hand.parent.mkdir()
        hand.write_text('Prose stays where it is.\n- W: By hand.\n')
        memory.sync_notes()
    return path


def test_ch_29_the_journal_of_another_store_is_taken_over_once(tmp_path: Path, other: Path) -> None:
    before = bytes_under(Path(f'{other}.journal'))
    with SpatialMemory.open(str(tmp_path / 'here.db')) as memory:
        twice(memory, seen('table', (3, 3, 0.4)), at_s=9000)
        memory.remember(Note('same'), T0 + 7)
        report = memory.merge_store(str(other), recorded_ns=T0 + DAY)
        assert report.notes == 7
        assert every(memory, scope={'user': 'anna'}) == [
            'Blue', 'By hand.', 'It creaks', 'Secret tea', 'same', 'wipe',
        ]  # fmt: skip
        assert 'Secret tea' not in every(memory)
        [creaks] = memory.notes(NoteQuery('creaks'))
        here = report.aliases[1]
        assert creaks.note.entities == (f'object:{here}', f'{report.store_id}.2')
        assert creaks.state.valid_from_ns == T0
        assert creaks.note.evidence == (f'merged:{report.store_id}/{TODAY}:4',)
        [same] = memory.notes(NoteQuery('same'))
        assert same.note.evidence == (f'merged:{report.store_id}/{TODAY}:5',)
        [red] = memory.notes(NoteQuery('Red', as_of_ns=T0 + 1))
        assert red.valid_to_ns == T0 + 5
        [wipe] = memory.notes(NoteQuery('wipe'))
        assert wipe.state.verdicts == {'useful': 3}
        assert [e.text for e in memory._notebook().events_of('anna')] == ['tea']
        journal = bytes_under(tmp_path / 'here.db.journal')
        assert b'prose' not in journal
        assert memory.merge_store(str(other), recorded_ns=T0 + 2 * DAY).notes == 0
        assert bytes_under(tmp_path / 'here.db.journal') == journal
        assert memory.check() == []
    assert bytes_under(Path(f'{other}.journal')) == before


def test_a_note_that_was_forgotten_here_does_not_come_back_with_the_other_store(
    tmp_path: Path, other: Path
) -> None:
    with SpatialMemory.open(str(tmp_path / 'here.db')) as memory:
        memory.merge_store(str(other), recorded_ns=T0 + DAY)
        memory.forget_notes(NoteQuery('creaks'), at_ns=T0 + DAY)
        assert memory.merge_store(str(other), recorded_ns=T0 + DAY).notes == 0
        assert memory.notes(NoteQuery('creaks')) == []


# -- rebuild and repair ----------------------------------------------------------------------------


def test_rebuild_makes_the_index_of_notes_anew(tmp_path: Path) -> None:
    with SpatialMemory.open(str(tmp_path / 'a.db')) as memory:
        twice(memory, seen('mug'))
        memory.remember([Note('a', key='k'), Note('b', key='k')], T0)
        before = memory.notes_hash(), memory.snapshot_hash()
        memory._database.rows('DELETE FROM note WHERE line = 4')
        assert memory.notes_hash() != before[0] and memory.check() != []
        memory.rebuild()
        assert (memory.notes_hash(), memory.snapshot_hash()) == before and memory.check() == []


@pytest.mark.parametrize('apart', [False, True])
def test_a_repaired_file_has_its_notes(tmp_path: Path, apart: bool) -> None:
    path, out = tmp_path / 'a.db', tmp_path / 'b.db'
    with SpatialMemory.open(str(path)) as memory:
        twice(memory, seen('mug'))
        memory.remember(Note('kept'), T0)
        before = memory.notes_hash()
    content = bytearray(path.read_bytes())
    content[-5000:] = bytes(5000)
    path.write_bytes(bytes(content))
    saved = repair(str(path), str(out) if apart else None)
    assert saved.path == (out if apart else path)
    with SpatialMemory.open(str(saved.path)) as memory:
        assert every(memory) == ['kept'] and memory.notes_hash() == before
        assert memory.check() == []


# -- kill -9 ---------------------------------------------------------------------------------------

_REFLECTS = """
import sys
from memory_node import SpatialMemory
from memory_node.notes.items import Network, Note
from views import seen, view

T0 = 1_764_460_800
memory = SpatialMemory.open(sys.argv[1])
opinion = Note('Anna prefers green tea', network=Network.OPINION, entities=['Anna'], confidence=0.5)
memory.remember(opinion, T0 * 10**9)
print('ready', flush=True)
for n in range(1, 100_000):
    memory.observe(view(T0 + n, seen('mug'), seen(f'thing {n % 50}', (n % 50, 5, 1))))
    memory.remember(Note(f'Anna drank green tea {n}', entities=['Anna', 'red mug']),
                    (T0 + n) * 10**9)
    memory.reflect(0, (T0 + n) * 10**9)
    print(n, flush=True)
"""


def test_killed_while_reflecting_nothing_that_a_person_wrote_is_lost(tmp_path: Path) -> None:
    path = tmp_path / 'a.db'
    mine = ''.join(f'Mine, line {n}: do not lend it.\n' for n in range(500))
    journal = Path(f'{path}.journal')
    pages = (TODAY, 'bank/world.md', 'bank/opinions.md', 'bank/entities/red-mug.md', 'memory.md')
    for name in pages:
        (journal / name).parent.mkdir(parents=True, exist_ok=True)
        (journal / name).write_text(mine)
    draw = random.Random(8)
    for _ in range(4):
        with child(_REFLECTS, str(path)) as process:
            assert process.stdout is not None
            told = [process.stdout.readline() for _ in range(draw.randint(1, 12))]
            process.send_signal(signal.SIGKILL)
            process.wait()
        assert told[-1].strip().isdecimal(), 'it ended by itself'
        for name in pages:
            text = (journal / name).read_text()
            assert text.startswith(mine), name
            assert text.count(BEGIN) == text.count(END) <= 1, name
        with SpatialMemory.open(str(path)) as memory:
            assert memory.check() == [] and memory.note_problems() == []
            last = int(told[-1])
            assert f'Anna drank green tea {last}' in every(memory, entities=['red mug'])
    assert re.findall(r'drank green tea', (journal / 'bank/world.md').read_text())


def test_two_people_and_the_memory_write_one_page_and_nobody_loses_a_line(tmp_path: Path) -> None:
    with SpatialMemory.open(str(tmp_path / 'a.db')) as memory:
        day = tmp_path / 'a.db.journal' / TODAY
        for n in range(20):
            memory.remember(Note(f'machine {n}', entities=['x']), T0 + n)
            for who in ('anna', 'ben'):
                with open(day, 'a', encoding='utf-8') as file:
                    file.write(f'- W: {who} {n}' + '\n' * (n % 2))
            memory.reflect(0, T0 + DAY)
        memory.sync_notes()
        text = day.read_text()
        for n in range(20):
            for who in ('machine', 'anna', 'ben'):
                assert f'{who} {n}' in text
        assert memory.check() == []


def test_a_page_that_is_no_utf_8_is_read_as_far_as_it_goes_and_kept(tmp_path: Path) -> None:
    path = tmp_path / 'a.db'
    folder = Path(f'{path}.journal')
    (folder / 'bank').mkdir(parents=True)
    (folder / 'bank' / 'world.md').write_bytes(b'caf\xe9\n- W: fine\n')
    with SpatialMemory.open(str(path)) as memory:
        assert every(memory) == ['fine']
        memory.remember(Note('tea'), T0)
        memory.reflect(0, T0)
        assert (folder / 'bank' / 'world.md').read_bytes().startswith(b'caf\xe9\n- W: fine\n')
        assert memory.note_problems() == ['bank/world.md:1: byte 4 is no UTF-8']
        assert memory.check() == []


def test_a_journal_that_cannot_be_read_is_told_by_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with SpatialMemory.open(str(tmp_path / 'a.db')) as memory:
        memory.remember(Note('x', network=Network.OPINION), T0)

        def refuse(self: Journal, name: str) -> bytes:
            raise StoreError(f'cannot read {name}')

        monkeypatch.setattr(Journal, 'read', refuse)
        assert memory.check() == [f'cannot read {TODAY}']
