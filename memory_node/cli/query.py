# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""`memory query`: ask the file of a memory, with every filter that a query has."""

from __future__ import annotations

import argparse
import dataclasses

from memory_node import Hit, Query, SpatialMemory
from memory_node.cli.main import OK
from memory_node.cli.terminal import Terminal, moment, point


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
        seen_from_ns=given.seen_from,
        seen_until_ns=given.seen_until,
        as_of_ns=given.as_of,
        known_at=given.known_at,
        min_presence=given.min_presence,
        order=given.order,
        limit=given.limit,
        offset=given.offset,
    )


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
