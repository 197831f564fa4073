# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The numbers of detections, one after the other. Compiled like `scoring.py`."""

from typing import Any

import cython
import numpy as np


def read_numbers(detections: Any, numbers: cython.double[:, ::1]) -> list[Any]:
    """Write score, centre, size and orientation of each detection, where they are plain numbers.

    Args:
        detections: a sequence. numbers: (n, 11) written.

    Returns:
        Places of those of which some are not: these rows hold anything.
    """
    odd: list[Any] = []
    k: cython.Py_ssize_t
    for k in range(numbers.shape[0]):
        d = detections[k]
        score = d.score
        if (
            isinstance(score, (float, int))
            and _reads(d.center_m, numbers[k, 1:4])
            and _reads(d.size_m, numbers[k, 4:7])
            and _reads(d.orientation_xyzw, numbers[k, 7:11])
        ):
            numbers[k, 0] = score
        else:
            odd.append(k)
    return odd


@cython.cfunc
def _reads(values: Any, row: cython.double[::1]) -> bool:
    """Write values into a row, where they are as many plain numbers."""
    if isinstance(values, np.ndarray):
        values = values.tolist()
    if not isinstance(values, (tuple, list)) or len(values) != row.shape[0]:
        return False
    j: cython.Py_ssize_t
    for j in range(row.shape[0]):
        value = values[j]
        if not isinstance(value, (float, int)):
            return False
        row[j] = value
    return True
