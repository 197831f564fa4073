# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Whose sightings are whose, as far as splits and merges ask: read from the file."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np

from memory_node.fusion import identity
from memory_node.fusion.arbiter import DOUBLE
from memory_node.fusion.identity import Sighting
from memory_node.store import objects
from memory_node.store.redirects import OWNED, listed
from memory_node.store.session import Session

_SIGHTINGS = f"""
    SELECT o.id, o.view_seq, v.stamp_ns, o.x, o.y, o.z, o.size_x, o.size_y, o.size_z,
           o.qx, o.qy, o.qz, o.qw, o.score, o.label, o.alternatives, o.space, o.feature,
           v.sensor_pose, o.reason
    FROM observation o JOIN view v ON v.seq = o.view_seq WHERE o.id IN ({OWNED}) AND o.label <> ''
    ORDER BY o.id
"""


def parts(session: Session, object_id: int) -> tuple[list[Sighting], list[Sighting]] | None:
    """The sightings that a split leaves with an object, and those that go; None: it is one thing.

    The larger group stays, of equal ones that which was seen first.
    """
    every = sightings(session, object_id)
    counted = [s for s in every if not s.double]
    if not counted:  # it was only stated
        return None
    groups = identity.two_groups(np.stack([s.box[:3] for s in counted]))
    if groups is None:
        return None
    split_off: list[list[Sighting]] = [[], []]
    for sighting, group in zip(counted, groups.tolist()):
        split_off[group].append(sighting)
    one, other = sorted(split_off, key=lambda group: (-len(group), min(s.key for s in group)))
    for sighting in every:
        if sighting.double:  # a second box of what one of the groups is of
            (other if identity.is_nearer(sighting, other, one) else one).append(sighting)
    return one, other


def take_turns(one: Sequence[Sighting], other: Sequence[Sighting]) -> bool:
    """Whether two groups were seen in turns: one thing that was moved once is not two things."""
    first, second = sorted(sorted(s.key for s in group) for group in (one, other))
    return first[-1] > second[0]


def sightings(session: Session, object_id: int) -> list[Sighting]:
    """All sightings that are of a live object by now, by id."""
    held = listed(session.redirects.held(object_id))
    space, dimension = session.space.id, session.space.dimension or 0
    labels = session.engine.world.labels
    found = []
    for row in session.database.rows(_SIGHTINGS, (held,)):
        masses = {labels.intern(row[14]): row[13]}
        for text, score in (json.loads(row[15]) if row[15] else {}).items():
            number = labels.intern(text)
            masses[number] = masses.get(number, 0.0) + score
        feature = None
        if row[17] is not None and row[16] == space:
            kind = '<f2' if len(row[17]) == 2 * dimension else '<f4'
            feature = np.frombuffer(row[17], kind).astype(np.float32)
        found.append(Sighting(
            row[0], row[1], row[2], np.array(row[3:9], dtype=np.float64),
            None if row[12] is None else row[9:13], row[13], masses, feature,
            objects.look_geometry(row[18]), row[19] == DOUBLE,
        ))  # fmt: skip
    return found


def views_of(session: Session, object_id: int) -> set[int]:
    """The views that showed a live object."""
    held = listed(session.redirects.held(object_id))
    rows = session.database.rows(f'SELECT view_seq FROM observation WHERE id IN ({OWNED})', (held,))
    return {seq for (seq,) in rows}


def told_apart(session: Session) -> set[tuple[int, int]]:
    """Pairs of objects, the lower id first, that somebody said are two: split, or merge undone."""
    final = session.redirects.final
    rows = session.database.rows(
        "SELECT object_id, other_id FROM identity_change WHERE (kind = 'MERGED') "
        '= (undone_seq IS NOT NULL)'
    )
    pairs = (sorted((final(one), final(other))) for one, other in rows)
    return {(low, high) for low, high in pairs if low != high}
