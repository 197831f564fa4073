# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Asking notes: by what is known of them, in words, and how each came to be."""

from __future__ import annotations

import json
import math
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from memory_node import checks
from memory_node.errors import InvalidValueError
from memory_node.notes.beliefs import NOTED_KEYS, Event, event_of
from memory_node.notes.filing import Filing
from memory_node.notes.items import Network, NoteHit, NoteKind, NoteQuery, NoteState, slug
from memory_node.notes.journal import Journal
from memory_node.notes.recall import Recollection, named, recall
from memory_node.notes.stance import attitude
from memory_node.notes.working import WorkingMemory
from memory_node.store import notes as rows
from memory_node.store.database import Database

EVENTS_KEPT = 1000
_REGION = 'region:'
_NEWEST = 'coalesce(n.start_ns, 0) DESC, n.day DESC, n.line DESC, n.file'


class Reader(Filing):
    """The notes of one store, to be asked.

    Attributes:
        working: what is at hand.
        events: the newest retrievals and writes (HY-14), as plain values.
    """

    def __init__(
        self, database: Database, journal: Journal, working_capacity: int = 64,
        on_event: Callable[[Mapping[str, Any]], None] | None = None,
    ) -> None:  # fmt: skip
        """Open; call `sync` to take in what was edited meanwhile.

        Args:
            database: of the store. journal: its files.
            working_capacity: most notes in working memory.
            on_event: called with each event.
        """
        super().__init__(database, journal)
        self.working = WorkingMemory(working_capacity)
        self.events: deque[Mapping[str, Any]] = deque(maxlen=EVENTS_KEPT)
        self._on_event = on_event

    def query(self, query: NoteQuery) -> list[NoteHit]:
        """The notes that fit a question, best first; the same ones always come in the same order.

        Raises:
            StoreError: the index cannot be read.
        """
        where, bound = rows.conditions(query)
        words = rows.text_words(query.text)
        score, source = '0.0', 'note n'
        if words:
            where.insert(0, 'note_text MATCH ?')
            bound.insert(0, ' '.join(f'"{word}"' for word in words))
            score = 'bm25(note_text)'
            source = 'note_text JOIN note n ON n.row = note_text.rowid'
        many = query.limit if query.near is None else 100_000
        found = self.database.rows(
            f'SELECT {rows.COLUMNS}, {score} AS score, n.x, n.y, n.z FROM {source} '
            f'WHERE {" AND ".join(where)} ORDER BY score, {_NEWEST} LIMIT ?',
            (*bound, many),
        )
        hits = [hit for row in found if (hit := _hit(row, query)) is not None]
        if query.near is not None:
            hits.sort(key=lambda hit: hit.details['distance_m'])
        hits = hits[: query.limit]
        self._emit({
            'op': 'query', 'query': query.text, 'n_hits': len(hits),
            'hits': [
                (h.note.id, h.note.pose and tuple(h.note.pose.position_m), h.score) for h in hits
            ],
        })  # fmt: skip
        return hits

    def recall(
        self, text: str, now_ns: int, scope: Mapping[str, str] | None = None, limit: int = 25,
        since_ns: int | None = None, max_tokens: int = 2000, utc_offset_s: float = 0.0,
    ) -> Recollection:  # fmt: skip
        """Answer a question in words; see `recall`."""
        found = recall(
            self.database, text, now_ns, scope, limit, since_ns, max_tokens, utc_offset_s
        )
        self._emit({
            'op': 'recall', 'query': text, 'n_hits': len(found.items),
            'hits': [
                (i.state.note.id, i.state.note.pose and i.state.note.pose.position_m, i.score)
                for i in found.items
            ],
        })  # fmt: skip
        return found

    def touched(self, owner: str, since_ns: int, until_ns: int) -> list[NoteState]:
        """Notes that began or ceased to hold in a time, newest first, at most 10,000."""
        return rows.touched(self.database, owner, since_ns, until_ns, 10_000)

    def get(self, note_id: str, user: str = '', robot_id: str = '') -> NoteState:
        """The note of an id, as it is by now.

        Raises:
            InvalidValueError: there is none, or it is somebody else's.
        """
        for state in rows.of_id(self.database, note_id):
            scope = state.note.scope
            if scope.get('user', '') in ('', slug(user)) and (
                scope.get('robot_id', '') in ('', robot_id)
            ):
                return state
        raise InvalidValueError(f'note: got {checks.short(note_id)}, expected the id of a note')

    def history(self, note_id: str, user: str = '', robot_id: str = '') -> list[NoteState]:
        """Everything that was believed of what a note is about, oldest first (HY-7).

        Raises:
            InvalidValueError: see `get`.
        """
        state = self.get(note_id, user, robot_id)
        if not state.note.key:
            return [state]
        return rows.of_chain(self.database, state.note, state.clock)

    def events_of(self, user: str) -> list[Event]:
        """A person's events, oldest first."""
        return [
            event_of(json.loads(said), at_ns, f'{file}:{line}')
            for file, line, at_ns, said in rows.events_of(self.database, user)
        ]

    def happened(self, user: str) -> list[Event]:
        """A person's events and what they had remembered, oldest first (OM-3).

        Each note is an event by itself, so that remembering writes one line. What it says against
        something is no sign of liking that.
        """
        noted = [
            _as_event(state, user) for state in self.newest(user)
            if not state.note.key.startswith(NOTED_KEYS) and state.clock == 'wall'
        ]  # fmt: skip
        return sorted([*self.events_of(user), *noted], key=lambda event: (event.at_ns, event.ref))

    def keyed(self, prefix: str, user: str) -> list[NoteState]:
        """What is a person's own, holds, and has a key that begins so."""
        return rows.keyed(self.database, prefix, user)

    def newest(
        self, user: str, limit: int = 10_000, network: Network | None = None
    ) -> list[NoteState]:
        """The newest notes that hold, of a person or (empty) of nobody, of a network or of all."""
        return rows.newest(self.database, user, limit, network)

    def entities_in(self, text: str, user: str = '', robot_id: str = '') -> tuple[str, ...]:
        """The entities that a text names and notes are about that this user and robot may see."""
        return named(self.database, text, {'user': slug(user), 'robot_id': robot_id})

    def concepts_in(self, text: str, user: str, robot_id: str = '') -> tuple[str, ...]:
        """What a person's text is about, beside themselves."""
        return tuple(n for n in self.entities_in(text, user, robot_id) if n != slug(user))

    def _emit(self, event: Mapping[str, Any]) -> None:
        self.events.append(event)
        if self._on_event is not None:
            self._on_event(event)


def _as_event(state: NoteState, user: str) -> Event:
    """That a note was written, or that somebody was somewhere."""
    note = state.note
    names = {slug(name): name for name in note.entities}
    places = [key[len(_REGION) :] for key in names if key.startswith(_REGION)]
    concepts = [
        name for key, name in names.items()
        if ':' not in key and key != user and attitude(note.content) >= 0
    ]  # fmt: skip
    kind = 'visit' if note.kind is NoteKind.EPISODIC and places else 'remember'
    return Event(
        kind, note.content[: checks.MAX_TEXT], state.valid_from_ns, state.citation,
        places[0] if places else '', concepts,
    )  # fmt: skip


def _hit(row: Sequence[Any], query: NoteQuery) -> NoteHit | None:
    *_, score, x, y, z = row
    details = {'text': -float(score)} if query.text else {}
    if query.near is not None:
        pose, radius_m = query.near
        distance = math.dist((x, y, z), pose.position_m)
        if round(distance, 9) > radius_m:
            return None
        details['distance_m'] = distance
    state = rows.state_of(row)
    details['confidence'] = state.note.confidence
    total = -float(score) if query.text else state.note.confidence
    return NoteHit(state, total, details)
