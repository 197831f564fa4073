# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Rejected detections by label and cell, so that the same rejection is recognised (CH-W1)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from memory_node.fusion.intake import Evidence
from memory_node.fusion.labels import Ints

Key = tuple[int, int, int, int, int, str]
"""Label, cell x, y, z, map, reason."""


@dataclass(frozen=True)
class Rejection:
    """How often a detection of this label was rejected in this cell, for this reason."""

    id: int
    key: Key
    count: int
    first_seq: int
    last_seq: int


class Rejections:
    """All keyed rejections. `count` of a rejection tells how often it has come."""

    def __init__(self, known: Iterable[Rejection] = ()) -> None:
        self._by_key = {r.key: r for r in known}
        self._last_id = max((r.id for r in self._by_key.values()), default=0)

    def __len__(self) -> int:
        return len(self._by_key)

    def plan(
        self, evidence: Evidence, label: Ints, reasons: list[str], map_number: int, cell_m: float,
        seq: int,
    ) -> list[Rejection | None]:  # fmt: skip
        """The rejection of each detection as it will be; None: it was not rejected."""
        planned: list[Rejection | None] = [None] * len(reasons)
        fresh: dict[Key, Rejection] = {}
        new_id = self._last_id
        for k, reason in enumerate(reasons):
            if not reason:
                continue
            key = self._key(evidence, k, int(label[k]), map_number, reason, cell_m)
            old = fresh.get(key) or self._by_key.get(key)
            if old is None:
                new_id += 1
                fresh[key] = Rejection(new_id, key, 1, seq, seq)
            else:
                fresh[key] = Rejection(old.id, key, old.count + 1, old.first_seq, seq)
            planned[k] = fresh[key]
        return planned

    def apply(self, planned: Iterable[Rejection | None]) -> None:
        """Keep what was planned."""
        for rejection in planned:
            if rejection is not None:
                self._by_key[rejection.key] = rejection
                self._last_id = max(self._last_id, rejection.id)

    @staticmethod
    def _key(
        evidence: Evidence, k: int, label: int, map_number: int, reason: str, cell_m: float
    ) -> Key:
        x, y, z = np.floor(evidence.center[k] / max(cell_m, 1e-3)).clip(-(2**53), 2**53).tolist()
        return label, int(x), int(y), int(z), map_number, reason
