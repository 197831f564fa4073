# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Replay the log: everything derived follows from views, observations and changes (promise 2).

Nothing is judged anew. The stored verdicts, boxes, scores and kept features go through the same
arithmetic as when they came, in the order of the log.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
from collections.abc import Callable, Iterator
from typing import Any

import apsw
import numpy as np

from memory_node.config import CHRONOTOPE, Config
from memory_node.errors import SpatialMemoryError, StoreError
from memory_node.fusion.arbiter import DOUBLE, Judgement
from memory_node.fusion.classes import Classes, load_classes
from memory_node.fusion.engine import Plan, barred_stones, object_ids_of, reasons_to_keep
from memory_node.fusion.intake import Evidence
from memory_node.fusion.looks import Look
from memory_node.fusion.motion import noted_shifts, sigma_of
from memory_node.fusion.presence import missing, supported
from memory_node.fusion.shift import no_shift
from memory_node.fusion.verdicts import numbered_changes
from memory_node.fusion.visibility import NO_SIGHTS, Sights
from memory_node.fusion.world import Rows
from memory_node.model import Change, ChangeKind, Pose, View
from memory_node.scene import boxes
from memory_node.store import (
    acts,
    audit,
    corrections,
    defining,
    edits,
    features,
    identity,
    late,
    log,
    objects,
    rows_behind,
    seal,
    stated,
)  # fmt: skip
from memory_node.store.database import MEMORY, Database
from memory_node.store.session import FeatureSpace, Session

Progress = Callable[[int], None]
"""Is told the log line up to which a replay has come."""

_OBSERVATIONS = """
    SELECT object_id, verdict, reason, candidate_id, barred_by, label, score, x, y, z,
           size_x, size_y, size_z, qx, qy, qz, qw, position_cov, alternatives, track_id,
           geometry_term, iou_term, feature_term, label_term, total, feature, space
    FROM observation WHERE view_seq = ?2 AND id BETWEEN ?1 AND ?1 + ?3 ORDER BY id
"""
_COUNTS = 'SELECT view_seq, min(id), count(*) FROM observation GROUP BY view_seq'
DERIVED = (
    'label', 'object', 'object_feature', 'object_version', 'rejection', 'tombstone', 'property',
    'stated_relation', 'event', 'redirect', 'attribution', 'identity_change', 'pin', 'region',
)  # fmt: skip
"""Tables that follow from log, view and observation."""


class Replay:
    """Replays the log of one store into a session on an empty one.

    Attributes:
        seq: the log line up to which it has come.
    """

    def __init__(self, source: Database, target: Session, progress: Progress | None = None) -> None:
        self._source, self._target = source, target
        self._progress = progress
        self.seq = 0
        self._spaces = {
            number: FeatureSpace(number, name, dimension)
            for number, name, dimension in source.rows(
                'SELECT id, name, dimension FROM feature_space'
            )
        }
        self._first = {view_seq: (first, count) for view_seq, first, count in source.rows(_COUNTS)}
        self._configs = {
            number: _as_settings(json.loads(text))
            for number, text in source.rows('SELECT hash, settings FROM config')
        }

    def _observations(self, view_seq: int) -> list[tuple[Any, ...]]:
        """The observations of a view; those of one view are numbered one after the other."""
        first, count = self._first.get(view_seq, (0, 0))
        return self._source.rows(_OBSERVATIONS, (first, view_seq, count)) if count else []

    def run(self) -> None:
        """Replay everything.

        Raises:
            StoreError: the log does not say what the arithmetic gives; names the line.
        """
        with self._target.database.transaction() as connection:
            connection.executemany(
                'INSERT INTO feature_space VALUES (?, ?, ?)',
                [(s.id, s.name, s.dimension) for s in self._spaces.values()],
            )
        self._begin()
        for view, lines in self._groups():
            if view is not None:
                self._replay_view(view, lines)
            elif identity.is_first(lines[0]):
                self._replay_identity(lines)
            else:
                for line in lines:
                    self._replay_line(line)
            self.seq = self._target.seq
            if self._progress is not None:
                self._progress(self.seq)
        self._target.finish()

    def _begin(self) -> None:
        """Begin where a purge sealed the file, if one did."""
        found = seal.sealed(self._source)
        seq, space = found or (0, 0)
        known = self._source.rows(
            'SELECT config FROM view ORDER BY seq > ?1, abs(seq - ?1) LIMIT 1', (seq,)
        )
        if known:  # what is stated before the next view knows no settings of its own
            self._target.use(*self._configs[known[0][0]])
        if found is None:
            self._target.load(self._target.space)
            return
        seal.begin_with(self._source, self._target.database, DERIVED, seq)
        self._target.load(self._spaces.get(space, FeatureSpace(0, '', None)))
        self.seq = seq

    def _groups(self) -> Iterator[tuple[Change | None, list[Change]]]:
        """Each view with the changes that perception made of it; other lines alone."""
        rows = self._source.rows(f'{log.CHANGE} WHERE seq > ? ORDER BY seq', (self.seq,))
        lines = map(log.change_from, rows)
        view: Change | None = None
        own: list[Change] = []
        for line in itertools.chain(lines, [None]):
            if (
                line is not None
                and view is not None
                and line.actor == log.PERCEPTION
                and (line.kind is not ChangeKind.VIEW)
            ):
                own.append(line)
                continue
            if view is not None:
                yield view, own
            view, own = None, []
            if line is not None and line.kind is ChangeKind.VIEW:
                view = line
            elif line is not None and identity.is_first(line):
                yield None, [line, *itertools.islice(lines, 1)]
            elif line is not None:
                yield None, [line]

    def _replay_view(self, line: Change, lines: list[Change]) -> None:
        session = self._target
        row = self._source.rows(
            'SELECT sensor, clock, map_id, sensor_pose, scope, config, looks, noise_m, '
            'localization_cov FROM view '
            'WHERE seq = ?', (line.seq,),
        )[0]  # fmt: skip
        observations = self._observations(line.seq)
        config, classes = self._configs[row[5]]
        self._switch(config, classes, observations)
        world = session.engine.world
        map_number = world.map_number(row[2])
        look = Look(line.seq, line.stamp_ns, *objects.look_geometry(row[3]), map_number)
        plan = self._plan(observations, look, config, row)
        asked = edits.Asked(
            line.seq + 1, line.stamp_ns, line.recorded_ns, log.PERCEPTION,
        )  # fmt: skip
        with session.database.transaction() as connection:
            changes = numbered_changes(plan, world, line.recorded_ns)
            asked = dataclasses.replace(asked, seq=line.seq + 1 + len(changes))
            restored = edits.restorations(session, plan.cleared, asked)
            session.write(plan, _view_of(line, row), line.recorded_ns, changes)
            edits.write_all(connection, restored)
            session.engine.apply(plan)
            changes += edits.apply_all(restored)
            asked = dataclasses.replace(asked, seq=line.seq + 1 + len(changes))
            found = identity.reunite_all(connection, session, plan, asked, config)
            self._compare(line, [*changes, *found], lines)
        session.done(plan, line.seq + len(lines), [c.object_id for c in found])

    def _switch(
        self, config: Config, classes: Classes, observations: list[tuple[Any, ...]]
    ) -> None:
        """Go on with the settings and the feature space under which a view was judged.

        Which space that was, the features that were kept of it say; settings alone do not, as a
        view may have named it, and the file may have had it before.
        """
        session = self._target
        used = {row[26] for row in observations if row[26] is not None}
        space = session.space if not used else self._spaces[used.pop()]
        anew = config.profile != session.config.profile
        if config != session.config or classes != session.classes:
            session.use(config, classes)
        if anew or space.id != session.space.id:
            session.finish()
            session.load(space)

    def _plan(
        self, rows: list[tuple[Any, ...]], look: Look, config: Config, view: tuple[Any, ...]
    ) -> Plan:
        """The stored verdicts and looks of a view as a plan."""
        engine = self._target.engine
        evidence = evidence_of(rows, config, self._target.space.dimension or 0)
        label = np.array([engine.world.labels.intern(row[5]) for row in rows], dtype=np.int32)
        kept = evidence.has_feature
        robot = None if view[8] is None else np.frombuffer(view[8], '<f8')
        sigma = sigma_of(evidence.cov, view[7] or config.position_sigma_m, robot)
        updates = []
        turns = [np.arange(len(rows))]
        if config.profile == CHRONOTOPE:
            turns = [np.array([k]) for k in range(len(rows))]
        applied = config.profile == CHRONOTOPE
        for places in turns:
            part = evidence if not applied else evidence.one(int(places[0]))
            judgement = self._judgement([rows[k] for k in places.tolist()])
            update = supported(
                part, label[places], judgement, look, engine.world, engine.last_object_id + 1,
                view[0], config, kept[places],
            )  # fmt: skip
            update = noted_shifts(
                update, part, judgement, sigma[places], look, engine.world, config
            )
            if applied:
                engine.apply_update(update)
                update = update.moved_to(int(places[0]), len(rows))
            updates.append(update)
        judgement = self._judgement(rows)
        missed = missing(self._sights(view[6]), look, engine.world, config)
        if missed.update is not None:
            updates.append(missed.update)
        ids = object_ids_of(judgement, updates)
        if ids != [row[0] for row in rows]:
            stored = ', '.join(str(row[0]) for row in rows)
            raise StoreError(
                f'the observations of the view in log line {look.seq} went to the objects '
                f'{", ".join(map(str, ids))}, they say {stored}'
            )
        stones = [None if row[4] is None else engine.tombstones.get(row[4]) for row in rows]
        barred = barred_stones(evidence, judgement, stones, look, config)
        final = {stone.object_id: stone for stone in barred if stone is not None}
        reasons = reasons_to_keep(judgement, barred)
        return Plan(
            look, evidence, judgement, ids, [row[3] for row in rows],
            kept, barred,
            engine.rejections.plan(
                evidence, label, reasons, look.map_number, config.dilation_m, look.seq
            ),
            updates, [final[i] for i in sorted(final) if final[i].is_cleared(config)],
            no_shift(look), None, {}, applied, missed.sights,
        )  # fmt: skip

    def _sights(self, looks: bytes | None) -> Sights:
        """What a view says of objects that it does not show."""
        found = np.frombuffer(looks or b'', log.LOOK)
        found = found[found['kind'] != log.HIT]
        if not len(found):
            return NO_SIGHTS
        rows = self._target.engine.world.rows_of(found['object'])
        if (rows < 0).any():
            raise StoreError(f'a look at object {found["object"][rows < 0][0]}, which had ended')
        return Sights(rows, found['kind'], found['likelihood'].astype(np.float64))

    def _judgement(self, rows: list[tuple[Any, ...]]) -> Judgement:
        world = self._target.engine.world
        double = [row[2] == DOUBLE for row in rows]
        joined = [
            row[0] if row[1] == 'merged' and not twice else None for row, twice in zip(rows, double)
        ]
        found = [-1 if i is None else world.row_of(i) for i in joined]
        if None in found:
            raise StoreError(
                f'object {joined[found.index(None)]} was given a sighting after it ended'
            )
        terms = np.array([row[20:24] for row in rows], dtype=np.float64).reshape(-1, 4)
        return Judgement(
            row=np.array(found, dtype=np.int64),
            candidate=np.full(len(rows), -1, np.int64),
            created=np.array([row[1] == 'created' for row in rows], dtype=bool),
            reason=[row[2] for row in rows],
            terms=terms,
            total=np.array([row[24] for row in rows], dtype=np.float64),
            twin=_twins(rows),
        )

    def _replay_line(self, line: Change) -> None:
        """A line that a caller caused."""
        session = self._target
        session.finish()
        asked = edits.Asked(line.seq, line.stamp_ns, line.recorded_ns, line.actor, line.reason)
        if line.kind is ChangeKind.FORGOTTEN:
            row = session.engine.world.row_of(line.object_id or 0)
            if row is None:
                raise StoreError(f'log line {line.seq} forgets object {line.object_id} twice')
            edit = edits.forget(session, row, asked, line.after)
        elif line.kind is ChangeKind.RESTORED:
            said: Any = line.after
            center = np.array(said['center_m'])
            edit = edits.restore(session, line.object_id or 0, center, asked)
        elif corrections.is_one(line):
            edit = corrections.replayed(session, line, asked)
        elif acts.changes_object(line):
            edit = acts.replayed(session, line, asked)
        elif line.kind is ChangeKind.REGION:
            edit = defining.replayed(session, line)
        elif line.kind in (ChangeKind.CORRECTED, ChangeKind.RELATION, ChangeKind.EVENT):
            edit = edits.Edit(
                line, lambda connection: stated.apply_line(connection, line), session.renew_contents
            )
        else:
            raise StoreError(f'log line {line.seq} of kind {line.kind} belongs to no view')
        with session.database.transaction() as connection:
            log.write_lines(connection, [line])
            edit.write(connection)
        edit.apply()
        session.advance(line.seq)

    def _replay_identity(self, lines: list[Change]) -> None:
        """The two lines of a merge or a split, or of its undoing."""
        session, line = self._target, lines[0]
        said: Any = line.after
        space = self._spaces.get(said['space'], FeatureSpace(0, '', None))
        session.finish()
        if space.id != session.space.id:
            session.load(space)
        asked = edits.Asked(line.seq, line.stamp_ns, line.recorded_ns, line.actor, line.reason)
        try:
            prepared = identity.replayed(session, line.kind, line.object_id or 0, said, asked)
        except SpatialMemoryError as error:
            raise StoreError(f'log line {line.seq}: {error}') from error
        self._compare(line, [edit.change for edit in prepared], lines)
        with session.database.transaction() as connection:
            log.write_lines(connection, lines)
            for edit in prepared:
                edit.write(connection)
        for edit in prepared:
            edit.apply()
        session.advance(lines[-1].seq)

    @staticmethod
    def _compare(line: Change, mine: list[Change], theirs: list[Change]) -> None:
        ours = [(c.seq, c.kind, c.object_id) for c in mine]
        logged = [(c.seq, c.kind, c.object_id) for c in theirs]
        if ours != logged:
            raise StoreError(
                f'log line {line.seq} gives {_shown(ours)}, the log says {_shown(logged)}'
            )


def _twins(rows: list[tuple[Any, ...]]) -> Rows:
    """For each duplicate the place of the detection that counted for its object; -1: it is none."""
    places = {row[0]: k for k, row in enumerate(rows) if row[2] != DOUBLE}
    twins = [places.get(row[0]) if row[2] == DOUBLE else -1 for row in rows]
    if None in twins:
        stray = rows[twins.index(None)]
        raise StoreError(f'a duplicate went to object {stray[0]}, which nothing else in it shows')
    return np.array(twins, dtype=np.int64)


def evidence_of(rows: list[tuple[Any, ...]], config: Config, dim: int) -> Evidence:
    """Stored observations as evidence; only kept features are there."""
    n = len(rows)
    if any(not row[5] for row in rows):
        raise StoreError('a sighting was purged: what followed from it cannot be had from the log')
    numbers = np.array([row[6:13] for row in rows], dtype=np.float64).reshape(n, 7)
    oriented = np.array([row[16] is not None for row in rows], dtype=bool)
    turns = [row[13:17] if row[16] is not None else (0.0, 0.0, 0.0, 1.0) for row in rows]
    orientation = np.array(turns, dtype=np.float64).reshape(n, 4)
    kind = '<f4' if config.profile == CHRONOTOPE else '<f2'
    has_feature = np.array([row[25] is not None for row in rows], dtype=bool)
    blobs = [np.frombuffer(row[25], kind) for row in rows if row[25] is not None]
    lengths = {len(blob) for blob in blobs} - {dim}
    if lengths:
        raise StoreError(f'a feature of {min(lengths)} numbers is stored, expected {dim}')
    feature = np.zeros((n, dim), np.float32)
    if blobs:
        feature[has_feature] = np.stack(blobs)
    _require_unit(feature[has_feature], 'feature')
    _require_unit(orientation, 'orientation')
    size = np.ascontiguousarray(numbers[:, 4:7])
    return Evidence(
        index=np.arange(n),
        labels=[row[5] for row in rows],
        score=np.ascontiguousarray(numbers[:, 0]),
        center=np.ascontiguousarray(numbers[:, 1:4]),
        size=size,
        half=boxes.hull_half(size, orientation),
        orientation=orientation,
        oriented=oriented,
        extent=size.max(axis=1, initial=0.0) > 0,
        cov=np.array(
            [np.frombuffer(row[17], '<f8') if row[17] else np.full(9, np.nan) for row in rows]
        ).reshape(n, 9),
        sigma=np.full(n, config.position_sigma_m),
        feature=feature,
        has_feature=has_feature,
        alternatives=[json.loads(row[18]) if row[18] else None for row in rows],
        track_ids=[row[19] or '' for row in rows],
    )


def _require_unit(rows: np.ndarray, name: str) -> None:
    """Refuse what intake never lets through; a sum of squares tells NaN and infinity too."""
    with np.errstate(over='ignore'):
        squares = boxes.tree_sum(np.square(rows, dtype=np.float64))
    if not (np.abs(squares - 1.0) < 0.01).all():
        raise StoreError(f'a stored {name} is not of unit norm')


def replayed(source: Database, config: Config, progress: Progress | None = None) -> Session:
    """Replay a store into a new one in memory.

    Raises:
        StoreError: the log contradicts itself; names the line.
    """
    plain = dataclasses.replace(config, labels_file='')  # what held is stored with the settings
    session = Session(Database(MEMORY), plain)
    replay = None
    try:
        replay = Replay(source, session, progress)
        replay.run()
    except SpatialMemoryError:
        raise
    except Exception as error:  # whatever damaged values may lead to
        seq = replay.seq + 1 if replay else 1
        raise StoreError(f'log line {seq}: {type(error).__name__}: {error}') from error
    return session


def findings(source: Database, config: Config, progress: Progress | None = None) -> list[str]:
    """All that is wrong with a file: what `audit.check` finds; if nothing, `differences` too."""
    return audit.check(source) or differences(source, config, progress)


def differences(source: Database, config: Config, progress: Progress | None = None) -> list[str]:
    """Where the derived tables are not what the log gives; empty when they are."""
    try:
        session = replayed(source, config, progress)
    except StoreError as error:
        return [f'the log cannot be replayed: {error}']
    found = _differences(session.database, source)
    session.database.close()
    return found


def _differences(fresh: Database, source: Database) -> list[str]:
    found = []
    with rows_behind.known(fresh), rows_behind.known(source):
        for table in DERIVED:
            mine, theirs = _rows_of(table, fresh), _rows_of(table, source)
            if mine != theirs:
                difference = _first_difference(mine, theirs)
                found.append(f'{table} is not what the log gives: {difference}')
    return found


def _rows_of(table: str, database: Database) -> list[Any]:
    """Rows of a table as they are known."""
    if table == 'object_feature':
        return features.all_rows(database)
    order = '1' if table == 'label' else '1, 2, 3'
    return database.rows(f'SELECT * FROM {table} ORDER BY {order}')


def rebuild(session: Session) -> None:
    """Write all derived tables anew from the log, in one transaction.

    Raises:
        StoreError: the log contradicts itself; nothing was changed.
    """
    rewrite(session.database, session.config)
    session.load()


def upgrade(database: Database, config: Config) -> None:
    """Write all derived tables anew if a migration asks for it.

    Raises:
        StoreError: the log contradicts itself; nothing was changed.
    """
    wanted = "SELECT 1 FROM meta WHERE key = 'rebuild'"
    if database.readonly or not database.rows(wanted):
        return
    rewrite(database, config)
    with database.transaction() as connection:
        connection.execute("DELETE FROM meta WHERE key = 'rebuild'")


def rewrite(database: Database, config: Config, progress: Progress | None = None) -> list[str]:
    """Write all derived tables anew from the log, in one transaction; return what was different.

    Raises:
        StoreError: the log contradicts itself; nothing was changed.
    """
    fresh = replayed(database, config, progress)
    found = _differences(fresh.database, database)
    with database.rewriting() as connection:
        put_derived(connection, fresh.database)
    fresh.database.close()
    return found


def put_derived(connection: apsw.Connection, source: Database) -> None:
    """Replace all derived rows by those of another store, within a transaction."""
    for table in reversed(DERIVED):
        connection.execute(f'DELETE FROM {table}')
    for table in DERIVED:
        rows = source.rows(f'SELECT * FROM {table}')
        if rows:
            marks = ', '.join('?' * len(rows[0]))
            connection.executemany(f'INSERT INTO {table} VALUES ({marks})', rows)
    [(last,)] = source.rows('SELECT coalesce(max(id), 0) FROM observation')
    features.put_mark(connection, last)
    [(seq,)] = source.rows('SELECT coalesce(max(seq), 0) FROM log')
    late.remove(connection, seq)


def _view_of(line: Change, row: tuple[Any, ...]) -> View:
    """The view of a stored row as far as the new row of a throw-away store needs it."""
    pose = None
    if row[3] is not None:
        values = np.frombuffer(row[3], '<f8').tolist()
        pose = Pose(tuple(values[:3]), tuple(values[3:]))
    scope = json.loads(row[4])
    return View(line.stamp_ns, row[0], (), pose, clock=row[1], map_id=row[2], scope=scope)


def _as_settings(given: dict[str, Any]) -> tuple[Config, Classes]:
    """Stored settings, and what was known of classes; before 0004 nothing was judged by that."""
    plain = given.pop(audit.CLASSES, None)
    classes = load_classes() if plain is None else Classes.from_plain(plain)
    known = {k: tuple(v) if isinstance(v, list) else v for k, v in given.items()}
    return Config.of({'presence': False, 'motion': False, **known}), classes


def _first_difference(mine: list[Any], theirs: list[Any]) -> str:
    for ours, stored in itertools.zip_longest(mine, theirs):
        if ours != stored:
            return f'{_row(stored)} is stored, {_row(ours)} follows from the log'
    return 'the rows are in another order'


def _row(row: Any) -> str:
    if row is None:
        return 'no row'
    text = ', '.join('…' if isinstance(v, bytes) else str(v) for v in row)
    return f'({text[:150]})'


def _shown(lines: list[tuple[int, ChangeKind, int | None]]) -> str:
    return ', '.join(f'{seq} {kind} {number}' for seq, kind, number in lines[:5]) or 'no change'
