# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""(d) Localisation that drifts during a visit, and a map that is shifted on the second visit.

The sensor says nothing of it: no covariance of the localisation is given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from identity.detector import Detector, look, still, unit
from identity.room import furnish, in_sight, walk
from identity.stream import Case, Given, Stream
from identity.tours import places, tour
from memory_node.demo.roomr.sensor import SensorModel

OFFSETS_M = (0.05, 0.10, 0.20, 0.35, 0.50)
VIEWS = 60
SEEDS = 3


def drifting(offset_m: float, features: bool, seed: int, views: int = VIEWS) -> Stream:
    """One visit, three rounds; the localisation creeps away evenly, to offset_m in the end."""
    rng = np.random.default_rng([seed, 1])
    things = furnish(rng, features)
    direction = unit(np.array([*rng.normal(size=2), 0.0]))
    shown = []
    rounds = [walk(rng, views // 3) for _ in range(3)]
    position = np.concatenate([r[0] for r in rounds])
    heading = np.concatenate([r[1] for r in rounds])
    for k in range(len(position)):
        visible = in_sight(things, position[k], heading[k])
        offset = direction * offset_m * k / (len(position) - 1)
        shown.append(look(rng, things, visible, k, position[k], Detector(), offset))
    return still(things, shown)


def shifted(offset_m: float, features: bool, seed: int, views: int = VIEWS) -> Stream:
    """Two visits; all of the second is off by offset_m along a direction in the plane."""
    rng = np.random.default_rng([seed, 2])
    things = furnish(rng, features)
    offset = unit(np.array([*rng.normal(size=2), 0.0])) * offset_m
    shown = []
    for visit in range(2):
        position, heading = walk(rng, views // 2)
        for k in range(len(position)):
            visible = in_sight(things, position[k], heading[k])
            number = visit * 40_000 + k  # the second visit is 22 hours later
            there = offset if visit else None
            shown.append(look(rng, things, visible, number, position[k], Detector(), there))
    return still(things, shown)


def shifted_tours(offset_m: float, features: bool, given: Given) -> list[Stream]:
    """RoomR tours (a), in which some things are carried elsewhere as well."""
    model = SensorModel(features=features)
    rng = np.random.default_rng([given.seed, 5])
    return [
        tour(place, model, given.seed, unit(np.array([*rng.normal(size=2), 0.0])) * offset_m)
        for place in places(given.shared, given.quick)
    ]


KINDS = {'drift to': drifting, 'second visit shifted by': shifted}


def cases(given: Given) -> Iterator[Case]:
    """Rows of the table."""
    for words, maker in KINDS.items():
        for offset in (0.10, 0.50) if given.quick else OFFSETS_M:
            for features in (True, False):
                name = f'{words} {offset * 100:.0f} cm{"" if features else ", no feature"}'
                make = partial(_make, maker, offset, features, given.seeds(SEEDS))
                yield Case('d', name, make)
    for offset in (0.50,) if given.quick else (0.10, 0.20, 0.50):
        for features in (True, False):
            name = f'RoomR, second visit shifted by {offset * 100:.0f} cm'
            make = partial(shifted_tours, offset, features, given)
            yield Case('d', name + ('' if features else ', no feature'), make)


def _make(
    maker: Callable[..., Stream], offset: float, features: bool, seeds: list[int]
) -> list[Stream]:
    return [maker(offset, features, seed) for seed in seeds]
