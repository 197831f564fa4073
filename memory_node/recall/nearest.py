# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Cosines of all features with a direction, exact where it matters, from 8-bit codes of them.

A row of codes is a quarter of a row of features, and `numkong` multiplies them as fast as memory
gives them. How far a product of codes can be off is known, so that those rows that may be among the
best are known too: these alone are computed from the features. The best are therefore the same,
with the same cosines, as those of all features. Codes are whole numbers and their products exact,
so all CPUs agree.

Without `numkong`, or for few rows, all cosines are computed from the features.
"""

from __future__ import annotations

import contextlib
import importlib
from typing import Any

import numpy as np

from memory_node.fusion.world import CHUNK, Features, FeatureTable, Rows
from memory_node.model import Floats

numkong: Any = None
with contextlib.suppress(ImportError):  # extra [fast]
    numkong = importlib.import_module('numkong')

FEW = 8192
"""Up to so many rows are not worth it."""
CODED_AT_ONCE = 4
"""Chunks that one question brings up to date; the others are computed from the features."""
_ROUNDING = 1e-4
"""What sums of single precision may be off, with room to spare."""
_LEVELS = 127.0
_TINY = np.float32(1e-30)
_GROUP = 64
_MORE = 1.001
"""Makes up for what is rounded where the lengths are computed."""


class Codes:
    """8-bit codes of a table of features, kept beside it."""

    def __init__(self) -> None:
        self._chunks: list[np.ndarray | None] = []
        self._step: Features = np.zeros(0, np.float32)
        self._off = 0.0

    def refresh(self, table: FeatureTable) -> None:
        """Code some chunks that are new, and the rows that were written since."""
        stale, count = table.stale, len(table.stale) // CHUNK
        self._chunks += [None] * (count - len(self._chunks))
        more = np.ones(len(stale) - len(self._step), np.float32)
        self._step = np.concatenate([self._step, more])
        fresh = CODED_AT_ONCE
        for k in np.flatnonzero(stale.reshape(count, CHUNK).any(axis=1)).tolist():
            mine = stale[k * CHUNK : (k + 1) * CHUNK]
            if self._chunks[k] is None:
                if not fresh:
                    continue
                fresh -= 1
                self._chunks[k] = np.zeros((CHUNK, table.dim or 0), np.int8)
                mine[:] = True
            self._code(k, table.chunk(k), np.flatnonzero(mine))
            mine[:] = False

    def _code(self, k: int, features: Features, rows: Rows) -> None:
        """Code some rows of a chunk."""
        some, codes = features[rows], self._chunks[k]
        assert codes is not None
        step = np.maximum(np.abs(some).max(axis=1) / np.float32(_LEVELS), _TINY)
        whole = np.rint(some / step[:, None])
        left = some - whole * step[:, None]
        codes[rows], self._step[k * CHUNK + rows] = whole.astype(np.int8), step
        off = np.sqrt(np.einsum('ij,ij->i', left, left).max(initial=0.0))
        self._off = max(self._off, float(off) * _MORE)

    def products(self, table: FeatureTable, vector: Features) -> tuple[Floats, float]:
        """(rows,) products of all rows with a unit vector, and how far any may be off."""
        wide = vector.astype(np.float64)
        step = max(float(np.abs(wide).max()) / _LEVELS, float(_TINY))
        code = np.rint(wide / step).astype(np.int8)
        error = wide - step * code
        off = float(np.sqrt((error * error).sum()))
        product, known = np.empty(CHUNK * len(self._chunks)), self._step * np.float64(step)
        for k, chunk in enumerate(self._chunks):
            here = slice(k * CHUNK, (k + 1) * CHUNK)
            if chunk is None:
                product[here] = np.einsum('ij,j->i', table.chunk(k), vector)
                known[here] = 1.0
            else:
                product[here] = np.asarray(numkong.cdist(code[None], chunk, 'dot'))[0]
        product *= known
        return product, off * (1.0 + self._off) + self._off + _ROUNDING


def best(
    table: FeatureTable, rows: Rows, vector: Features, most: int, least: float = 0.0
) -> tuple[Rows, Floats, int]:
    """The rows that are most alike, in their order.

    Args:
        rows: ascending. most: so many of them are wanted.
        least: only those with a cosine of at least that, and above 0.

    Returns:
        Places in rows of all that may be among the best, their cosines, and how many rows there
        are with such a cosine, of which those within the error of the codes (1 %) are not sure.
    """
    if most >= len(rows):
        exact = table.dot(rows, vector).astype(np.float64)
        fits = (exact > 0) & (exact >= least)
        return np.flatnonzero(fits), exact[fits], int(np.count_nonzero(fits))
    product, bound = _products(table, rows, vector)
    low = max(surely_among(product, most) - bound, least) - bound
    some = np.flatnonzero(product >= low)
    exact = np.einsum('ij,j->i', table.take(rows[some]), vector).astype(np.float64)
    fits = (exact > 0) & (exact >= least)
    count = int(np.count_nonzero(product >= least if least > 0 else product > 0))
    inside = product[some]
    count -= int(np.count_nonzero(inside >= least if least > 0 else inside > 0))
    return some[fits], exact[fits], count + int(np.count_nonzero(fits))


def _products(table: FeatureTable, rows: Rows, vector: Features) -> tuple[Floats, float]:
    """(R,) products of some rows, and how far any may be off."""
    if numkong is None or len(rows) <= FEW:
        return table.dot(rows, vector).astype(np.float64), 0.0
    if table.codes is None:
        table.codes = Codes()
    table.codes.refresh(table)
    product, bound = table.codes.products(table, vector)
    first = int(rows[0])
    if int(rows[-1]) - first + 1 == len(rows):  # nothing ended, nothing was left out
        return product[first : first + len(rows)], bound
    return product[rows], bound


def surely_among(values: Floats, count: int) -> float:
    """A number that at least `count` of the values reach, and not many more.

    The count-th largest of the maxima of small groups: a fifteenth of the time of finding the
    count-th largest value.
    """
    if len(values) <= count:
        return -np.inf
    whole = len(values) // _GROUP * _GROUP
    if whole < _GROUP * 4 * count:
        return float(np.partition(values, len(values) - count)[len(values) - count])
    peaks = values[:whole].reshape(-1, _GROUP).max(axis=1)
    return float(np.partition(peaks, len(peaks) - count)[len(peaks) - count])
