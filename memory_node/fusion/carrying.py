# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What lies in a container goes along when that is moved."""

from __future__ import annotations

import dataclasses

import numpy as np

from memory_node.fusion.candidates import CandidateIndex
from memory_node.fusion.identity import Belief
from memory_node.fusion.motion import SIGHTINGS, VISIT_GAP_S
from memory_node.fusion.presence import BIRTH_ODDS
from memory_node.fusion.update import CONFIRMED, TENTATIVE
from memory_node.fusion.world import LOST, Records, Rows, World
from memory_node.model import Floats


def contents(world: World, index: CandidateIndex, container: Records, now_ns: int) -> Rows:
    """Rows, by id, of what lay in a container when it was last seen, and was not seen since.

    Args:
        world, index: as they are. container: (1,) record of it as it was. now_ns: stamp of now.
    """
    label = world.labels.names[int(container['label'][0])]
    nothing = np.zeros(0, np.int64)
    if not world.columns.classes.of(label).container:
        return nothing
    center, half = container['hull_center'], container['half']
    _, rows = index.overlapping(center, half, 0.0)
    r = world.records[rows]
    inside = (np.abs(r['center'] - center) <= half).all(axis=1)
    inside &= (r['half'] < half).all(axis=1) & (r['map'] == container['map'])
    together_ns = np.abs(r['last_seen_ns'] - container['last_seen_ns']) <= VISIT_GAP_S * 1e9
    inside &= together_ns & (r['id'] != container['id']) & (r['last_seen_ns'] < now_ns)
    found: Rows = rows[inside]
    return found[np.argsort(world.records['id'][found])]


def carried(thing: Belief, step: Floats, now_ns: int) -> Belief:
    """What went along with its container: (3,) metres; that its old place is empty is no miss."""
    record = thing.record.copy()
    for name in ('center', 'hull_center', 'rest'):
        record[name] += step
    record['fresh'], record['fresh_count'] = 0.0, 0
    if record['state'][0] in LOST:
        record['state'] = CONFIRMED if thing.count >= SIGHTINGS else TENTATIVE
        record['odds'], record['odds_ns'] = BIRTH_ODDS, now_ns
        record['misses'], record['doubt'] = 0, 1.0
    record['version_center'], record['version_size'] = record['center'], record['size']
    return dataclasses.replace(thing, record=record)
