# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What follows from notes and the map together: reflecting, and what covers both."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterable, Mapping

from memory_node.errors import StoreError
from memory_node.model import MergedStore, Purge, Region
from memory_node.notes import coverage
from memory_node.notes.doomed import Doomed
from memory_node.notes.evidence import Gathering, Judge, Known
from memory_node.notes.items import Network, Note, scope_of, slug
from memory_node.notes.journal import journal_of
from memory_node.notes.learning import Learning
from memory_node.notes.narrative import Told, tell
from memory_node.notes.notebook import Notebook
from memory_node.notes.reflect import Reflection, reflect
from memory_node.notes.taking import Foreign, notes_of, parts, take_over
from memory_node.recall.days import Days
from memory_node.reconciling import OnCommit
from memory_node.remembering import Remembering
from memory_node.store import audit, opening
from memory_node.store.database import ERASING
from memory_node.store.edits import Asked
from memory_node.store.visits import OBSERVED, Visits
from memory_node.store.wanted import Wanted, find


class Reflecting(Remembering):
    """The part of SpatialMemory that makes pages, opinions and beliefs of what was remembered."""

    _purges = 0

    def reflect(
        self, since_ns: int = 0, now_ns: int | None = None,
        scope: Mapping[str, str] | None = None, judge: Judge | None = None,
    ) -> Reflection:  # fmt: skip
        """Move opinions by evidence, and write the generated part of the journal's pages (WM-12).

        Without a user: what changed in the map is told in the file of each day. With one: in their
        folder, and what they keep doing becomes beliefs. Doing it twice changes nothing.

        Args:
            since_ns: what happened before is not recent. now_ns: up to when; None: the newest stamp
                that the memory has seen.
            scope: `user`: whose. judge: decides whether a note speaks for an opinion where words do
                not tell, for example a `ModelJudge`; it is asked while the memory is free.

        Raises:
            InvalidValueError: a value is malformed.
            StoreError: not everything was written.
        """
        with self._opened():
            at_ns = self._at(now_ns)
        owner = scope_of(scope or {}).get('user', '')
        self._take_down_views()

        book = self._patiently(self._notebook)
        if owner:
            self._patiently(lambda: Learning(book).consolidate(owner, at_ns))
        told, untold = ((), ()) if owner else self._tell(book, since_ns, at_ns)

        def run(deciding: Judge | None) -> Reflection:
            done = reflect(book, since_ns, at_ns, scope, deciding, self._patiently)
            return Reflection(
                told + done.pages, done.proposed, untold + done.skipped, done.revised
            )  # fmt: skip

        gathered = Gathering()
        done = run(None if judge is None else gathered)
        if judge is None or not gathered.pairs:
            return done
        known = {pair: judge.judge(*pair) for pair in gathered.pairs}
        again = run(Known(known))
        revised = dict.fromkeys([*done.revised, *again.revised])
        return Reflection(again.pages, again.proposed, again.skipped, tuple(revised))

    def _tell(self, book: Notebook, since_ns: int, at_ns: int) -> Told:
        """Tell the days of a time; what was purged while they were gathered is not told."""
        while True:
            purges = self._purges
            days = self._days(since_ns, at_ns)

            def run(found: Mapping[str, list[str]] = days, before: int = purges) -> Told | None:
                return tell(book.journal, found) if self._purges == before else None

            done = self._patiently(run)
            if done is not None:
                return done

    def _days(self, since_ns: int, at_ns: int) -> dict[str, list[str]]:
        """Lines of what changed, by day; the memory is held but briefly at a time."""
        with self._opened() as session:
            days = Days(session, since_ns, at_ns)
        more = True
        while more:
            with self._opened():
                more = days.step()
        return days.told()

    def _take_down_views(self) -> None:
        """Keep the events of views that came since the last time, for whom they are of."""
        with self._opened() as session:
            visits = Visits(session, self.config.visit_gap_s)
        more = True
        while more:
            with self._opened():
                more = visits.step()
        found, last = visits.result()

        def run() -> None:
            self._notebook().add_events(found)
            with self._database.transaction() as connection:
                connection.execute(
                    'INSERT OR REPLACE INTO meta VALUES (?, ?)', (OBSERVED, str(last))
                )

        self._patiently(run)

    # -- what covers the map and the notes -----------------------------------------------------

    def snapshot(self, path: str) -> int:
        """Copy the store and its journal; returns the last log line.

        Raises:
            StoreError: the file exists already or cannot be written.
        """
        seq = super().snapshot(path)
        with self._noted() as book:
            alone = book.journal.folder is None
            if alone:
                book.copy_to(path)
        if not alone:  # lines are appended, and pages replaced, in one piece: others may write
            book.copy_to(path)
        return seq

    def snapshot_hash(self) -> str:
        """Hash of all that is remembered, equal for equal configuration and stream.

        It covers the journal file by file; as long as there is none, only the map.
        """
        with self._noted() as book:
            found = audit.snapshot_hash(self._database)
            journal = coverage.digest(book.journal)
        return hashlib.sha256(f'{found} {journal}'.encode()).hexdigest() if journal else found

    def check(self, deep: bool = True) -> list[str]:
        """Findings about the file and the index of its journal; empty when all is in order.

        Lines of the journal that cannot be read are none: see `note_problems`.

        Args:
            deep: also replay the log and read the journal, and compare what follows from them with
                what is stored.
        """
        found = super().check(deep)
        if not deep:
            return found
        with self._noted() as book:
            try:
                if not self._database.readonly:
                    book.sync()
                return found + coverage.findings(book)
            except StoreError as error:
                return [*found, str(error)]

    def rebuild(self) -> None:
        """Write everything derived anew: what follows from the log, and the index of the journal.

        Raises:
            StoreError: the log contradicts itself, and nothing was changed; or the journal cannot
                be read.
        """
        super().rebuild()
        self.rebuild_notes()

    def merge_store(
        self, path: str, recorded_ns: int | None = None, on_commit: OnCommit | None = None
    ) -> MergedStore:
        """Take over what another store knows, and its journal; see `Reconciling.merge_store`.

        Notes that were not forgotten there come with their id, owner and verdicts, and with
        `merged:STORE/FILE:LINE` as evidence; objects that they name get the id that they have here.
        The text around notes stays where it is. Doing it twice changes nothing.
        """
        done = super().merge_store(path, recorded_ns, on_commit)
        count = 0
        for part in parts(notes_of(journal_of(str(opening.resolve(path))))):

            def take(some: Foreign = part) -> int:
                at_ns = self._at(recorded_ns)
                return take_over(self._notebook(), some, done.store_id, done.aliases, at_ns)

            count += self._patiently(take)
        return dataclasses.replace(done, notes=count)

    def _purge(self, wanted: Wanted, asked: Asked) -> Purge:
        self._purges += 1
        book = self._notebook()
        count = book.purge(self._doomed(wanted))
        if count:
            with self._database.transaction() as connection:
                connection.execute('INSERT OR REPLACE INTO meta VALUES (?, ?)', (ERASING, '1'))
            words = f'Removed by purge of a {wanted.by}: {count} lines.'
            at_ns = asked.recorded_ns
            book.write([Note(words, network=Network.OBSERVATION, evidence=(str(at_ns),))], at_ns)
        return super()._purge(wanted, asked)

    def _doomed(self, wanted: Wanted) -> Doomed:
        """What of the journal goes with a purge: also what is about objects that go."""
        session = self._session
        found = find(session, wanted)
        objects = set(found.objects)
        if wanted.by == 'object':
            objects |= {*session.redirects.held(session.redirects.final(wanted.object_id))}
        names = {f'object:{number}' for number in objects}
        if wanted.by != 'region':
            owner = slug(wanted.person).replace(':', '-')
            name = wanted.person or wanted.label
            return Doomed(name, owner, names, elsewhere=bool(found))
        for region in _regions_in(session.engine.world.regions.regions, wanted):
            names |= {slug(region.name), slug(f'region:{region.name}')}
        others = {*session.engine.world.maps} - {wanted.map_id}
        return Doomed(
            entities=names, low_m=wanted.low_m, high_m=wanted.high_m,
            frame=lambda frame_id: frame_id not in others, elsewhere=bool(found),
        )  # fmt: skip


def _regions_in(regions: Iterable[Region], wanted: Wanted) -> list[Region]:
    """Regions of a map that lie in a box as a whole."""
    (low_x, low_y, low_z), (high_x, high_y, high_z) = wanted.low_m, wanted.high_m
    return [
        region for region in regions
        if region.map_id == wanted.map_id and low_z <= region.low_m and region.high_m <= high_z
        and all(low_x <= x <= high_x and low_y <= y <= high_y for x, y in region.polygon_m)
    ]  # fmt: skip
