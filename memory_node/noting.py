# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Notes as services and tools use them: one world with the map, one bad note alone, whose is whose.

What is learned of a person is asked for and told here too; each call takes its turn on the memory.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from memory_node import checks
from memory_node.answering import Answering, Model
from memory_node.errors import ClosedError, InvalidValueError, SpatialMemoryError, StoreError
from memory_node.knowing import MAP, Knowing
from memory_node.model import Pose
from memory_node.notes.beliefs import Event
from memory_node.notes.items import (
    Note,
    NoteEvent,
    NoteState,
    owner_of,
    slug,
)
from memory_node.notes.lines import user_of
from memory_node.notes.reach import Speaker
from memory_node.notes.recall import Recollection
from memory_node.recall import noted
from memory_node.recall.answer import Answer
from memory_node.recall.finding import named_by
from memory_node.recall.intent import plain

MOST_NOTES = 1000
"""Notes, or options, of one request."""
OPINION_VERDICTS = ('supports', 'contradicts')


@dataclass(frozen=True)
class Kept:
    """What became of one of several notes: its events, or (none) why it was refused."""

    events: tuple[NoteEvent, ...] = ()
    reason: str = ''


@dataclass(frozen=True)
class Rated:
    """What became of one of several notes that were judged: the note by now, or why it was not."""

    note_id: str
    state: NoteState | None = None
    reason: str = ''


class Noting(Knowing, Answering):
    """The part of SpatialMemory that services and tools for notes stand on."""

    def remember_each(
        self, given: Sequence[Note | SpatialMemoryError], at_ns: int | None = None
    ) -> list[Kept]:  # fmt: skip
        """Write notes one by one: one that cannot be kept is refused alone.

        An entity `object:ID` must be an object that the memory knows, and stands for what it was
        merged into; `region:NAME` must be a region.

        Args:
            given: notes, or what was wrong with one that could not be made.
            at_ns: when; None: the newest stamp that the memory has seen.

        Raises:
            InvalidValueError: none, or more than MOST_NOTES.
            StoreError: not everything was written; what is written again is skipped.
        """
        if not 1 <= len(given) <= MOST_NOTES:
            raise InvalidValueError(f'notes: got {len(given)}, expected 1 to {MOST_NOTES}')
        kept = []
        for note in given:
            try:
                if isinstance(note, SpatialMemoryError):
                    raise note
                kept.append(Kept(tuple(self.remember(self._grounded(note), at_ns))))
            except (StoreError, ClosedError):
                raise
            except SpatialMemoryError as error:
                kept.append(Kept(reason=str(error)))
        return kept

    def recall_of(
        self, text: str, user: str = '', robot_id: str = '', now_ns: int | None = None,
        **more: Any,
    ) -> Recollection:  # fmt: skip
        """As `recall`, with «I» and «my» for the user who asks."""
        owner = owner_of(user)
        said = noted.for_recall(text, owner) if owner else text
        return self.recall(said, now_ns, _scope(user, robot_id), **more)

    def ids_of(self, object_ids: Iterable[int]) -> list[int]:
        """Ids that notes may have of some objects: also those that became them.

        Raises:
            UnknownObjectError: no object ever had one of the ids.
        """
        with self._opened():
            return sorted({held for number in object_ids for held in self._held(number)})

    def forget_note(
        self, note_id: str, reason: str = '', at_ns: int | None = None, user: str = '',
        robot_id: str = '',
    ) -> NoteState:  # fmt: skip
        """Forget one note; it stays in the journal.

        Raises:
            InvalidValueError: there is none that this user and robot may see.
            StoreError: it was not forgotten.
        """
        owner = owner_of(user)
        return self._patiently(
            lambda: self._notebook().forget_one(note_id, self._at(at_ns), reason, owner, robot_id)
        )

    def problems_for(self, user: str = '') -> list[str]:
        """As `note_problems`, of what this user may see: they tell what stands in the lines."""
        owner = owner_of(user)
        return [found for found in self.note_problems() if user_of(found) in ('', owner)]

    # -- asking --------------------------------------------------------------------------------

    def ask(
        self,
        text: str,
        pose: Pose | None = None,
        at_ns: int | None = None,
        limit: int = 10,
        since_seq: int = 0,
        model: Model | None = None,
        user: str = '',
        robot_id: str = '',
        context: str = '',
        frame_id: str = MAP,
    ) -> Answer:
        """Answer a question in words, from the map and from notes, and nothing else.

        What notes say is quoted with file and line. Notes answer what asks for what was said, done,
        decided or preferred, and what the map has no answer to. Who asks sees what is theirs and
        what is nobody's. That they asked is kept, as by `recall`.

        Args:
            text, pose, at_ns, limit, since_seq, model: see `Answering.ask`.
            user, robot_id: who asks; empty: nobody in particular. context: for what, for example
                work: what was learned there counts first. frame_id: of the map.

        Raises:
            InvalidValueError: the text is empty or too long, or another value is malformed.
        """
        said = plain(text)
        checks.limit(limit)
        now_ns = self._now_ns() if at_ns is None else int(checks.finite('at_ns', at_ns))
        speaker = self.speaker(user, context, frame_id)
        question = noted.asked(said, speaker.user)
        if question is not None:
            answer = self._of_notes(question, speaker, robot_id, now_ns, limit)
            if answer is not None:
                return answer
        answer = self.answer_for(speaker, text, pose, at_ns, limit, since_seq)
        known = not answer.refusal and bool(answer.hits or answer.confidence)
        if question is not None and question.kind == noted.NOTED:
            answer = answer if known else noted.unwritten(noted.WRITTEN)
        elif not known:
            found = self.recall_of(said, speaker.user, robot_id, now_ns)
            answer = noted.told(found, noted.WRITTEN, limit) or answer
        elif speaker.user:
            self._keep_question(speaker.user, said, now_ns)
        return answer if answer.sources else self.or_model(answer, model, text, now_ns)

    def _of_notes(
        self, question: noted.Asked, speaker: Speaker, robot_id: str, now_ns: int, limit: int
    ) -> Answer | None:  # fmt: skip
        if question.kind == noted.MEANT:
            return noted.meant(question, speaker)
        if question.kind == noted.MEASURED:
            named = [h for h in named_by(self, question.text, now_ns) if h.terms.get('certain')]
            if not named:
                return None
            best = named[0].object
            return noted.measured(
                best.label, best.id, self.properties(best.id), speaker.meanings[question.term]
            )
        found = self.recall(question.text, now_ns, _scope(speaker.user, robot_id))
        return noted.told(found, noted.WRITTEN, limit)

    def _keep_question(self, user: str, said: str, at_ns: int) -> None:
        """Keep that a person asked (OM-3)."""
        if self._database.readonly:
            return

        def run() -> None:
            book = self._notebook()
            book.add_event(Event('ask', said, at_ns, concepts=book.concepts_in(said, user)), user)

        self._patiently(run)

    # -- judging -------------------------------------------------------------------------------

    def judge_notes(
        self, note_ids: Sequence[str], verdict: str, evidence: str = '', user: str = '',
        robot_id: str = '', at_ns: int | None = None,
    ) -> list[Rated]:  # fmt: skip
        """Say how notes served, or that evidence supports or contradicts opinions; each alone.

        Args:
            note_ids: a note that this user and robot may not see is refused as one that is not
                there. verdict: useful, misleading, wrong, not_applicable; supports, contradicts.
            evidence: an episode, a trace, `FILE:LINE`. user, robot_id: who says so. at_ns: when.

        Raises:
            InvalidValueError: no note or too many.
            StoreError: not everything was written.
        """
        if not 1 <= len(note_ids) <= MOST_NOTES:
            raise InvalidValueError(f'note_ids: got {len(note_ids)}, expected 1 to {MOST_NOTES}')
        user, rated = owner_of(user), []
        for number in note_ids:
            try:
                if verdict in OPINION_VERDICTS:
                    state = self.revise_opinion(
                        number, verdict == 'supports', evidence, at_ns, user, robot_id
                    )
                else:
                    state = self.rate_note(number, verdict, at_ns, user, robot_id, evidence)
                rated.append(Rated(number, state))
            except InvalidValueError as error:
                rated.append(Rated(number, reason=str(error)))
        return rated

    def _grounded(self, note: Note) -> Note:
        """A note whose entities are what the map knows, by the ids of now."""
        names = [self._entity(name) for name in note.entities]
        return dataclasses.replace(note, entities=tuple(dict.fromkeys(names)))

    def _entity(self, name: str) -> str:
        kind, _, rest = slug(name).partition(':')
        if kind == 'object' and rest:
            number = int(rest) if rest.isascii() and rest.isdigit() and len(rest) < 20 else 0
            return f'object:{self.object(number).id}'
        if kind == 'region' and rest:
            regions = {slug(place): place for place in self._places()}
            if rest not in regions:
                known = ', '.join(sorted(regions.values())) or 'none'
                raise InvalidValueError(
                    f'entities: got {checks.short(name)}, expected a region that is known: {known}'
                )
            return f'region:{regions[rest]}'
        return name


def verdicts_useful(rated: Iterable[Rated]) -> float:
    """memory_helpfulness (HY-15): of all verdicts on these notes the share that is `useful`."""
    useful = total = 0
    for one in rated:
        if one.state is not None:
            useful += one.state.verdicts.get('useful', 0)
            total += sum(one.state.verdicts.values())
    return useful / total if total else 0.0


def _scope(user: str, robot_id: str) -> dict[str, str]:
    return {'user': user, 'robot_id': robot_id}
