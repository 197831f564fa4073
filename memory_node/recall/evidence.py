# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What of a query only the file can answer: which objects had such sightings or such facts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from memory_node.model import Query
from memory_node.recall.moment import Moment
from memory_node.store.bound import LAST
from memory_node.store.database import Database

_VIEWS = """
    SELECT seq, scope FROM view
    WHERE stamp_ns BETWEEN ?1 AND ?2 AND seq <= ?3 AND (?4 = '' OR sensor = ?4) ORDER BY seq
"""
_SIGHTED = """
    SELECT DISTINCT coalesce((
        SELECT a.object_id FROM attribution a WHERE a.observation_id = o.id AND a.seq <= ?4
        ORDER BY a.seq DESC LIMIT 1
    ), o.object_id)
    FROM observation o
    WHERE o.id BETWEEN ?1 AND ?2 AND o.object_id IS NOT NULL AND o.label <> ''
        AND (?3 IS NULL OR o.view_seq IN (SELECT value FROM json_each(?3)))
"""


def sighted(query: Query, moment: Moment) -> set[int] | None:
    """Ids of the objects with a sighting as the query wants it; None: it does not care."""
    wanted = query.sensor or query.scope
    if not wanted and query.seen_from_ns is None and query.seen_until_ns is None:
        return None
    bound = moment.bound
    first_ns = 0 if query.seen_from_ns is None else query.seen_from_ns
    last_ns = LAST if query.seen_until_ns is None else query.seen_until_ns
    database = moment.session.database
    fits = _Scopes(query.scope)
    rows = database.rows(_VIEWS, (
        first_ns, min(last_ns, bound.stamp_ns), bound.seq, query.sensor
    ))  # fmt: skip
    views = [seq for seq, scope in rows if fits(scope)]
    if not views:
        return set()
    first, last = _first_of(database, views[0]), _first_of(database, views[-1] + 1) - 1
    gaps = None if views == _between(database, views[0], views[-1]) else json.dumps(views)
    found = database.rows(_SIGHTED, (first, last, gaps, bound.seq))
    return {moment.final(number) for (number,) in found}


def having(properties: Mapping[str, object], moment: Moment) -> set[int]:
    """Ids of the objects of which all of this was stated."""
    if not moment.is_now:
        return {
            number for number, held in moment.told.properties.items() if _holds(held, properties)
        }
    database, redirects = moment.session.database, moment.session.redirects
    keys = json.dumps([*properties])
    rows = database.rows(
        'SELECT object_id, key, value FROM property WHERE key IN (SELECT value FROM json_each(?)) '
        'ORDER BY seq', (keys,),
    )  # fmt: skip
    found: dict[int, dict[str, Any]] = {}
    own: dict[int, dict[str, Any]] = {}
    for number, key, text in rows:
        final = redirects.final(number)
        told = own if final == number else found
        told.setdefault(final, {})[key] = json.loads(text)
    return {
        number for number in {*found, *own}
        if _holds({**found.get(number, {}), **own.get(number, {})}, properties)
    }  # fmt: skip


def _holds(held: Mapping[str, Any], wanted: Mapping[str, object]) -> bool:
    """Whether all of this was stated; true is not 1."""
    return all(key in held and _same(held[key], value) for key, value in wanted.items())


def _same(a: Any, b: Any) -> bool:
    return json.dumps(a, sort_keys=True) == json.dumps(b, sort_keys=True) or (
        not isinstance(a, bool) and not isinstance(b, bool)
        and isinstance(a, (int, float)) and isinstance(b, (int, float)) and a == b
    )  # fmt: skip


class _Scopes:
    """Whether a stored scope says all that is wanted."""

    def __init__(self, wanted: Mapping[str, str]) -> None:
        self._wanted = wanted
        self._known: dict[str, bool] = {}

    def __call__(self, scope: str) -> bool:
        if not self._wanted:
            return True
        if scope not in self._known:
            held = json.loads(scope)
            self._known[scope] = all(held.get(k) == v for k, v in self._wanted.items())
        return self._known[scope]


def _between(database: Database, first_seq: int, last_seq: int) -> list[int]:
    """All views between two log lines."""
    rows = database.rows(
        'SELECT seq FROM view WHERE seq BETWEEN ? AND ? ORDER BY seq', (first_seq, last_seq)
    )
    return [seq for (seq,) in rows]


def _first_of(database: Database, seq: int) -> int:
    """Id of the first sighting of the views from a log line on: both are numbered in one order."""
    [(low, high)] = database.rows(
        'SELECT (SELECT coalesce(min(id), 1) FROM observation), '
        '(SELECT coalesce(max(id), 0) FROM observation)'
    )
    high += 1
    while low < high:
        middle = (low + high) // 2
        rows = database.rows(
            'SELECT view_seq, id FROM observation WHERE id >= ? ORDER BY id LIMIT 1', (middle,)
        )
        if rows[0][0] >= seq:
            high = middle
        else:
            low = int(rows[0][1]) + 1
    return int(low)
