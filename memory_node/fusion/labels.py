# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Labels as small numbers, and how alike two labels are."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import numpy.typing as npt

from memory_node.fusion import scoring
from memory_node.model import Floats

EXACT_FLOOR = 0.8
SUBSTRING = 0.5
"""Label term of an exact match at least, and of one label within the other (CH-17)."""

Ints = npt.NDArray[np.int32]
Rows = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


class LabelBook:
    """Numbers labels as they appear. Two spellings that differ only in case are one label.

    Attributes:
        names: label of each number, as first spelt. quoted: the same as JSON strings.
    """

    def __init__(self) -> None:
        self._ids: dict[str, int] = {}
        self.names: list[str] = []
        self.quoted: list[str] = []
        self._folded: list[str] = []
        self._within: dict[tuple[int, int], bool] = {}
        self._opposed: dict[tuple[int, int, tuple[str, ...]], bool] = {}

    def __len__(self) -> int:
        return len(self.names)

    def intern(self, label: str) -> int:
        """Return the number of a label, a new one if it was never seen."""
        known = self._ids.get(label)
        if known is not None:
            return known
        folded = label.casefold()
        known = self._ids.get(folded)
        if known is None:
            known = len(self.names)
            self.names.append(label)
            self.quoted.append(json.dumps(label, ensure_ascii=False))
            self._folded.append(folded)
            self._ids[folded] = known
        self._ids[label] = known
        return known

    def forget_from(self, count: int) -> None:
        """Forget all labels but the first `count`: nothing that used the others was written."""
        if count >= len(self.names):
            return
        self._ids = {label: number for label, number in self._ids.items() if number < count}
        for entries in (self.names, self.quoted, self._folded):
            del entries[count:]
        self._within.clear()
        self._opposed.clear()

    def find(self, label: str) -> int | None:
        """Return the number of a label, or None if it was never seen."""
        return self._ids.get(label, self._ids.get(label.casefold()))

    def terms(self, label: Ints, place: Rows, row: Rows, records: Any, terms: Floats) -> None:
        """Write the label term of each pair into the last column (CH-17).

        1 ≥ max(mass, 0.8) for a label the object has, 0.5 for one within another, else 0.

        Args:
            label: (n,) of the detections. place, row: (P,) the pairs.
            records: (rows,) OBJECT. terms: (P, T).
        """
        if not scoring.label_terms(label, place, row, records, EXACT_FLOOR, terms):
            return
        others = np.flatnonzero(terms[:, -1] == 0.0)
        wanted, held = label[place[others]].tolist(), records['labels'][row[others]].tolist()
        for k, a, some in zip(others.tolist(), wanted, held):
            if any(b >= 0 and self._is_within(a, b) for b in some):
                terms[k, -1] = SUBSTRING

    def opposed(self, label: Ints, object_label: Ints, antonyms: tuple[str, ...]) -> Bools:
        """Whether the two labels of each pair, (P,) and (P,), differ only by opposite words.

        Args:
            label, object_label: numbers. antonyms: two words each, for example `open closed`.
        """
        result = label != object_label
        for k in result.nonzero()[0].tolist():
            key = (int(label[k]), int(object_label[k]), antonyms)
            known = self._opposed.get(key)
            if known is None:
                a, b = (self._folded[n].replace('_', ' ').split() for n in key[:2])
                known = self._opposed[key] = _differ_by_antonyms(a, b, antonyms)
            result[k] = known
        return result

    def _is_within(self, a: int, b: int) -> bool:
        found = self._within.get((a, b))
        if found is None:
            one, other = self._folded[a], self._folded[b]
            found = self._within[a, b] = one in other or other in one
        return found


def _differ_by_antonyms(a: list[str], b: list[str], antonyms: tuple[str, ...]) -> bool:
    """Whether the words are the same in number and place, but for words that are opposites."""
    opposites = {frozenset(pair.casefold().split()) for pair in antonyms}
    other = [frozenset(pair) for pair in zip(a, b) if pair[0] != pair[1]]
    return len(a) == len(b) and bool(other) and all(pair in opposites for pair in other)
