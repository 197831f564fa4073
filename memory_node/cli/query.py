# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""`memory query`: ask the file of a memory, with every filter that a query has."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import re

import numpy as np

from memory_node import Hit, Query, SpatialMemory, checks
from memory_node.cli.main import OK
from memory_node.cli.terminal import Terminal, moment, point
from memory_node.errors import InvalidValueError

_SECONDS = re.compile(r'(\d{1,10})(?:\.(\d{1,9}))?', re.ASCII)
_DATE = re.compile(r'\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?)?Z?', re.ASCII)


def query(given: argparse.Namespace, terminal: Terminal) -> int:
    """Show what matches, best first."""
    asked = _query_of(given)
    with SpatialMemory.open(given.file, readonly=True) as memory:
        hits = memory.query(asked)
    terminal.data({'total': hits.total, 'hits': [_plain(hit) for hit in hits]})
    if terminal.as_json:
        return OK
    if not hits:
        terminal.say('nothing matches' if not hits.total else 'no more')
        return OK
    first = asked.offset + 1
    terminal.table(
        f'{first} to {asked.offset + len(hits)} of {hits.total}',
        ('id', 'label', 'state', 'region', 'center (m)', 'presence', 'last seen', 'score', 'terms'),
        [
            (
                hit.object.id, hit.object.label, hit.object.state, hit.object.region,
                point(hit.object.center_m), f'{hit.presence:.2f}', moment(hit.object.last_seen_ns),
                f'{hit.score:.2f}', ', '.join(f'{k} {v:.2f}' for k, v in hit.terms.items()),
            )
            for hit in hits
        ],
        numbers='id presence score',
    )  # fmt: skip
    return OK


def _query_of(given: argparse.Namespace) -> Query:
    near, box = given.near, given.box
    return Query(
        text=given.text,
        labels=given.label,
        near_m=None if near is None else tuple(near[:3]),
        radius_m=0.0 if near is None else near[3],
        box_m=None if box is None else (box[:3], box[3:]),
        region=given.region,
        relation=None if given.relation is None else _relation(*given.relation),
        states=given.state,
        ids=given.id,
        properties=dict(given.property),
        scope={key: str(value) for key, value in given.scope},
        sensor=given.sensor,
        source=given.source,
        seen_from_ns=time_of('--seen-from', given.seen_from),
        seen_until_ns=time_of('--seen-until', given.seen_until),
        as_of_ns=time_of('--as-of', given.as_of),
        known_at=given.known_at,
        min_presence=given.min_presence,
        order=given.order,
        limit=given.limit,
        offset=given.offset,
    )


def time_of(name: str, text: str | None) -> int | None:
    """A date in UTC, or seconds, as nanoseconds; None: not given.

    Raises:
        InvalidValueError: it is neither.
    """
    if text is None:
        return None
    if seconds := _SECONDS.fullmatch(text):
        whole_s, rest = seconds.groups(default='')
        return int(whole_s) * 10**9 + int(f'{rest:0<9}')
    found = -1
    if _DATE.fullmatch(text):
        with contextlib.suppress(ValueError):  # there is no such day
            found = int(np.datetime64(text.removesuffix('Z'), 'ns').astype(np.int64))
    if found < 0:
        raise InvalidValueError(
            f'{name}: got {checks.short(text)}, expected a date such as 2026-08-01T12:00 (UTC) or '
            'seconds'
        )
    return found


def _relation(kind: str, other: str) -> tuple[str, int | str]:
    """The object of a relation: an id where it is a number, else a text."""
    return kind, int(other) if other.isdecimal() and len(other) < 20 else other


def _plain(hit: Hit) -> dict[str, object]:
    obj = dataclasses.asdict(hit.object)
    del obj['standing']
    return {
        **obj, 'state': hit.object.state.value, 'last_check': hit.object.last_check.value,
        'pins': {aspect.value: dataclasses.asdict(pin) for aspect, pin in hit.object.pins.items()},
        'presence': hit.presence, 'score': hit.score, 'terms': dict(hit.terms),
    }  # fmt: skip
