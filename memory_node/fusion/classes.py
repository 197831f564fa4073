# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What is known of a class before any of it was seen: how long such things stay, and whether they
move. Read from `data/labels.yaml`, or from a file that the parameter `labels_file` names.

The table is stored with the settings, so that a replay decides by what held then.
"""

from __future__ import annotations

import functools
import importlib.resources
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from memory_node.errors import InvalidValueError
from memory_node.model import Floats
from memory_node.scene.boxes import Bools
from memory_node.scene.roles import Roles, read_roles

FIXED, MOVABLE, MOBILE, IGNORED = 'fixed', 'movable', 'mobile', 'ignored'
MOBILITIES = (FIXED, MOVABLE, MOBILE, IGNORED)
_GROUP = {'half_life_h', 'mobility', 'size_m', 'container', 'classes'}
_REQUIRED = {'half_life_h', 'mobility'}
_OTHERS = {'names', 'kinds', 'relations'}
"""What else may stand in the file: see `recall.names`."""
HOUR_S = 3600.0


@dataclass(frozen=True)
class LabelClass:
    """What is known of a class.

    Attributes:
        half_life_h: hours after which half of such things have left their place.
        mobility: one of MOBILITIES.
        container: whether things are put into it.
        size_m: smallest and largest plausible longest side.
    """

    half_life_h: float
    mobility: str
    container: bool = False
    size_m: tuple[float, float] = (0.0, 100.0)


@dataclass(frozen=True)
class Classes:
    """The table.

    Attributes:
        named: key of a label (see `key_of`) → its class. fallback: of all others.
        aliases: each label that is listed, as written → name of its class.
        roles: how such things hold others. Nothing that is stored follows from it.
    """

    fallback: LabelClass
    named: Mapping[str, LabelClass] = field(default_factory=dict)
    aliases: Mapping[str, str] = field(default_factory=dict)
    roles: Roles = field(default=Roles(), compare=False)

    def of(self, label: str) -> LabelClass:
        """The class of a label."""
        return self.named.get(key_of(label), self.fallback)

    def left_out(self) -> frozenset[str]:
        """Labels, case-folded, of what is not remembered: it goes about, or is ignored."""
        return self.labels_of(MOBILE) | self.labels_of(IGNORED)

    def labels_of(self, mobility: str) -> frozenset[str]:
        """Labels, case-folded, of what is of this mobility, however their words are joined."""
        return frozenset(
            text.casefold().replace(' ', between)
            for text in self.aliases if self.of(text).mobility == mobility
            for between in (' ', '_', '-', '')
        )  # fmt: skip

    def as_plain(self) -> dict[str, Any]:
        """As plain values, for the file; see `from_plain`."""
        kinds = list(dict.fromkeys([self.fallback, *self.named.values()]))
        return {
            'kinds': [[k.half_life_h, k.mobility, k.container, *k.size_m] for k in kinds],
            'named': {key: kinds.index(kind) for key, kind in sorted(self.named.items())},
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Classes:
        """What `as_plain` gave; names of classes are left out, and roles are the package's."""
        kinds = [LabelClass(h, m, c, (low, high)) for h, m, c, low, high in plain['kinds']]
        return cls(kinds[0], {key: kinds[k] for key, k in plain['named'].items()},
                   roles=load_classes().roles)  # fmt: skip


class ClassColumns:
    """The table by label number, so that whole arrays of labels can be looked up.

    Attributes:
        classes: the table.
    """

    def __init__(self, classes: Classes) -> None:
        self.classes = classes
        self._half_life_s: Floats = np.zeros(0)
        self._fixed: Bools = np.zeros(0, bool)

    def half_life_s(self, label: np.ndarray, names: Sequence[str]) -> Floats:
        """(N,) seconds; label: (N,) numbers into names."""
        self._extend(names)
        return self._half_life_s[label]

    def is_fixed(self, label: np.ndarray, names: Sequence[str]) -> Bools:
        """(N,) whether such a thing is never looked for elsewhere."""
        self._extend(names)
        return self._fixed[label]

    def forget_from(self, count: int) -> None:
        """Forget all labels but the first `count`; see LabelBook."""
        self._half_life_s, self._fixed = self._half_life_s[:count], self._fixed[:count]

    def _extend(self, names: Sequence[str]) -> None:
        known = len(self._half_life_s)
        if known >= len(names):
            return
        new = [self.classes.of(name) for name in names[known:]]
        hours = np.array([c.half_life_h for c in new])
        self._half_life_s = np.concatenate([self._half_life_s, hours * HOUR_S])
        self._fixed = np.concatenate([self._fixed, [c.mobility == FIXED for c in new]])


def key_of(label: str) -> str:
    """A label without what does not matter: case, spaces, hyphens and underscores."""
    return ''.join(c for c in label.casefold() if c.isalnum())


def load_classes(path: str = '') -> Classes:
    """Read the table from a file; empty: the one that comes with the package.

    Raises:
        InvalidValueError: it cannot be read, or is not of the form that `data/labels.yaml` shows;
            says where.
    """
    if not path:
        return _own()
    try:
        text = Path(path).expanduser().read_text(encoding='utf-8')
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidValueError(f'labels_file: cannot read {path!r}: {error}') from error
    return parse(text, path)


@functools.cache
def _own() -> Classes:
    file = importlib.resources.files('memory_node') / 'data' / 'labels.yaml'
    return parse(file.read_text(encoding='utf-8'), 'labels.yaml')


def parse(text: str, where: str) -> Classes:
    """Read the table from YAML.

    Raises:
        InvalidValueError: it is not of the form that `data/labels.yaml` shows; says where.
    """
    try:
        given = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise InvalidValueError(f'labels_file: {where} is no YAML: {error}') from error
    if not isinstance(given, Mapping) or set(given) - _OTHERS != {'fallback', 'groups'}:
        raise InvalidValueError(
            f'labels_file: {where}: got {_short(given)}, expected the keys fallback and groups, '
            'and relations if wanted'
        )
    fallback = _kind(given['fallback'], f'{where}: fallback')
    if not isinstance(given['groups'], list):
        raise InvalidValueError(
            f'labels_file: {where}: groups: got {_short(given["groups"])}, expected a list'
        )
    named: dict[str, LabelClass] = {}
    aliases: dict[str, str] = {}
    for number, group in enumerate(given['groups'], 1):
        place = f'{where}: group {number}'
        kind = _kind(group, place)
        for name, other_names in _names(group.get('classes'), place).items():
            for alias in [name, *other_names]:
                if named.get(key_of(alias), kind) is not kind:
                    raise InvalidValueError(
                        f'labels_file: {place}: got {_short(alias)}, expected a label that no '
                        'earlier group has'
                    )
                named[key_of(alias)] = kind
                aliases[alias] = name
    class_of = {key_of(alias): key_of(name) for alias, name in aliases.items()}
    roles = read_roles(given.get('relations', {}), f'{where}: relations', key_of, class_of)
    return Classes(fallback, named, aliases, roles)


def _kind(group: Any, place: str) -> LabelClass:
    """What a group says of its classes."""
    if not isinstance(group, Mapping) or not _REQUIRED <= set(group) <= _GROUP:
        raise InvalidValueError(
            f'labels_file: {place}: got {_short(group)}, expected half_life_h and mobility, and of '
            f'{", ".join(sorted(_GROUP - _REQUIRED))} what is known'
        )
    hours, mobility = group['half_life_h'], group['mobility']
    if not _is_number(hours) or not 0 < hours <= 1e7:
        raise InvalidValueError(
            f'labels_file: {place}: half_life_h: got {_short(hours)}, expected hours above 0'
        )
    if mobility not in MOBILITIES:
        raise InvalidValueError(
            f'labels_file: {place}: mobility: got {_short(mobility)}, expected one of '
            f'{", ".join(MOBILITIES)}'
        )
    container, size = group.get('container', False), group.get('size_m', [0.0, 100.0])
    if not isinstance(container, bool):
        raise InvalidValueError(
            f'labels_file: {place}: container: got {_short(container)}, expected true or false'
        )
    if not (isinstance(size, list) and len(size) == 2 and all(map(_is_number, size))
            and 0 <= size[0] <= size[1]):  # fmt: skip
        raise InvalidValueError(
            f'labels_file: {place}: size_m: got {_short(size)}, expected smallest and largest [m]'
        )
    return LabelClass(float(hours), mobility, container, (float(size[0]), float(size[1])))


def _names(given: Any, place: str) -> Mapping[str, list[str]]:
    fits = isinstance(given, Mapping) and all(
        isinstance(name, str) and key_of(name) and isinstance(others, list)
        and all(isinstance(other, str) and key_of(other) for other in others)
        for name, others in given.items()
    )  # fmt: skip
    if not fits:
        raise InvalidValueError(
            f'labels_file: {place}: classes: got {_short(given)}, expected names, each with a list '
            'of other names'
        )
    result: Mapping[str, list[str]] = given
    return result


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e9


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f'{text[:57]}…'
