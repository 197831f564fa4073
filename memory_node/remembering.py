# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What was said and done: the part of SpatialMemory that keeps notes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from memory_node.asking import Asking
from memory_node.notes.beliefs import Event
from memory_node.notes.filing import differing
from memory_node.notes.items import (
    Consolidation,
    Note,
    NoteEvent,
    NoteHit,
    NoteQuery,
    NoteState,
    owner_of,
)
from memory_node.notes.journal import Journal, journal_of
from memory_node.notes.learning import Learning
from memory_node.notes.notebook import Notebook
from memory_node.notes.recall import Recollection
from memory_node.placing import Placing

FILES_A_TURN = 50
"""So many files of the journal are read before others get their turn."""


class Remembering(Placing, Asking):
    """The part of SpatialMemory that keeps notes, in a journal beside the file.

    The journal is a folder of Markdown files, `FILE.journal`; the file holds an index of it. What a
    person edits there is taken in when notes are first used, and by `sync_notes`.
    """

    _kept: Notebook | None = None
    _note_listener: Callable[[Mapping[str, object]], None] | None = None

    def remember(
        self, notes: Note | Sequence[Note], at_ns: int | None = None
    ) -> list[NoteEvent]:  # fmt: skip
        """Write notes (HY-7).

        Args:
            notes: one or many, without ids.
            at_ns: when; None: the newest stamp that the memory has seen.

        Returns:
            What became of each: ADD; INVALIDATE of what held before, and ADD; SKIP_DUP; MERGE.

        Raises:
            InvalidValueError: a note is malformed.
            ReadOnlyError: the memory was opened for reading.
            StoreError: not all of them were written.
        """
        given = [notes] if isinstance(notes, Note) else notes
        return self._patiently(lambda: self._notebook().write(given, self._at(at_ns)))

    def notes(self, query: NoteQuery) -> list[NoteHit]:
        """The notes that fit a question, best first (HY-5)."""
        with self._noted() as book:
            return book.query(query)

    def recall(
        self, text: str, now_ns: int | None = None, scope: Mapping[str, str] | None = None,
        limit: int = 25, since_ns: int | None = None, max_tokens: int = 2000,
        utc_offset_s: float = 0.0,
    ) -> Recollection:  # fmt: skip
        """Answer a question from notes, each answer with file and line (WM-10).

        Args:
            text: «what does Anna prefer», «around Nov 27», words. That a user asked is kept in
                their folder as an event, for what is learned of them (OM-3).
            now_ns: when it is asked; None: the newest stamp that the memory has seen.
            scope: who asks: `user`, `robot_id`. limit: most answers. since_ns: none older.
            max_tokens: of the text. utc_offset_s: how far local time is ahead.

        Raises:
            InvalidValueError: a value is malformed.
        """
        at_ns = self._at(now_ns)
        with self._noted() as book:
            found = book.recall(text, at_ns, scope, limit, since_ns, max_tokens, utc_offset_s)
            user = owner_of((scope or {}).get('user', ''))
            if user and text.strip() and not self._database.readonly:
                about = book.concepts_in(text, user, (scope or {}).get('robot_id', ''))
                book.add_event(Event('ask', text, at_ns, concepts=about), user)
            return found

    @contextmanager
    def learning(self) -> Iterator[Learning]:
        """What is learned of people: beliefs, vague words, anchors; others wait meanwhile.

        Nothing else may be asked of this memory inside: `with memory.learning() as known: …`.
        """
        with self._noted() as book:
            yield Learning(book)

    def revise_opinion(
        self, note_id: str, supports: bool, evidence: str, at_ns: int | None = None,
        user: str = '', robot_id: str = '',
    ) -> NoteState:  # fmt: skip
        """Move how sure an opinion is by one piece of evidence, a small step (WM-14).

        Raises:
            InvalidValueError: no such opinion.
            StoreError: it was not written.
        """
        return self._patiently(
            lambda: self._notebook().revise(
                note_id, supports, evidence, self._at(at_ns), user, robot_id
            )
        )

    def note(self, note_id: str, user: str = '', robot_id: str = '') -> NoteState:
        """The note of an id.

        Raises:
            InvalidValueError: there is none that this user and robot may see.
        """
        with self._noted() as book:
            return book.get(note_id, user, robot_id)

    def note_history(self, note_id: str, user: str = '', robot_id: str = '') -> list[NoteState]:
        """Everything that was ever believed of what a note is about, oldest first.

        Raises:
            InvalidValueError: there is none that this user and robot may see.
        """
        with self._noted() as book:
            return book.history(note_id, user, robot_id)

    def forget_notes(self, query: NoteQuery, reason: str = '', at_ns: int | None = None) -> int:
        """Forget what fits a question; it stays in the journal. Returns how many notes.

        Raises:
            InvalidValueError: nothing narrows the question.
            StoreError: not all of them were forgotten.
        """
        return self._patiently(lambda: self._notebook().forget(query, self._at(at_ns), reason))

    def rate_note(
        self, note_id: str, verdict: str, at_ns: int | None = None, user: str = '',
        robot_id: str = '', evidence: str = '',
    ) -> NoteState:  # fmt: skip
        """Say how a note served: useful, misleading, wrong or not_applicable (HY-13).

        Raises:
            InvalidValueError: no such note or verdict.
            StoreError: it was not written.
        """
        return self._patiently(
            lambda: self._notebook().rate(
                note_id, verdict, self._at(at_ns), user, robot_id, evidence
            )
        )

    def memory_helpfulness(
        self, hits: Sequence[NoteHit], succeeded: bool, at_ns: int | None = None,
        episode_id: str = '',
    ) -> float:  # fmt: skip
        """Link the notes that an episode used to how it ended; the share of useful ones (HY-15).

        Raises:
            StoreError: it was not written.
        """
        return self._patiently(
            lambda: self._notebook().helpfulness(hits, succeeded, self._at(at_ns), episode_id)
        )

    def consolidate_notes(
        self, scope: Mapping[str, str], budget: int, at_ns: int | None = None
    ) -> Consolidation:  # fmt: skip
        """Merge notes that say the same, and keep at most `budget` of a scope (HY-7).

        Raises:
            InvalidValueError: the budget is no whole number from 0.
            StoreError: not everything was done.
        """
        return self._patiently(lambda: self._notebook().consolidate(scope, budget, self._at(at_ns)))

    def working_note(self, key: str, user: str = '', robot_id: str = '') -> Note | None:
        """What working memory has of a key; None: nothing."""
        with self._noted() as book:
            return book.working.read(key, user, robot_id)

    def sync_notes(self, progress: Callable[[int, int], None] | None = None) -> list[str]:
        """Take in what was edited in the journal; returns the files that were read.

        Args:
            progress: called with how many of how many files were read.

        Raises:
            StoreError: a file cannot be read, or the index cannot be written.
        """
        with self._opened():
            book = self._notebook(False)
            known, journal = book.known_files(), book.journal
        changed = differing(known, journal.marks())  # told without making anybody wait
        for first in range(0, len(changed), FILES_A_TURN):
            part = changed[first : first + FILES_A_TURN]

            def take_in(some: Sequence[str] = part) -> None:
                self._notebook(False).take_in(some)

            self._patiently(take_in)
            if progress is not None:
                progress(first + len(part), len(changed))
        return changed

    def rebuild_notes(self, progress: Callable[[int, int], None] | None = None) -> None:
        """Make the index of the journal anew.

        Raises:
            StoreError: see `sync_notes`.
        """
        self._patiently(lambda: self._notebook().rebuild(progress))

    def note_problems(self) -> list[str]:
        """Lines of the journal that could not be read, as `FILE:LINE: what`; they stay there."""
        with self._noted() as book:
            return book.problems()

    def notes_hash(self) -> str:
        """Hash of all notes and where they stand."""
        with self._noted() as book:
            return book.snapshot()

    def note_events(self) -> list[Mapping[str, object]]:
        """The newest retrievals and writes of notes, oldest first (HY-14)."""
        with self._noted() as book:
            return list(book.events)

    def on_note_event(self, listener: Callable[[Mapping[str, object]], None] | None) -> None:
        """Be told of each retrieval and write of notes; the lock is held, so only take it down."""
        self._note_listener = listener

    # -- inside ----------------------------------------------------------------------------------

    def _notebook(self, fresh: bool = True) -> Notebook:
        """The notes; the lock is held. fresh: at the first use take in what was edited before."""
        if self._kept is None:
            readonly = self._database.readonly
            folder = journal_of(self._database.path)
            journal = Journal(folder, readonly, self.config.durability == 'power')
            book = Notebook(self._database, journal, self.config.working_notes, self._on_note)
            if fresh and not readonly:
                book.sync()
            self._kept = book
        return self._kept

    @contextmanager
    def _noted(self) -> Iterator[Notebook]:
        with self._opened():
            yield self._notebook()

    def _on_note(self, event: Mapping[str, object]) -> None:
        if self._note_listener is not None:
            self._note_listener(event)

    def _at(self, at_ns: int | None) -> int:
        return self._session.newest_ns if at_ns is None else at_ns
