# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What another store knows, as views for this one (CH-29).

Who was who is told by the evidence itself: the sensor of such a view names the other store, the
tracker id of each detection the object there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from memory_node.config import Config
from memory_node.errors import InvalidValueError, StoreError
from memory_node.fusion.world import Features
from memory_node.model import Detection, MemoryObject, State, View
from memory_node.store.database import MEMORY, Database
from memory_node.store.redirects import LAST
from memory_node.store.session import FeatureSpace, Session

SENSOR = 'merged:'
"""Begins the name of the sensor of views that were taken over; the id of the store follows."""
_OURS = """
    FROM observation o JOIN view v ON v.seq = o.view_seq
    WHERE v.sensor = ? AND v.sensor >= 'merged:' AND v.sensor < 'merged;'
        AND o.track_id IS NOT NULL
"""
_TAKEN = f'SELECT v.stamp_ns, o.track_id {_OURS}'
_ALIASES = f"""
    SELECT o.track_id, coalesce(a.object_id, o.object_id) FROM (SELECT o.* {_OURS}) o
    LEFT JOIN {LAST} a ON a.observation_id = o.id
    WHERE o.object_id IS NOT NULL ORDER BY o.id
"""


@dataclass(frozen=True, eq=False)
class Foreign:
    """A confirmed object of another store. clock: wall or sim. space: of its feature."""

    object: MemoryObject
    feature: Features | None
    oriented: bool
    clock: str
    space: str

    @property
    def label(self) -> str:
        """What it is called."""
        return self.object.label

    @property
    def last_seen_ns(self) -> int:
        """When it was last seen."""
        return self.object.last_seen_ns

    @property
    def track_id(self) -> str:
        """Its id there."""
        return str(self.object.id)


Fit = Callable[[str, str, FeatureSpace, Sequence[Foreign]], None]


def confirmed_in(path: str, feature_space: str, require_fit: Fit) -> tuple[str, list[Foreign]]:
    """Identity and confirmed objects of another store, by time, then by id.

    Args:
        path: of the file; it is only read.
        feature_space: name of the model whose features are wanted; empty: that used there last.
        require_fit: raises InvalidValueError for what cannot be merged; gets path, identity,
            feature space and objects.

    Raises:
        StoreError, InvalidValueError: it is no store, or does not fit.
    """
    if not isinstance(path, str) or not path or path == MEMORY:
        raise InvalidValueError(f'path: got {path!r}, expected the path of another store')
    database = Database(path, readonly=True)
    try:
        session = Session(database, Config(feature_space=feature_space))
        if not session.store_id:
            raise StoreError(f'{path!r} has no store id')
        world = session.engine.world
        clocks = database.rows('SELECT clock FROM view ORDER BY seq DESC LIMIT 1')
        clock = str(clocks[0][0]) if clocks else 'wall'
        found = []
        for row in world.live_rows().tolist():
            obj = world.view(row)
            if obj.state is not State.CONFIRMED:
                continue
            record = world.records[row : row + 1]
            feature = world.features.take(np.array([row]))[0] if record['has_feature'][0] else None
            found.append(
                Foreign(obj, feature, bool(record['oriented'][0]), clock, session.space.name)
            )
        require_fit(path, session.store_id, session.space, found)
        return session.store_id, sorted(found, key=lambda f: (f.last_seen_ns, f.object.id))
    finally:
        database.close()


def views_of(found: Sequence[Foreign], sensor: str) -> Iterator[View]:
    """A view for all objects last seen in one map at one time."""
    for (stamp_ns, map_id), group in groupby(
        sorted(found, key=lambda f: (f.last_seen_ns, f.object.map_id, f.object.id)),
        key=lambda f: (f.last_seen_ns, f.object.map_id),
    ):
        some = list(group)
        yield View(
            stamp_ns, sensor, [_detection(f) for f in some], map_id=map_id, clock=some[0].clock,
            feature_space=some[0].space,
        )  # fmt: skip


def _detection(f: Foreign) -> Detection:
    """An object as one detection: its labels weigh as there, the first as much as it is sure."""
    obj = f.object
    whole = sum(obj.labels.values())
    others = {name: mass for name, mass in obj.labels.items() if name != obj.label}
    return Detection(
        obj.label, obj.confidence, obj.center_m, obj.size_m,
        obj.orientation_xyzw if f.oriented else (0.0, 0.0, 0.0, 0.0),
        feature=f.feature, track_id=f.track_id,
        alternatives={name: obj.confidence * mass / whole for name, mass in others.items()},
    )  # fmt: skip


def taken_over(session: Session, sensor: str) -> set[tuple[int, str]]:
    """What was taken over before: when it was last seen then, and its id there."""
    return {(stamp, track) for stamp, track in session.database.rows(_TAKEN, (sensor,))}


def aliases(session: Session, sensor: str) -> dict[int, int]:
    """Id there → id of what it is here."""
    rows = session.database.rows(_ALIASES, (sensor,))
    return {int(track): session.redirects.final(number) for track, number in rows}
