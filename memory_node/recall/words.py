# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Does a text name a label? Whole words and plurals; `able` never is in `table`."""

from __future__ import annotations

import re

_WORD = re.compile(r'[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_]+|\d+')


def words(text: str) -> list[str]:
    """Lower-case words of a text or label; CoffeeMachine and coffee_machine have two."""
    return [_singular(w.casefold()) for w in _WORD.findall(text)]


def label_score(text: str, label: str) -> float:
    """1 for the label itself, 0.5 to 1 for a label that contains all words of the text, else 0."""
    if text.strip().casefold() == label.casefold():
        return 1.0
    wanted, held = words(text), words(label)
    if not wanted or not set(wanted) <= set(held):
        return 0.0
    return 1.0 if wanted == held else 0.5 + 0.5 * len(set(wanted)) / (len(set(held)) + 1)


def _singular(word: str) -> str:
    """Fold simple English plurals: mugs → mug, boxes → box; knives stays as it is."""
    if len(word) > 4 and word.endswith(('xes', 'ches', 'shes', 'sses')):
        return word[:-2]
    if len(word) > 3 and word.endswith('s') and not word.endswith(('ss', 'us', 'is')):
        return word[:-1]
    return word
