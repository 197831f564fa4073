# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The last glance at each object in the file. It is written behind what is known.

A glance is a look that tells nothing of whether the object is there: something hid it, it was too
far off. A sensor that moves through a house glances at far more than it sees. Each view is stored
with its looks, so the object's own row may wait, as its feature may (`store.features`).
"""

from __future__ import annotations

from typing import Any

import apsw
import numpy as np

from memory_node.fusion.visibility import EVIDENCE
from memory_node.fusion.world import CHECK_WORDS, CHECKS, STORED, World
from memory_node.store import behind
from memory_node.store.database import Database
from memory_node.store.log import LOOK
from memory_node.store.packed import pack

LONGEST = 20_000
"""Log lines for which a glance may wait: so many are read again at most after a crash."""

_PUT = 'UPDATE object SET record = ?2, last_checked_ns = ?3, last_check = ?4 WHERE id = ?1'
_MARK = 'glances_to'
_SINCE = 'SELECT stamp_ns, looks FROM view WHERE seq > ? AND looks IS NOT NULL ORDER BY seq'
_CHECKED: int = STORED.fields['checked_ns'][1]  # type: ignore[index]
_CHECK: int = STORED.fields['check'][1]  # type: ignore[index]

Glance = tuple[int, int]
"""Stamp of a look and code of what it said, see `fusion.world.CHECKS`."""


def mark_of(database: Database) -> int:
    """Log line up to which all rows are said to have all glances; 0: nothing is said."""
    return behind.mark_of(database, _MARK)


def write(
    connection: apsw.Connection, world: World, object_ids: list[int], mark: int | None = None
) -> None:
    """Write objects as they are in memory, within a transaction.

    Args:
        object_ids: of these, the live ones.
        mark: all rows have all glances up to this log line; None: as it is.
    """
    rows = world.rows_of(np.array(object_ids, dtype=np.int64))
    rows = rows[rows >= 0]
    if len(rows):
        records = world.take(rows)
        spilled = world.more_labels
        more = {k: spilled[row] for k, row in enumerate(rows.tolist()) if row in spilled}
        columns = (records[name].tolist() for name in ('id', 'checked_ns', 'check'))
        connection.executemany(_PUT, [
            (number, blob, stamp_ns, CHECK_WORDS[code])
            for blob, number, stamp_ns, code in zip(pack(records, more), *columns)
        ])  # fmt: skip
    if mark is not None:
        behind.put_mark(connection, _MARK, mark)


def recovered(database: Database) -> dict[int, Glance]:
    """The last glance at each object since the mark; its row may have it, or a later look.

    A glance is kept with a view only where it is later than all looks before it, so the last one in
    the log is the latest.
    """
    views = database.rows(_SINCE, (mark_of(database),))
    if not views:
        return {}
    looks = np.frombuffer(b''.join(blob for _, blob in views), LOOK)
    counts = [len(blob) // LOOK.itemsize for _, blob in views]
    stamps = np.repeat(np.array([stamp for stamp, _ in views], dtype=np.int64), counts)
    glance = looks['kind'] > EVIDENCE
    columns = (looks['object'][glance], stamps[glance], looks['kind'][glance])
    return {number: (ns, kind) for number, ns, kind in zip(*(c.tolist() for c in columns))}


def put_in(world: World, glances: dict[int, Glance]) -> list[int]:
    """Make them known; returns the objects whose row did not have them."""
    if not glances:
        return []
    ids = np.array([*glances], dtype=np.int64)
    stamp_ns, kind = np.array([*glances.values()], dtype=np.int64).T
    rows = world.rows_of(ids)
    newer = np.flatnonzero((rows >= 0) & (stamp_ns > world.records['checked_ns'][rows]))
    for k in newer.tolist():
        world.note_checks(rows[k : k + 1], kind[k].astype(np.uint8), int(stamp_ns[k]))
    return ids[newer].tolist()


def completed(
    rows: list[tuple[Any, ...]], names: list[str], database: Database
) -> list[tuple[Any, ...]]:
    """Rows of the object table as they are known.

    Args:
        rows: as they are in the file. names: of their columns.
    """
    glances = recovered(database)
    if not glances:
        return rows
    at = {name: names.index(name) for name in ('id', 'last_checked_ns', 'last_check')}
    record = names.index('record') if 'record' in names else None
    done = []
    for row in rows:
        stamp_ns, code = glances.get(row[at['id']], (0, 0))
        if stamp_ns > (row[at['last_checked_ns']] or 0):
            new = list(row)
            new[at['last_checked_ns']], new[at['last_check']] = stamp_ns, CHECKS[code].value
            if record is not None:
                blob = bytearray(row[record])
                blob[_CHECKED : _CHECKED + 8] = stamp_ns.to_bytes(8, 'little', signed=True)
                blob[_CHECK] = code
                new[record] = bytes(blob)
            row = tuple(new)
        done.append(row)
    return done
