# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Answer a query from the working set: filters first, then scores, then order."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection
from typing import cast

import numpy as np

from memory_node import checks, decay
from memory_node.errors import InvalidValueError
from memory_node.fusion.candidates import CandidateIndex
from memory_node.fusion.world import STATE_CODE, Features, Rows, World
from memory_node.model import Aspect, Floats, Hit, Hits, Order, Query, State
from memory_node.recall import nearest, rank
from memory_node.recall.names import Naming
from memory_node.recall.rank import Aids
from memory_node.scene import boxes
from memory_node.store.database import Database

_Key = Callable[[Rows], np.ndarray]
"""Gives the value by which each of some places is sorted."""
ENDED = (State.FORGOTTEN, State.MERGED)
THERE = [State.TENTATIVE, State.CONFIRMED, State.DOUBTFUL, State.HELD]
"""What a query finds unless it names states: what is absent is left out (C04)."""


def checked(query: Query, world: World) -> Query:
    """Return the query with its values in their types, if it can be answered.

    Raises:
        InvalidValueError: says which value was given and what was expected.
    """
    checks.text('text', query.text)
    checks.limit(query.limit)
    for name in ('radius_m', 'moved_m', 'min_score', 'min_presence', 'seen_since_ns',
                 'unseen_since_ns', 'new_since_ns'):  # fmt: skip
        checks.finite(name, getattr(query, name))
    if query.near_m is None and query.radius_m > 0:
        raise InvalidValueError(f'radius_m: got {query.radius_m:g} without near_m, expected both')
    if query.near_m is not None:
        checks.point('near_m', query.near_m)
        if query.radius_m == 0:
            raise InvalidValueError('radius_m: got 0 together with near_m, expected above 0 [m]')
    if query.unseen_since_ns and query.seen_since_ns >= query.unseen_since_ns:
        raise InvalidValueError(
            f'seen_since_ns: got {query.seen_since_ns}, expected a time before unseen_since_ns '
            f'{query.unseen_since_ns}'
        )
    _one_of('states', query.states, [s.value for s in State if s not in ENDED])
    _one_of('order', [query.order], [o.value for o in Order])
    for label in query.labels:
        checks.text('labels', label)
    feature = None if query.feature is None else _feature(query.feature, world.features.dim)
    return dataclasses.replace(query, feature=feature)


def _one_of(name: str, given: object, known: list[str]) -> None:
    listed = isinstance(given, Collection) and not isinstance(given, str)
    for value in given if listed else [given]:  # type: ignore[attr-defined]
        if not listed or not isinstance(value, str) or value not in known:
            raise InvalidValueError(
                f'{name}: got {checks.short(value)}, expected any of {", ".join(known)}'
            )


def _feature(given: object, dim: int | None) -> Features:
    try:
        feature = np.asarray(given, dtype=np.float32)
    except (TypeError, ValueError):
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


def answer(query: Query, world: World, index: CandidateIndex, aids: Aids, newest_ns: int) -> Hits:
    """Return the objects that pass every filter, in the order asked for; ties by id.

    Args:
        query: as `checked` returns it.
        world, index: the live objects.
        aids: what texts are ranked by. newest_ns: newest stamp of a view.
    """
    rows, distance = _place(query, world, index)
    keep = _passes(query, world, rows)
    score = np.ones(len(rows))
    terms: dict[str, Floats] = {}
    if query.text.strip():
        terms |= rank.text_terms(query.text, world, rows, aids)
        score *= rank.score_of(terms)
    if distance is not None:
        terms['distance_m'] = distance
        score *= 1.0 - distance / query.radius_m
    total = None
    if query.feature is not None:
        keep &= world.records['has_feature'][rows]
        alone, passed = _by_feature_alone(query), np.flatnonzero(keep)
        some, cosine, count = nearest.best(
            world.features, rows[passed], cast(Features, query.feature),
            query.limit if alone else len(passed), query.min_score,
        )  # fmt: skip
        total, some = count if alone else None, passed[some]
        rows, score, keep = rows[some], score[some], keep[some]
        terms = {name: values[some] for name, values in terms.items()}
        terms['feature'] = np.minimum(cosine, 1.0)
        score *= terms['feature']
    if query.text.strip() or query.feature is not None:
        keep &= score > 0
    keep &= score >= query.min_score
    if query.moved_m > 0:
        moved = _moved(world, rows, aids.database)
        terms['moved_m'] = moved
        keep &= moved >= query.moved_m
    at_ns = newest_ns if query.at_ns is None else query.at_ns
    if query.min_presence > 0:
        some = np.flatnonzero(keep)
        keep[some] = presence_of(world, rows[some], at_ns) >= query.min_presence
    found = np.flatnonzero(keep)
    order = _first(found, _keys(query, world, rows, score, found), query.limit)
    objects = world.views(rows[order])
    values = [dict(zip(terms, line)) for line in zip(*(terms[n][order].tolist() for n in terms))]
    hits = [
        Hit(obj, number, held, presence)
        for obj, number, held, presence in zip(
            objects,
            score[order].tolist(),
            values or [{}] * len(order),
            presence_of(world, rows[order], at_ns).tolist(),
        )
    ]
    return Hits(hits, len(found) if total is None else total)


def _by_feature_alone(query: Query) -> bool:
    """Whether nothing but likeness decides which of the objects that pass come first."""
    return query.order == Order.RELEVANCE and not (
        query.text.strip() or query.near_m is not None or query.moved_m or query.min_presence
    )


def presence_of(world: World, rows: Rows, at_ns: int) -> Floats:
    """(R,) probability that each object is in its place at a time; 1 of what a person stated."""
    r = world.records
    half_life_s = world.columns.half_life_s(r['label'][rows], world.labels.names)
    age_s = (at_ns - r['odds_ns'][rows]) / 1e9
    presence = decay.probability(decay.aged(r['odds'][rows], age_s, half_life_s))
    presence[world.pinned(r['id'][rows], Aspect.PRESENCE)] = 1.0
    return presence


def _place(query: Query, world: World, index: CandidateIndex) -> tuple[Rows, Floats | None]:
    if query.near_m is None:
        return world.live_rows(), None
    return index.within(np.asarray(query.near_m, dtype=np.float64), float(query.radius_m))


def _passes(query: Query, world: World, rows: Rows) -> boxes.Bools:
    records = world.records
    states = [State(s) for s in query.states] or THERE
    if query.near_m is not None and not query.states:
        states = [state for state in states if state is not State.HELD]  # it is nowhere
    asked = np.zeros(len(STATE_CODE), bool)
    asked[[STATE_CODE[state] for state in states]] = True
    keep: boxes.Bools = asked[records['state'][rows]]
    if query.seen_since_ns:
        keep &= records['last_seen_ns'][rows] >= query.seen_since_ns
    if query.unseen_since_ns:
        keep &= records['last_seen_ns'][rows] < query.unseen_since_ns
    if query.new_since_ns:
        keep &= records['first_seen_ns'][rows] >= query.new_since_ns
    if query.labels:
        wanted = {label.casefold() for label in query.labels}
        keep &= _labelled(world, rows, wanted)
    return keep


def _keys(query: Query, world: World, rows: Rows, score: Floats, found: Rows) -> list[_Key]:
    """What the places that were found are ordered by, ascending; the last are the ids."""
    records = world.records
    keys: list[_Key] = [lambda at: -score[at], lambda at: records['id'][rows[at]]]
    if query.order == Order.RECENT:
        keys.insert(0, lambda at: -records['last_seen_ns'][rows[at]])
    if query.order == Order.SALIENT:
        weight = np.zeros(len(rows))
        weight[found] = salience(world, rows[found]) * score[found]
        keys[0] = lambda at: -weight[at]
    return keys


def _first(found: Rows, keys: list[_Key], limit: int) -> Rows:
    """The first `limit` of some places in the order of these keys, which are never all equal.

    Only those that can be among them are sorted: the ones below the limit-th value of the first
    key, and, of those that tie with it, the first by the other keys.
    """
    chosen, left = [], limit
    for key in keys:
        if len(found) <= left:
            break
        value = key(found)
        if len(found) > 4096:
            few = value <= -nearest.surely_among(-value, left)
            found, value = found[few], value[few]
        last = np.partition(value, left - 1)[left - 1]
        chosen.append(found[value < last])
        left -= len(chosen[-1])
        found = found[value == last]
    places = np.concatenate([*chosen, found])
    return places[np.lexsort([key(places) for key in reversed(keys)])]


def salience(world: World, rows: Rows) -> Floats:
    """(R,) how much an object stands out: recent, sure, often seen (CH-38)."""
    r = world.records
    seen = r['last_seen_ns'][rows].astype(np.float64)
    every = r['last_seen_ns'][world.live_rows()].astype(np.float64)
    span = max(float(np.ptp(every)), 1.0) if len(every) else 1.0
    recency = (seen - every.min(initial=np.inf)) / span
    often = 1 + 0.1 * r['observations'][rows]
    result: Floats = (0.5 + 0.5 * recency) * r['confidence'][rows] * often
    return result


def _labelled(world: World, rows: Rows, wanted: set[str]) -> boxes.Bools:
    """(R,) whether an object has one of some labels, case-folded, among the searchable ones."""
    found = [Naming(float(name.casefold() in wanted), False) for name in world.labels.names]
    named: boxes.Bools = rank.named(world, rows, found)[0] > 0
    return named


def _moved(world: World, rows: Rows, database: Database) -> Floats:
    """(R,) metres between where each object was first seen and where it is now (CH-40)."""
    first = {
        number: (x, y, z)
        for number, x, y, z, _ in database.rows(
            'SELECT object_id, x, y, z, min(seq) FROM object_version GROUP BY object_id'
        )
    }
    ids = world.records['id'][rows].tolist()
    start = np.array([first[i] for i in ids], dtype=np.float64).reshape(-1, 3)
    return boxes.distance(world.records['center'][rows], start)
