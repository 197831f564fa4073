# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What was forgotten must not come back at its next sighting (CH-W2)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from memory_node.fusion.intake import Evidence
from memory_node.fusion.labels import Ints
from memory_node.model import Floats
from memory_node.scene.boxes import Bools


@dataclass(frozen=True)
class Tombstone:
    """What was forgotten where: center (3,) metres, in the map of that number."""

    object_id: int
    label: int
    center: Floats
    map_number: int


class Tombstones:
    """All that was forgotten. The cell of each is centred on where the thing lay."""

    def __init__(self, stones: Iterable[Tombstone] = ()) -> None:
        self._by_label: dict[tuple[int, int], list[Tombstone]] = {}
        for stone in stones:
            self.add(stone)

    def add(self, stone: Tombstone) -> None:
        """Bar another thing."""
        self._by_label.setdefault((stone.map_number, stone.label), []).append(stone)

    def bars(self, evidence: Evidence, label: Ints, map_number: int, cell_m: float) -> Bools:
        """(n,) whether a detection has the label of something forgotten within the cell."""
        barred = np.zeros(len(evidence), bool)
        if not self._by_label:
            return barred
        for k, number in enumerate(label.tolist()):
            for stone in self._by_label.get((map_number, number), ()):
                if (np.abs(evidence.center[k] - stone.center) <= cell_m).all():
                    barred[k] = True
        return barred
