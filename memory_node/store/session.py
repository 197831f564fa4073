# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The file as the memory sees it: load an engine from it, write its plans into it."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

import apsw

from memory_node.config import CHRONOTOPE, Config
from memory_node.errors import DamagedStoreError, SpatialMemoryError
from memory_node.fusion.classes import ClassColumns, Classes, load_classes
from memory_node.fusion.engine import Engine, Plan
from memory_node.fusion.pins import effective
from memory_node.model import Change, View
from memory_node.scene.regions import RegionBook
from memory_node.store import (
    audit,
    features,
    kept_out,
    late,
    log,
    objects,
    pins,
    regions,
    rows_behind,
    stated,
)
from memory_node.store.behind import Behind
from memory_node.store.database import Database
from memory_node.store.redirects import load_redirects


@dataclass(frozen=True)
class FeatureSpace:
    """The embedding model in use. id 0: the store has none yet."""

    id: int
    name: str
    dimension: int | None


class Session:
    """One opening of a file, with the numbers that go on from it.

    Attributes:
        database: the connection. store_id: identity of the file.
        engine: working set and decisions, as the file has them.
        space: the feature space in use. redirects: which ids were merged into which.
        notices: what whoever opened it should be told.
        seq, observation_id, newest_ns: last log line, last observation, newest stamp of a view.
    """

    def __init__(self, database: Database, config: Config) -> None:
        self.database, self.config = database, config
        self.classes = load_classes(config.labels_file)
        self.notices: list[str] = []
        self._load_first()
        if not database.readonly:
            features.catch_up(database)
            if len(self._late):
                self.finish()
        self.store_id = audit.store_id(database, new=str(uuid.uuid4()))
        self.use(config)

    def _load_first(self) -> None:
        """Read the engine before anything is written; what is not as written is damage."""
        try:
            self.load()
        except SpatialMemoryError as error:
            if isinstance(error.__cause__, apsw.SQLError):  # a table is missing
                raise DamagedStoreError(self.database.path, str(error.__cause__)) from error
            raise
        except Exception as error:
            finding = f'it cannot be loaded ({type(error).__name__}: {error})'
            raise DamagedStoreError(self.database.path, finding) from error

    def use(self, config: Config, classes: Classes | None = None) -> None:
        """Judge by these settings from now on.

        classes: what is known of classes; None: what the settings say.

        Raises:
            InvalidValueError: `labels_file` cannot be read.
        """
        self.finish()  # what waits is blended as the settings of its views say
        classes = classes or load_classes(config.labels_file)
        self.config, self.classes = config, classes
        self.engine.world.columns = ClassColumns(classes)
        self._config_hash = audit.write_config(self.database, config, classes)

    def load(self, space: FeatureSpace | None = None) -> None:
        """Read the engine anew, with the features of a space; None: that of the settings."""
        with self.database.standing_still():  # whatever a writer beside a reader does meanwhile
            self._load(space)

    def _load(self, space: FeatureSpace | None) -> None:
        database, config = self.database, self.config
        self._behind = Behind(features.mark_of(database), features.LONGEST)
        self._late = Behind(late.mark_of(database), rows_behind.LONGEST)
        self.space = space or self._choose_space(config.feature_space)
        numbers = audit.last_numbers(database)
        self.seq, object_id, self.observation_id, self.newest_ns = numbers
        world = objects.load_world(database, self.space.id, self.space.dimension)
        lacking = rows_behind.lacking(database)
        self._late.note(rows_behind.put_in(world, lacking), self._late.mark)
        self._labels_written = len(world.labels)
        self.redirects = load_redirects(database)
        world.pins = pins.load(database, self.redirects, world)
        world.inside = stated.contents(database, self.redirects)
        world.regions = RegionBook(regions.load(database), world.map_number)
        world.off_center = config.profile == CHRONOTOPE
        self.engine = Engine(
            world,
            kept_out.load_tombstones(database, world, self.space.id),
            kept_out.load_rejections(database, world),
            object_id,
        )
        self.engine.world.columns = ClassColumns(self.classes)
        self.engine.shift, self.engine.noise_m = audit.last_senses(database, world)

    def _choose_space(self, name: str) -> FeatureSpace:
        """The space of that name; empty: the one used last."""
        known = [
            FeatureSpace(*row)
            for row in self.database.rows('SELECT id, name, dimension FROM feature_space')
        ]
        if not name:
            return known[-1] if known else FeatureSpace(0, '', None)
        for space in known:
            if space.name == name:
                return space
        if known:
            held = ', '.join(f'{s.name or "unnamed"!r} ({s.dimension})' for s in known)
            self.notices.append(
                f'the features in this file are of {held}, not of {name!r}: they are kept, and '
                'vector search begins anew with the features to come'
            )
        return FeatureSpace(0, name, None)

    def space_for(self, view: View) -> str:
        """Name of the space in use; the first view that names one gives an unnamed store its."""
        if not self.space.id and not self.space.name and view.feature_space:
            self.space = FeatureSpace(0, view.feature_space, None)
        return self.space.name

    def write(self, plan: Plan, view: View, recorded_ns: int, changes: Sequence[Change]) -> None:
        """Write a judged view, in a transaction that has begun; `done` follows the commit.

        Args:
            plan: what it means. view: as given. recorded_ns: when the memory learned it.
            changes: what the log says, numbered from the line after the view's.
        """
        connection = self.database.connection
        world = self.engine.world
        due, mark = self._late.plan(self.seq)
        if due or mark > self._late.mark:  # as before the view, which may write some anew
            rows_behind.write(connection, world, due, mark)
        log.write_view(connection, plan, view, recorded_ns, self._config_hash, world)
        log.write_lines(connection, changes)
        objects.write_labels(connection, world, self._labels_written)
        space = self._space_for(plan)
        self._write_objects(connection, plan, changes)
        kept_out.write_barred(connection, plan.barred)
        kept_out.write_rejections(connection, plan.rejections, world)
        log.write_observations(connection, self.observation_id + 1, plan, space)
        self._write_features(connection, plan, space)

    def _write_objects(
        self, connection: apsw.Connection, plan: Plan, changes: Sequence[Change]
    ) -> None:
        """Write the rows of what is new or changes in kind, and keep the records of the rest.

        Profile chronotope, which has applied the plan already, writes all rows at once.
        """
        first, waiting = 0, list[late.Part]()
        for update in plan.updates:
            end = first + len(update.changes)
            every = range(len(update.after))
            urgent = every if self.config.profile == CHRONOTOPE else objects.urgent(update)
            objects.write_update(connection, update, urgent, self.engine.world, changes[first:end])
            if len(urgent) < len(every):
                rest = [place for place in every if place not in urgent]
                waiting.append((update.after, rest, update.more_labels))
            first = end
        late.put(connection, plan.look.seq, waiting)

    def _write_features(self, connection: apsw.Connection, plan: Plan, space: int) -> None:
        """Write the features that waited too long.

        Profile chronotope, which has applied the plan already, writes those of the view at once.
        """
        last, due = self.observation_id, None
        if self.config.profile == CHRONOTOPE:
            last, due = last + len(plan.evidence), sorted(plan.featured)
        due, mark = self._behind.plan(last, due)
        if due or mark > self._behind.mark:
            features.write(connection, self.engine.world, space, due, last, mark)

    def settle_some(
        self, connection: apsw.Connection, applied: Plan, object_ids: Sequence[int | None]
    ) -> None:
        """Write all that waits of some objects, which are about to be edited.

        applied: a plan that was written in this transaction and is in memory already.
        """
        if not self.space.id and applied.kept.any():
            self.space = self._choose_space(self.space.name)
        world, last = self.engine.world, self.observation_id + len(applied.evidence)
        new = set(applied.featured)
        ids = [number for number in object_ids if number is not None]
        waits = [number for number in ids if number in new or number in self._behind]
        features.write(connection, world, self.space.id, waits, last)
        rows_behind.write(connection, world, ids)

    def finish(self) -> None:
        """Write all that waits, and that nothing does, if the file may be written."""
        behind = self._behind.mark < self.observation_id or len(self._late) > 0
        if not behind or self.database.readonly:
            return
        world, last = self.engine.world, self.observation_id
        with self.database.transaction() as connection:
            features.write(connection, world, self.space.id, self._behind.everything(), last, last)
            rows_behind.write(connection, world, self._late.everything(), self.seq)
        self._behind.settled(last)
        self._late.settled(self.seq)

    def _space_for(self, plan: Plan) -> int:
        """Number of the feature space; the first kept feature makes it."""
        if self.space.id or not plan.kept.any():
            return self.space.id
        connection = self.database.connection
        connection.execute(
            'INSERT OR IGNORE INTO feature_space (name, dimension) VALUES (?, ?)',
            (self.space.name, plan.evidence.feature.shape[1]),
        )
        return int(
            connection.execute(
                'SELECT id FROM feature_space WHERE name = ?', (self.space.name,)
            ).get
        )

    def done(self, plan: Plan, seq: int, settled: Sequence[int | None] = ()) -> None:
        """The transaction of a plan was committed, up to this log line.

        settled: of these objects all was written with it.
        """
        if not self.space.id and plan.kept.any():
            self.space = self._choose_space(self.space.name)
        self._behind.done()
        self._late.done()
        if self.config.profile != CHRONOTOPE:
            self._behind.note(plan.featured, self.observation_id + 1)
            for update in plan.updates:
                ids = update.after['id'].tolist()
                self._late.note(ids, plan.look.seq)
                self._late.written([ids[place] for place in objects.urgent(update)])
            if len(plan.sights.glances.rows):
                self._late.note(self._glanced_by(plan), plan.look.seq)
        self.observation_id += len(plan.evidence)
        self.newest_ns = max(self.newest_ns, plan.look.stamp_ns)
        self._behind.written(settled)
        self._late.written(settled)
        self.advance(seq)

    def _glanced_by(self, plan: Plan) -> list[int]:
        found: list[int] = self.engine.world.records['id'][plan.sights.glances.rows].tolist()
        return found

    def undone(self, applied: bool = False) -> None:
        """A transaction was not committed: the working set is again what the file says.

        A plan changes nothing but the labels, which it numbers; profile chronotope changes all, and
        so does one that was applied already.
        """
        if applied:
            self.load()
        elif self.config.profile == CHRONOTOPE:
            self.load(self.space)
        else:
            self.forget_new_labels()

    def forget_new_labels(self) -> None:
        """Nothing that uses labels which are not in the file was written."""
        self.engine.world.labels.forget_from(self._labels_written)
        self.engine.world.columns.forget_from(self._labels_written)

    def write_labels(self) -> None:
        """Write labels that nobody used before, in a transaction that has begun."""
        objects.write_labels(self.database.connection, self.engine.world, self._labels_written)

    def renew_pins(self, *object_ids: int) -> None:
        """Read anew what is pinned of some objects; of those that have ended, nothing.

        What is inside of what too, since that goes on with what they were merged into.
        """
        world = self.engine.world
        for number in object_ids:
            held = pins.held(self.database, self.redirects.held(number))
            if held and world.row_of(number) is not None:
                world.pins[number] = effective(held, number)
            else:
                world.pins.pop(number, None)
        self.renew_contents()

    def renew_contents(self) -> None:
        """Read anew what is inside of what."""
        self.engine.world.inside = stated.contents(self.database, self.redirects)

    def renew_regions(self) -> None:
        """Read the regions anew."""
        world = self.engine.world
        world.regions = RegionBook(regions.load(self.database), world.map_number)

    def advance(self, seq: int) -> None:
        """The log was committed up to this line."""
        self.seq = seq
        self._labels_written = len(self.engine.world.labels)
        self.database.committed(seq)
