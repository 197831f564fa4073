# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Does a text name a label? Whole words and plurals; `able` never is in `table`."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator

_RUN = re.compile(r'[^\W\d_]+|\d+')


@functools.lru_cache(maxsize=8192)
def words(text: str) -> tuple[str, ...]:
    """Lower-case words of a text or label; CoffeeMachine and coffee_machine have two."""
    runs = _RUN.findall(text)
    return tuple(_singular(word.casefold()) for run in runs for word in _camel(run))


def _camel(run: str) -> Iterator[str]:
    """Cut before a capital after a small letter, and before the last of several capitals."""
    start = 0
    for k in range(1, len(run)):
        small_beside = run[k - 1].islower() or run[k + 1 : k + 2].islower()
        if run[k].isupper() and small_beside:
            yield run[start:k]
            start = k
    yield run[start:]


def label_score(text: str, label: str) -> float:
    """1 for the label itself, 0.5 to 1 for a label that contains all words of the text, else 0."""
    if text.strip().casefold() == label.casefold():
        return 1.0
    wanted, held = words(text), words(label)
    if not wanted or not set(wanted) <= set(held):
        return 0.0
    return 1.0 if wanted == held else 0.5 + 0.5 * len(set(wanted)) / (len(set(held)) + 1)


def _singular(word: str) -> str:
    """Fold simple English plurals: mugs → mug, boxes → box, knives stays knives."""
    if len(word) > 4 and word.endswith(('xes', 'ches', 'shes', 'sses')):
        return word[:-2]
    if len(word) > 3 and word.endswith('s') and not word.endswith(('ss', 'us', 'is')):
        return word[:-1]
    return word
