# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Can a query be answered? Whatever cannot be understood is refused by name, nothing is dropped."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np

from memory_node import checks
from memory_node.config import MAX_LIMIT
from memory_node.errors import InvalidValueError
from memory_node.fusion.world import Features
from memory_node.model import Order, Pose, Query, State
from memory_node.scene import boxes

ENDED = (State.FORGOTTEN, State.MERGED)
SEEN, STATED, PERSON = 'seen', 'stated', 'person'
SOURCES = ('', SEEN, STATED, PERSON)
MAX_OFFSET = 10**9
MAX_FACTS = 32
"""So many properties, or pairs of a scope, may be asked for."""
_NUMBERS = ('radius_m', 'moved_m', 'min_score', 'min_presence', 'seen_since_ns', 'unseen_since_ns',
            'new_since_ns')  # fmt: skip
_TIMES = ('seen_from_ns', 'seen_until_ns', 'as_of_ns', 'known_at_ns', 'at_ns')


def checked(query: Query, dim: int | None) -> Query:
    """Return the query with its values in their types, if it can be answered.

    Args:
        query: as given. dim: length of the features in use; None: there are none yet.

    Raises:
        InvalidValueError: says which value was given and what was expected.
    """
    given = {
        name
        for name, value in vars(query).items()
        if value is not (default := _DEFAULTS[name]) and not _equal(value, default)
    }
    _require_numbers(query, given)
    for check, names in _CHECKS:
        if not given.isdisjoint(names):
            check(query)
    if query.feature is None:
        return query
    if is_past(query):
        raise InvalidValueError(
            'feature: got one together with as_of_ns or known_at, expected one of them: how things '
            'looked once is not kept'
        )
    return dataclasses.replace(query, feature=_feature(query.feature, dim))


def _equal(value: Any, default: Any) -> bool:
    """Whether a value is another one of the kind of a default and equal to it, as requests have."""
    return type(value) is type(default) and bool(value == default)


def _require_numbers(query: Query, given: set[str]) -> None:
    if 'limit' in given:
        checks.limit(query.limit)
    if 'offset' in given:
        checks.whole('offset', query.offset, 0, MAX_OFFSET)
    for name in (name for name in _NUMBERS if name in given):
        checks.finite(name, getattr(query, name))
    for name in (name for name in _TIMES if name in given):
        checks.whole(name, getattr(query, name), 0)


def _require_known_words(query: Query) -> None:
    if query.states != ():
        _one_of('states', query.states, [s.value for s in State if s not in ENDED])
    _one_of('order', [query.order], [o.value for o in Order])
    _one_of('source', [query.source], SOURCES)


def is_past(query: Query) -> bool:
    """Whether it asks for another moment than now."""
    return (query.as_of_ns, query.known_at, query.known_at_ns) != (None, None, None)


def _require_words(query: Query) -> None:
    checks.said('text', query.text)
    for label in _listed('labels', query.labels):
        checks.said('labels', label, checks.MAX_WORD)
    if query.region != '':
        checks.word('region', query.region)
    if query.sensor != '':
        checks.word('sensor', query.sensor)
    if query.relation is not None:
        given: Any = query.relation
        if not isinstance(given, Sequence) or isinstance(given, str) or len(given) != 2:
            raise InvalidValueError(
                f'relation: got {checks.short(given)}, expected a kind and an object'
            )
        checks.word('relation', given[0])
        if isinstance(given[1], str):
            checks.word('relation', given[1])


def _require_place(query: Query) -> None:
    if query.near_m is None and query.radius_m > 0:
        raise InvalidValueError(f'radius_m: got {query.radius_m:g} without near_m, expected both')
    if query.near_m is not None:
        checks.point('near_m', query.near_m)
        if query.radius_m == 0:
            raise InvalidValueError('radius_m: got 0 together with near_m, expected above 0 [m]')
    if query.box_m is not None:
        checks.box('box_m', query.box_m)
    if query.box_pose is not None:
        if query.box_m is None:
            raise InvalidValueError('box_pose: got one without box_m, expected both')
        if not isinstance(query.box_pose, Pose):
            raise InvalidValueError(
                f'box_pose: got {checks.short(query.box_pose)}, expected a Pose'
            )
        checks.point('box_pose', query.box_pose.position_m)
        checks.turn('box_pose', query.box_pose.orientation_xyzw)


def _require_order_of_times(query: Query) -> None:
    if query.unseen_since_ns and query.seen_since_ns >= query.unseen_since_ns:
        raise InvalidValueError(
            f'seen_since_ns: got {query.seen_since_ns}, expected a time before unseen_since_ns '
            f'{query.unseen_since_ns}'
        )
    first, last = query.seen_from_ns, query.seen_until_ns
    if first is not None and last is not None and first > last:
        raise InvalidValueError(
            f'seen_from_ns: got {first}, expected a time up to seen_until_ns {last}'
        )
    if query.known_at is not None:
        checks.whole('known_at', query.known_at, 0)
        if query.known_at_ns is not None:
            raise InvalidValueError('known_at: got it and known_at_ns, expected one of them')


def _require_facts(query: Query) -> None:
    for number in _listed('ids', query.ids):
        checks.whole('ids', number, 1)
    facts: dict[str, Any] = {'properties': query.properties, 'scope': query.scope}
    for name, given in facts.items():
        if not isinstance(given, Mapping) or len(given) > MAX_FACTS:
            raise InvalidValueError(
                f'{name}: got {checks.short(given)}, expected a mapping of up to {MAX_FACTS} keys'
            )
        for key, value in given.items():
            checks.word(name, key)
            if name == 'scope':
                checks.said(name, value)
            else:
                checks.plain(name, value)


_DEFAULTS = vars(Query())
_CHECKS: tuple[tuple[Callable[[Query], None], frozenset[str]], ...] = (
    (_require_words, frozenset({'text', 'labels', 'region', 'sensor', 'relation'})),
    (_require_place, frozenset({'near_m', 'radius_m', 'box_m', 'box_pose'})),
    (_require_order_of_times, frozenset({
        'seen_since_ns', 'unseen_since_ns', 'seen_from_ns', 'seen_until_ns', 'known_at',
        'known_at_ns',
    })),
    (_require_facts, frozenset({'ids', 'properties', 'scope'})),
    (_require_known_words, frozenset({'states', 'order', 'source'})),
)  # fmt: skip
"""What is checked where any of these fields is not left at its default."""


def _listed(name: str, given: Any) -> Collection[Any]:
    """Values that were given as a list of a bearable length."""
    if isinstance(given, str) or not isinstance(given, Collection) or len(given) > MAX_LIMIT:
        raise InvalidValueError(
            f'{name}: got {checks.short(given)}, expected a list of at most {MAX_LIMIT}'
        )
    return given


def _one_of(name: str, given: object, known: Collection[str]) -> None:
    listed = isinstance(given, Collection) and not isinstance(given, str)
    for value in given if listed else [given]:  # type: ignore[attr-defined]
        if not listed or not isinstance(value, str) or value not in known:
            words = ', '.join(known).lstrip(', ')
            raise InvalidValueError(f'{name}: got {checks.short(value)}, expected any of {words}')


def _feature(given: object, dim: int | None) -> Features:
    try:
        feature = np.asarray(given, dtype=np.float32)
    except (TypeError, ValueError, OverflowError):
        feature = np.zeros((0, 0), np.float32)
    if feature.ndim != 1 or (dim is not None and len(feature) != dim):
        raise InvalidValueError(
            f'feature: got shape {feature.shape}, expected ({"any" if dim is None else dim},)'
        )
    wide = feature.astype(np.float64)
    if not np.isfinite(wide).all() or not wide.any():
        raise InvalidValueError('feature: got zero, NaN or infinite numbers, expected a direction')
    unit: Features = boxes.normalized(wide[None] / np.abs(wide).max())[0].astype(np.float32)
    return unit
