# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What people call things: which words certainly name a label, and which only read like it.

Only equal words, listed names and listed kinds are certain (`names` and `kinds` in
`data/labels.yaml`), with or without words for colour, matter and size before them. That a label
contains the words is not: «dog» is in «dog bed».
"""

from __future__ import annotations

import functools
import importlib.resources
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from memory_node.errors import InvalidValueError
from memory_node.recall.words import key, label_score, words

LABEL, NAME, KIND = 1.0, 0.95, 0.9
"""How well the label itself, another name of it, and a wider word name it."""
QUALIFIED = 0.05
"""How much less well the thing with further qualities is named."""
PART = 0.8
"""What only contains the words stays below."""
QUALITIES = frozenset(
    word
    for line in (
        'red green blue yellow orange black white grey gray brown pink purple violet beige silver',
        'golden gold turquoise cyan magenta cream dark light bright transparent clear',
        'wooden wood metal metallic plastic leather ceramic steel glass marble stone brass copper',
        'wicker cardboard big large small little tiny huge tall short long wide narrow thin thick',
        'round square rectangular oval old new empty full clean dirty open closed',
    )
    for word in line.split()
)
"""Words before a thing that say how it is, not what it is."""


@dataclass(frozen=True)
class Naming:
    """How a text names a label.

    Attributes:
        score: 0 (not at all) to 1. certain: whether it surely does.
    """

    score: float
    certain: bool


NOT_NAMED = Naming(0.0, False)


@dataclass(frozen=True)
class Names:
    """The table. All words are keys, see `words.key`.

    Attributes:
        line: name → which line of `names` it stands in.
        kinds: wider word → lines and keys of what is such a thing.
    """

    line: Mapping[str, str] = field(default_factory=dict)
    kinds: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def naming(self, text: str, label: str) -> Naming:
        """How the text names the label."""
        whole = self._core(key(text), key(label))
        if whole:
            return Naming(whole, True)
        asked, thing = _split(text)
        shown, label_thing = _split(label)
        score = self._core(thing, label_thing)
        if score and asked <= shown:
            return Naming(score - QUALIFIED, True)
        part = label_score(text, label)
        if part:
            return Naming(min(part, PART), False)
        return Naming(0.5 * score, False) if score else NOT_NAMED

    def lacking(self, text: str) -> frozenset[str]:
        """The qualities that a text asks for: «red mug» → red."""
        return _split(text)[0]

    def thing(self, text: str) -> str:
        """The text without the qualities before it, as words: «red mug» → mug."""
        found = words(text)
        while len(found) > 1 and found[0] in QUALITIES:
            found = found[1:]
        return ' '.join(found)

    def known(self, text: str) -> bool:
        """Whether the text is listed."""
        return key(text) in self.line or key(text) in self.kinds

    def _core(self, asked: str, label: str) -> float:
        if not asked or not label:
            return 0.0
        if asked == label:
            return LABEL
        line, asked_line = self.line.get(label, label), self.line.get(asked, asked)
        if asked_line == line:
            return NAME
        kinds = self.kinds.get(asked) or self.kinds.get(asked_line)
        return KIND if kinds and line in kinds else 0.0


@functools.lru_cache(maxsize=8192)
def _split(text: str) -> tuple[frozenset[str], str]:
    """Qualities before a thing, and the key of the thing."""
    found = words(text)
    count = 0
    while count < len(found) - 1 and found[count] in QUALITIES:
        count += 1
    return frozenset(found[:count]), key(' '.join(found[count:]))


def load_names(path: str = '') -> Names:
    """Read the table from a file; empty, or one that lists no names: that of the package.

    Raises:
        InvalidValueError: it cannot be read, or is not of the form of `data/labels.yaml`.
    """
    if not path:
        return _own()
    try:
        text = Path(path).expanduser().read_text(encoding='utf-8')
        given = yaml.safe_load(text)
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise InvalidValueError(f'labels_file: cannot read {path!r}: {error}') from error
    if not isinstance(given, Mapping) or 'names' not in given:
        return _own()
    return names_of(given, path)


@functools.cache
def _own() -> Names:
    file = importlib.resources.files('memory_node') / 'data' / 'labels.yaml'
    return names_of(yaml.safe_load(file.read_text(encoding='utf-8')), 'labels.yaml')


def names_of(given: Mapping[str, Any], where: str) -> Names:
    """Build the table from the keys `names` and `kinds`.

    Raises:
        InvalidValueError: it is not of the form of `data/labels.yaml`, or a name stands twice.
    """
    line: dict[str, str] = {}
    for name, others in _lists(given.get('names', {}), f'{where}: names'):
        for other in (name, *others):
            if line.setdefault(key(other), key(name)) != key(name):
                raise InvalidValueError(
                    f'labels_file: {where}: names: got {other!r} in two lines, expected it in one'
                )
    kinds = {
        key(name): frozenset(line.get(key(other), key(other)) for other in others)
        for name, others in _lists(given.get('kinds', {}), f'{where}: kinds')
    }
    return Names(line, kinds)


def _lists(given: Any, place: str) -> list[tuple[str, list[str]]]:
    if not isinstance(given, Mapping):
        raise InvalidValueError(f'labels_file: {place}: expected names, each with a list')
    for name, others in given.items():
        listed = isinstance(others, list) and all(isinstance(o, str) and key(o) for o in others)
        if not isinstance(name, str) or not key(name) or not listed:
            raise InvalidValueError(
                f'labels_file: {place}: got {str(name)[:60]!r}, expected a name with a list'
            )
    return list(given.items())
