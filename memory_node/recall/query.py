# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Answer a query from a working set: filters first, then scores, then order."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import cast

import numpy as np

from memory_node import checks, decay
from memory_node.errors import InvalidValueError
from memory_node.fusion.world import STATE_CODE, Features, Rows, World
from memory_node.model import Aspect, Floats, Hit, Hits, MemoryObject, Order, Query, State
from memory_node.recall import nearest, rank
from memory_node.recall.asked import SEEN, STATED
from memory_node.recall.moment import Moment
from memory_node.recall.names import Naming
from memory_node.recall.rank import Aids
from memory_node.scene import boxes
from memory_node.scene.regions import RegionBook
from memory_node.store.database import Database

_Key = Callable[[Rows], np.ndarray]
"""Gives the value by which each of some places is sorted."""
THERE = [State.TENTATIVE, State.CONFIRMED, State.DOUBTFUL, State.HELD]
"""What a query finds unless it names states: what is absent is left out (C04)."""
FEW = 16


def answer(query: Query, moment: Moment, aids: Aids, only: Rows | None = None) -> Hits:
    """Return the objects that pass every filter, in the order asked for; ties by id.

    Args:
        query: as `asked.checked` returns it. moment: the objects as they were at its time.
        aids: what texts are ranked by.
        only: rows that pass what the file was asked about, ascending; None: any.
    """
    world = moment.world
    rows, distance = _place(query, moment, only)
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
        most = query.offset + query.limit if alone else len(passed)
        some, cosine, count = nearest.best(
            world.features, rows[passed], cast(Features, query.feature), most, query.min_score
        )
        total, some = count if alone else None, passed[some]
        rows, score, keep = rows[some], score[some], keep[some]
        terms = {name: values[some] for name, values in terms.items()}
        terms['feature'] = np.minimum(cosine, 1.0)
        score *= terms['feature']
    if query.text.strip() or query.feature is not None:
        keep &= score > 0
    if query.min_score > 0:
        keep &= score >= query.min_score
    if query.moved_m > 0:
        moved = _moved(world, rows, moment.session.database)
        terms['moved_m'] = moved
        keep &= moved >= query.moved_m
    at_ns = moment.newest_ns if query.as_of_ns is None else query.as_of_ns
    at_ns = at_ns if query.at_ns is None else query.at_ns
    if query.min_presence > 0:
        some = np.flatnonzero(keep)
        keep[some] = presence_of(world, rows[some], at_ns) >= query.min_presence
    found = np.flatnonzero(keep)
    end = query.offset + query.limit
    order = _first(found, _keys(query, world, rows, score, found), end)[query.offset :]
    objects = world.views(rows[order])
    values = [dict(zip(terms, line)) for line in zip(*(terms[n][order].tolist() for n in terms))]
    hits = [
        Hit(obj, number, held, presence)
        for obj, number, held, presence in zip(
            objects,
            score[order].tolist(),
            values or [{}] * len(order),
            _presences(world, rows[order], objects, at_ns),
        )
    ]
    return Hits(hits, len(found) if total is None else total)


def _by_feature_alone(query: Query) -> bool:
    """Whether nothing but likeness decides which of the objects that pass come first."""
    return query.order == Order.RELEVANCE and not (
        query.text.strip() or query.near_m is not None or query.moved_m or query.min_presence
    )


def _presences(world: World, rows: Rows, objects: list[MemoryObject], at_ns: int) -> list[float]:
    """`presence_of` for a few hits or for many, whichever way is quicker; the numbers are equal."""
    if len(objects) <= FEW:
        return [obj.presence(at_ns) for obj in objects]
    found: list[float] = presence_of(world, rows, at_ns).tolist()
    return found


def presence_of(world: World, rows: Rows, at_ns: int) -> Floats:
    """(R,) probability that each object is in its place at a time; 1 of what a person stated."""
    r = world.records
    half_life_s = world.columns.half_life_s(r['label'][rows], world.labels.names)
    age_s = (at_ns - r['odds_ns'][rows]) / 1e9
    presence = decay.probability(decay.aged(r['odds'][rows], age_s, half_life_s))
    presence[world.pinned(r['id'][rows], Aspect.PRESENCE)] = 1.0
    return presence


def _place(query: Query, moment: Moment, only: Rows | None) -> tuple[Rows, Floats | None]:
    if query.near_m is None:
        return moment.world.live_rows() if only is None else only, None
    point = np.asarray(query.near_m, dtype=np.float64)
    if only is None:
        return moment.index.within(point, float(query.radius_m))
    distance = boxes.distance(moment.world.records['center'][only], point[None])
    near = distance <= query.radius_m
    return only[near], distance[near]


def _passes(query: Query, world: World, rows: Rows) -> boxes.Bools:
    records = world.records
    placed = query.near_m is not None or query.box_m is not None or bool(query.region)
    keep: boxes.Bools = _asked_states(tuple(query.states), placed)[records['state'][rows]]
    if query.box_m is not None:
        keep &= _in_box(query, records['center'][rows])
    if query.region:
        keep &= _in_region(query.region, world, rows)
    if query.source:
        keep &= _from(query.source, world, rows)
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


@functools.lru_cache(maxsize=256)
def _asked_states(states: tuple[str, ...], placed: bool) -> boxes.Bools:
    """Which states are asked for, by their codes.

    Args:
        states: none: those of what is there. placed: and that at some place: what is held has none.
    """
    wanted = [State(s) for s in states] or [s for s in THERE if not (placed and s is State.HELD)]
    asked = np.zeros(len(STATE_CODE), bool)
    asked[[STATE_CODE[state] for state in wanted]] = True
    return asked


def _in_box(query: Query, center: Floats) -> boxes.Bools:
    """Whether each point, (N, 3), lies between the corners, in the axes of the box."""
    low, high = (np.array(corner) for corner in checks.box('box_m', query.box_m))
    if query.box_pose is not None:
        turn = boxes.rotation_matrices(np.array([query.box_pose.orientation_xyzw]))[0]
        d = center - np.asarray(query.box_pose.position_m, dtype=np.float64)
        center = d[:, :1] * turn[0] + d[:, 1:2] * turn[1] + d[:, 2:] * turn[2]
    inside: boxes.Bools = np.all((center >= low) & (center <= high), axis=1)
    return inside


def _in_region(name: str, world: World, rows: Rows) -> boxes.Bools:
    """Whether each object lies in a region of this name, or in a part of it."""
    book, records = world.regions, world.records
    return book.inside(regions_named(book, name), records['center'][rows], records['map'][rows])


def regions_named(book: RegionBook, name: str) -> list[int]:
    """Places of the regions of a name and of what is part of them.

    Raises:
        InvalidValueError: there is none of this name.
    """
    named = book.named(name)
    if not named:
        known = ', '.join(sorted({r.name for r in book.regions})) or 'none, as there are no regions'
        raise InvalidValueError(f'region: got {name!r}, expected one of {known}')
    return sorted({part for place in named for part in book.parts_of(place)})


def _from(source: str, world: World, rows: Rows) -> boxes.Bools:
    """Whether what is known of each object comes from this source."""
    records = world.records
    if source == SEEN:
        seen: boxes.Bools = records['observations'][rows] > 0
        return seen
    ids = records['id'][rows]
    if source == STATED:
        return world.pinned(ids, Aspect.PRESENCE)
    return np.isin(ids, [number for number, pins in world.pins.items() if pins])


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
    places = np.concatenate([*chosen, found]) if chosen else found
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
