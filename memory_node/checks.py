# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Checks of what callers hand in; each says what was given and what was expected."""

from __future__ import annotations

import json
import math
import unicodedata

import numpy as np

from memory_node.config import MAX_LIMIT
from memory_node.errors import InvalidValueError

MAX_WORD = 120
MAX_TEXT = 1000
MAX_JSON = 65536
FAR_M = 1e9
"""No place lies farther from the origin."""

_UNSAID = ('Cc', 'Cs')
"""Categories of what no text has: control characters and halves of others."""


def short(value: object) -> str:
    """The value as shown in an error, cut where it is long."""
    shown = repr(value)
    return shown if len(shown) <= 60 else f'{shown[:57]}…'


def limit(value: int) -> int:
    """Return a limit of 1 to MAX_LIMIT."""
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not whole or not 1 <= value <= MAX_LIMIT:
        raise InvalidValueError(f'limit: got {short(value)}, expected 1 to {MAX_LIMIT}')
    return int(value)


def text(name: str, value: str, longest: int = MAX_TEXT) -> str:
    """Return a text that is not too long."""
    if not isinstance(value, str) or len(value) > longest:
        raise InvalidValueError(
            f'{name}: got {short(value)}, expected at most {longest} characters'
        )
    return value


def said(name: str, value: str, longest: int = MAX_TEXT) -> str:
    """Return a text that is not too long and has no control characters but white space."""
    text(name, value, longest)
    if any(unicodedata.category(c) in _UNSAID and c not in '\t\n\r' for c in value):
        raise InvalidValueError(f'{name}: got {short(value)}, expected no control characters')
    return value


def word(name: str, value: str) -> str:
    """Return a text that is not empty, not too long and printable."""
    text(name, value, MAX_WORD)
    if not value.strip() or not value.isprintable():
        raise InvalidValueError(f'{name}: got {short(value)}, expected a printable word')
    return value


def plain(name: str, value: object) -> object:
    """Return a value that JSON can hold."""
    try:
        written = json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidValueError(
            f'{name}: got {short(value)}, expected null, true, false, numbers, texts, lists and '
            f'mappings ({error})'
        ) from error
    if len(written) > MAX_JSON:
        raise InvalidValueError(
            f'{name}: got {len(written)} bytes of JSON, expected at most {MAX_JSON}'
        )
    return value


def finite(name: str, value: float, low: float = 0.0) -> float:
    """Return a finite number of at least `low`."""
    number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
    try:
        known = float(value) if number else math.nan
    except OverflowError:
        known = math.nan
    if not math.isfinite(known) or known < low:
        raise InvalidValueError(f'{name}: got {short(value)}, expected {low:g} or more')
    return known


def point(name: str, value: object) -> tuple[float, float, float]:
    """Return three finite metres."""
    try:
        numbers = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        numbers = np.zeros(0)
    if numbers.shape != (3,) or not np.isfinite(numbers).all():
        raise InvalidValueError(f'{name}: got {short(value)}, expected three finite metres')
    x, y, z = numbers.tolist()
    return x, y, z


def box(name: str, value: object) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the lowest and the highest corner of the box between two opposite ones."""
    try:
        corners = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        corners = np.zeros(0)
    if corners.shape != (2, 3) or not (np.abs(corners) <= FAR_M).all():
        raise InvalidValueError(
            f'{name}: got {short(value)}, expected two corners (x, y, z) within {FAR_M:g} m'
        )
    return tuple(corners.min(axis=0).tolist()), tuple(corners.max(axis=0).tolist())


def size(name: str, value: object, unknown: bool = False) -> tuple[float, float, float]:
    """Return three side lengths in metres, each more than 0; unknown: all of them may be 0."""
    sides = point(name, value)
    if min(sides) <= 0 and not (unknown and max(map(abs, sides)) == 0):
        raise InvalidValueError(
            f'{name}: got {short(value)}, expected three side lengths of more than 0 m'
        )
    return sides


def turn(name: str, value: object) -> tuple[float, float, float, float]:
    """Return a quaternion x, y, z, w of norm 1; one that is nearly so is made so."""
    try:
        numbers = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        numbers = np.zeros(0)
    squares = [v * v for v in numbers.tolist()] if numbers.shape == (4,) else [math.nan]
    norm = math.sqrt(sum(squares))
    if not abs(norm - 1.0) < 0.01:
        raise InvalidValueError(
            f'{name}: got {short(value)}, expected a quaternion x, y, z, w of norm 1'
        )
    x, y, z, w = (numbers / norm).tolist()
    return x, y, z, w


def share(name: str, value: object) -> float:
    """Return a number from 0 to 1."""
    number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
    if not number or not 0.0 <= float(value) <= 1.0:  # type: ignore[arg-type]
        raise InvalidValueError(f'{name}: got {short(value)}, expected 0 to 1')
    return float(value)  # type: ignore[arg-type]


def whole(name: str, value: object, low: int, high: int = 2**63 - 1) -> int:
    """Return a whole number of a range."""
    fits = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not fits or not low <= value <= high:  # type: ignore[operator]
        raise InvalidValueError(
            f'{name}: got {short(value)}, expected a whole number from {low} to {high}'
        )
    return int(value)  # type: ignore[call-overload]


def moment(name: str, value: object) -> int | None:
    """Return a time in nanoseconds, or None where none is given."""
    return None if value is None else whole(name, value, 0)


def line(name: str, value: object) -> int:
    """Return the number of a log line."""
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not whole or not 0 < value < 2**63:  # type: ignore[operator]
        raise InvalidValueError(f'{name}: got {short(value)}, expected a log line from 1 on')
    return int(value)  # type: ignore[call-overload]
