# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What is learned of a person and kept as notes: beliefs, vague words, places."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence
from typing import Any

from memory_node import checks
from memory_node.errors import InvalidValueError
from memory_node.notes import beliefs, calibration
from memory_node.notes.beliefs import Belief, Event, Reconciled
from memory_node.notes.calibration import Learned, Option
from memory_node.notes.frames import affords, frame_of
from memory_node.notes.items import (
    Network,
    Note,
    NoteKind,
    NotePose,
    NoteQuery,
    NoteState,
    scope_of,
    slug,
)
from memory_node.notes.notebook import Notebook
from memory_node.notes.rerank import Candidate, Ranked, rerank

AREA_M = 2.0
"""Side of the cells in which activity is counted."""
FIRST_ANCHORS = ('home', 'dock')
_BELIEF, _WORD, _ANCHOR = beliefs.NOTED_KEYS


class Learning:
    """What a notebook knows of people. Every method is about one person, `user`."""

    def __init__(self, book: Notebook) -> None:
        """Take the notes."""
        self._book = book

    def consolidate(self, user: str, now_ns: int) -> list[tuple[Reconciled, Belief]]:
        """Promote events to beliefs (OM-5): what is new or changed is written as a note.

        Raises:
            InvalidValueError: no user.
            StoreError: not everything was written.
        """
        owner = _owner(user)
        known = {belief.key: belief for belief in self.beliefs(owner)}
        found = []
        for belief in beliefs.infer(owner, self._book.happened(owner), now_ns):
            what = beliefs.reconcile(known.get(belief.key), belief, now_ns)
            if what is not Reconciled.NOOP:
                self._book.write([_as_note(belief, owner)], now_ns)
            found.append((what, belief))
        return found

    def state(self, user: str, predicate: str, name: str, at_ns: int) -> Belief:
        """Take down what a person says of themselves; it outranks all that is inferred.

        Raises:
            InvalidValueError: no user, or an unknown predicate.
            StoreError: it was not written.
        """
        owner = _owner(user)
        text = f'{owner} {predicate.replace("_", " ")} {name}'
        self._book.add_event(Event('state', text, at_ns, stated=(predicate, name)), owner)
        ref = next(
            event.ref for event in reversed(self._book.events_of(owner))
            if event.stated == (predicate, name)
        )  # fmt: skip
        belief = Belief(
            owner, predicate, name, 1.0, beliefs.STATED, at_ns, refs=(('stated', ref),),
            support=(text,),
        )  # fmt: skip
        self._book.write([_as_note(belief, owner)], at_ns)
        return belief

    def beliefs(self, user: str) -> list[Belief]:
        """All that is believed of a person, contradictions included."""
        return [_as_belief(state) for state in self._book.keyed(_BELIEF, _owner(user))]

    def persona(self, user: str, now_ns: int, most: int = 10) -> list[Belief]:
        """What to know of a person, stated first; without what is contradicted (OM-7)."""
        standing, _ = beliefs.repair(self.beliefs(user), now_ns)
        return beliefs.persona(standing, now_ns, most)

    def likes(self, user: str, thing: str, now_ns: int) -> Belief | None:
        """Whether a person likes something (OM-11): what is believed, else what events say.

        What events say is written up. None: nothing tells.

        Raises:
            StoreError: it was not written.
        """
        owner = _owner(user)
        name = slug(checks.word('thing', thing))
        about = [b for b in self.beliefs(owner) if slug(b.object) == name]
        standing, _ = beliefs.repair(about, now_ns)
        for belief in standing:
            if belief.predicate in ('likes', 'avoids', 'prefers'):
                return belief
        for belief in beliefs.infer(owner, self._book.happened(owner), now_ns):
            if belief.predicate == 'likes' and slug(belief.object) == name:
                self._book.write([_as_note(belief, owner)], now_ns)
                return belief
        return None

    def suggest(
        self, user: str, text: str, candidates: Sequence[Candidate], now_ns: int, context: str = ''
    ) -> list[Ranked]:  # fmt: skip
        """Rank what a host found for a wish, by what is known of a person (OM-12, 13).

        Nothing is kept: say with `accept` what was chosen.

        Args:
            user: who asks. text: the wish, read as a frame of goals, companions, occasion, vibe and
                constraints. candidates: what they afford is filled in by their names.
            now_ns: when. context: in which «near» is meant, for example work.

        Returns:
            All of them, best first.
        """
        standing, _ = beliefs.repair(self.beliefs(user), now_ns) if user else ([], [])
        known = [
            dataclasses.replace(c, concepts=affords(c.name, c.concepts)) for c in candidates
        ]  # fmt: skip
        radius_m = self.word(user, 'near', context).value or 1.0
        return rerank(known, frame_of(text), standing, radius_m, now_ns)

    def word(self, user: str, term: str, context: str = '') -> Learned:
        """What a vague word means to a person, in a context (OM-9).

        Raises:
            InvalidValueError: it is not in the registry.
        """
        known = {}
        if user:
            for state in self._book.keyed(f'{_WORD}{term}@', _owner(user)):
                found = Learned(**state.note.payload)
                known[found.context] = found
        return calibration.resolve(term, known, slug(context))

    def accept(
        self, user: str, options: Sequence[Option], chosen: str, at_ns: int, context: str = ''
    ) -> list[Learned]:
        """Learn from what a person took of what was offered; the rest is not kept (OM-13, 14).

        Raises:
            InvalidValueError: no option has this name.
            StoreError: not everything was written.
        """
        owner = _owner(user)
        learned = []
        for term, value in calibration.accepted(options, chosen).items():
            for where in dict.fromkeys(['', slug(context)]):
                old = dataclasses.replace(self._exactly(owner, term, where), context=where)
                new = calibration.learn(old, value)
                unit = calibration.TERMS[term].unit
                words = f'{term}{" at " + where if where else ""} is {new.value:g} {unit}'
                note = Note(
                    f'To {owner}, {words.strip()} ({new.samples} accepted).',
                    network=Network.OPINION, key=f'{_WORD}{term}@{where}', entities=[owner],
                    scope={'user': owner}, payload=dataclasses.asdict(new),
                )  # fmt: skip
                self._book.write([note], at_ns)
                learned.append(new)
        return learned

    def _exactly(self, owner: str, term: str, context: str) -> Learned:
        """What was learned in just this context, else the prior."""
        for state in self._book.keyed(f'{_WORD}{term}@', owner):
            if state.note.payload['context'] == context:
                return Learned(**state.note.payload)
        return calibration.resolve(term, {})

    def set_anchor(self, user: str, name: str, pose: NotePose, at_ns: int) -> None:
        """Take down where a person's home, dock or another stated place is (OM-10).

        Raises:
            StoreError: it was not written.
        """
        owner, key = _owner(user), slug(checks.word('name', name))
        x, y, z = pose.position_m
        words = f'{name} of {owner} is at ({x:g}, {y:g}, {z:g}) in {pose.frame_id}.'
        note = Note(words, NoteKind.SPATIAL, key=_ANCHOR + key, pose=pose, entities=[owner],
                    scope={'user': owner}, payload={'name': name})  # fmt: skip
        self._book.write([note], at_ns)

    def anchors(self, user: str) -> dict[str, NotePose]:
        """Stated places of a person, by slug."""
        states = self._book.keyed(_ANCHOR, _owner(user))
        return {
            state.note.key[len(_ANCHOR) :]: state.note.pose
            for state in states
            if state.note.pose is not None
        }

    def areas(self, user: str, frame_id: str) -> list[tuple[tuple[float, float], int]]:
        """Where a person is active: middles of cells of AREA_M, and how often, most first."""
        owner = _owner(user)
        query = NoteQuery(kinds=[NoteKind.EPISODIC], scope={'user': owner}, limit=checks.MAX_LIMIT)
        cells: Counter[tuple[int, int]] = Counter()
        for hit in self._book.query(query):
            pose = hit.note.pose
            if pose is not None and pose.frame_id == frame_id and 'user' in hit.note.scope:
                x, y, _ = pose.position_m
                cells[int(x // AREA_M), int(y // AREA_M)] += 1
        found = sorted(cells.items(), key=lambda item: (-item[1], item[0]))
        return [(((x + 0.5) * AREA_M, (y + 0.5) * AREA_M), n) for (x, y), n in found]

    def here(self, user: str, frame_id: str) -> tuple[float, float] | None:
        """Where «near me» starts if nothing else says: home, dock, then the most active area."""
        known = self.anchors(user)
        for name in FIRST_ANCHORS:
            pose = known.get(name)
            if pose is not None and pose.frame_id == frame_id:
                return pose.position_m[0], pose.position_m[1]
        areas = self.areas(user, frame_id)
        return areas[0][0] if areas else None

    def place(self, user: str, frame_id: str) -> tuple[float, float, float] | None:
        """As `here`, with the height of a stated place; of an area that of the frame's origin."""
        known = self.anchors(user)
        for name in FIRST_ANCHORS:
            pose = known.get(name)
            if pose is not None and pose.frame_id == frame_id:
                x, y, z = pose.position_m
                return x, y, z
        found = self.here(user, frame_id)
        return None if found is None else (*found, 0.0)


def _owner(user: str) -> str:
    found = scope_of({'user': user}).get('user', '')
    if not found:
        raise InvalidValueError('user: got nothing, expected whose beliefs they are')
    return found


def _as_note(belief: Belief, owner: str) -> Note:
    words = f'{belief.subject} {belief.predicate.replace("_", " ")} {belief.object}'
    how = 'said so' if belief.source == beliefs.STATED else f'from {len(belief.refs)} events'
    payload: dict[str, Any] = {
        'predicate': belief.predicate, 'object': belief.object, 'source': belief.source,
        'signal': belief.signal, 'at_ns': belief.at_ns, 'subject': belief.subject,
        'refs': [list(ref) for ref in belief.refs][-20:], 'support': list(belief.support),
    }  # fmt: skip
    return Note(
        f'{words} ({how}, {belief.confidence:.2f}).', network=Network.OPINION, key=belief.key,
        payload=payload, entities=[belief.subject, belief.object], scope={'user': owner},
        confidence=belief.confidence, evidence=[ref for _, ref in belief.refs][-20:],
        valid_from_ns=belief.at_ns,
    )  # fmt: skip


def _as_belief(state: NoteState) -> Belief:
    p = state.note.payload
    return Belief(
        p['subject'], p['predicate'], p['object'], state.note.confidence, p['source'], p['at_ns'],
        p['signal'], tuple((kind, ref) for kind, ref in p['refs']), tuple(p['support']),
    )  # fmt: skip
