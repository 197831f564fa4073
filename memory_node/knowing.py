# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What is learned of people: asked for and told, each call in its turn on the memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memory_node import checks
from memory_node.errors import InvalidValueError
from memory_node.notes import beliefs
from memory_node.notes.beliefs import Belief, Event
from memory_node.notes.calibration import TERMS, Option
from memory_node.notes.items import Note, NoteEvent, NoteKind, NotePose, owner_of, slug
from memory_node.notes.learning import Learning
from memory_node.notes.reach import Meaning, Speaker, meaning
from memory_node.reflecting import Reflecting

MAP = 'map'
"""Frame of places, where no other is named."""
MOST = 1000
"""Options of one request."""


@dataclass(frozen=True)
class Known:
    """What is known of a person.

    Attributes:
        persona: what to know, stated first. conflicts: pairs of stated beliefs that contradict
            each other, for a person to settle. meanings: what their vague words mean, by term.
    """

    persona: tuple[Belief, ...]
    conflicts: tuple[tuple[Belief, Belief], ...]
    meanings: Mapping[str, Meaning]


class Knowing(Reflecting):
    """The part of SpatialMemory that knows what people mean, like and do."""

    def speaker(self, user: str = '', context: str = '', frame_id: str = MAP) -> Speaker:
        """Whoever asks, with what their vague words mean in a context.

        Raises:
            InvalidValueError: the user or the context is no word.
        """
        owner = owner_of(user)
        checks.said('context', context)
        if not owner:
            return Speaker()
        with self.learning() as known:
            meanings = {
                term: meaning(known.word(owner, term, context), owner, slug(context))
                for term in TERMS
            }
            return Speaker(owner, meanings, known.place(owner, frame_id))

    def known_of(self, user: str, now_ns: int | None = None, context: str = '') -> Known:
        """What is known of a person.

        Raises:
            InvalidValueError: no user.
        """
        at_ns = self._at(now_ns)
        speaker = self.speaker(user, context)
        with self.learning() as known:
            every = known.beliefs(user)
            _, conflicts = beliefs.repair(every, at_ns)
            return Known(tuple(known.persona(user, at_ns)), tuple(conflicts), speaker.meanings)

    def learn_accepted(
        self, user: str, options: Sequence[Option], chosen: str, at_ns: int | None = None,
        context: str = '',
    ) -> list[Meaning]:  # fmt: skip
        """Learn from what a person took of what was offered; returns what words mean now (OM-14).

        Raises:
            InvalidValueError: no option has this name, or no user.
            StoreError: not everything was written.
        """
        _require_options(options)
        learned = self._patiently(
            lambda: Learning(self._notebook()).accept(
                user, options, chosen, self._at(at_ns), context
            )
        )
        speaker = self.speaker(user, context)
        return [speaker.meanings[term] for term in dict.fromkeys(found.term for found in learned)]

    def note_declined(
        self, user: str, options: Sequence[Option], why: str = '', at_ns: int | None = None,
        context: str = '',
    ) -> list[NoteEvent]:  # fmt: skip
        """Keep that a person declined what was offered; no word is learned from it (OM-13, 14).

        Raises:
            InvalidValueError: no option, or no user.
            StoreError: not everything was written.
        """
        _require_options(options)
        owner = owner_of(user)
        if not owner:
            raise InvalidValueError('user: got nothing, expected who declined')
        checks.said('reason', why)
        events: list[NoteEvent] = []
        for option in options:
            words = f'{owner} declined {option.name}' + (f': {why}' if why else '')
            payload = {'measures': dict(option.measures), 'context': context}
            note = Note(words, kind=NoteKind.EPISODIC, entities=[owner, option.name],
                        scope={'user': owner}, payload=payload)  # fmt: skip
            events += self.remember(note, at_ns)
        return events

    def state_belief(
        self, user: str, predicate: str, name: str, at_ns: int | None = None
    ) -> Belief:  # fmt: skip
        """Take down what a person says of themselves; it outranks all that is inferred.

        Raises:
            InvalidValueError: no user, or an unknown predicate.
            StoreError: it was not written.
        """
        beliefs.require_predicate(predicate)
        checks.word('object', name)
        return self._patiently(
            lambda: Learning(self._notebook()).state(user, predicate, name, self._at(at_ns))
        )

    def told_event(self, user: str, event: Event) -> None:
        """Keep that a person searched, discovered or visited something (OM-3, OM-18).

        Raises:
            InvalidValueError: no user.
            StoreError: it was not written.
        """
        owner = owner_of(user)
        if not owner:
            raise InvalidValueError('user: got nothing, expected who did it')
        self._patiently(lambda: self._notebook().add_event(event, owner))

    def set_place(
        self, user: str, name: str, pose: NotePose, at_ns: int | None = None
    ) -> None:  # fmt: skip
        """Take down where a person's home, dock or another stated place is (OM-10).

        Raises:
            InvalidValueError: no user or name.
            StoreError: it was not written.
        """
        self._patiently(
            lambda: Learning(self._notebook()).set_anchor(user, name, pose, self._at(at_ns))
        )


def _require_options(options: Sequence[Option]) -> None:
    if not 1 <= len(options) <= MOST:
        raise InvalidValueError(f'options: got {len(options)}, expected 1 to {MOST}')
