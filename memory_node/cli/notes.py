# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""`memory remember`, `recall` and `reflect`: notes from the command line."""

from __future__ import annotations

import argparse
import re

from memory_node import SpatialMemory
from memory_node.cli.acts import opened
from memory_node.cli.main import OK
from memory_node.cli.noting import of
from memory_node.cli.query import time_of
from memory_node.cli.terminal import Terminal
from memory_node.notes.items import Network, Note, NoteKind
from memory_node.notes.journal import Journal, journal_of

_AGE = re.compile(r'(\d{1,6})([smhdw])')
_UNIT_S = {'s': 1, 'm': 60, 'h': 3600, 'd': 86_400, 'w': 604_800}


def remember(given: argparse.Namespace, terminal: Terminal) -> int:
    """Write a note."""
    opinion = given.opinion is not None
    note = Note(
        given.text, NoteKind(given.kind), Network.OPINION if opinion else None, given.key,
        entities=given.about, scope=of(given), confidence=given.opinion if opinion else 1.0,
        source='command line',
    )  # fmt: skip
    with opened(given.file) as memory:
        _take_in(memory, terminal)
        events = memory.remember(note, time_of('--at', given.at))
        where = memory.note(events[-1].id, given.user).citation
    terminal.data({'events': [{'op': e.op.value, 'id': e.id} for e in events], 'at': where})
    said = ' and '.join(f'{event.op.value} {event.id}' for event in events)
    terminal.say(f'{said} [{where}]')
    return OK


def recall(given: argparse.Namespace, terminal: Terminal) -> int:
    """Answer a question from notes; nothing is written."""
    with SpatialMemory.open(given.file, readonly=True) as memory:
        now_ns = time_of('--at', given.at)
        since_ns = _since(given.since, memory.newest_stamp_ns if now_ns is None else now_ns)
        found = memory.recall(given.text, now_ns, of(given), given.k, since_ns, given.tokens)
    terminal.data({
        'kind': found.kind, 'omitted': found.omitted,
        'items': [
            {'kind': item.network.value, 'content': item.state.note.content,
             'entities': list(item.state.note.entities), 'source': item.citation,
             'confidence': item.state.note.confidence, 'time_ns': list(item.time_ns),
             'score': item.score, 'id': item.state.note.id}
            for item in found.items
        ],
    })  # fmt: skip
    for line in found.text.splitlines() or ['nothing of that was written down']:
        terminal.say(line)
    return OK


def reflect(given: argparse.Namespace, terminal: Terminal) -> int:
    """Write the pages of the journal."""
    with opened(given.file) as memory:
        _take_in(memory, terminal)
        now_ns = time_of('--at', given.at)
        since_ns = _since(given.since, memory.newest_stamp_ns if now_ns is None else now_ns)
        done = memory.reflect(since_ns or 0, now_ns, of(given))
        problems = memory.note_problems()
    terminal.data({
        'pages': list(done.pages), 'skipped': list(done.skipped), 'proposed': list(done.proposed),
        'revised': list(done.revised), 'problems': problems,
    })  # fmt: skip
    for word, pages in (('wrote', done.pages), ('left alone', done.skipped)):
        for page in pages:
            terminal.say(f'{word} {page}')
    if done.revised:
        terminal.say(f'moved {len(done.revised)} opinions by evidence')
    for problem in problems:
        terminal.say(f'cannot be read: {problem}')
    return OK


def _take_in(memory: SpatialMemory, terminal: Terminal) -> None:
    """Read what was edited in the journal; the first time this is all of it."""
    files = len(Journal(journal_of(memory.path), readonly=True).marks())
    with terminal.progress(files) as tell:
        memory.sync_notes(lambda done, of: tell('reading the journal', files - of + done))


def _since(text: str | None, now_ns: int) -> int | None:
    """A time, or how long ago: 30d."""
    if text is not None and (age := _AGE.fullmatch(text)):
        return max(0, now_ns - int(age[1]) * _UNIT_S[age[2]] * 10**9)
    return time_of('--since', text)
