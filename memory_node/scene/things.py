# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What the relations of objects follow from, as columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from memory_node.config import CHRONOTOPE, Config
from memory_node.fusion.classes import Classes, key_of
from memory_node.fusion.world import STATE_CODE, Records, World
from memory_node.model import Floats, ObjectVersion, State
from memory_node.scene import boxes
from memory_node.scene.boxes import Bools
from memory_node.scene.roles import OTHER, ROLES, Role

GONE = (State.ABSENT, State.HELD)
"""What is in these states is not at its place, so nothing is on it or near it."""
_GONE_CODES = tuple(STATE_CODE[state] for state in GONE)
DECIDE = ('version_center', 'version_size', 'orientation', 'map', 'label')
"""What of a record decides, apart from its state and its confidence; see `Things.of_records`."""


@dataclass(frozen=True)
class Things:
    """Objects by place, all (N,) or (N, 3); metres, map frame.

    Attributes:
        ids: of the objects. map: numbers of their maps.
        center, half: of their axis-aligned hulls.
        label: numbers into keys. keys: of labels, see `key_of`.
        confidence: 0 to 1. present: whether they are at their places.
    """

    ids: np.ndarray
    map: np.ndarray
    center: Floats
    half: Floats
    label: np.ndarray
    keys: Sequence[str]
    confidence: Floats
    present: Bools

    @classmethod
    def of_records(cls, world: World, records: Records, config: Config) -> Things:
        """Objects as the last version of each says, so that relations hold as long as these do.

        A version is written when the box has changed by `version_distance_m`: noise below that
        changes no relation. Chronotope has them follow from every sighting (CH-33).
        """
        if config.profile == CHRONOTOPE:
            center, half = records['center'], records['half']
        else:
            center = records['version_center']
            half = boxes.hull_half(records['version_size'], records['orientation'])
        labels, number = np.unique(records['label'], return_inverse=True)
        return cls(
            records['id'], records['map'], center, half, number.reshape(-1),
            [key_of(world.labels.names[k]) for k in labels.tolist()],
            records['confidence'], ~np.isin(records['state'], _GONE_CODES),
        )  # fmt: skip

    @classmethod
    def of_versions(cls, versions: Sequence[ObjectVersion]) -> Things:
        """Objects as these versions say; all of one map, as an object never changes it."""
        names = sorted({v.label for v in versions})
        size = np.array([v.size_m for v in versions], dtype=np.float64).reshape(-1, 3)
        turn = np.array([v.orientation_xyzw for v in versions], dtype=np.float64).reshape(-1, 4)
        gone = {*GONE, State.FORGOTTEN, State.MERGED}
        return cls(
            np.array([v.object_id for v in versions], dtype=np.int64),
            np.zeros(len(versions), np.int32),
            np.array([v.center_m for v in versions], dtype=np.float64).reshape(-1, 3),
            boxes.hull_half(size, turn),
            np.array([names.index(v.label) for v in versions], dtype=np.int64),
            [key_of(name) for name in names],
            np.ones(len(versions)),
            np.array([v.state not in gone for v in versions], dtype=bool),
        )

    def roles(self, classes: Classes) -> dict[str, Any]:
        """The fields of the roles of these objects as columns, NaN for None; see `Role`."""
        roles = [_role_of(key, classes) for key in self.keys]
        return {
            name: np.array([_number(getattr(role, name)) for role in roles])[self.label]
            for name in Role._fields
        }

    def knows(self, table: dict[str, frozenset[str]], one: np.ndarray, other: np.ndarray) -> Bools:
        """(P,) whether the table has the label of `other` under that of `one`."""
        allowed = np.array(
            [[key in table.get(k, ()) for key in self.keys] for k in self.keys], dtype=bool
        ).reshape(len(self.keys), len(self.keys))
        found: Bools = allowed[self.label[one], self.label[other]]
        return found


def _role_of(key: str, classes: Classes) -> Role:
    role = classes.roles.of_label.get(key)
    if role is None:
        return ROLES['open'] if classes.of(key).container else OTHER
    return role


def _number(value: float | bool | None) -> float | bool:
    return np.nan if value is None else value
