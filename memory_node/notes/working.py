# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Working memory (HY-9): what is at hand just now, bounded, and gone when the process ends."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

from memory_node.errors import InvalidValueError
from memory_node.notes.items import Note, NoteEvent, NoteOp

_Owner = tuple[str, str, str]


class WorkingMemory:
    """Notes by key, for each user and robot their own; what was written longest ago goes first."""

    def __init__(self, capacity: int) -> None:
        """Capacity: most notes that are kept, all together."""
        self._capacity = capacity
        self._notes: OrderedDict[_Owner, Note] = OrderedDict()

    def write(self, note: Note) -> list[NoteEvent]:
        """Keep a note; what had its key, and what there is no room for, goes.

        Raises:
            InvalidValueError: it has no key.
        """
        if not note.key:
            raise InvalidValueError('key: got nothing, expected one: working memory is read by key')
        place = _place(note)
        old = self._notes.pop(place, None)
        self._notes[place] = note
        if old is not None and old == note:
            return [NoteEvent(NoteOp.SKIP_DUP, '', note.key)]
        events = [] if old is None else [NoteEvent(NoteOp.INVALIDATE, '', note.key)]
        events.append(NoteEvent(NoteOp.ADD, '', note.key))
        while len(self._notes) > self._capacity:
            _, gone = self._notes.popitem(last=False)
            events.append(NoteEvent(NoteOp.FORGET, '', gone.key, reason='working memory is full'))
        return events

    def read(self, key: str, user: str = '', robot_id: str = '') -> Note | None:
        """The note of a key: one's own, or nobody's; None: there is none."""
        for owner in ((user, robot_id), (user, ''), ('', robot_id), ('', '')):
            found = self._notes.get((key, *owner))
            if found is not None:
                return found
        return None

    def all(self, user: str = '', robot_id: str = '') -> list[Note]:
        """Everything that may be seen, newest last."""
        return [
            note for (_, owner, robot), note in self._notes.items()
            if owner in ('', user) and robot in ('', robot_id)
        ]  # fmt: skip

    def forget(self, goes: Callable[[Note], bool]) -> int:
        """Drop the notes that have to go; returns how many."""
        gone = [place for place, note in self._notes.items() if goes(note)]
        for place in gone:
            del self._notes[place]
        return len(gone)

    def __len__(self) -> int:
        return len(self._notes)


def _place(note: Note) -> _Owner:
    return note.key, note.scope.get('user', ''), note.scope.get('robot_id', '')
