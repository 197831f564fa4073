# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Answer a query from the working set: filters first, then scores, then order."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection

import numpy as np

from memory_node import checks
from memory_node.errors import InvalidValueError
from memory_node.fusion.candidates import CandidateIndex
from memory_node.fusion.world import STATE_CODE, Features, Rows, World
from memory_node.model import Floats, Hit, Hits, Order, Query, State
from memory_node.recall.words import label_score
from memory_node.scene import boxes
from memory_node.store.database import Database

SEARCHABLE_SHARE = 0.2
"""A label is found while it holds this share of the evidence mass (C19)."""


def checked(query: Query, world: World) -> Query:
    """Return the query with its values in their types, if it can be answered.

    Raises:
        InvalidValueError: says which value was given and what was expected.
    """
    checks.text('text', query.text)
    checks.limit(query.limit)
    for name in ('radius_m', 'moved_m', 'min_score', 'seen_since_ns', 'unseen_since_ns',
                 'new_since_ns'):  # fmt: skip
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
    _one_of('states', query.states, [s.value for s in State if s is not State.FORGOTTEN])
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


def answer(query: Query, world: World, index: CandidateIndex, database: Database) -> Hits:
    """Return the objects that pass every filter, in the order asked for; ties by id.

    Args:
        query: as `checked` returns it.
        world, index: the live objects.
        database: for where things were first seen.
    """
    rows, distance = _place(query, world, index)
    keep = _passes(query, world, rows)
    score = np.ones(len(rows))
    terms: dict[str, Floats] = {}
    if query.text.strip():
        terms['label'] = _named(world, rows, [label_score(query.text, n) for n in _names(world)])
        score *= terms['label']
    if distance is not None:
        terms['distance_m'] = distance
        score *= 1.0 - distance / query.radius_m
    if query.feature is not None:
        held = world.records['has_feature'][rows]
        cosine = np.zeros(len(rows))
        cosine[held] = world.features.dot(rows[held], query.feature)  # type: ignore[arg-type]
        terms['feature'] = np.clip(cosine, 0.0, 1.0)
        keep &= held
        score *= terms['feature']
    if query.text.strip() or query.feature is not None:
        keep &= score > 0
    keep &= score >= query.min_score
    if query.moved_m > 0:
        moved = _moved(world, rows, database)
        terms['moved_m'] = moved
        keep &= moved >= query.moved_m
    found = np.flatnonzero(keep)
    order = found[_order(query, world, rows[found], score[found])][: query.limit]
    hits = [
        Hit(
            world.view(int(rows[k])), float(score[k]),
            {name: float(values[k]) for name, values in terms.items()},
        )
        for k in order.tolist()
    ]  # fmt: skip
    return Hits(hits, len(found))


def _place(query: Query, world: World, index: CandidateIndex) -> tuple[Rows, Floats | None]:
    if query.near_m is None:
        return world.live_rows(), None
    return index.within(np.asarray(query.near_m, dtype=np.float64), float(query.radius_m))


def _passes(query: Query, world: World, rows: Rows) -> boxes.Bools:
    records = world.records
    states = [State(s) for s in query.states] or [State.TENTATIVE, State.CONFIRMED]
    keep: boxes.Bools = np.isin(records['state'][rows], [STATE_CODE[s] for s in states])
    if query.seen_since_ns:
        keep &= records['last_seen_ns'][rows] >= query.seen_since_ns
    if query.unseen_since_ns:
        keep &= records['last_seen_ns'][rows] < query.unseen_since_ns
    if query.new_since_ns:
        keep &= records['first_seen_ns'][rows] >= query.new_since_ns
    if query.labels:
        wanted = {label.casefold() for label in query.labels}
        keep &= _named(world, rows, [float(n.casefold() in wanted) for n in _names(world)]) > 0
    return keep


def _order(query: Query, world: World, rows: Rows, score: Floats) -> np.ndarray:
    r = world.records[rows]
    if query.order == Order.RECENT:
        return np.lexsort([r['id'], -score, -r['last_seen_ns']])
    if query.order == Order.SALIENT:
        return np.lexsort([r['id'], -salience(world, rows) * score])
    return np.lexsort([r['id'], -score])


def salience(world: World, rows: Rows) -> Floats:
    """(R,) how much an object stands out: recent, sure, often seen (CH-38)."""
    r = world.records[rows]
    seen = r['last_seen_ns'].astype(np.float64)
    every = world.records['last_seen_ns'][world.live_rows()].astype(np.float64)
    span = max(float(np.ptp(every)), 1.0) if len(every) else 1.0
    recency = (seen - every.min(initial=np.inf)) / span
    result: Floats = (0.5 + 0.5 * recency) * r['confidence'] * (1 + 0.1 * r['observations'])
    return result


def _names(world: World) -> list[str]:
    return world.labels.names


def _named(world: World, rows: Rows, of_label: list[float]) -> Floats:
    """(R,) the highest value among the labels of each object that are still searchable."""
    value = np.array([*of_label, 0.0])
    r = world.records[rows]
    whole = r['masses'].sum(axis=1)
    spilled = world.more_labels
    more = [k for k, row in enumerate(rows.tolist()) if row in spilled] if spilled else []
    for k in more:
        whole[k] += sum(spilled[int(rows[k])].values())
    enough = SEARCHABLE_SHARE * whole
    counts = np.round(r['masses'] - enough[:, None], 9) >= 0
    counts |= r['labels'] == r['label'][:, None]
    best: Floats = np.where(counts, value[r['labels']], 0.0).max(axis=1, initial=0.0)
    for k in more:
        for label, mass in spilled[int(rows[k])].items():
            if round(mass - enough[k], 9) >= 0 or label == r['label'][k]:
                best[k] = max(best[k], value[label])
    return best


def _moved(world: World, rows: Rows, database: Database) -> Floats:
    """(R,) metres between where each object was first seen and where it is now (CH-40)."""
    first = {
        number: (x, y, z)
        for number, x, y, z, _ in database.rows(
            'SELECT object_id, x, y, z, min(seq) FROM object_version GROUP BY object_id'
        )
    }
    r = world.records[rows]
    start = np.array([first[i] for i in r['id'].tolist()], dtype=np.float64).reshape(-1, 3)
    return boxes.distance(r['center'], start)
