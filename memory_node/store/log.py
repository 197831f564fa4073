# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The append-only part of the file: log lines, views and observations."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import apsw
import numpy as np

from memory_node.fusion.arbiter import TERMS
from memory_node.fusion.engine import Plan
from memory_node.fusion.visibility import SEEN
from memory_node.fusion.world import World
from memory_node.model import (
    IDENTITY,
    Change,
    ChangeKind,
    Observation,
    Triple,
    VerdictKind,
    View,
)
from memory_node.scene import boxes
from memory_node.store.database import Database
from memory_node.store.redirects import OWNED, listed

INSERT_LOG = f'INSERT INTO log VALUES ({", ".join("?" * 9)})'
INSERT_VIEW = f'INSERT INTO view VALUES ({", ".join("?" * 14)})'
INSERT_OBSERVATION = f'INSERT INTO observation VALUES ({", ".join("?" * 30)})'

LOOK = np.dtype([('object', '<i8'), ('kind', 'u1'), ('likelihood', '<f4')])
"""One entry of `view.looks`: what a view says of a stored object; kind: see visibility.CHECKS."""
HIT = SEEN

# relocated: by its view what it went to turned out to be what was lost elsewhere
_OBSERVATION = """
    SELECT o.id, o.object_id, o.view_seq, v.stamp_ns, v.recorded_ns, v.sensor, o.label, o.score,
           o.x, o.y, o.z, o.qx, o.qy, o.qz, o.qw, o.size_x, o.size_y, o.size_z,
           CASE WHEN EXISTS (
               SELECT 1 FROM log l WHERE l.object_id = o.object_id AND l.kind = 'MERGED'
               AND l.actor = 'perception'
               AND o.view_seq = (SELECT max(seq) FROM view WHERE seq < l.seq)
           ) THEN 'relocated' ELSE o.verdict END, o.reason, o.candidate_id, v.sensor_pose, v.shift,
           o.geometry_term, o.iou_term, o.feature_term, o.label_term, o.total
    FROM observation o JOIN view v ON v.seq = o.view_seq
"""
PERCEPTION = 'perception'
CHANGE = 'SELECT seq, kind, object_id, stamp_ns, recorded_ns, actor, reason, before, after FROM log'


def to_json(value: Mapping[str, Any]) -> str:
    """JSON in one spelling: sorted keys, no spaces, floats that read back exactly."""
    return json.dumps(value, sort_keys=True, separators=(',', ':'), ensure_ascii=False)


def write_lines(connection: apsw.Connection, changes: Sequence[Change]) -> None:
    """Write the log lines of changes."""
    if not changes:
        return
    connection.executemany(INSERT_LOG, [
        (
            c.seq, c.kind, c.object_id, c.stamp_ns, c.recorded_ns, c.actor, c.reason,
            to_json(c.before) if c.before else '{}', to_json(c.after) if c.after else '{}',
        )
        for c in changes
    ])  # fmt: skip


def write_view(
    connection: apsw.Connection, plan: Plan, view: View, recorded_ns: int, config_hash: str,
    world: World,
) -> None:  # fmt: skip
    """Write the view with what it says of stored objects, and its log line."""
    seq, stamp_ns = plan.look.seq, plan.look.stamp_ns
    connection.execute(INSERT_LOG, (
        seq, ChangeKind.VIEW.value, None, stamp_ns, recorded_ns, PERCEPTION, '', '{}', '{}',
    ))  # fmt: skip
    pose, fov = view.sensor_pose, view.field_of_view
    connection.execute(INSERT_VIEW, (
        seq, view.sensor, stamp_ns, recorded_ns, view.clock, view.map_id,
        None if pose is None else _packed(*pose.position_m, *pose.orientation_xyzw),
        None if fov is None else _packed(
            fov.horizontal_rad, fov.vertical_rad, fov.min_range_m, fov.max_range_m),
        None if view.localization_cov is None else _blob(view.localization_cov),
        to_json(view.scope) if view.scope else '{}', config_hash,
        looks_of(plan, world).tobytes() or None,
        _blob(plan.shift.vector) if any(plan.shift.vector.tolist()) else None, plan.noise_m,
    ))  # fmt: skip


def looks_of(plan: Plan, world: World) -> Any:
    """What a view says of stored objects, (n,) LOOK: which ones it shows, then which it does not.

    The likelihood of a hit is the score of its detection, that of a miss is how much likelier it is
    if the object is there than if it is not.
    """
    seen = [k for k, number in enumerate(plan.object_ids) if number is not None]
    count, sights = len(seen), plan.sights
    looks = np.zeros(count + len(sights.rows), LOOK)
    looks['object'][:count] = [plan.object_ids[k] for k in seen]
    looks['kind'][:count] = HIT
    score = plan.evidence.score
    looks['likelihood'][:count] = score if count == len(score) else score[seen]
    if len(sights.rows):
        looks['object'][count:] = world.records['id'][sights.rows]
        looks['kind'][count:], looks['likelihood'][count:] = sights.kind, sights.likelihood
    return looks


def write_observations(connection: apsw.Connection, first_id: int, plan: Plan, space: int) -> None:
    """Write every judged detection with its verdict and terms.

    Args:
        connection: within a transaction.
        first_id: id of the first observation.
        plan: the judged view.
        space: number of the feature space.
    """
    evidence, judgement, n = plan.evidence, plan.judgement, len(plan.evidence)
    center, size = evidence.center.tolist(), evidence.size.tolist()
    turn, oriented = evidence.orientation.tolist(), evidence.oriented.tolist()
    terms, total = judgement.terms.tolist(), judgement.total.tolist()  # SQLite makes NaN NULL
    blobs = _feature_blobs(plan)
    unknown_cov = np.isnan(evidence.cov[:, 0]).tolist()
    nothing = (None, None, None, None)
    rows = [
        (
            first_id + k, plan.look.seq, plan.object_ids[k], verdict, judgement.reason[k],
            plan.candidate_ids[k], rejection.id if (rejection := plan.rejections[k]) else None,
            stone.object_id if (stone := plan.barred[k]) else None,
            evidence.labels[k], score, *center[k], *size[k],
            *(turn[k] if oriented[k] else nothing),
            None if unknown_cov[k] else evidence.cov[k].tobytes(),
            to_json(given) if (given := evidence.alternatives[k]) else None,
            evidence.track_ids[k] or None, *terms[k], total[k],
            space if blobs[k] else None, blobs[k],
        )
        for k, (verdict, score) in enumerate(zip(plan.kinds, evidence.score.tolist()))
    ]  # fmt: skip
    if n:
        connection.executemany(INSERT_OBSERVATION, rows)


def _feature_blobs(plan: Plan) -> list[bytes | None]:
    blobs: list[bytes | None] = [None] * len(plan.evidence)
    for update in plan.updates:
        places = update.place[update.feature_place].tolist()
        for place, feature in zip(places, update.stored):
            blobs[place] = feature.tobytes()
    return blobs


def changes_of(
    database: Database, since_seq: int, limit: int, object_id: int | None = None
) -> list[Change]:
    """Read changes after a log line, oldest first; view lines are left out."""
    condition = '' if object_id is None else 'AND object_id = ?2'
    rows = database.rows(
        f"{CHANGE} WHERE seq > ?1 AND kind <> 'VIEW' {condition} ORDER BY seq LIMIT ?3",
        (int(since_seq), None if object_id is None else int(object_id), limit),
    )
    return [change_from(row) for row in rows]


def newest_changes_of(database: Database, object_ids: Iterable[int], limit: int) -> list[Change]:
    """Read the newest changes of some objects, oldest first."""
    rows = database.rows(
        f'{CHANGE} WHERE object_id IN (SELECT value FROM json_each(?)) ORDER BY seq DESC LIMIT ?',
        (listed(object_ids), limit),
    )
    return [change_from(row) for row in reversed(rows)]


def observations_of(database: Database, object_ids: Iterable[int], limit: int) -> list[Observation]:
    """Read the newest sightings of what some ids stand for, in order of time, oldest first."""
    rows = database.rows(
        f"{_OBSERVATION} WHERE o.id IN ({OWNED}) AND o.label <> '' "
        'ORDER BY v.stamp_ns DESC, o.id DESC LIMIT ?2',
        (listed(object_ids), limit),
    )
    return [_observation(row) for row in reversed(rows)]


def read_observation(database: Database, observation_id: int) -> Observation | None:
    """Read one sighting, rejected ones too; None: there is none of this id."""
    rows = database.rows(f"{_OBSERVATION} WHERE o.id = ? AND o.label <> ''", (observation_id,))
    return _observation(rows[0]) if rows else None


def change_from(row: tuple[Any, ...]) -> Change:
    """A row of CHANGE as a change."""
    seq, kind, object_id, stamp_ns, recorded_ns, actor, reason, before, after = row
    return Change(
        seq, ChangeKind(kind), object_id, stamp_ns, recorded_ns, actor, reason,
        json.loads(before), json.loads(after),
    )  # fmt: skip


def _observation(row: tuple[Any, ...]) -> Observation:
    (number, object_id, view_seq, stamp_ns, recorded_ns, sensor, label, score,
     x, y, z, qx, qy, qz, qw, sx, sy, sz, verdict, reason, candidate, pose, shift, *terms,
     total) = row  # fmt: skip
    named = {name: value for name, value in zip(TERMS, terms) if value is not None}
    if total is not None:
        named['total'] = total
    turn = IDENTITY if qw is None else (qx, qy, qz, qw)
    return Observation(
        id=number, object_id=object_id, view_seq=view_seq, stamp_ns=stamp_ns,
        recorded_ns=recorded_ns, sensor=sensor, label=label, score=score, center_m=(x, y, z),
        orientation_xyzw=turn, size_m=(sx, sy, sz), verdict=VerdictKind(verdict), reason=reason,
        terms=named, candidate_id=candidate, sensor_m=in_sensor(pose, shift, (x, y, z)),
    )  # fmt: skip


def in_sensor(pose: bytes | None, shift: bytes | None, center_m: Triple) -> Triple | None:
    """A map position in the optical frame of a stored sensor pose; None: it was unknown.

    Neither the view's sensor pose and shift nor the observation's position is ever altered, so
    what the sensor measured need not be stored a second time.
    """
    if pose is None:
        return None
    values = np.frombuffer(pose, '<f8')
    turn = boxes.rotation_matrices(values[None, 3:])[0]
    away = np.array(center_m) - values[:3]
    if shift is not None:
        away += np.frombuffer(shift, '<f8')
    x, y, z = (away[:, None] * turn).sum(axis=0).tolist()
    return x, y, z


def _blob(values: Any) -> bytes:
    return np.asarray(values, dtype='<f8').tobytes()


def _packed(*values: float) -> bytes:
    """The same for a few numbers, in a third of the time."""
    return struct.pack(f'<{len(values)}d', *values)
