# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""How things of a class hold others: the part `relations` of `data/labels.yaml`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from memory_node.errors import InvalidValueError


class Role(NamedTuple):
    """How things of a class hold others. Of several that could, the least penalty decides.

    Attributes:
        top: penalty of lying on the top of such a thing; None: nothing does.
        within: penalty of lying between its top and its bottom; None: nothing does.
        low, high: lowest and highest part of its height at which the bottom of that may be.
        encloses: what lies within it is inside it, and has its centre there; else it is on it.
        any_size: also what is larger than itself lies on it. stands: also what juts out over it.
        shelters: what lies below it is under it.
    """

    top: float | None = 0.0
    within: float | None = None
    low: float = 0.0
    high: float = 1.0
    encloses: bool = False
    any_size: bool = True
    stands: bool = False
    shelters: bool = False


OTHER = Role(any_size=False)
"""Of what is not listed: smaller things lie on it."""
ROLES: Mapping[str, Role] = {
    'tables': Role(0.0, 1.5, low=0.25, shelters=True),
    'beds': Role(0.0, 1.0, low=0.2, shelters=True),
    'chairs': Role(0.0, 1.0, low=0.3, high=0.68, shelters=True),
    'shelves': Role(1.0, 0.6),
    'closed': Role(2.5, 0.6, encloses=True),
    'open': Role(0.5, 0.6, low=-1.0, encloses=True),
    'basins': Role(0.0, 0.6, low=-1.0, encloses=True),
    'stands': Role(0.0, stands=True),
    'bare': Role(None),
    'hooks': Role(None),
}
"""Word of the file → role. The penalties are in units of 5 cm of gap, and were tuned on rooms 1 to
20 of each kind of iTHOR (bench/relations.py): a drawer holds what lies in it, rather than what is
2 cm above it and lies in the next; a desk whose hull reaches to the top of its hutch holds what
lies between, unless a chair or a drawer does better."""
_PAIRS = ('hooks', 'parts')


@dataclass(frozen=True)
class Roles:
    """The knowledge. A label is named by its key, see `fusion.classes.key_of`.

    Attributes:
        of_label: key of a label → its role.
        hung: key of what things hang on → keys of these.
        wholes: key of a part → keys of what it is part of.
    """

    of_label: Mapping[str, Role] = field(default_factory=dict)
    hung: Mapping[str, frozenset[str]] = field(default_factory=dict)
    wholes: Mapping[str, frozenset[str]] = field(default_factory=dict)


def read_roles(
    given: Any, where: str, key_of: Callable[[str], str], class_of: Mapping[str, str]
) -> Roles:
    """Read the part `relations`.

    Args:
        given: as parsed from YAML. where: names it in errors.
        key_of: key of a label.
        class_of: key of each label of the table → key of its class. What is said of a class holds
            of its other names too, unless they are listed themselves.

    Raises:
        InvalidValueError: it is not of the form that `data/labels.yaml` shows; says where.
    """
    expected = [*ROLES, 'parts']
    if not isinstance(given, Mapping) or not set(given) <= set(expected):
        raise InvalidValueError(
            f'labels_file: {where}: got {given!r:.60}, expected of {", ".join(expected)} what is '
            'known'
        )
    of_label: dict[str, Role] = {}
    for word in ROLES:
        for label in _labels(given.get(word, {} if word in _PAIRS else []), f'{where}: {word}'):
            if of_label.setdefault(key_of(label), ROLES[word]) is not ROLES[word]:
                raise InvalidValueError(
                    f'labels_file: {where}: {word}: got {label!r:.60}, expected a label that '
                    'nothing before has'
                )
    names: dict[str, set[str]] = {}
    for alias, name in class_of.items():
        names.setdefault(name, {name}).add(alias)
    pairs = {}
    for word in _PAIRS:
        found: dict[str, frozenset[str]] = {}
        for label, others in (given.get(word) or {}).items():
            keys = [key_of(o) for o in _labels(others, f'{where}: {word}: {label}')]
            every = frozenset().union(*(names.get(key, {key}) for key in keys))
            for key in names.get(key_of(label), {key_of(label)}):
                found[key] = every
        pairs[word] = found
    spread = {a: of_label[n] for a, n in class_of.items() if n in of_label}
    return Roles({**spread, **of_label}, pairs['hooks'], pairs['parts'])


def _labels(given: Any, place: str) -> list[str]:
    """A list of labels, or the keys of a mapping."""
    if place.rpartition(': ')[2] in _PAIRS and not isinstance(given, Mapping):
        given = None
    if not isinstance(given, (list, Mapping)) or not all(
        isinstance(label, str) and label for label in given
    ):
        raise InvalidValueError(f'labels_file: {place}: got {given!r:.60}, expected labels')
    return list(given)
