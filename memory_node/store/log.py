# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The append-only part of the file: log lines, views and observations."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import apsw
import numpy as np

from memory_node.fusion.arbiter import TERMS, Judgement
from memory_node.fusion.intake import Evidence
from memory_node.model import (
    IDENTITY,
    Change,
    ChangeKind,
    Observation,
    VerdictKind,
    View,
)
from memory_node.scene.boxes import Bools
from memory_node.store.database import Database

INSERT_LOG = 'INSERT INTO log VALUES (?, ?, ?, ?, ?, ?, ?, ?)'
INSERT_VIEW = 'INSERT INTO view VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)'
INSERT_OBSERVATION = f'INSERT INTO observation VALUES ({", ".join("?" * 26)})'

_OBSERVATION = """
    SELECT o.id, o.object_id, o.view_seq, v.stamp_ns, v.recorded_ns, v.sensor, o.label, o.score,
           o.x, o.y, o.z, o.qx, o.qy, o.qz, o.qw, o.size_x, o.size_y, o.size_z,
           o.verdict, o.reason, o.geometry_term, o.iou_term, o.feature_term, o.label_term, o.total
    FROM observation o JOIN view v ON v.seq = o.view_seq
"""
_CHANGE = 'SELECT seq, kind, object_id, stamp_ns, recorded_ns, actor, reason, before FROM log'


def to_json(value: Mapping[str, Any]) -> str:
    """JSON in one spelling: sorted keys, no spaces, floats that read back exactly."""
    return json.dumps(value, sort_keys=True, separators=(',', ':'), ensure_ascii=False)


def write_lines(connection: apsw.Connection, changes: Sequence[Change]) -> None:
    """Write the log lines of changes."""
    if not changes:
        return
    connection.executemany(INSERT_LOG, [
        (
            c.seq, c.kind.value, c.object_id, c.stamp_ns, c.recorded_ns, c.actor, c.reason,
            to_json(c.before) if c.before else '{}',
        )
        for c in changes
    ])  # fmt: skip


def write_view(
    connection: apsw.Connection, seq: int, view: View, recorded_ns: int, config_hash: str
) -> None:
    """Write the view and its log line."""
    connection.execute(
        INSERT_LOG, (seq, ChangeKind.VIEW.value, None, view.stamp_ns, recorded_ns, 'perception',
                     '', '{}'))  # fmt: skip
    pose, fov = view.sensor_pose, view.field_of_view
    connection.execute(INSERT_VIEW, (
        seq, view.sensor, view.stamp_ns, recorded_ns, view.clock, view.map_id,
        None if pose is None else _blob([*pose.position_m, *pose.orientation_xyzw]),
        None if fov is None else _blob(
            [fov.horizontal_rad, fov.vertical_rad, fov.min_range_m, fov.max_range_m]),
        None if view.localization_cov is None else _blob(view.localization_cov),
        to_json(view.scope), config_hash,
    ))  # fmt: skip


def write_observations(
    connection: apsw.Connection,
    first_id: int,
    view_seq: int,
    evidence: Evidence,
    judgement: Judgement,
    object_ids: Sequence[int | None],
    kept: Bools,
) -> None:
    """Write every judged detection with its verdict and terms."""
    n = len(evidence)
    center, size = evidence.center.tolist(), evidence.size.tolist()
    turn, oriented = evidence.orientation.tolist(), evidence.oriented.tolist()
    terms = _nullable(judgement.terms)
    total, score = _nullable(judgement.total), evidence.score.tolist()
    blobs: list[bytes | None] = [None] * n
    places = np.flatnonzero(kept)
    if len(places):
        halves = evidence.feature[places].astype(np.float16)
        for k, place in enumerate(places.tolist()):
            blobs[place] = halves[k].tobytes()
    unknown_cov = np.isnan(evidence.cov[:, 0]).tolist()
    verdicts = verdict_kinds(judgement)
    nothing = (None, None, None, None)
    rows = [
        (
            first_id + k, view_seq, object_ids[k], verdicts[k].value, judgement.reason[k],
            evidence.labels[k], score[k], *center[k], *size[k],
            *(turn[k] if oriented[k] else nothing),
            None if unknown_cov[k] else evidence.cov[k].tobytes(),
            to_json(given) if (given := evidence.alternatives[k]) else None,
            evidence.track_ids[k] or None, *terms[k], total[k], blobs[k],
        )
        for k in range(n)
    ]  # fmt: skip
    connection.executemany(INSERT_OBSERVATION, rows)


def verdict_kinds(judgement: Judgement) -> list[VerdictKind]:
    """The verdict of each detection of the evidence."""
    return [
        VerdictKind.MERGED if row >= 0 else VerdictKind.CREATED if new else VerdictKind.REJECTED
        for row, new in zip(judgement.row.tolist(), judgement.created.tolist())
    ]


def changes_of(
    database: Database, since_seq: int, limit: int, object_id: int | None = None
) -> list[Change]:
    """Read changes after a log line, oldest first; view lines are left out."""
    condition = '' if object_id is None else 'AND object_id = ?2'
    rows = database.rows(
        f'{_CHANGE} WHERE seq > ?1 AND object_id IS NOT NULL {condition} ORDER BY seq LIMIT ?3',
        (since_seq, object_id, limit),
    )
    return [_change(row) for row in rows]


def newest_changes_of(database: Database, object_id: int, limit: int) -> list[Change]:
    """Read the newest changes of one object, oldest first."""
    rows = database.rows(
        f'{_CHANGE} WHERE object_id = ? ORDER BY seq DESC LIMIT ?', (object_id, limit)
    )
    return [_change(row) for row in reversed(rows)]


def observations_of(database: Database, object_id: int, limit: int) -> list[Observation]:
    """Read the newest sightings of an object in order of time, oldest first."""
    rows = database.rows(
        f'{_OBSERVATION} WHERE o.object_id = ? ORDER BY v.stamp_ns DESC, o.id DESC LIMIT ?',
        (object_id, limit),
    )
    return [_observation(row) for row in reversed(rows)]


def _change(row: tuple[Any, ...]) -> Change:
    seq, kind, object_id, stamp_ns, recorded_ns, actor, reason, before = row
    return Change(
        seq, ChangeKind(kind), object_id, stamp_ns, recorded_ns, actor, reason, json.loads(before)
    )


def _observation(row: tuple[Any, ...]) -> Observation:
    (number, object_id, view_seq, stamp_ns, recorded_ns, sensor, label, score,
     x, y, z, qx, qy, qz, qw, sx, sy, sz, verdict, reason, *terms, total) = row  # fmt: skip
    named = {name: value for name, value in zip(TERMS, terms) if value is not None}
    if total is not None:
        named['total'] = total
    turn = IDENTITY if qw is None else (qx, qy, qz, qw)
    return Observation(
        id=number, object_id=object_id, view_seq=view_seq, stamp_ns=stamp_ns,
        recorded_ns=recorded_ns, sensor=sensor, label=label, score=score, center_m=(x, y, z),
        orientation_xyzw=turn, size_m=(sx, sy, sz), verdict=VerdictKind(verdict), reason=reason,
        terms=named,
    )  # fmt: skip


def _blob(values: Any) -> bytes:
    return np.asarray(values, dtype='<f8').tobytes()


def _nullable(values: Any) -> list[Any]:
    """Floats with None in the place of NaN, row by row."""
    cells = values.astype(object)
    cells[np.isnan(values)] = None
    result: list[Any] = cells.tolist()
    return result
