# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""A stream of views beside the truth that the memory is not told."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from memory_node.model import Floats, View

FALSE_ALARM = -1
SECOND_NS = 10**9
START_NS = 1_790_000_000 * SECOND_NS

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Shown:
    """A view for the memory, and the true thing of each detection (-1: false alarm)."""

    view: View
    things: Ints


@dataclass(frozen=True, eq=False)
class Stream:
    """Views in order, and their truth; arrays have a row for each thing.

    Attributes:
        labels: true label of each thing.
        center: (N, 3) metres, map, where it is; size: (N, 3) sides of its box in metres.
        counted: (N,) whether the figures are about it: it stays put.
    """

    shown: Sequence[Shown]
    labels: Sequence[str]
    center: Floats
    size: Floats
    counted: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.shown)


@dataclass(frozen=True)
class Case:
    """One row of the table.

    Attributes:
        section: letter. name: what is varied.
        make: returns the streams (one for each seed or episode); a memory starts empty for each.
    """

    section: str
    name: str
    make: Callable[[], Sequence[Stream]] = field(repr=False)


@dataclass(frozen=True)
class Given:
    """What was asked for.

    Attributes:
        quick: few rows and streams. seed: of the first stream.
        shared: folder with `data/` and `bench/`, for the streams from data sets.
    """

    quick: bool
    seed: int
    shared: Path

    def seeds(self, count: int) -> list[int]:
        """Seeds of so many streams; of two at most when it must be quick."""
        return [self.seed + k for k in range(min(count, 2) if self.quick else count)]
