# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The last glance at each object in the file. It is written behind what is known.

A glance is a look that tells nothing of whether the object is there: something hid it, it was too
far off. A sensor that moves through a house glances at far more than it sees. Each view is stored
with its looks, so the object's own row may wait: see `store.rows_behind`.
"""

from __future__ import annotations

import numpy as np

from memory_node.fusion.visibility import EVIDENCE
from memory_node.fusion.world import World
from memory_node.store import late
from memory_node.store.database import Database
from memory_node.store.log import LOOK

_SINCE = 'SELECT stamp_ns, looks FROM view WHERE seq > ? AND looks IS NOT NULL ORDER BY seq'

Glance = tuple[int, int]
"""Stamp of a look and code of what it said, see `fusion.world.CHECKS`."""


def recovered(database: Database) -> dict[int, Glance]:
    """The last glance at each object since the mark; its row may have it, or a later look.

    A glance is kept with a view only where it is later than all looks before it, so the last one in
    the log is the latest.
    """
    views = database.rows(_SINCE, (late.mark_of(database),))
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
