# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What was believed once, from the versions in the file: a working set to ask, not to change.

A version is written when the belief about an object changes in kind, so between two of them its
place is known within `version_distance_m`; its sightings are counted exactly. Features are not
kept over time.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from memory_node.fusion.classes import ClassColumns, Classes
from memory_node.fusion.world import LABEL_SLOTS, OBJECT, STATE_WORDS, Records, World
from memory_node.model import ChangeKind, Relation, RelationKind
from memory_node.scene import boxes
from memory_node.scene.regions import RegionBook
from memory_node.store import regions
from memory_node.store.bound import Bound
from memory_node.store.database import Database

_VERSIONS = """
    WITH known AS (
        SELECT object_id, seq, stamp_ns FROM object_version
        WHERE object_id BETWEEN ?3 AND ?4 AND seq <= ?1
    ),
    late AS (SELECT object_id, min(seq) AS seq FROM known WHERE stamp_ns > ?2 GROUP BY object_id),
    last AS (
        SELECT k.object_id, max(k.seq) AS seq FROM known k
        LEFT JOIN late l ON l.object_id = k.object_id
        WHERE l.seq IS NULL OR k.seq < l.seq GROUP BY k.object_id
    )
    SELECT v.object_id, v.seq, v.label, v.state, v.x, v.y, v.z, v.size_x, v.size_y, v.size_z,
           v.qx, v.qy, v.qz, v.qw, v.labels, v.map_id, v.confidence, v.observations,
           v.first_seen_ns, v.last_seen_ns, v.odds, v.odds_ns, v.stamp_ns, o.map_id
    FROM last l JOIN object_version v ON v.object_id = l.object_id AND v.seq = l.seq
    JOIN object o ON o.id = v.object_id
    WHERE v.state NOT IN ('forgotten', 'merged') ORDER BY v.object_id
"""
"""The last version before the first one that is too late: what comes after that rests on it."""
_SIGHTINGS = """
    SELECT o.object_id, count(*), min(w.stamp_ns), max(w.stamp_ns)
    FROM json_each(?1) AS version
    JOIN observation o ON o.object_id = version.value ->> 0 AND o.view_seq > version.value ->> 1
    JOIN view w ON w.seq = o.view_seq
    WHERE o.view_seq <= ?2 AND w.stamp_ns <= ?3 AND o.reason <> 'duplicate' AND o.label <> ''
    GROUP BY o.object_id
"""
_STATED = """
    SELECT kind, object_id, after FROM log
    WHERE kind IN ('CORRECTED', 'EVENT', 'RELATION', 'HELD', 'MOVED') AND actor <> 'perception'
        AND object_id IS NOT NULL AND after <> '{}' AND seq <= ?1 AND stamp_ns <= ?2 ORDER BY seq
"""
_MERGED = """
    SELECT other_id, object_id FROM identity_change
    WHERE kind = 'MERGED' AND seq <= ?1 AND (undone_seq IS NULL OR undone_seq > ?1)
        AND seq IN (SELECT seq FROM log WHERE stamp_ns <= ?2) ORDER BY seq
"""
_CODE = {word: code for code, word in enumerate(STATE_WORDS)}
AT_ONCE = 500
"""So many ids are read in one step, in some 8 ms."""
_CARRIED = ('picked', 'placed', 'put_inside')


class Reading:
    """Reads the live objects as they were believed to be, some at a time.

    Between two steps others may write: what is read lies in the past. Only after the last step may
    the working set be asked.

    Attributes:
        world: the working set. It shares nothing with that of now.
    """

    def __init__(self, database: Database, classes: Classes, bound: Bound) -> None:
        """Begin.

        Args:
            database: of the file. classes: what is known of classes. bound: up to where the log
                counts; its seq is one that is written.
        """
        self.world = World()
        self.world.columns = ClassColumns(classes)
        self._database, self._bound = database, bound
        self._first = 1
        [(self._last,)] = database.rows('SELECT coalesce(max(id), 0) FROM object')

    def step(self) -> bool:
        """Read some more; returns whether there is more to read."""
        bound, end = self._bound, self._first + AT_ONCE
        batch = self._database.rows(_VERSIONS, (bound.seq, bound.stamp_ns, self._first, end - 1))
        if batch:
            world = self.world
            records, more = _records(batch, world)
            _count_sightings(self._database, batch, records, bound)
            rows = world.append(records)
            world.more_labels.update((int(rows[k]), masses) for k, masses in more.items())
        self._first = end
        return end <= self._last

    def finish(self, now: World) -> None:
        """Read the rest, which is little. now: the working set of now."""
        past, bound = self.world, self._bound
        past.regions = RegionBook(regions.load(self._database, bound), past.map_number)
        past.pins = {
            number: held
            for number, pins in now.pins.items()
            if past.row_of(number) is not None
            and (held := {a: pin for a, pin in pins.items() if pin.seq <= bound.seq})
        }


def _records(
    batch: list[tuple[Any, ...]], world: World
) -> tuple[Records, dict[int, dict[int, float]]]:
    """Versions as records, and place → labels beyond the slots."""
    columns = list(zip(*batch))
    records = np.zeros(len(batch), OBJECT)
    records['id'] = columns[0]
    names: list[str] = [*columns[2]]
    records['label'] = [_label(world, name) for name in names]
    records['state'] = [_CODE[word] for word in columns[3]]
    numbers = np.array([row[4:14] for row in batch], dtype=np.float64)
    records['center'] = records['hull_center'] = records['version_center'] = numbers[:, :3]
    records['size'] = records['version_size'] = numbers[:, 3:6]
    records['orientation'], records['oriented'] = numbers[:, 6:], True
    records['half'] = boxes.hull_half(records['size'], records['orientation'])
    stamps = columns[22]
    for k, name in enumerate(
        ('confidence', 'observations', 'first_seen_ns', 'last_seen_ns', 'odds', 'odds_ns'), 16
    ):
        default: Any = stamps if name.endswith('_ns') else [0] * len(batch)
        records[name] = [d if v is None else v for v, d in zip(columns[k], default)]
    records['map'] = [world.map_number(a if a is not None else b)
                      for a, b in zip(columns[15], columns[23])]  # fmt: skip
    records['look_position'] = records['look_axis'] = np.nan
    return records, _put_labels(records, names, columns[14], world)


def _put_labels(
    records: Records, names: list[str], masses: Any, world: World
) -> dict[int, dict[int, float]]:
    records['labels'] = -1
    records['labels'][:, 0], records['masses'][:, 0] = records['label'], 1.0
    more: dict[int, dict[int, float]] = {}
    for k, text in enumerate(masses):
        if text is None:
            continue
        held = {_label(world, name): float(mass) for name, mass in json.loads(text).items()}
        for slot, (label, mass) in enumerate([*held.items()][:LABEL_SLOTS]):
            records['labels'][k, slot], records['masses'][k, slot] = label, mass
        if len(held) > LABEL_SLOTS:
            more[k] = dict([*held.items()][LABEL_SLOTS:])
    return more


def _label(world: World, name: str) -> int:
    return world.labels.intern(name)


def _count_sightings(
    database: Database, batch: list[tuple[Any, ...]], records: Records, bound: Bound
) -> None:
    """Add the sightings since their versions to records, but for what follows from their boxes."""
    versions = json.dumps([row[:2] for row in batch])
    place = {row[0]: k for k, row in enumerate(batch)}
    found = database.rows(_SIGHTINGS, (versions, bound.seq, bound.stamp_ns))
    for number, count, first_ns, last_ns in found:
        k = place[number]
        records['observations'][k] += count
        records['first_seen_ns'][k] = min(records['first_seen_ns'][k], first_ns)
        records['last_seen_ns'][k] = max(records['last_seen_ns'][k], last_ns)


class Stated:
    """What somebody had stated of objects, and which of these had become others.

    Attributes:
        properties: object → key → value; its own value counts, then the newest of what became it.
    """

    def __init__(self, database: Database, bound: Bound) -> None:
        self._into: dict[int, int] = dict(database.rows(_MERGED, (bound.seq, bound.stamp_ns)))
        self.properties: dict[int, dict[str, Any]] = {}
        self._own: dict[int, dict[str, Any]] = {}
        self._triples: dict[tuple[int, str, int], None] = {}
        for kind, number, text in database.rows(_STATED, (bound.seq, bound.stamp_ns)):
            self._take(kind, number, json.loads(text))
        for number, own in self._own.items():
            self.properties.setdefault(number, {}).update(own)

    def _take(self, kind: str, number: int, said: Mapping[str, Any]) -> None:
        if 'key' in said:
            final = self.final(number)
            told = self._own if final == number else self.properties
            told.setdefault(final, {})[said['key']] = said['value']
        if kind == ChangeKind.RELATION and 'relation' in said:
            self._drop(number, said['relation'], said['object_id'])
            if said['holds']:
                self._triples[number, said['relation'], said['object_id']] = None
        if said.get('act') in _CARRIED:  # where it is now, it is inside nothing, or what this says
            self._drop(number, RelationKind.INSIDE.value, None)
            if 'container_id' in said:
                self._triples[number, RelationKind.INSIDE.value, said['container_id']] = None

    def _drop(self, subject: int, kind: str, other: int | None) -> None:
        """Forget what was stated of a subject, or what became it; other: None: whatever of."""
        final = self.final
        for triple in list(self._triples):
            if (final(triple[0]), triple[1]) == (final(subject), kind) and (
                other is None or final(triple[2]) == final(other)
            ):
                del self._triples[triple]

    def final(self, object_id: int) -> int:
        """What an id stood for."""
        while object_id in self._into:
            object_id = self._into[object_id]
        return object_id

    def relations(self) -> list[Relation]:
        """The relations that held."""
        found = {(self.final(s), kind, self.final(o)) for s, kind, o in self._triples}
        return [Relation(s, kind, o, 1.0, stated=True) for s, kind, o in sorted(found) if s != o]
