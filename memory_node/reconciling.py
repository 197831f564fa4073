# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Who is who: objects that turn out to be one, or two, and what other stores know (CH-27 to 29).

Whatever is decided here keeps or redirects ids, is written to the log, and can be undone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from memory_node import checks
from memory_node.config import CHRONOTOPE, Config
from memory_node.errors import InvalidValueError
from memory_node.fusion.identity import LEAST, Likeness, alike
from memory_node.fusion.noise import believed
from memory_node.model import (
    NO_PINS,
    Aspect,
    Commit,
    Consolidation,
    Merged,
    MergedStore,
    View,
)
from memory_node.store import identity, merging, sightings
from memory_node.store.edits import Asked, Edit
from memory_node.store.merging import Foreign
from memory_node.store.session import FeatureSpace, Session
from memory_node.telling import CALLER, Telling

CONSOLIDATE = 'consolidate'
CHUNK = 256
"""Objects that are compared with their neighbours while the memory is held."""

OnCommit = Callable[[Commit], None]


class Reconciling(Telling):
    """The part of SpatialMemory that settles identities. Each merge or split is one transaction."""

    def merge_objects(
        self,
        keep_id: int,
        other_id: int,
        reason: str = '',
        actor: str = CALLER,
        recorded_ns: int | None = None,
    ) -> Commit:
        """Make two live objects one; the id of the other stands for it from now on.

        Pose, size and feature are means weighted by the number of sightings; label evidence and
        counts are added. Properties and stated relations of the other hold of the one that is
        kept; where both have a property, its own counts.

        Args:
            keep_id: goes on under its id. other_id: ends.
            reason, actor: why and by whom, for the log.
            recorded_ns: when the memory learned it; None: the newest stamp it has seen.

        Raises:
            InvalidValueError: both ids are the same, or the objects are in different maps.
            UnknownObjectError: no object ever had one of the ids.
            ObjectEndedError: one was forgotten, or merged before: says into which.
            StoreError: nothing was written.
        """
        if keep_id == other_id:
            raise InvalidValueError(f'merge: got object {keep_id} twice, expected two objects')

        def prepare(asked: Asked) -> list[Edit]:
            self._require_mergeable(keep_id, other_id)
            return identity.merge(self._session, int(keep_id), int(other_id), asked)

        return self._edits(actor, reason, recorded_ns, prepare)

    def _require_mergeable(self, keep_id: int, other_id: int) -> None:
        world = self._session.engine.world
        maps = world.records['map'][[self._live_row(keep_id), self._live_row(other_id)]]
        if maps[0] != maps[1]:
            raise InvalidValueError(
                f'merge: objects {keep_id} and {other_id} are in different maps'
            )

    def split(
        self,
        object_id: int,
        reason: str = '',
        actor: str = CALLER,
        recorded_ns: int | None = None,
    ) -> Commit:
        """Make one live object two, if its sightings form two groups (CH-27).

        Each group needs two sightings or more, and their middles must be more than a metre apart.
        The id stays with the larger group, of equal ones with that which was seen first; the other
        gets a new one, and the sightings of its group.

        Args:
            object_id: of a live object.
            reason, actor: why and by whom, for the log.
            recorded_ns: when the memory learned it; None: the newest stamp it has seen.

        Raises:
            InvalidValueError: the sightings do not form two groups.
            UnknownObjectError, ObjectEndedError, StoreError: as for `merge_objects`.
        """

        def prepare(asked: Asked) -> list[Edit]:
            self._live_row(object_id)
            return identity.split(self._session, int(object_id), asked)

        return self._edits(actor, reason, recorded_ns, prepare)

    def undo(
        self, seq: int, reason: str = '', actor: str = CALLER, recorded_ns: int | None = None
    ) -> Commit:
        """Take a merge or a split back: both objects are again as before.

        What has been seen of them since stays with the object that holds it. `consolidate` never
        merges again what was taken apart so.

        Args:
            seq: log line of the merge or split (kind MERGED or SPLIT).
            reason, actor: why and by whom, for the log.
            recorded_ns: when the memory learned it; None: the newest stamp it has seen.

        Raises:
            InvalidValueError: the line is no merge or split, is itself an undo, or was undone.
            ObjectEndedError: what went on has ended since.
            StoreError: nothing was written.
        """
        checks.line('seq', seq)
        return self._edits(
            actor, reason, recorded_ns, lambda asked: identity.undo(self._session, int(seq), asked)
        )

    # -- consolidate ---------------------------------------------------------------------------

    def consolidate(
        self,
        actor: str = CALLER,
        recorded_ns: int | None = None,
        on_commit: OnCommit | None = None,
    ) -> Consolidation:
        """Merge objects that the arbiter would have joined, had one been seen as the other (CH-28).

        Each object that has changed since the last time is scored against its neighbours, never
        against all. Two that were seen in one view, or that somebody told apart or gave different
        labels, are never merged. The likest pairs come first, the lower id is kept, until there is
        none. The memory is held but briefly at a time.

        Args:
            actor: by whom, for the log.
            recorded_ns: when the memory learned it; None: the newest stamp it has seen.
            on_commit: told of each merge at once.

        Raises:
            StoreError: what was merged until then stays merged.
        """
        with self._opened():
            todo, mark = self._changed()
        looked_at, merges = len(todo), list[Merged]()
        apart: set[tuple[int, int]] = set()
        while todo:
            pairs = self._alike(todo)
            todo, used = [], set[int]()
            for pair in pairs:
                ids = (pair.kept_id, pair.other_id)
                if ids in apart:
                    continue
                if used & {*ids}:
                    todo += [i for i in ids if i not in used]  # once more, with what it became
                    continue
                commit = self._merge_if_one(pair, actor, recorded_ns)
                if commit is None:
                    apart.add(ids)
                    continue
                merges.append(Merged(*ids, pair.score, pair.terms, commit.first_seq))
                used |= {*ids}
                todo.append(pair.kept_id)
                if on_commit is not None:
                    on_commit(commit)
            todo = sorted(set(todo))
        self._consolidated = mark
        return Consolidation(looked_at, tuple(merges), len(apart))

    def _changed(self) -> tuple[list[int], tuple[int, int, Config]]:
        """Objects that changed since the last time, and what to remember for the next."""
        session = self._session
        world = session.engine.world
        seen, line, config = self._consolidated
        if config != session.config:
            found = world.records['id'][world.live_rows()].tolist()
        else:
            rows = session.database.rows(
                'SELECT object_id FROM observation WHERE id > ? AND object_id IS NOT NULL '
                'UNION SELECT object_id FROM log WHERE seq > ? AND object_id IS NOT NULL',
                (seen, line),
            )
            found = [session.redirects.final(number) for (number,) in rows]
        live = sorted({i for i in found if world.row_of(i) is not None})
        return live, (session.observation_id, session.seq, session.config)

    def _alike(self, object_ids: list[int]) -> list[Likeness]:
        """Pairs that score high enough, likest first; the memory is held for a chunk at a time."""
        found: dict[tuple[int, int], Likeness] = {}
        for first in range(0, len(object_ids), CHUNK):
            with self._opened() as session:
                engine = session.engine
                rows = engine.world.rows_of(np.array(object_ids[first : first + CHUNK], np.int64))
                rows = rows[rows >= 0]
                for pair in alike(
                    engine.world, engine.index, rows, self._sigma_m(), session.config
                ):
                    found[pair.kept_id, pair.other_id] = pair
        return sorted(found.values(), key=lambda pair: pair.order)

    def _sigma_m(self) -> float:
        """Position noise by which objects are compared: that of the best sensor there is."""
        return believed(min(self._session.engine.noise_m.values(), default=0.0), self.config)

    def _merge_if_one(self, pair: Likeness, actor: str, recorded_ns: int | None) -> Commit | None:
        """Merge a pair, unless it has changed since it was scored, or must be two things."""

        def prepare(asked: Asked) -> list[Edit]:
            session = self._session
            engine = session.engine
            ids = (pair.kept_id, pair.other_id)
            rows = engine.world.rows_of(np.array(ids, np.int64))
            if (rows < 0).any() or pair not in alike(
                engine.world, engine.index, rows[1:], self._sigma_m(), session.config
            ):
                return []
            if ids in sightings.told_apart(session) or _called_apart(session, *ids):
                return []
            if sightings.views_of(session, ids[0]) & sightings.views_of(session, ids[1]):
                return []
            return identity.merge(session, *ids, asked, {'score': pair.score, 'terms': pair.terms})

        commit = self._edits(actor, CONSOLIDATE, recorded_ns, prepare)
        return commit if commit.changes else None

    def maintain(
        self,
        actor: str = CALLER,
        recorded_ns: int | None = None,
        on_commit: OnCommit | None = None,
    ) -> tuple[tuple[Commit, ...], Consolidation]:
        """Split and consolidate whatever has changed since the last time.

        An object whose sightings form two groups is split only if the groups were seen in turns:
        one that was moved once is one thing.

        Args:
            actor: by whom, for the log.
            recorded_ns: when the memory learned it; None: the newest stamp it has seen.
            on_commit: told of each split and merge at once.

        Returns:
            The splits, and what was merged.

        Raises:
            StoreError: what was done until then stays.
        """
        with self._opened():
            todo, _ = self._changed()
        splits = []
        for object_id in todo:

            def prepare(asked: Asked, number: int = object_id) -> list[Edit]:
                session = self._session
                row = session.engine.world.row_of(number)
                if row is None or session.engine.world.records['observations'][row] < 2 * LEAST:
                    return []
                found = sightings.parts(session, number)
                if found is None or not sightings.take_turns(*found):
                    return []
                return identity.split(session, number, asked)

            commit = self._edits(actor, 'maintain: seen in turns at two places', recorded_ns,
                                 prepare)  # fmt: skip
            if commit.changes:
                splits.append(commit)
                if on_commit is not None:
                    on_commit(commit)
        return tuple(splits), self.consolidate(actor, recorded_ns, on_commit)

    # -- other stores --------------------------------------------------------------------------

    def merge_store(
        self, path: str, recorded_ns: int | None = None, on_commit: OnCommit | None = None
    ) -> MergedStore:
        """Take over what another store knows (CH-29).

        Each of its confirmed objects becomes one detection at the time it was last seen, judged as
        any other, in a view of the sensor `merged:STORE_ID`. What was taken over before is left
        out, so doing it twice changes nothing. The other file is opened for reading only.

        Args:
            path: of the other file.
            recorded_ns: when the memory learned it; None: the newest stamp it has seen.
            on_commit: told of each view at once.

        Raises:
            InvalidValueError: it is this memory, or its features are not as long as those here.
            StoreError: it is no store, damaged, or of a newer version; or nothing could be written.
        """
        known = self.config.feature_space
        store_id, found = merging.confirmed_in(path, known, self._require_other)
        sensor = merging.SENSOR + store_id
        with self._opened() as session:
            taken = merging.taken_over(session, sensor)
        new = [f for f in found if (f.last_seen_ns, f.track_id) not in taken and self._is_wanted(f)]
        views = 0
        for view in merging.views_of(new, sensor):
            commit = self._take_over(view, recorded_ns)
            views += 1
            if on_commit is not None:
                on_commit(commit)
        with self._opened() as session:
            aliases = merging.aliases(session, sensor)
        return MergedStore(store_id, len(found), len(new), views, aliases)

    def _take_over(self, view: View, recorded_ns: int | None) -> Commit:
        """Judge a view of another store; however old it is, it is no late message."""

        def commit() -> Commit:
            now = max(view.stamp_ns, self._session.newest_ns)
            return self._commit_view(view, now if recorded_ns is None else int(recorded_ns))

        return self._patiently(commit)

    def _is_wanted(self, found: Foreign) -> bool:
        """Whether an object of another store can be judged here."""
        judged = found.feature is not None or self.config.profile != CHRONOTOPE
        return judged and found.label.casefold() not in self._ignored

    def _require_other(
        self, path: str, store_id: str, space: FeatureSpace, found: Sequence[Foreign]
    ) -> None:
        """Refuse this memory itself, and features that cannot be compared."""
        if store_id == self.store_id:
            raise InvalidValueError(
                f'path: {path!r} is this memory or a copy of it (store {store_id}), expected '
                'another store'
            )
        own = self._session.space
        if not any(f.feature is not None for f in found):
            return
        if own.dimension is not None and own.dimension != space.dimension:
            raise InvalidValueError(
                f'path: the features of {path!r} have {space.dimension} numbers, expected '
                f'{own.dimension} as here'
            )
        if own.name and space.name and own.name != space.name:
            raise InvalidValueError(
                f'path: the features of {path!r} are of {space.name!r}, expected {own.name!r} as '
                'here'
            )

    def alias(self, store_id: str, object_id: int) -> int | None:
        """What an object of a store that was merged into this one is here; None: nothing."""
        with self._opened() as session:
            known = merging.aliases(session, merging.SENSOR + checks.text('store_id', store_id))
        return known.get(object_id)


def _called_apart(session: Session, one_id: int, other_id: int) -> bool:
    """Whether somebody gave each of two objects a label, and not the same."""
    pins = session.engine.world.pins
    said = [pins.get(number, NO_PINS).get(Aspect.LABEL) for number in (one_id, other_id)]
    return None not in said and len({pin.value for pin in said if pin}) == 2
