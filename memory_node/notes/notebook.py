# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Notes as a whole: what is written goes into the journal first, and then into its index."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from memory_node import checks
from memory_node.errors import InvalidValueError
from memory_node.notes import skills
from memory_node.notes.beliefs import Event, plain_event
from memory_node.notes.doomed import Doomed
from memory_node.notes.items import (
    Consolidation,
    Network,
    Note,
    NoteEvent,
    NoteHit,
    NoteKind,
    NoteOp,
    NoteQuery,
    NoteState,
    extended,
)
from memory_node.notes.lines import (
    as_plain,
    day_name,
    write_note,
    write_op,
)
from memory_node.notes.opinions import moved
from memory_node.notes.reader import Reader
from memory_node.store import notes as rows

VERDICTS = ('useful', 'misleading', 'wrong', 'not_applicable')
_SECOND_NS = 10**9
_MERGED = ('id', 'content', 'kind', 'network', 'key', 'scope', 'pose', 'extent_m', 'event_time',
           'valid_from_ns', 'source')  # fmt: skip
_NS_9999 = 9_214_646_400 * _SECOND_NS


class Notebook(Reader):
    """The notes of one store; see `Reader` for what can be asked of them."""

    # -- writing ---------------------------------------------------------------------------------

    def write(self, notes: Sequence[Note], at_ns: int) -> list[NoteEvent]:
        """Write notes; what they say may be new, known already, or in place of something older.

        Args:
            notes: without an id. at_ns: when they are written.

        Returns:
            For each note its events: ADD; INVALIDATE and ADD; SKIP_DUP; or MERGE.

        Raises:
            InvalidValueError: a note is none.
            StoreError: not everything was written.
        """
        checks.whole('at_ns', at_ns, 0, _NS_9999)
        events = []
        for note in notes:
            if not isinstance(note, Note):
                raise InvalidValueError(f'notes: got {checks.short(note)}, expected Notes')
            found = self._write(skills.proposed(note), at_ns)
            events += found
            self._emit({
                'op': 'write', 'key': note.key, 'at_ns': at_ns,
                'events': [(event.op.value, event.id) for event in found],
            })  # fmt: skip
        return events

    def _write(self, note: Note, at_ns: int) -> list[NoteEvent]:
        if note.kind is NoteKind.WORKING:
            return self.working.write(note)
        twins = rows.twins(self.database, note)
        if twins:
            return [self.merge(twins[-1], note, at_ns)]
        note = dataclasses.replace(note, id=self._new_id(note, at_ns))
        clock = 'wall' if note.event_time is None else note.event_time.clock
        before = rows.of_chain(self.database, note, clock) if note.key else []
        current = {s.note.id for s in before if s.valid_to_ns is None and s.forgotten_ns is None}
        self._append(self._file(note, at_ns), write_note(note, at_ns), at_ns)
        event = NoteEvent(NoteOp.ADD, note.id, note.key)
        still = {
            s.note.id for s in rows.of_chain(self.database, note, clock) if s.valid_to_ns is None
        } if note.key else set()  # fmt: skip
        return [
            *(NoteEvent(NoteOp.INVALIDATE, number, note.key, note.id)
              for number in sorted(current - still)),
            event,
        ]  # fmt: skip

    def merge(self, twin: NoteState, note: Note, at_ns: int) -> NoteEvent:
        """Add to a note what another one that says the same knows beside: MERGE, or SKIP_DUP.

        Raises:
            StoreError: it was not written.
        """
        old = twin.note
        new = extended(old, note)
        if new == old:
            return NoteEvent(NoteOp.SKIP_DUP, old.id, note.key)
        more = {name: value for name, value in as_plain(note).items() if name not in _MERGED}
        words = f'Adds to «{_cut(old.content)}»'
        self._op(NoteOp.MERGE, twin, words, at_ns, more)
        return NoteEvent(NoteOp.MERGE, old.id, note.key)

    def adopt(self, notes: Sequence[Note], at_ns: int) -> None:
        """Write notes that have ids, for example of another store, as they are.

        Raises:
            StoreError: not everything was written.
        """
        files: dict[str, list[str]] = {}
        for note in notes:
            files.setdefault(self._file(note, at_ns), []).append(write_note(note, at_ns))
        for file, lines in files.items():
            self._append(file, ''.join(lines), at_ns)

    def add_event(self, event: Event, user: str) -> None:
        """Keep that a person asked, did or said something (OM-3); recall never finds it.

        Raises:
            StoreError: it was not written.
        """
        checks.whole('at_ns', event.at_ns, 0, _NS_9999)
        line = write_op(
            NoteOp.EVENT, user, f'{event.kind}: {event.text}', event.at_ns, plain_event(event)
        )
        self._append(self._file(Note('x', scope={'user': user}), event.at_ns), line, event.at_ns)

    def add_events(self, events: Iterable[tuple[str, Event]]) -> None:
        """Keep what is not kept yet of (user, event): the same kind, text and time is the same.

        Raises:
            StoreError: see `add_event`; those before it are kept.
        """
        known: dict[str, set[tuple[str, str, int]]] = {}
        for user, event in events:
            if user not in known:
                known[user] = {(e.kind, e.text, e.at_ns) for e in self.events_of(user)}
            if (event.kind, event.text, event.at_ns) not in known[user]:
                self.add_event(event, user)

    def revise(
        self, note_id: str, supports: bool, evidence: str, at_ns: int, user: str = '',
        robot_id: str = '', strong: bool = True,
    ) -> NoteState:  # fmt: skip
        """Move how sure an opinion is by one piece of evidence (WM-13, 14); links keep both kinds.

        The same evidence counts once.

        Args:
            note_id: of an opinion that somebody wrote. supports: or contradicts.
            evidence: id of a note, `FILE:LINE` or the like. at_ns: when.
            user, robot_id: who sees it. strong: the evidence says so outright.

        Raises:
            InvalidValueError: no such opinion.
            StoreError: it was not written.
        """
        checks.word('evidence', evidence)
        checks.whole('at_ns', at_ns, 0, _NS_9999)
        state = self.get(note_id, user, robot_id)
        note = state.note
        if note.network is not Network.OPINION:
            raise InvalidValueError(f'note: got {note_id!r}, expected the id of an opinion')
        links = dict.fromkeys(note.links)
        pair = ('supported by' if supports else 'contradicted by', evidence)
        if pair in links:
            return state
        links[pair] = None
        said = [name for name, _ in links]
        sure = moved(
            note.confidence,
            supports,
            said.count('supported by'),
            said.count('contradicted by'),
            strong,
        )
        words = f'{"Supports" if supports else "Contradicts"} «{_cut(note.content)}»: {evidence}'
        said_so = {'links': [list(pair)], 'confidence': sure}
        self._op(NoteOp.REVISE, state, words, at_ns, said_so)
        return self.get(note_id, user, robot_id)

    def _op(
        self, op: NoteOp, state: NoteState, words: str, at_ns: int, said: Mapping[str, Any]
    ) -> None:  # fmt: skip
        line = write_op(op, state.note.id, words, at_ns, said)
        self._append(self._file(state.note, at_ns), line, at_ns)

    def _file(self, note: Note, at_ns: int) -> str:
        """The day's file of whose note it is."""
        owner = note.scope.get('user', '')
        return f'{f"users/{owner}/" if owner else ""}memory/{day_name(at_ns)}.md'

    def _new_id(self, note: Note, at_ns: int) -> str:
        """An id from what is written and when, so that the same stream gives the same ids."""
        text = repr((sorted(as_plain(note).items()), at_ns))
        for n in range(1_000_000):
            number = 'n' + hashlib.sha256(f'{text}\n{n}'.encode()).hexdigest()[:12]
            if not self.database.rows('SELECT 1 FROM note WHERE id = ?', (number,)):
                return number
        raise AssertionError('unreachable')

    # -- forgetting and rating -------------------------------------------------------------------

    def forget(self, query: NoteQuery, at_ns: int, reason: str = '') -> int:
        """Forget what fits a question: it is no longer found, but stays in the journal.

        Args:
            query: at least one of its conditions is given. at_ns: when. reason: why.

        Returns:
            How many notes were forgotten.

        Raises:
            InvalidValueError: nothing narrows the question.
            StoreError: not all of them were forgotten.
        """
        checks.said('reason', reason)
        checks.whole('at_ns', at_ns, 0, _NS_9999)
        free = NoteQuery(scope=query.scope, limit=query.limit)
        if dataclasses.replace(query, scope={}) == dataclasses.replace(free, scope={}):
            raise InvalidValueError('forget: got no condition, expected a key, a text, …')
        why = f': {reason}' if reason else ''
        gone: list[str] = []
        query = dataclasses.replace(query, include_invalidated=False, limit=checks.MAX_LIMIT)
        while hits := self.query(query):
            for hit in hits:
                words = f'Forgot «{_cut(hit.note.content)}»{why}'
                self._op(NoteOp.FORGET, hit.state, words, at_ns, {'reason': reason})
                gone.append(hit.note.id)
        self._emit({'op': 'forget', 'key': query.key, 'at_ns': at_ns,
                    'events': [('FORGET', number) for number in gone]})  # fmt: skip
        return len(gone)

    def forget_one(
        self, note_id: str, at_ns: int, reason: str = '', user: str = '', robot_id: str = ''
    ) -> NoteState:
        """Forget one note, if this user and robot may see it; what is forgotten stays so.

        Raises:
            InvalidValueError: see `get`.
            StoreError: it was not forgotten.
        """
        checks.said('reason', reason)
        checks.whole('at_ns', at_ns, 0, _NS_9999)
        state = self.get(note_id, user, robot_id)
        if state.forgotten_ns is None:
            words = f'Forgot «{_cut(state.note.content)}»{f": {reason}" if reason else ""}'
            self._op(NoteOp.FORGET, state, words, at_ns, {'reason': reason})
            self._emit({'op': 'forget', 'key': state.note.key, 'at_ns': at_ns,
                        'events': [('FORGET', note_id)]})  # fmt: skip
        return self.get(note_id, user, robot_id)

    def rate(
        self, note_id: str, verdict: str, at_ns: int, user: str = '', robot_id: str = '',
        evidence: str = '',
    ) -> NoteState:  # fmt: skip
        """Say how a note served: this is counted with it, and decides on a skill.

        Args:
            note_id: of a note. verdict: of VERDICTS. at_ns: when.
            user, robot_id: who says so. evidence: an episode, a trace.

        Raises:
            InvalidValueError: no such note or verdict.
            StoreError: it was not written.
        """
        if verdict not in VERDICTS:
            raise InvalidValueError(
                f'verdict: got {checks.short(verdict)}, expected {", ".join(VERDICTS)}'
            )
        checks.said('evidence', evidence)
        checks.whole('at_ns', at_ns, 0, _NS_9999)
        state = self.get(note_id, user, robot_id)
        words = f'Found «{_cut(state.note.content)}» {verdict.replace("_", " ")}'
        said = {'verdict': verdict, **({'evidence': evidence} if evidence else {})}
        self._op(NoteOp.VERDICT, state, words, at_ns, said)
        return self.get(note_id, user, robot_id)

    def helpfulness(
        self, hits: Sequence[NoteHit], succeeded: bool, at_ns: int, episode_id: str = ''
    ) -> float:
        """Link what was retrieved in an episode to how that ended (HY-15).

        Args:
            hits: what was used. succeeded: how it ended. at_ns: when. episode_id: which.

        Returns:
            memory_helpfulness: of all verdicts on these notes the share that is `useful`.
        """
        useful = total = 0
        for hit in hits:
            scope = hit.note.scope
            state = self.rate(
                hit.note.id, 'useful' if succeeded else 'misleading', at_ns,
                scope.get('user', ''), scope.get('robot_id', ''), episode_id,
            )  # fmt: skip
            useful += state.verdicts.get('useful', 0)
            total += sum(state.verdicts.values())
        return useful / total if total else 0.0

    def consolidate(
        self, scope: Mapping[str, str], budget: int, at_ns: int
    ) -> Consolidation:  # fmt: skip
        """Keep at most so many notes of a scope that hold: the least of them are forgotten.

        Least is what was rated misleading or wrong most, then what is least sure, then oldest.
        Skills that hold and what a person wrote by hand are never forgotten by this.

        Args:
            scope: whose, exactly. budget: most notes that stay. at_ns: when.

        Raises:
            InvalidValueError: the budget is no whole number from 0.
            StoreError: not everything was done.
        """
        checks.whole('budget', budget, 0)
        query = NoteQuery(scope=scope, limit=1)
        where, bound = rows.conditions(query)
        owner, robot = query.scope.get('user', ''), query.scope.get('robot_id', '')
        states = [rows.state_of(row) for row in self.database.rows(
            f'SELECT {rows.COLUMNS} FROM note n WHERE {" AND ".join(where)} '
            'AND n.user = ? AND n.robot = ? ORDER BY n.day, n.file, n.line', (*bound, owner, robot),
        )]  # fmt: skip
        seen: dict[tuple[Any, ...], NoteState] = {}
        merged = 0
        left = []
        for state in states:
            note = state.note
            same = (note.kind, note.network, note.key, ' '.join(rows.text_words(note.content)),
                    note.pose, note.kind is NoteKind.EPISODIC and note.event_time)  # fmt: skip
            first = seen.setdefault(same, state)
            if first is state or note.id.startswith('h'):
                left.append(state)
                continue
            self.merge(first, note, at_ns)
            words = f'Forgot «{_cut(note.content)}»: the same is said elsewhere'
            self._op(NoteOp.FORGET, state, words, at_ns, {'reason': f'merged {first.note.id}'})
            merged += 1
        spare = sorted((s for s in left if not _kept(s)), key=_worth)
        surplus = spare[: max(0, len(left) - budget)]
        for state in surplus:
            words = f'Forgot «{_cut(state.note.content)}»: more than {budget} notes'
            self._op(NoteOp.FORGET, state, words, at_ns, {'reason': f'budget {budget}'})
        return Consolidation(len(states), merged, len(surplus), len(left) - len(surplus))

    def purge(self, doomed: Doomed) -> int:
        """Remove what has to go, also from working memory and events; see `Filing`."""
        gone = self.working.forget(doomed.names) + super().purge(doomed)
        self.events.clear()
        return gone


def _kept(state: NoteState) -> bool:
    return state.note.id.startswith('h') or state.note.kind is NoteKind.SKILL


def _worth(state: NoteState) -> tuple[Any, ...]:
    bad = state.verdicts.get('misleading', 0) + 2 * state.verdicts.get('wrong', 0)
    return state.verdicts.get('useful', 0) - bad, state.note.confidence, state.valid_from_ns


def _cut(text: str, longest: int = 60) -> str:
    flat = ' '.join(text.split())
    return flat if len(flat) <= longest else f'{flat[: longest - 1]}…'
