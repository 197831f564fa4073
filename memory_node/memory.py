# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""SpatialMemory: the one door to everything that is remembered."""

from __future__ import annotations

import dataclasses
import uuid
from collections import Counter
from collections.abc import Iterable, Sequence
from types import TracebackType

import numpy as np

from memory_node.config import MAX_LIMIT, Config
from memory_node.errors import (
    ClosedError,
    InvalidValueError,
    ObjectEndedError,
    UnknownObjectError,
)
from memory_node.fusion.arbiter import TERMS, Judgement, find_pairs, judge
from memory_node.fusion.candidates import CandidateIndex
from memory_node.fusion.intake import Evidence, take_in, view_problem
from memory_node.fusion.tombstones import Tombstone, Tombstones
from memory_node.fusion.update import Look, Update, apply_update, plan_update
from memory_node.locking import FairLock
from memory_node.model import (
    Change,
    ChangeKind,
    Commit,
    Hits,
    MemoryObject,
    Observation,
    Query,
    Relation,
    RelationKind,
    State,
    Verdict,
    VerdictKind,
    View,
)
from memory_node.recall import query as recall
from memory_node.scene import boxes
from memory_node.scene.relations import relations_about
from memory_node.store import audit, log, objects
from memory_node.store.database import Database

_REJECTED = VerdictKind.REJECTED


class SpatialMemory:
    """A durable memory in one file. Safe to call from several threads; calls take turns.

    Use as a context manager, or call `close()`.

    Attributes:
        config: the settings it decides by.
        store_id: identity of the file; ids and log numbers hold within one store.
        refusals: reason → how many detections (or whole views) were refused and not stored.
    """

    def __init__(self, database: Database, config: Config) -> None:
        """Use `SpatialMemory.open`."""
        self.config = config
        self.refusals: Counter[str] = Counter()
        self._lock = FairLock()
        self._database = database
        self._closed = False
        self._world = objects.load_world(database)
        self._index = CandidateIndex(self._world)
        self._tombstones = Tombstones(objects.load_tombstones(database, self._world))
        self._ignored = frozenset(label.casefold() for label in config.ignored_labels)
        self._config_hash = audit.write_config(database, config)
        self.store_id = audit.store_id(database, new=str(uuid.uuid4()))
        self._seq, self._object_id, self._observation_id, self._newest_ns = audit.last_numbers(
            database
        )

    @classmethod
    def open(cls, path: str, config: Config | None = None) -> SpatialMemory:
        """Open or create a memory.

        Args:
            path: the file, `~` is expanded; `:memory:` keeps nothing on disk.
            config: settings; None: the defaults.

        Raises:
            StoreError: the file cannot be opened, is another program's, or is too new.
        """
        config = config or Config()
        database = Database(path, config.durability)
        try:
            return cls(database, config)
        except BaseException:
            database.close()
            raise

    # -- writing -----------------------------------------------------------------------------

    def observe(self, view: View, recorded_ns: int | None = None) -> Commit:
        """Judge a view and put it on disk, in one transaction.

        Args:
            view: what a sensor saw. A malformed detection in it is refused alone.
            recorded_ns: when the memory learned it; None: the stamp of the view. A view stamped
                more than `max_future_s` after it is refused as a whole.

        Returns:
            A verdict per detection in their order, and the changes.

        Raises:
            StoreError: nothing of the view was written, and the memory is as it was before.
            ClosedError: the memory was closed.
        """
        with self._lock:
            self._require_open()
            recorded = view.stamp_ns if recorded_ns is None else recorded_ns
            problem = view_problem(view, recorded, self._newest_ns, self.config)
            if problem:
                self.refusals[problem] += max(1, len(view.detections))
                verdicts = [Verdict(_REJECTED, None, problem)] * len(view.detections)
                return Commit(tuple(verdicts), (), self._seq + 1, self._seq, problem)
            return self._observe(view, recorded)

    def _observe(self, view: View, recorded_ns: int) -> Commit:
        world, c = self._world, self.config
        intake = take_in(view.detections, world.features.dim, c.position_sigma_m, self._ignored)
        evidence = intake.evidence
        label = np.array([world.labels.intern(text) for text in evidence.labels], dtype=np.int32)
        look = self._look(view)
        pairs = find_pairs(evidence, label, look.map_number, world, self._index, c)
        barred = self._tombstones.bars(evidence, label, look.map_number, c.dilation_m)
        judgement = judge(evidence, pairs, barred, c)
        update = plan_update(evidence, label, judgement, look, world, self._object_id + 1, c)
        changes = self._number(update, view.stamp_ns, recorded_ns)
        ids = _object_ids(evidence, judgement, update)
        with self._database.transaction() as connection:
            log.write_view(connection, look.seq, view, recorded_ns, self._config_hash)
            log.write_lines(connection, changes)
            objects.write_update(connection, update, world, changes)
            log.write_observations(
                connection, self._observation_id + 1, look.seq, evidence, judgement, ids,
                update.kept,
            )  # fmt: skip
        self._apply(update)
        self._observation_id += len(evidence)
        self._newest_ns = max(self._newest_ns, view.stamp_ns)
        self._committed(look.seq + len(changes))
        self.refusals.update(intake.refused.values())
        verdicts = _verdicts(len(view.detections), intake.refused, evidence, judgement, ids)
        return Commit(verdicts, tuple(changes), look.seq, self._seq)

    def _look(self, view: View) -> Look:
        nothing = np.full(3, np.nan)
        position, axis = nothing, nothing
        if view.sensor_pose is not None:
            position = np.array(view.sensor_pose.position_m, dtype=np.float64)
            turn = np.array([view.sensor_pose.orientation_xyzw], dtype=np.float64)
            axis = boxes.optical_axis(turn)[0]
        number = self._world.map_number(view.map_id)
        return Look(self._seq + 1, view.stamp_ns, position, axis, number)

    def _number(self, update: Update, stamp_ns: int, recorded_ns: int) -> list[Change]:
        """Give each change its log line, after that of the view."""
        world, after = self._world, update.after
        changes = []
        for seq, draft in enumerate(update.changes, self._seq + 2):
            record = after[draft.place]
            masses = world.masses_of(record, update.more_labels.get(draft.place, {}))
            changes.append(Change(
                seq, draft.kind, int(record['id']), stamp_ns, recorded_ns, before=draft.before,
                object=world.as_object(record, masses),
            ))  # fmt: skip
        return changes

    def _apply(self, update: Update) -> None:
        count = len(update.rows)
        rows = apply_update(update, self._world)
        self._index.update(rows[:count])
        self._index.add(rows[count:])
        self._index.maintain()
        self._object_id += len(rows) - count

    def _committed(self, seq: int) -> None:
        self._seq = seq
        self._database.committed(seq)

    def forget(
        self,
        object_id: int,
        reason: str = '',
        actor: str = 'caller',
        recorded_ns: int | None = None,
    ) -> Commit:
        """End an object. The next sighting of the same thing there does not bring it back.

        Args:
            object_id: of a live object.
            reason, actor: why and by whom, for the log.
            recorded_ns: when the memory learned it; None: the newest stamp it has seen.

        Raises:
            UnknownObjectError: no object ever had this id.
            ObjectEndedError: it was forgotten before.
            StoreError: nothing was written.
        """
        with self._lock:
            self._require_open()
            row = self._live_row(object_id)
            world, record = self._world, self._world.records[self._live_row(object_id)]
            ended = dataclasses.replace(world.view(row), state=State.FORGOTTEN)
            change = Change(
                self._seq + 1, ChangeKind.FORGOTTEN, object_id, self._newest_ns,
                self._newest_ns if recorded_ns is None else recorded_ns, actor, reason,
                {'state': world.view(row).state.value}, ended,
            )  # fmt: skip
            stone = Tombstone(
                object_id, int(record['label']), record['center'].copy(), int(record['map'])
            )
            with self._database.transaction() as connection:
                log.write_lines(connection, [change])
                objects.end_object(connection, change, State.FORGOTTEN, stone, world)
            world.end(row)
            self._index.remove(row)
            self._tombstones.add(stone)
            self._committed(change.seq)
            return Commit((), (change,), change.seq, change.seq)

    def configure(self, config: Config) -> None:
        """Use other settings from the next call on; `durability` stays as at opening."""
        with self._lock:
            self._require_open()
            self._config_hash = audit.write_config(self._database, config)
            self.config = config
            self._ignored = frozenset(label.casefold() for label in config.ignored_labels)

    # -- reading -----------------------------------------------------------------------------

    @property
    def seq(self) -> int:
        """Number of the last log line."""
        return self._seq

    @property
    def object_count(self) -> int:
        """Number of objects that have not ended; asking costs next to nothing, and never waits."""
        return self._world.live_count

    @property
    def durable_seq(self) -> int:
        """Log line up to which nothing is lost in a power cut."""
        return self._database.durable_seq(self._seq)

    @property
    def newest_stamp_ns(self) -> int:
        """Newest stamp of a committed view; 0: none."""
        return self._newest_ns

    def query(self, query: Query) -> Hits:
        """Return what matches, best first.

        Raises:
            InvalidValueError: a value of the query is malformed.
        """
        with self._lock:
            self._require_open()
            return recall.answer(recall.checked(query), self._world, self._index)

    def objects(self) -> list[MemoryObject]:
        """All objects that have not ended, by id."""
        with self._lock:
            self._require_open()
            found = [self._world.view(row) for row in self._world.live_rows().tolist()]
            return sorted(found, key=lambda o: o.id)

    def object(self, object_id: int) -> MemoryObject:
        """One object, also one that has ended.

        Raises:
            UnknownObjectError: no object ever had this id.
        """
        with self._lock:
            self._require_open()
            return self._object(object_id)

    def history(self, object_id: int, limit: int = MAX_LIMIT) -> list[Observation]:
        """The newest sightings of an object, oldest first; also of one that has ended.

        Raises:
            UnknownObjectError: no object ever had this id.
            InvalidValueError: limit is not 1 to 1000.
        """
        with self._lock:
            self._require_open()
            self._object(object_id)
            return log.observations_of(self._database, object_id, _checked_limit(limit))

    def changes(
        self, since_seq: int = 0, limit: int = MAX_LIMIT, object_id: int | None = None
    ) -> list[Change]:
        """The first changes after a log line, or the newest ones of one object; oldest first.

        Raises:
            InvalidValueError: limit is not 1 to 1000, or since_seq is negative.
        """
        with self._lock:
            self._require_open()
            if since_seq < 0:
                raise InvalidValueError(f'since_seq: got {since_seq!r}, expected 0 or more')
            if object_id is not None and since_seq == 0:
                return log.newest_changes_of(self._database, object_id, _checked_limit(limit))
            return log.changes_of(self._database, since_seq, _checked_limit(limit), object_id)

    def relations(self, object_id: int) -> list[Relation]:
        """Relations in which an object is subject or object; none for one that has ended.

        Raises:
            UnknownObjectError: no object ever had this id.
        """
        with self._lock:
            self._require_open()
            row = self._world.row_of(object_id)
            if row is None:
                self._object(object_id)
                return []
            return relations_about(self._world, self._index, np.array([row]), self.config)

    def relate(
        self,
        subject_ids: Iterable[int] | None = None,
        kind: RelationKind | str | None = None,
        object_ids: Iterable[int] | None = None,
    ) -> list[Relation]:
        """Relations between objects; None leaves a side or the kind open.

        Raises:
            InvalidValueError: the kind is no relation, or both sides are open.
            UnknownObjectError: no object ever had one of the ids.
        """
        with self._lock:
            self._require_open()
            wanted = _checked_kind(kind)
            subjects = None if subject_ids is None else set(subject_ids)
            others = None if object_ids is None else set(object_ids)
            anchors = others if subjects is None else subjects
            if anchors is None:
                raise InvalidValueError('relate: got neither subject nor object, expected one')
            rows = [row for i in sorted(anchors) if (row := self._row_if_live(i)) is not None]
            found = relations_about(
                self._world, self._index, np.array(rows, dtype=np.int64), self.config
            )
            return [
                r for r in found
                if (wanted is None or r.kind is wanted)
                and (subjects is None or r.subject_id in subjects)
                and (others is None or r.object_id in others)
            ]  # fmt: skip

    def snapshot_hash(self) -> str:
        """Hash of all that is remembered, equal for equal configuration and stream."""
        with self._lock:
            self._require_open()
            return audit.snapshot_hash(self._database)

    def check(self) -> list[str]:
        """Findings about the file; empty when everything is in order."""
        with self._lock:
            self._require_open()
            return audit.check(self._database)

    # -- the rest ----------------------------------------------------------------------------

    def close(self) -> None:
        """Write everything back into the file and close it; may be called twice."""
        with self._lock:
            if not self._closed:
                self._closed = True
                self._database.close()

    def __enter__(self) -> SpatialMemory:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _require_open(self) -> None:
        if self._closed:
            raise ClosedError(f'the memory {self._database.path!r} has been closed')

    def _object(self, object_id: int) -> MemoryObject:
        row = self._world.row_of(object_id) if isinstance(object_id, int) else None
        if row is not None:
            return self._world.view(row)
        valid = isinstance(object_id, int) and 0 < object_id < 2**63
        found = objects.read_object(self._database, object_id) if valid else None
        if found is None:
            raise UnknownObjectError(
                f'no object has the id {object_id!r}; ids go from 1 to {self._object_id}'
            )
        return found

    def _row_if_live(self, object_id: int) -> int | None:
        row = self._world.row_of(object_id)
        if row is None:
            self._object(object_id)
        return row

    def _live_row(self, object_id: int) -> int:
        row = self._row_if_live(object_id)
        if row is None:
            raise ObjectEndedError(f'object {object_id} has been forgotten already')
        return row


def _object_ids(evidence: Evidence, judgement: Judgement, update: Update) -> list[int | None]:
    ids: list[int | None] = [None] * len(evidence)
    for place, number in zip(update.place.tolist(), update.after['id'].tolist()):
        ids[place] = number
    return ids


def _verdicts(
    count: int, refused: dict[int, str], evidence: Evidence, judgement: Judgement,
    ids: Sequence[int | None],
) -> tuple[Verdict, ...]:  # fmt: skip
    """One verdict per detection, in the order in which they were given."""
    verdicts = [Verdict(_REJECTED, None, refused.get(k, '')) for k in range(count)]
    kinds = log.verdict_kinds(judgement)
    terms, total = judgement.terms.tolist(), judgement.total.tolist()
    for k, place in enumerate(evidence.index.tolist()):
        named = {}
        if total[k] == total[k]:
            named = {name: t for name, t in zip(TERMS, terms[k]) if t == t}
            named['total'] = total[k]
        verdicts[place] = Verdict(kinds[k], ids[k], judgement.reason[k], named)
    return tuple(verdicts)


def _checked_limit(limit: int) -> int:
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= MAX_LIMIT:
        raise InvalidValueError(f'limit: got {limit!r}, expected 1 to {MAX_LIMIT}')
    return limit


def _checked_kind(kind: RelationKind | str | None) -> RelationKind | None:
    if kind is None:
        return None
    try:
        return RelationKind(kind)
    except ValueError:
        known = ', '.join(k.value for k in RelationKind)
        raise InvalidValueError(f'relation: got {kind!r}, expected one of {known}') from None
