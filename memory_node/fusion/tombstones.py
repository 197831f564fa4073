# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What was forgotten must not come back at its next sighting (CH-W2), only by new evidence."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from memory_node.config import Config
from memory_node.fusion.intake import Evidence
from memory_node.fusion.labels import Ints
from memory_node.fusion.looks import Look, is_independent
from memory_node.fusion.world import Features
from memory_node.model import Floats
from memory_node.scene.boxes import tree_sum

OTHER_COSINE = 0.6
"""A feature this unlike the forgotten one's shows another thing of the same label."""


@dataclass(frozen=True)
class Tombstone:
    """What was forgotten where, and what has been seen there since.

    Attributes:
        object_id: the forgotten object. label, map_number: its label and map.
        center: (3,) metres, where it lay; the cell is centred on it.
        feature: (D,) of the object; None: it had none.
        detections, score_sum, center_sum: of the sightings since; independent looks: `looks`.
        look: the last look that counted; None: none yet.
        until_ns: it bars no view stamped at this time or later; None: it bars for ever.
    """

    object_id: int
    label: int
    center: Floats
    map_number: int
    feature: Features | None = None
    detections: int = 0
    looks: int = 0
    score_sum: float = 0.0
    center_sum: Floats = dataclasses.field(default_factory=lambda: np.zeros(3))
    look: Look | None = None
    until_ns: int | None = None

    @property
    def seen_center(self) -> Floats:
        """(3,) mean of the sightings since it was forgotten; where it lay without any."""
        return self.center_sum / self.detections if self.detections else self.center

    def is_cleared(self, config: Config) -> bool:
        """Whether enough has been seen: independent looks, with a high enough mean score."""
        enough = self.looks >= config.restore_looks
        return enough and self.score_sum / max(1, self.detections) > config.restore_score

    def seen(self, score: float, center: Floats, look: Look, config: Config) -> Tombstone:
        """Return the tombstone with one more sighting."""
        counts = self.look is None or is_independent(self.look, look, config)
        return dataclasses.replace(
            self,
            detections=self.detections + 1,
            looks=self.looks + counts,
            score_sum=self.score_sum + score,
            center_sum=self.center_sum + center,
            look=look if counts else self.look,
        )


class Tombstones:
    """All that bars. One detection is barred by the nearest tombstone of its label, if any."""

    def __init__(self, stones: Iterable[Tombstone] = ()) -> None:
        self._by_key: dict[tuple[int, int], dict[int, Tombstone]] = {}
        for stone in stones:
            self.put(stone)

    def put(self, stone: Tombstone) -> None:
        """Add a tombstone, or replace the one of the same object."""
        self._by_key.setdefault((stone.map_number, stone.label), {})[stone.object_id] = stone

    def get(self, object_id: int) -> Tombstone | None:
        """Return the tombstone of an object; None: it has none."""
        for stones in self._by_key.values():
            if object_id in stones:
                return stones[object_id]
        return None

    def clear(self, object_id: int) -> Tombstone | None:
        """Take away the tombstone of an object and return it; None: it has none."""
        for stones in self._by_key.values():
            if object_id in stones:
                return stones.pop(object_id)
        return None

    def barring(
        self, evidence: Evidence, label: Ints, map_number: int, cell_m: float, stamp_ns: int
    ) -> list[Tombstone | None]:
        """The tombstone that bars each detection; the nearest, ties to the lowest id.

        That time passed changes no tombstone: it only bars no view of a later time (promise 9).
        """
        if not self._by_key:
            return [None] * len(evidence)
        return [
            self._nearest((map_number, number), evidence, k, cell_m, stamp_ns)
            for k, number in enumerate(label.tolist())
        ]

    def _nearest(
        self, key: tuple[int, int], evidence: Evidence, k: int, cell_m: float, stamp_ns: int
    ) -> Tombstone | None:
        found: tuple[float, int, Tombstone] | None = None
        for stone in self._by_key.get(key, {}).values():
            if stone.until_ns is not None and stamp_ns >= stone.until_ns:
                continue
            away = np.abs(evidence.center[k] - stone.center)
            if away.max() > cell_m or _is_other(stone, evidence, k):
                continue
            entry = (round(float(away.max()), 9), stone.object_id, stone)
            if found is None or entry[:2] < found[:2]:
                found = entry
        return found[2] if found else None


def _is_other(stone: Tombstone, evidence: Evidence, k: int) -> bool:
    feature = evidence.feature[k]
    if stone.feature is None or not evidence.has_feature[k] or len(feature) != len(stone.feature):
        return False
    product = stone.feature.astype(np.float64) * feature
    return round(float(tree_sum(product)), 9) < OTHER_COSINE
