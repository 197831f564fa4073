# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""`memory remember`, `recall`, `reflect` and `feedback`: notes from the command line."""

from __future__ import annotations

import argparse
import dataclasses
import re

from memory_node import SpatialMemory
from memory_node.cli.acts import opened
from memory_node.cli.main import OK
from memory_node.cli.noting import of
from memory_node.cli.query import time_of
from memory_node.cli.terminal import Terminal
from memory_node.errors import InvalidValueError
from memory_node.notes.calibration import Option
from memory_node.notes.items import Network, Note, NoteKind
from memory_node.notes.journal import Journal, journal_of
from memory_node.noting import verdicts_useful
from memory_node.recall.noted import amount

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
        [kept] = memory.remember_each([note], time_of('--at', given.at))
        if not kept.events:
            raise InvalidValueError(kept.reason)
        events = kept.events
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
        problems = memory.problems_for(given.user) if given.user else memory.note_problems()
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


def feedback(given: argparse.Namespace, terminal: Terminal) -> int:
    """Tell how it went."""
    with opened(given.file) as memory:
        return _FEEDBACK[given.operation](memory, given, terminal, time_of('--at', given.at))


def _accepted(
    memory: SpatialMemory, given: argparse.Namespace, terminal: Terminal, at_ns: int | None
) -> int:
    option = Option(given.option, dict(given.measures))
    learned = memory.learn_accepted(given.user, [option], option.name, at_ns, given.context)
    terminal.data({'words': [dataclasses.asdict(found) for found in learned]})
    for found in learned:
        terminal.say(f'{found.term} is {amount(found)}: {found.why}')
    if not learned:
        terminal.say('no word was learned from that')
    return OK


def _declined(
    memory: SpatialMemory, given: argparse.Namespace, terminal: Terminal, at_ns: int | None
) -> int:
    option = Option(given.option, dict(given.measures))
    events = memory.note_declined(given.user, [option], given.reason, at_ns, given.context)
    terminal.data({'events': [{'op': e.op.value, 'id': e.id} for e in events]})
    terminal.say('this is kept; no word was learned from it')
    return OK


def _rated(
    memory: SpatialMemory, given: argparse.Namespace, terminal: Terminal, at_ns: int | None
) -> int:
    return _judge(memory, given, terminal, at_ns, given.verdict, given.evidence)


def _episode(
    memory: SpatialMemory, given: argparse.Namespace, terminal: Terminal, at_ns: int | None
) -> int:
    verdict = 'useful' if given.outcome == 'succeeded' else 'misleading'
    return _judge(memory, given, terminal, at_ns, verdict, given.episode)


def _judge(
    memory: SpatialMemory, given: argparse.Namespace, terminal: Terminal, at_ns: int | None,
    verdict: str, evidence: str,
) -> int:  # fmt: skip
    rated = memory.judge_notes(given.notes, verdict, evidence, given.user, at_ns=at_ns)
    good = [one.state for one in rated if one.state is not None]
    if not good:
        raise InvalidValueError(rated[0].reason)
    terminal.data({
        'notes': [{'id': s.note.id, 'verdicts': dict(s.verdicts),
                   'confidence': s.note.confidence} for s in good],
        'refused': [{'id': one.note_id, 'reason': one.reason} for one in rated if not one.state],
        'helpfulness': verdicts_useful(rated),
    })  # fmt: skip
    for state in good:
        said = ', '.join(f'{word} {n}' for word, n in state.verdicts.items())
        terminal.say(f'{state.note.id}: {said or f"{state.note.confidence:.2f} sure"}')
    for one in rated:
        if one.state is None:
            terminal.warn(one.reason)
    return OK


def _stated(
    memory: SpatialMemory, given: argparse.Namespace, terminal: Terminal, at_ns: int | None
) -> int:
    belief = memory.state_belief(given.user, given.predicate, given.object, at_ns)
    terminal.data({'subject': belief.subject, 'predicate': belief.predicate,
                   'object': belief.object})  # fmt: skip
    terminal.say(f'{belief.subject} {belief.predicate.replace("_", " ")} {belief.object}')
    return OK


_FEEDBACK = {
    'accepted': _accepted, 'declined': _declined, 'rated': _rated, 'episode': _episode,
    'stated': _stated,
}  # fmt: skip


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
