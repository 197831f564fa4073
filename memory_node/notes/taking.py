# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Taking over the journal of another store: once, and each note says where it is from."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from memory_node.notes.beliefs import Event, event_of
from memory_node.notes.filing import Filing
from memory_node.notes.items import MAX_NAMES, Note, NoteOp, NoteState, TimeSpan
from memory_node.notes.journal import Journal
from memory_node.notes.notebook import Notebook
from memory_node.store import notes as rows
from memory_node.store.database import Database

AT_ONCE = 500
_OBJECT = 'object:'


@dataclass(frozen=True)
class Foreign:
    """Notes of another store that were not forgotten there, with their verdicts, and events.

    Attributes:
        verdicts: id of a note, when, word and evidence. events: slug of a person, and the event.
    """

    states: tuple[NoteState, ...] = ()
    verdicts: tuple[tuple[str, int, Mapping[str, str]], ...] = ()
    events: tuple[tuple[str, Event], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.states or self.events)


def notes_of(folder: Path | None) -> Foreign:
    """What another journal holds; it is only read.

    Raises:
        StoreError: it cannot be read.
    """
    if folder is None or not folder.is_dir():
        return Foreign()
    theirs = Filing(Database(':memory:'), Journal(folder, readonly=True))
    try:
        theirs.sync()
        database = theirs.database
        states = rows.every(database)
        ids = {state.note.id for state in states}
        ops = rows.ops_of_kind(database, NoteOp.VERDICT)
        return Foreign(
            tuple(states),
            tuple((of, at_ns, json.loads(said)) for _, _, of, at_ns, said in ops if of in ids),
            tuple(
                (user, event_of(json.loads(said), at_ns, f'{file}:{line}'))
                for file, line, user, at_ns, said in rows.ops_of_kind(database, NoteOp.EVENT)
            ),
        )
    finally:
        theirs.database.close()


def parts(found: Foreign) -> Iterator[Foreign]:
    """The same in parts that do not take long each."""
    for k in range(0, len(found.states), AT_ONCE):
        some = found.states[k : k + AT_ONCE]
        ids = {state.note.id for state in some}
        yield Foreign(some, tuple(v for v in found.verdicts if v[0] in ids))
    for k in range(0, len(found.events), AT_ONCE):
        yield Foreign(events=found.events[k : k + AT_ONCE])


def take_over(
    book: Notebook, found: Foreign, store_id: str, aliases: Mapping[int, int], at_ns: int
) -> int:
    """Write what another journal holds, but for what is here already.

    A note keeps its id, when it was true and whose it is, and gets `merged:STORE/FILE:LINE` as
    evidence. One that says the same as a note here adds its evidence to that.

    Args:
        book: where to. found: notes of the other store. store_id: its identity.
        aliases: id of an object there → id here. at_ns: when.

    Returns:
        How many notes are new here, or added something.

    Raises:
        StoreError: not everything was written; it can be done again.
    """
    new: list[Note] = []
    same: dict[str, str] = {}
    merged = 0
    for state in found.states:
        note = _as_here(state, store_id, aliases)
        if rows.of_id(book.database, note.id):
            continue
        twins = rows.twins(book.database, note) if state.valid_to_ns is None else []
        if twins:
            same[note.id] = twins[-1].note.id
            merged += book.merge(twins[-1], note, at_ns).op is NoteOp.MERGE
            continue
        new.append(_dated(note, state))
    book.adopt(new, at_ns)
    _rate(book, found, {note.id: note.id for note in new} | same)
    book.add_events(found.events)
    return len(new) + merged


def _rate(book: Notebook, found: Foreign, here: Mapping[str, str]) -> None:
    """Take over the verdicts on notes that came in."""
    known = {
        (of, at_ns, said) for _, _, of, at_ns, said in rows.ops_of_kind(
            book.database, NoteOp.VERDICT
        )
    } if here and found.verdicts else set()  # fmt: skip
    for of, at_ns, said in found.verdicts:
        text = json.dumps(said, sort_keys=True, separators=(',', ':'), ensure_ascii=False)
        if of not in here or (here[of], at_ns, text) in known:
            continue
        [state, *_] = rows.of_id(book.database, here[of])
        scope = state.note.scope
        book.rate(
            here[of], said['verdict'], at_ns, scope.get('user', ''), scope.get('robot_id', ''),
            said.get('evidence', ''),
        )  # fmt: skip


def _as_here(state: NoteState, store_id: str, aliases: Mapping[int, int]) -> Note:
    """A note with the ids that objects have here, and where it is from.

    An object that was not taken over is named with its store: here its number is another thing.
    """

    def name(given: str) -> str:
        number = given[len(_OBJECT) :]
        if not given.startswith(_OBJECT) or not number.isdecimal():
            return given
        known = aliases.get(int(number))
        return f'{_OBJECT}{known}' if known else f'{store_id}.{number}'

    note = state.note
    origin = f'merged:{store_id}/{state.citation}'
    return dataclasses.replace(
        note, entities=tuple(map(name, note.entities)),
        links=tuple((relation, name(target)) for relation, target in note.links),
        evidence=(*note.evidence[: MAX_NAMES - 1], origin),
    )  # fmt: skip


def _dated(note: Note, state: NoteState) -> Note:
    """A note that says itself when it was, as it no longer stands in the file of that day."""
    time = note.event_time
    if time is None and state.valid_from_ns:
        time = TimeSpan(state.valid_from_ns, None, state.clock)
    return dataclasses.replace(note, event_time=time, valid_from_ns=state.valid_from_ns)
