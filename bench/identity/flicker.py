# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""(e) A detector that cannot make up its mind between two similar labels."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from identity.detector import Detector, look, still
from identity.room import furnish, in_sight, walk
from identity.stream import Case, Given, Stream

SIMILAR = {'mug': 'cup', 'bottle': 'jar', 'book': 'box', 'bowl': 'plate', 'chair': 'stool',
           'lamp': 'plant'}  # fmt: skip
SIMILAR |= {b: a for a, b in SIMILAR.items()}
WAYS = {'30 % of the labels are the similar one': 0.3, 'every other view says the similar one': 1.0}
VIEWS = 60
SEEDS = 3


def flickering(wrong: float, features: bool, seed: int, views: int = VIEWS) -> Stream:
    """One visit, two rounds; wrong 1: all the labels of every second view, else a share of each."""
    rng = np.random.default_rng([seed, 4])
    things = furnish(rng, features)
    rounds = [walk(rng, views // 2) for _ in range(2)]
    position, heading = (np.concatenate([r[k] for r in rounds]) for k in (0, 1))
    shown = []
    for k in range(len(position)):
        errs = rng.random(len(things.labels)) < wrong
        if wrong == 1.0:
            errs[:] = k % 2 == 1
        said = [SIMILAR[label] if e else label for label, e in zip(things.labels, errs)]
        visible = in_sight(things, position[k], heading[k])
        shown.append(look(rng, things, visible, k, position[k], Detector(), said=said))
    return still(things, shown)


def cases(given: Given) -> Iterator[Case]:
    """Rows of the table."""
    for words, wrong in WAYS.items():
        for features in (True, False):
            name = words + ('' if features else ', no feature')
            yield Case('e', name, partial(_make, wrong, features, given.seeds(SEEDS)))


def _make(wrong: float, features: bool, seeds: list[int]) -> list[Stream]:
    return [flickering(wrong, features, seed) for seed in seeds]
