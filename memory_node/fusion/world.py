# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The working set: one record per live object, and their features, in arrays.

A *row* is the place of an object in these arrays; it is never given to another object, so that
the index may hold on to it. Ids are what the rest of the world sees.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from memory_node.fusion.labels import LabelBook
from memory_node.model import MemoryObject, State

LABEL_SLOTS = 4
"""Labels held in the record; further ones of the same object stand in `World.more_labels`."""

OBJECT = np.dtype([
    ('id', 'i8'),
    ('center', 'f8', 3),
    ('size', 'f8', 3),
    ('orientation', 'f8', 4),
    ('hull_center', 'f8', 3),
    ('half', 'f8', 3),
    ('confidence', 'f8'),
    ('observations', 'i8'),
    ('looks', 'i8'),
    ('look_seq', 'i8'),
    ('look_ns', 'i8'),
    ('look_position', 'f8', 3),
    ('look_axis', 'f8', 3),
    ('first_seen_ns', 'i8'),
    ('last_seen_ns', 'i8'),
    ('labels', 'i4', LABEL_SLOTS),
    ('masses', 'f8', LABEL_SLOTS),
    ('label', 'i4'),
    ('map', 'i4'),
    ('state', 'u1'),
    ('has_feature', '?'),
    ('oriented', '?'),
    ('version_center', 'f8', 3),
    ('version_size', 'f8', 3),
])  # fmt: skip
"""hull_center, half: of the axis-aligned hull, whose centre is `center` but for Chronotope. look_*:
the last look that counted as independent; NaN position when the sensor pose was unknown. version_*:
as in the last version written to the log."""

STATES = (State.TENTATIVE, State.CONFIRMED, State.FORGOTTEN)
STATE_WORDS = tuple(state.value for state in STATES)
STATE_CODE = {state: code for code, state in enumerate(STATES)}

Records = npt.NDArray[Any]
Rows = npt.NDArray[np.int64]
Features = npt.NDArray[np.float32]
Stored = npt.NDArray[np.floating[Any]]
"""Features as they are stored with an observation: float16, for profile chronotope float32."""

_CHUNK = 4096


class FeatureTable:
    """(rows, D) float32 in chunks, so that growing never copies what is there."""

    def __init__(self) -> None:
        self.dim: int | None = None
        self._chunks: list[Features] = []

    def take(self, rows: Rows) -> Features:
        """Return a copy of the given rows, (R, D)."""
        assert self.dim is not None
        if not len(rows):
            return np.zeros((0, self.dim), np.float32)
        first = int(rows[0]) // _CHUNK
        if (rows // _CHUNK == first).all():  # most views lie in one chunk
            return self._chunks[first][rows - first * _CHUNK]
        return np.stack([self._chunks[r // _CHUNK][r % _CHUNK] for r in rows.tolist()])

    def dot(self, rows: Rows, vector: Features) -> Features:
        """Return the products of the given rows with a vector, (R,) float32."""
        if not len(rows):
            return np.zeros(0, np.float32)
        if len(rows) < 256:
            products: Features = self.take(rows) @ vector
            return products
        used, place = np.unique(rows // _CHUNK, return_inverse=True)
        every = np.concatenate([self._chunks[chunk] @ vector for chunk in used.tolist()])
        found: Features = every[place * _CHUNK + rows % _CHUNK]
        return found

    def put(self, rows: Rows, features: Features) -> None:
        """Write the given rows."""
        if not len(rows):
            return
        if self.dim is None:
            self.dim = int(features.shape[1])
        while int(rows.max()) // _CHUNK >= len(self._chunks):
            self._chunks.append(np.zeros((_CHUNK, self.dim), np.float32))
        first = int(rows[0]) // _CHUNK
        if (rows // _CHUNK == first).all():
            self._chunks[first][rows - first * _CHUNK] = features
            return
        for k, r in enumerate(rows.tolist()):
            self._chunks[r // _CHUNK][r % _CHUNK] = features[k]


class World:
    """Records of all live objects.

    Attributes:
        records: structured array of OBJECT; only the first `count` rows are in use.
        alive: (capacity,) whether the row's object has not ended.
        more_labels: row → {label: mass} beyond the slots of the record.
        off_center: whether the centre of a hull may differ from the centre of its object.
    """

    def __init__(self) -> None:
        self.off_center = False
        self.labels = LabelBook()
        self.maps: list[str] = []
        self.count = 0
        self.records: Records = np.zeros(1024, OBJECT)
        self.alive = np.zeros(1024, bool)
        self.features = FeatureTable()
        self.more_labels: dict[int, dict[int, float]] = {}
        self._row_of_id = np.full(1024, -1, np.int64)

    def map_number(self, map_id: str) -> int:
        """Return the number of a map, a new one if it was never seen."""
        if map_id not in self.maps:
            self.maps.append(map_id)
        return self.maps.index(map_id)

    def row_of(self, object_id: int) -> int | None:
        """Return the row of a live object, or None."""
        if isinstance(object_id, bool) or not isinstance(object_id, (int, np.integer)):
            return None
        if not 0 < object_id < len(self._row_of_id):
            return None
        row = int(self._row_of_id[object_id])
        return row if row >= 0 and self.alive[row] else None

    def live_rows(self) -> Rows:
        """Return the rows of all live objects, ascending."""
        return np.flatnonzero(self.alive[: self.count])

    def rows_after(self, object_id: int) -> Rows:
        """Return the rows of the live objects with a larger id, by id."""
        rows = self._row_of_id[object_id + 1 :]
        rows = rows[rows >= 0]
        found: Rows = rows[self.alive[rows]]
        return found

    @property
    def live_count(self) -> int:
        """Number of live objects."""
        return int(np.count_nonzero(self.alive[: self.count]))

    def append(self, records: Records) -> Rows:
        """Add objects and return their rows."""
        rows = np.arange(self.count, self.count + len(records))
        self._reserve(self.count + len(records), int(records['id'].max(initial=0)) + 1)
        self.records[rows] = records
        self.alive[rows] = True
        self._row_of_id[records['id']] = rows
        self.count += len(records)
        return rows

    def end(self, row: int) -> None:
        """Take an object out of the working set."""
        self.alive[row] = False
        self.more_labels.pop(row, None)

    def masses_of(self, record: Any, more: dict[int, float]) -> dict[int, float]:
        """Return label → evidence mass of a record, heaviest first, ties by name."""
        r = record
        masses = {int(n): float(m) for n, m in zip(r['labels'], r['masses']) if n >= 0}
        masses.update(more)
        names = self.labels.names
        return dict(sorted(masses.items(), key=lambda item: (-item[1], names[item[0]])))

    def view(self, row: int) -> MemoryObject:
        """Return the object of a row as it is now."""
        record = self.records[row]
        return self.as_object(record, self.masses_of(record, self.more_labels.get(row, {})))

    def as_object(self, record: Any, masses: dict[int, float]) -> MemoryObject:
        """Return a record in the words of the model."""
        names = self.labels.names
        r = record
        return MemoryObject(
            id=int(r['id']),
            label=names[r['label']],
            labels={names[n]: m for n, m in masses.items()},
            state=STATES[r['state']],
            center_m=tuple(r['center'].tolist()),
            orientation_xyzw=tuple(r['orientation'].tolist()),
            size_m=tuple(r['size'].tolist()),
            confidence=float(r['confidence']),
            observations=int(r['observations']),
            first_seen_ns=int(r['first_seen_ns']),
            last_seen_ns=int(r['last_seen_ns']),
            map_id=self.maps[r['map']],
        )

    def _reserve(self, count: int, ids: int) -> None:
        if count > len(self.records):
            capacity = max(count, 2 * len(self.records))
            records = np.zeros(capacity, OBJECT)
            records[: self.count] = self.records[: self.count]
            alive = np.zeros(capacity, bool)
            alive[: self.count] = self.alive[: self.count]
            self.records, self.alive = records, alive
        if ids > len(self._row_of_id):
            rows = np.full(max(ids, 2 * len(self._row_of_id)), -1, np.int64)
            rows[: len(self._row_of_id)] = self._row_of_id
            self._row_of_id = rows
