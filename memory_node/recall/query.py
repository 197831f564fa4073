# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Answer a query from the working set."""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Collection, Iterator
from typing import Any

import numpy as np

from memory_node.config import MAX_LIMIT
from memory_node.errors import InvalidValueError
from memory_node.fusion.candidates import CandidateIndex
from memory_node.fusion.world import STATE_CODE, Rows, World
from memory_node.model import Floats, Hit, Hits, Query, State

SEARCHABLE_SHARE = 0.2
"""A label is found while it holds this share of the evidence mass (C19)."""
MAX_TEXT = 1000
_RUN = re.compile(r'[^\W\d_]+|\d+')


def checked(query: Query) -> Query:
    """Return the query if it can be answered.

    Raises:
        InvalidValueError: says which value was given and what was expected.
    """
    if not isinstance(query.text, str) or len(query.text) > MAX_TEXT:
        raise InvalidValueError(
            f'text: got {_short(query.text)}, expected at most {MAX_TEXT} characters'
        )
    if (
        isinstance(query.limit, bool)
        or not isinstance(query.limit, int)
        or (not 1 <= query.limit <= MAX_LIMIT)
    ):
        raise InvalidValueError(f'limit: got {query.limit!r}, expected 1 to {MAX_LIMIT}')
    if not _is_radius(query.radius_m):
        raise InvalidValueError(f'radius_m: got {query.radius_m!r}, expected 0 or more [m]')
    if query.near_m is not None:
        if not _is_point(query.near_m):
            raise InvalidValueError(
                f'near_m: got {_short(query.near_m)}, expected three finite metres'
            )
        if query.radius_m == 0:
            raise InvalidValueError('radius_m: got 0 together with near_m, expected above 0 [m]')
    elif query.radius_m > 0:
        raise InvalidValueError(f'radius_m: got {query.radius_m:g} without near_m, expected both')
    listed = isinstance(query.states, Collection) and not isinstance(query.states, str)
    known = [s.value for s in State]
    for state in query.states if listed else [query.states]:
        if not listed or not isinstance(state, str) or state not in known:
            raise InvalidValueError(
                f'states: got {_short(state)}, expected a list of any of {", ".join(known)}'
            )
    return query


def _is_radius(value: Any) -> bool:
    number = isinstance(value, (int, float, np.integer, np.floating))
    return number and not isinstance(value, bool) and bool(0 <= value <= sys.float_info.max)


def _is_point(value: object) -> bool:
    try:
        point = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        return False
    return point.shape == (3,) and bool(np.isfinite(point).all())


def answer(query: Query, world: World, index: CandidateIndex) -> Hits:
    """Return the objects that pass every filter, best first; ties by id."""
    rows, distance = _place(query, world, index)
    states = [State(s) for s in query.states] or [State.TENTATIVE, State.CONFIRMED]
    keep = np.isin(world.records['state'][rows], [STATE_CODE[s] for s in states])
    score = np.ones(len(rows))
    if query.text.strip():
        text_score = match_labels(query.text, world, rows)
        keep &= text_score > 0
        score *= text_score
    if distance is not None:
        score *= 1.0 - distance / query.radius_m
    rows, score = rows[keep], score[keep]
    order = np.lexsort([world.records['id'][rows], -score])[: query.limit]
    far = None if distance is None else distance[keep]
    hits = [_hit(query, world, rows, score, far, k) for k in order.tolist()]
    return Hits(hits, len(rows))


def _place(query: Query, world: World, index: CandidateIndex) -> tuple[Rows, Floats | None]:
    if query.near_m is None:
        return world.live_rows(), None
    return index.within(np.asarray(query.near_m, dtype=np.float64), float(query.radius_m))


def _hit(
    query: Query, world: World, rows: Rows, score: Floats, distance: Floats | None, k: int
) -> Hit:
    terms = {} if distance is None else {'distance_m': float(distance[k])}
    return Hit(world.view(int(rows[k])), float(score[k]), terms)


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


def match_labels(text: str, world: World, rows: Rows) -> Floats:
    """(R,) how well the text names each object by a label that is still searchable."""
    of_label = np.array([label_score(text, name) for name in world.labels.names] + [0.0])
    r = world.records[rows]
    masses = r['masses']
    more = world.more_labels
    spilled = [(k, more[n]) for k, n in enumerate(rows.tolist()) if n in more] if more else []
    whole = masses.sum(axis=1)
    for k, extra in spilled:
        whole[k] += sum(extra.values())
    enough = SEARCHABLE_SHARE * whole
    counts = np.round(masses - enough[:, None], 9) >= 0
    best: Floats = np.where(counts, of_label[r['labels']], 0.0).max(axis=1, initial=0.0)
    for k, extra in spilled:
        for label, mass in extra.items():
            if round(mass - enough[k], 9) >= 0:
                best[k] = max(best[k], of_label[label])
    return best


def _singular(word: str) -> str:
    """Fold simple English plurals: mugs → mug, boxes → box, knives stays knives."""
    if len(word) > 4 and word.endswith(('xes', 'ches', 'shes', 'sses')):
        return word[:-2]
    if len(word) > 3 and word.endswith('s') and not word.endswith(('ss', 'us', 'is')):
        return word[:-1]
    return word


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f'{text[:57]}…'
