# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What detectors of other conventions say, in our words: class ids, guesses, covariances."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from memory_node.errors import InvalidValueError

MAX_WARNED = 1000
"""Unknown class ids that are warned of; a detector may make up any number of them."""


NO_NAMES = ('BACKGROUND', 'UNLABELLED')
"""What Isaac Sim calls pixels that show nothing that has a label."""


class ClassNames:
    """Names of class ids; an id without one is its own name, with one warning each (C18)."""

    def __init__(
        self, names: Mapping[str, str] | None = None, warn: Callable[[str], object] | None = None
    ) -> None:
        """Create it.

        Args:
            names: class id → name; empty or None: ids are names, and nothing is warned of.
            warn: told of every class id that has no name, once.
        """
        self._names, self._warn = dict(names or {}), warn
        self._warned: set[str] = set()

    @classmethod
    def of_file(cls, path: str, warn: Callable[[str], object] | None = None) -> ClassNames:
        """Read a YAML file: a mapping id → name, or a list of names; either also below `names`.

        Args:
            path: `~` is expanded; empty: no names.
            warn: told of every class id that has no name, once.

        Raises:
            InvalidValueError: the file cannot be read, or holds something else.
        """
        if not path:
            return cls()
        try:
            text = Path(path).expanduser().read_text(encoding='utf-8')
            return cls(_names_in(yaml.safe_load(text)), warn)
        except (OSError, UnicodeDecodeError, yaml.YAMLError, InvalidValueError) as error:
            raise InvalidValueError(
                f'class_names_file: got {path!r}, expected a YAML file with names of class ids, '
                f'for example 56: chair ({error})'
            ) from error

    def __len__(self) -> int:
        return len(self._names)

    def known(self, class_id: str) -> str:
        """Return the name of a class id; empty: it has none."""
        return self._names.get(class_id, '')

    def __call__(self, class_id: str) -> str:
        """Return the name of a class id."""
        name = self._names.get(class_id)
        if name is not None:
            return name
        if self._names and class_id not in self._warned and len(self._warned) < MAX_WARNED:
            self._warned.add(class_id)
            if self._warn is not None:
                self._warn(f'class id {class_id!r} has no name in class_names_file: it is kept')
        return class_id


class Claim(NamedTuple):
    """What a detector takes a thing for: the best guess, and the others with their scores."""

    label: str
    score: float
    alternatives: dict[str, float]


def claim_of(guesses: Iterable[tuple[str, float]], names: ClassNames) -> Claim:
    """Return the guess with the best score as the label, and the others as alternatives.

    Args:
        guesses: class ids with their scores; the first of equal ones is the best. Those without a
            class id say nothing. Without any, the label is empty (C17).
        names: of the class ids; the best of several guesses of one name counts.
    """
    best: dict[str, float] = {}
    for class_id, score in guesses:
        name = names(class_id.strip()) if class_id.strip() else ''
        if name and (name not in best or _rank(score) > _rank(best[name])):
            best[name] = score
    if not best:
        return Claim('', 0.0, {})
    label = max(best, key=lambda name: _rank(best[name]))
    score = best.pop(label)
    return Claim(label, score, best)


def position_covariance(pose_covariance: Sequence[float]) -> list[float]:
    """Return the covariance of the position, row major 3×3, from that of a pose, row major 6×6."""
    return [float(pose_covariance[6 * row + column]) for row in range(3) for column in range(3)]


def _rank(score: float) -> float:
    """Any score, for comparison: one that is no number is the worst."""
    return score if math.isfinite(score) else -math.inf


def _names_in(content: Any) -> dict[str, str]:
    if isinstance(content, Mapping) and isinstance(content.get('names'), (Mapping, list)):
        content = content['names']
    if isinstance(content, list):
        content = dict(enumerate(content))
    if not isinstance(content, Mapping) or not content:
        raise InvalidValueError('it holds neither a mapping nor a list')
    names = {str(number).strip(): name for number, name in content.items()}
    for number, name in names.items():
        if not isinstance(name, (str, int)) or isinstance(name, bool) or not str(name).strip():
            raise InvalidValueError(f'{number}: got {name!r}, expected a name')
    return {number: str(name).strip() for number, name in names.items()}


def labels_of_json(text: str) -> dict[str, str]:
    """Return id → name of what Isaac Sim publishes as semantic labels (a JSON object in a string).

    An entry is `"3": {"class": "mug"}`, `"3": "class:mug"`, or of instances the path of the thing
    in the stage, `"3": "/World/Mug_01"`, of which the last part is the name. What has no name is
    left out, as are the background and the time.

    Raises:
        InvalidValueError: it is something else.
    """
    try:
        content = json.loads(text)
    except ValueError as error:
        raise InvalidValueError(f'semantic labels: got no JSON: {error}') from error
    if not isinstance(content, Mapping):
        raise InvalidValueError(f'semantic labels: got {text[:80]!r}, expected a JSON object')
    names = {}
    for number, value in content.items():
        if isinstance(value, Mapping):
            value = value.get('class')
        if not (number.isdecimal() and isinstance(value, str)):
            continue
        name = value.removeprefix('class:').rstrip('/').rpartition('/')[2].strip()
        if name and name.upper() not in NO_NAMES:
            names[number] = name
    return names
