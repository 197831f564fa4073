# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Reflecting (WM-6, 12) and opinions that move (WM-4, 13, 14)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from notes_kit import DAY, T0, contents, notebook, put

from memory_node.errors import InvalidValueError
from memory_node.notes.generated import with_generated
from memory_node.notes.items import Network, Note, NoteQuery
from memory_node.notes.journal import Journal
from memory_node.notes.lines import BEGIN, END
from memory_node.notes.opinions import moved
from memory_node.notes.reflect import reflect

MUG, WORLD = 'bank/entities/red-mug.md', 'bank/world.md'


def test_wm_12_pages_are_written_between_marks_and_cite() -> None:
    book = notebook()
    book.write([Note('The red mug has a crack', entities=['red mug'])], T0)
    assert reflect(book, 0, T0).pages == (WORLD, MUG)
    line = '- The red mug has a crack [memory/2025-11-30.md:4]'
    assert book.journal.read(MUG).decode() == f'# red mug\n\n{BEGIN}\n{line}\n{END}\n'
    assert len(book.query(NoteQuery())) == 1  # what is generated is no note


def test_wm_6_what_a_person_wrote_on_the_page_stays() -> None:
    book = notebook()
    book.write([Note('The red mug has a crack', entities=['red mug'])], T0)
    put(book, MUG, 'Mine: do not lend it.\n')
    reflect(book, 0, T0)
    text = book.journal.read(MUG).decode()
    assert text.startswith('Mine: do not lend it.\n')
    put(book, MUG, text + '- W @red_mug: It was a present.\n')
    reflect(book, 0, T0 + 1)
    text = book.journal.read(MUG).decode()
    assert text.startswith('Mine: do not lend it.\n') and '- W @red_mug: It was a present.' in text
    assert 'It was a present' in contents(book.query(NoteQuery('present')))[0]


def test_wm_12_only_what_is_recent_and_the_core_is_only_proposed() -> None:
    book = notebook()
    [old] = book.write([Note('An old lamp', entities=['lamp'])], T0)
    [new] = book.write([Note('A new chair', entities=['chair'])], T0 + DAY)
    for n in range(2):
        book.rate(new.id, 'useful', T0 + DAY + n)
    put(book, 'memory.md', '- W: mine\n')
    done = reflect(book, T0 + 1, T0 + DAY)
    assert done.pages == (WORLD, 'bank/entities/chair.md', 'bank/proposals.md')
    assert done.proposed == (new.id,) and old.id not in done.proposed
    assert book.journal.read('memory.md') == b'- W: mine\n'


def test_a_persons_pages_are_in_their_folder_with_their_notes_only() -> None:
    book = notebook()
    book.write([Note('Anna hides tea', entities=['tea'], scope={'user': 'anna'}),
                Note('Tea is out', entities=['tea'])], T0)  # fmt: skip
    assert reflect(book, 0, T0).pages == (WORLD, 'bank/entities/tea.md')
    assert b'Anna' not in book.journal.read('bank/entities/tea.md') + book.journal.read(WORLD)
    hers = reflect(book, 0, T0, {'user': 'Anna'}).pages
    assert hers == ('users/anna/bank/world.md', 'users/anna/bank/entities/tea.md')
    assert b'is out' not in book.journal.read('users/anna/bank/world.md')
    assert b'is out' not in book.journal.read('users/anna/bank/entities/tea.md')


def test_a_page_with_broken_marks_is_left_alone(tmp_path: Path) -> None:
    book = notebook(Journal(tmp_path))
    book.write([Note('The red mug has a crack', entities=['red mug'])], T0)
    put(book, MUG, f'{BEGIN}\nmine\n')
    done = reflect(book, 0, T0)
    assert done.pages == (WORLD,) and done.skipped == (MUG,)
    assert book.journal.read(MUG) == f'{BEGIN}\nmine\n'.encode()


@given(st.binary(max_size=40), st.binary(max_size=40))
def test_every_byte_outside_of_the_marks_stays(before: bytes, after: bytes) -> None:
    page = before + BEGIN.encode() + b'old' + END.encode() + after
    new = with_generated(page, '# x', ['- new'])
    assert new is not None and new.startswith(before) and new.endswith(after) and b'old' not in new[
        len(before) : len(new) - len(after)
    ]  # fmt: skip


def test_wm_14_small_steps_and_a_large_one_only_after_repeated_contradiction() -> None:
    assert moved(0.8, True, 1, 0) == 0.81
    assert moved(0.8, False, 0, 1) == moved(0.8, False, 0, 2) == 0.75
    assert moved(0.8, False, 0, 3) == 0.6
    assert moved(0.8, False, 3, 3) == 0.75
    assert moved(0.8, False, 0, 9, strong=False) == 0.75
    assert moved(0.02, False, 0, 1) == 0.0


def test_wm_4_wm_13_an_opinion_keeps_what_supports_and_what_contradicts_it() -> None:
    book = notebook()
    [event] = book.write([Note('Anna likes jazz', network=Network.OPINION, confidence=0.8)], T0)
    book.revise(event.id, True, 'memory/2025-11-01.md:4', T0 + 1)
    state = book.revise(event.id, False, 'memory/2025-11-02.md:9', T0 + 2)
    assert state.note.confidence == 0.76
    assert state.note.links == (
        ('supported by', 'memory/2025-11-01.md:4'), ('contradicted by', 'memory/2025-11-02.md:9'),
    )  # fmt: skip
    again = book.revise(event.id, False, 'memory/2025-11-02.md:9', T0 + 3)
    assert again.note.confidence == 0.76  # the same evidence counts once
    before = book.snapshot()
    book.rebuild()
    assert book.snapshot() == before


def test_wm_14_only_opinions_move() -> None:
    book = notebook()
    [event] = book.write([Note('Tea is hot')], T0)
    with pytest.raises(InvalidValueError, match='opinion'):
        book.revise(event.id, True, 'x:1', T0)


def test_killed_while_reflecting_nothing_that_a_person_wrote_is_lost(tmp_path: Path) -> None:
    mine = 'Mine: do not lend it.\n' * 2000
    page = tmp_path / MUG
    page.parent.mkdir(parents=True)
    page.write_text(mine)
    for _ in range(3):
        child = subprocess.Popen(
            [sys.executable, '-c', _REFLECTING, str(tmp_path)], stdout=subprocess.PIPE
        )
        assert child.stdout is not None
        for _ in range(5):
            child.stdout.readline()
        child.kill()
        child.wait()
        child.stdout.close()
        text = page.read_text()
        assert text.startswith(mine) and text.count(BEGIN) == text.count(END) == 1


_REFLECTING = """
import sys
import subprocess
import sys
from pathlib import Path
from memory_node.notes.items import Note
from memory_node.notes.journal import Journal
from memory_node.notes.notebook import Notebook
from memory_node.notes.reflect import reflect
from memory_node.store.database import Database
book = Notebook(Database(':memory:'), Journal(Path(sys.argv[1])))
book.sync()
for n in range(100_000):
    book.write([Note(f'crack {n}', entities=['red mug'])], 10**18 + n)
    reflect(book, 0, 10**18 + n)
    print(n, flush=True)
"""


def test_wm_16_notes_need_neither_the_node_nor_the_map() -> None:
    code = (
        'import sys; import memory_node.notes.reflect, memory_node.notes.learning; '
        "print([m for m in ('rclpy', 'memory_node.memory', 'memory_node.fusion.engine') "
        'if m in sys.modules])'
    )
    assert subprocess.check_output([sys.executable, '-c', code], text=True) == '[]\n'
