# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The working set: one record per live object, and their features, in arrays.

A *row* is the place of an object in these arrays; it is never given to another object, so that
the index may hold on to it. Ids are what the rest of the world sees.
"""

from __future__ import annotations

import bisect
import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from memory_node.fusion import features
from memory_node.fusion.classes import ClassColumns, load_classes
from memory_node.fusion.labels import LabelBook
from memory_node.model import (
    NO_PINS,
    Aspect,
    Check,
    Floats,
    MemoryObject,
    Pin,
    Standing,
    State,
)
from memory_node.scene.boxes import Bools
from memory_node.scene.regions import RegionBook

LABEL_SLOTS = 4
"""Labels held in the record; further ones of the same object stand in `World.more_labels`."""

_STORED = [
    ('center', '<f8', 3),
    ('size', '<f8', 3),
    ('orientation', '<f8', 4),
    ('hull_center', '<f8', 3),
    ('confidence', '<f8'),
    ('look_position', '<f8', 3),
    ('look_axis', '<f8', 3),
    ('version_center', '<f8', 3),
    ('version_size', '<f8', 3),
    ('masses', '<f8', LABEL_SLOTS),
    ('rest', '<f8', 3),
    ('fresh', '<f8', 3),
    ('odds', '<f8'),
    ('doubt', '<f8'),
    ('id', '<i8'),
    ('observations', '<i8'),
    ('looks', '<i8'),
    ('look_seq', '<i8'),
    ('look_ns', '<i8'),
    ('first_seen_ns', '<i8'),
    ('last_seen_ns', '<i8'),
    ('fresh_ns', '<i8'),
    ('odds_ns', '<i8'),
    ('checked_ns', '<i8'),
    ('labels', '<i4', LABEL_SLOTS),
    ('label', '<i4'),
    ('rest_count', '<i4'),
    ('fresh_count', '<i4'),
    ('misses', '<i4'),
    ('state', 'u1'),
    ('check', 'u1'),
    ('oriented', '?'),
    ('in_motion', '?'),
]  # fmt: skip
STORED = np.dtype(_STORED)
"""What the file keeps of a record, as it is: see `store.packed`. Decimal numbers come first."""


def _aligned(stored: np.dtype[Any], more: list[Any]) -> np.dtype[Any]:
    """A record that begins with what is stored, with further fields where the CPU likes them."""
    fields: dict[str, Any] = {name: where[:2] for name, where in (stored.fields or {}).items()}
    end = stored.itemsize
    for name, *shape in more:
        kind = np.dtype(tuple(shape) if len(shape) > 1 else shape[0])
        end += -end % kind.base.itemsize
        fields[name] = kind, end
        end += kind.itemsize
    kinds, offsets = zip(*fields.values())
    return np.dtype({
        'names': list(fields), 'formats': list(kinds), 'offsets': list(offsets),
        'itemsize': end + -end % 8,
    })  # fmt: skip


OBJECT = _aligned(STORED, [('has_feature', '?'), ('map', '<i4'), ('half', '<f8', 3)])
"""hull_center, half: of the axis-aligned hull, whose centre is `center` but for Chronotope. look_*:
the last look that counted as independent; NaN position when the sensor pose was unknown. version_*:
as in the last version written to the log. rest: where it lay, as the mean of rest_count sightings,
before the fresh_count ones since fresh_ns, whose mean is fresh; in_motion: these say
that it is on its way (`fusion.motion`). odds: of its
presence as of odds_ns; misses: independent ones since it was last seen; doubt: the product of their
likelihoods; check: code of the last look at it, at checked_ns (`fusion.presence`). A record begins
with STORED; what follows is computed, or holds for one opening only."""

_RAW = np.dtype((np.void, OBJECT.itemsize))
"""A record as mere bytes: numpy copies these at once, and an OBJECT number by number."""

_SHOWN = (
    'id', 'label', 'state', 'center', 'orientation', 'size', 'confidence', 'observations',
    'first_seen_ns', 'last_seen_ns', 'map', 'checked_ns', 'check', 'odds', 'odds_ns', 'in_motion',
)  # fmt: skip

STATES = (
    State.TENTATIVE, State.CONFIRMED, State.FORGOTTEN, State.MERGED, State.DOUBTFUL, State.ABSENT,
    State.HELD,
)  # fmt: skip
STATE_WORDS = tuple(state.value for state in STATES)
STATE_CODE = {state: code for code, state in enumerate(STATES)}
LOST = (STATE_CODE[State.DOUBTFUL], STATE_CODE[State.ABSENT])
IS_LOST = np.array([code in LOST for code in range(256)])
"""(256,) the same by code."""

CHECKS = (
    Check.SEEN, Check.SEEN_THROUGH, Check.MISSED, Check.OCCLUDED, Check.OUT_OF_RANGE,
    Check.NO_EVIDENCE, Check.NEVER,
)  # fmt: skip
CHECK_WORDS = tuple(check.value for check in CHECKS)

Records = npt.NDArray[Any]
Rows = npt.NDArray[np.int64]
Features = npt.NDArray[np.float32]
Stored = npt.NDArray[np.floating[Any]]
"""Features as they are stored with an observation: float16, for profile chronotope float32."""

CHUNK = 4096
"""Rows of features that lie together."""


class FeatureTable:
    """(rows, D) float32 in chunks, so that growing never copies what is there.

    Attributes:
        stale: (rows,) what was written since `recall.nearest` read it. codes: what that keeps.
    """

    def __init__(self) -> None:
        self.dim: int | None = None
        self.stale: Bools = np.zeros(0, bool)
        self.codes: Any = None
        self._chunks: list[Features] = []

    def take(self, rows: Rows) -> Features:
        """Return a copy of the given rows, (R, D)."""
        assert self.dim is not None
        found = np.empty((len(rows), self.dim), np.float32)
        features.gather(self._chunks, rows, CHUNK, found)
        return found

    def blend(self, new: Features, place: Rows, rows: Rows, has: Bools, weight: Floats) -> None:
        """Move features of rows towards new ones, which become the outcome, as unit rows.

        Args:
            new: (n, D), overwritten. place: (n,) of each in `rows`; beyond them: of a new object.
            rows, has, weight: (R,), whether they have a feature, and the share of a new one.
        """
        features.blend_rows(
            new, place, rows, has.view(np.uint8), weight, self._chunks, CHUNK
        )  # fmt: skip

    def cosines(
        self, feature: Features, has: Bools, place: Rows, row: Rows, records: Records, terms: Floats
    ) -> None:
        """Write the feature term of each pair: the cosine, 0 to 1; NaN where a side has none.

        Args:
            feature: (n, dim) of the detections. has: (n,) whether there is one.
            place, row: (P,) the pairs. records: (rows,) OBJECT. terms: (P, 4).
        """
        if self.dim is None or feature.shape[1] != self.dim:  # nothing can be compared
            terms[:, 2] = np.nan
            return
        held = records['has_feature'].view(np.uint8)
        features.feature_terms(
            feature, has.view(np.uint8), place, row, held, self._chunks, CHUNK, terms
        )

    def dot(self, rows: Rows, vector: Features) -> Features:
        """Return the products of the given rows with a vector, (R,) float32.

        By einsum, not BLAS: it takes half the time here, and gives each row the same product
        wherever it lies and whatever is asked for beside it, so that equals tie.
        """
        products = np.zeros(len(rows), np.float32)
        chunk, place = np.divmod(rows, CHUNK)
        for k in np.flatnonzero(np.bincount(chunk)).tolist():
            here = np.flatnonzero(chunk == k)
            held = self._chunks[k]
            if 2 * len(here) < CHUNK:  # copying these costs less than all products would
                products[here] = np.einsum('ij,j->i', held[place[here]], vector)
            else:
                products[here] = np.einsum('ij,j->i', held, vector)[place[here]]
        return products

    def chunk(self, number: int) -> Features:
        """Return the rows of one chunk, (CHUNK, D), as they are."""
        return self._chunks[number]

    def put(self, rows: Rows, units: Features) -> None:
        """Write the given rows, each of them once."""
        if not len(rows):
            return
        if self.dim is None:
            self.dim = int(units.shape[1])
        while max(rows.tolist()) >= CHUNK * len(self._chunks):
            self._chunks.append(np.zeros((CHUNK, self.dim), np.float32))
            self.stale = np.concatenate([self.stale, np.ones(CHUNK, bool)])
        self.stale[rows] = True
        features.scatter(self._chunks, rows, CHUNK, np.ascontiguousarray(units))


class World:
    """Records of all live objects.

    Attributes:
        records: structured array of OBJECT; only the first `count` rows are in use.
        alive: (capacity,) whether the row's object has not ended.
        more_labels: row → {label: mass} beyond the slots of the record.
        pins: object → what of it is a person's word; most have none.
        columns: what is known of the classes of labels.
        inside: object → what it was put into and is not seen in, as that is not open.
        lost: label → rows that were doubtful or absent; some may not be any more.
        lost_since: label → no later than when any of them was last seen.
        regions: what objects may belong to; replaced as a whole.
        off_center: whether the centre of a hull may differ from the centre of its object.
    """

    def __init__(self) -> None:
        self.off_center = False
        self.labels = LabelBook()
        self.columns = ClassColumns(load_classes())
        self.maps: list[str] = []
        self.lost: dict[int, set[int]] = {}
        self.lost_since: dict[int, int] = {}
        self.inside: Mapping[int, int] = {}
        self.count = 0
        self._raw = np.zeros(1024, _RAW)
        self.records = _as_records(self._raw)
        self.alive = np.zeros(1024, bool)
        self.features = FeatureTable()
        self.more_labels: dict[int, dict[int, float]] = {}
        self.pins: dict[int, Mapping[Aspect, Pin]] = {}
        self.regions = RegionBook((), self.map_number)
        self._row_of_id = np.full(1024, -1, np.int64)
        self._by_label: dict[int, list[tuple[int, int]]] | None = None

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

    def rows_of(self, object_ids: Rows) -> Rows:
        """Return the rows of objects by id; -1 for those that are not live."""
        known = (object_ids > 0) & (object_ids < len(self._row_of_id))
        rows: Rows = np.where(known, self._row_of_id[np.where(known, object_ids, 0)], -1)
        rows[~self.alive[rows]] = -1
        return rows

    def live_rows(self) -> Rows:
        """Return the rows of all live objects, ascending."""
        return np.flatnonzero(self.alive[: self.count])

    def rows_after(self, object_id: int) -> Rows:
        """Return the rows of the live objects with a larger id, by id."""
        rows = self._row_of_id[object_id + 1 :]
        rows = rows[rows >= 0]
        found: Rows = rows[self.alive[rows]]
        return found

    def rows_of_label(self, label: int, after_ns: int = -1) -> Rows:
        """Return the rows of the live objects of a label, first seen after a time, ascending."""
        if self._by_label is None:
            labels = self.records['label'][: self.count]
            first_ns = self.records['first_seen_ns'][: self.count]
            order = np.lexsort([first_ns, labels])
            numbers, starts = np.unique(labels[order], return_index=True)
            pairs = list(zip(first_ns[order].tolist(), order.tolist()))
            ends = [*starts[1:].tolist(), len(order)]
            self._by_label = {
                n: pairs[a:b] for n, a, b in zip(numbers.tolist(), starts.tolist(), ends)
            }
        held = self._by_label.get(label, [])
        found = {row for _, row in held[bisect.bisect_left(held, (after_ns + 1, -1)) :]}
        rows = np.array(sorted(found), dtype=np.int64)
        r = self.records
        keep = self.alive[rows] & (r['label'][rows] == label)
        late: Rows = rows[keep & (r['first_seen_ns'][rows] > after_ns)]
        return late

    def _note_labels(self, rows: Rows, records: Records, known: int) -> None:
        """Some rows will have these labels and first sightings; what they had before is left there.

        Whoever asks leaves out what does not hold any more.

        known: so many of the rows are in use, the others are new.
        """
        if self._by_label is None:
            return
        was = self.records
        changed = was['label'][rows] != records['label']
        changed |= was['first_seen_ns'][rows] < records['first_seen_ns']
        changed[known:] = True
        some = np.flatnonzero(changed)
        columns = (records['label'][some], records['first_seen_ns'][some], rows[some])
        for label, first_ns, row in zip(*(column.tolist() for column in columns)):
            bisect.insort(self._by_label.setdefault(label, []), (first_ns, row))

    def note_checks(self, rows: Rows, kind: npt.NDArray[np.uint8], stamp_ns: int) -> None:
        """A look at this time said so of these rows: codes of CHECKS."""
        if len(rows):
            self.records['check'][rows], self.records['checked_ns'][rows] = kind, stamp_ns

    @property
    def live_count(self) -> int:
        """Number of live objects."""
        return int(np.count_nonzero(self.alive[: self.count]))

    def append(self, records: Records) -> Rows:
        """Add objects and return their rows."""
        return self.put(np.zeros(0, np.int64), records)

    def take(self, rows: Rows, blank: int = 0) -> Records:
        """Return a copy of the records of some rows, and so many blank ones after them."""
        if not blank:
            return _as_records(self._raw[rows])
        raw = np.zeros(len(rows) + blank, _RAW)
        self._raw.take(rows, out=raw[: len(rows)], mode='clip')  # with any other it would copy
        return _as_records(raw)

    def put(self, rows: Rows, records: Records) -> Rows:
        """Replace the records of some rows, and add what follows as new objects.

        Returns:
            The rows of all records.
        """
        known, first = len(rows), self.count
        end = first + len(records) - known
        new_ids = records['id'][known:]
        if len(new_ids):
            self._reserve(end, max(new_ids.tolist()) + 1)
            rows = np.concatenate([rows, np.arange(first, end)])
        self._note_labels(rows, records, known)
        self._raw[rows] = np.ndarray(len(records), _RAW, np.ascontiguousarray(records))
        if len(new_ids):
            self.alive[first:end] = True
            self._row_of_id[new_ids] = rows[known:]
            self.count = end
        return rows

    def note_lost(self, rows: Rows) -> None:
        """Remember which of some rows hold objects that are doubtful or absent."""
        fields = ('state', 'label', 'last_seen_ns')
        columns = (self.records[name][rows].tolist() for name in fields)
        for row, state, label, seen_ns in zip(rows.tolist(), *columns):
            if state in LOST:
                self.lost.setdefault(label, set()).add(row)
                self.lost_since[label] = min(seen_ns, self.lost_since.get(label, seen_ns))
            elif row in self.lost.get(label, ()):
                self.lost[label].discard(row)

    def pinned(self, object_ids: Rows, aspect: Aspect) -> Bools:
        """Of which objects this aspect is a person's word, (N,)."""
        if not self.pins:
            return np.zeros(len(object_ids), bool)
        held = (self.pins.get(number, NO_PINS) for number in object_ids.tolist())
        return np.array([aspect in pins for pins in held], dtype=bool)

    def end(self, row: int) -> None:
        """Take an object out of the working set."""
        self.lost.get(int(self.records['label'][row]), set()).discard(row)
        self.alive[row] = False
        self.more_labels.pop(row, None)
        self.pins.pop(int(self.records['id'][row]), None)

    def masses_of(self, record: Any, more: dict[int, float]) -> dict[int, float]:
        """Return label → evidence mass of a record, heaviest first, ties by name."""
        return dict(self._heaviest(record['labels'].tolist(), record['masses'].tolist(), more))

    def _heaviest(
        self, labels: list[int], masses: list[float], more: dict[int, float]
    ) -> list[tuple[int, float]]:
        names = self.labels.names
        held = {n: m for n, m in zip(labels, masses) if n >= 0} | more
        return sorted(held.items(), key=lambda item: (-item[1], names[item[0]]))

    def view(self, row: int) -> MemoryObject:
        """Return the object of a row as it is now."""
        return self.views(np.array([row]))[0]

    def views(self, rows: Rows) -> list[MemoryObject]:
        """Return the objects of some rows as they are now."""
        records = self.take(rows)
        spilled = self.more_labels
        more = {k: spilled[row] for k, row in enumerate(rows.tolist()) if row in spilled}
        return self.as_objects(records, more)

    def as_objects(
        self,
        records: Records,
        more_labels: Mapping[int, dict[int, float]],
        regions: RegionBook | None = None,
    ) -> list[MemoryObject]:
        """Return records in the words of the model.

        Args:
            records: (R,) OBJECT. more_labels: place → labels beyond the slots of the record.
            regions: they may belong to these; None: those of now.
        """
        names, maps, pins = self.labels.names, self.maps, self.pins
        slots = zip(records['labels'].tolist(), records['masses'].tolist())
        masses = [
            {names[labels[0]]: held[0]}
            if labels[1] < 0 <= labels[0] and k not in more_labels  # most have one label
            else {names[n]: m for n, m in self._heaviest(labels, held, more_labels.get(k, {}))}
            for k, (labels, held) in enumerate(slots)
        ]
        half_lives = self.columns.half_life_s(records['label'], names).tolist()
        columns = zip(
            masses, half_lives, region_names(self.regions if regions is None else regions, records),
            *(records[name].tolist() for name in _SHOWN),
        )  # fmt: skip
        return [
            _made(
                number, names[label], held, STATES[state], tuple(center), tuple(turn), tuple(size),
                confidence, observations, first, last, maps[map_number], pins.get(number, NO_PINS),
                checked, CHECKS[check], Standing(odds, odds_ns, half_life_s), moves, region,
            )
            for held, half_life_s, region, number, label, state, center, turn, size, confidence,
            observations, first, last, map_number, checked, check, odds, odds_ns, moves in columns
        ]  # fmt: skip

    def _reserve(self, count: int, ids: int) -> None:
        if count > len(self.records):
            capacity = max(count, 2 * len(self.records))
            raw, alive = np.zeros(capacity, _RAW), np.zeros(capacity, bool)
            raw[: self.count] = self._raw[: self.count]
            alive[: self.count] = self.alive[: self.count]
            self._raw, self.records, self.alive = raw, _as_records(raw), alive
        if ids > len(self._row_of_id):
            rows = np.full(max(ids, 2 * len(self._row_of_id)), -1, np.int64)
            rows[: len(self._row_of_id)] = self._row_of_id
            self._row_of_id = rows


def _as_records(raw: npt.NDArray[np.void]) -> Records:
    """Mere bytes as OBJECT, in the same memory; quicker than `view`, which looks at each field."""
    return np.ndarray(len(raw), OBJECT, raw)


_FIELDS = tuple(field.name for field in dataclasses.fields(MemoryObject))


def _made(*values: Any) -> MemoryObject:
    """An object from all its fields in their order.

    The constructor of a frozen dataclass sets each by a call of its own, which takes four times as
    long; an answer makes up to a thousand.
    """
    made = object.__new__(MemoryObject)
    made.__dict__.update(zip(_FIELDS, values))
    return made


def region_names(regions: RegionBook, records: Records) -> list[str]:
    """Name of the smallest region that holds each object; empty: none, or the robot has it."""
    if not len(regions):
        return [''] * len(records)
    names = regions.names_at(records['center'], records['map'])
    for k in np.flatnonzero(records['state'] == STATE_CODE[State.HELD]).tolist():
        names[k] = ''
    return names
