# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Words of texts and labels: whole words, one or many; `able` never is in `table`."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterator

_RUN = re.compile(r'[^\W\d_]+|\d+')
_CAPITALS = re.compile(r'[^\W\da-z]+s')
"""Several of what is written in capitals: TVs."""
_IRREGULAR = {
    'knives': 'knife', 'shelves': 'shelf', 'loaves': 'loaf', 'leaves': 'leaf', 'mice': 'mouse',
    'people': 'person', 'persons': 'person', 'children': 'child', 'men': 'man', 'women': 'woman',
    'feet': 'foot', 'teeth': 'tooth', 'geese': 'goose', 'cacti': 'cactus', 'wolves': 'wolf',
    'tomatoes': 'tomato', 'potatoes': 'potato', 'mangoes': 'mango', 'scarves': 'scarf',
    'halves': 'half', 'calves': 'calf', 'thieves': 'thief', 'axes': 'axe', 'dice': 'die',
    'tvs': 'tv', 'cds': 'cd', 'pcs': 'pc', 'gas': 'gas', 'lens': 'lens',
    'lenses': 'lens', 'series': 'series', 'bus': 'bus',
}  # fmt: skip


@functools.lru_cache(maxsize=8192)
def words(text: str) -> tuple[str, ...]:
    """Lower-case words of a text or label; CoffeeMachine and coffee_machine have two."""
    runs = _RUN.findall(unicodedata.normalize('NFC', text))
    return tuple(_singular(word.casefold()) for run in runs for word in _camel(run))


@functools.lru_cache(maxsize=8192)
def key(text: str) -> str:
    """The words run together, so that TVStand, tv-stand and `TV stands` are one; sofá is sofa."""
    return _plain(''.join(words(text)))


def _camel(run: str) -> Iterator[str]:
    """Cut before a capital after a small letter, and before the last of several capitals."""
    if _CAPITALS.fullmatch(run):
        yield run
        return
    start = 0
    for k in range(1, len(run)):
        small_beside = run[k - 1].islower() or run[k + 1 : k + 2].islower()
        if run[k].isupper() and small_beside:
            yield run[start:k]
            start = k
    yield run[start:]


def _plain(word: str) -> str:
    if word.isascii():
        return word
    parts = unicodedata.normalize('NFKD', word)
    return ''.join(c for c in parts if not unicodedata.combining(c))


def label_score(text: str, label: str) -> float:
    """1 for the label itself, 0.5 to 1 for a label that contains all words of the text, else 0."""
    if text.strip().casefold() == label.casefold():
        return 1.0
    wanted, held = words(text), words(label)
    if not wanted or not set(wanted) <= set(held):
        return 0.0
    return 1.0 if wanted == held else 0.5 + 0.5 * len(set(wanted)) / (len(set(held)) + 1)


def _singular(word: str) -> str:
    """Fold simple English plurals: mugs → mug, boxes → box, knives → knife, berries → berry."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) > 4 and word.endswith(('xes', 'ches', 'shes', 'sses')):
        return word[:-2]
    if len(word) > 4 and word.endswith('ies'):
        return word[:-3] + 'y'
    if len(word) > 3 and word.endswith('ie'):
        return word[:-2] + 'y'
    if len(word) > 3 and word.endswith('s') and not word.endswith(('ss', 'us', 'is')):
        return word[:-1]
    return word
