# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""How belief in a thing's being there fades while nobody looks.

Powers of two by a polynomial, with elementwise arithmetic alone: those of numpy and of the C
library differ from CPU to CPU in the last digit.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

_LN2 = math.log(2.0)
_TERMS = tuple(_LN2**k / math.factorial(k) for k in range(10, -1, -1))
SERIES: Floats = np.array(_TERMS)
"""Of 2 to the power of x, highest power first."""
_LEAST = -1000.0


def exp2(x: Floats) -> Floats:
    """2 to the power of x, for x up to 0; within 1e-12 of it, relatively, down to 2^-1000."""
    x = np.maximum(x, _LEAST)
    whole = np.rint(x)
    rest = x - whole
    value = rest * _TERMS[0] + _TERMS[1]
    for term in _TERMS[2:]:
        value *= rest
        value += term
    result: Floats = np.ldexp(value, whole.astype(np.int64))
    return result


def aged(odds: Floats, age_s: Floats, half_life_s: Floats) -> Floats:
    """Odds of still being there a while later, if what leaves does so at any age alike.

    Args:
        odds: (N,) presence / absence then. age_s: (N,) seconds since; negative counts as none.
        half_life_s: (N,) seconds.
    """
    stays = exp2(-np.maximum(age_s, 0.0) / half_life_s)
    result: Floats = odds * stays / (1.0 + odds * (1.0 - stays))
    return result


def probability(odds: Floats) -> Floats:
    """Odds as a probability."""
    result: Floats = odds / (1.0 + odds)
    return result


def presence_at(odds: float, age_s: float, half_life_s: float) -> float:
    """Probability of still being there after a while: `aged` of one, equal to the last bit."""
    x = max(-max(age_s, 0.0) / half_life_s, _LEAST)
    whole = round(x)
    rest = x - whole
    stays = rest * _TERMS[0] + _TERMS[1]
    for term in _TERMS[2:]:
        stays = stays * rest + term
    stays = math.ldexp(stays, whole)
    later = odds * stays / (1.0 + odds * (1.0 - stays))
    return later / (1.0 + later)
