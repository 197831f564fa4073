# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The arguments of the verb by which a person asks what is remembered."""

from __future__ import annotations

import argparse
import json

from memory_node.cli.arguments import Verb, number, whole, whole_from

MAX_LIMIT = 1000
ORDERS = ('relevance', 'recent', 'salient')


def add_query(verb: Verb) -> None:
    """Add query."""
    query = verb(
        'query', 'ask what it remembers',
        'Show the objects that pass every filter, best first. Nothing is written; a node may have '
        'the file open. A time is a date (2026-08-01T12:00, UTC), or seconds as a stamp has them.',
    )  # fmt: skip
    query.add_argument('text', nargs='?', default='', metavar='TEXT', help='words of the label')
    add = query.add_argument
    add('--label', action='append', default=[], help='one of these labels; may be given again')
    add(
        '--near', nargs=4, type=number, metavar=('X', 'Y', 'Z', 'R'), help='within R of a point (m)'
    )
    add('--box', nargs=6, type=number, metavar=('X', 'Y', 'Z', 'X', 'Y', 'Z'),
        help='in the box between two corners (m)')  # fmt: skip
    add('--region', default='', metavar='NAME', help='in the region of this name')
    add('--relation', nargs=2, metavar=('KIND', 'OBJECT'),
        help='in this relation to an object, by its id or name: --relation on table')  # fmt: skip
    add('--state', action='append', default=[],
        help='in this state; may be given again (default: all but absent)')  # fmt: skip
    add('--id', type=whole, action='append', default=[], help='these objects; may be given again')
    add('--property', type=_pair, action='append', default=[], metavar='KEY=VALUE',
        help='of which this was stated; VALUE as JSON, or a text')  # fmt: skip
    add('--scope', type=_pair, action='append', default=[], metavar='KEY=VALUE',
        help='seen in a view of this scope')  # fmt: skip
    add('--sensor', default='', help='seen by this sensor')
    add('--source', default='', choices=('', 'seen', 'stated', 'person'),
        help='only what was sighted, what was stated, or what has a word of a person')  # fmt: skip
    add('--seen-from', metavar='TIME', help='with a sighting from this time on')
    add('--seen-until', metavar='TIME', help='with a sighting up to this time')
    add('--as-of', metavar='TIME', help='as if nothing later had been seen or said')
    add('--known-at', type=_line, metavar='LINE', help='as it was known at this log line')
    add('--min-presence', type=number, default=0.0, metavar='P',
        help='still there with at least this probability, 0 to 1')  # fmt: skip
    add('--order', default=ORDERS[0], choices=ORDERS, help='(default: relevance)')
    add('--limit', type=_limit, default=10, metavar='N', help='at most N (default 10)')
    add('--offset', type=_offset, default=0, metavar='N', help='leave out the N best')


def _pair(text: str) -> tuple[str, object]:
    key, equals, value = text.partition('=')
    if not key or not equals:
        raise argparse.ArgumentTypeError(f'got {text!r}, expected KEY=VALUE')
    try:
        return key, json.loads(value)
    except ValueError:
        return key, value


def _line(text: str) -> int:
    return whole_from(text, 0, 2**63 - 1)


def _limit(text: str) -> int:
    return whole_from(text, 1, MAX_LIMIT)


def _offset(text: str) -> int:
    return whole_from(text, 0, 10**9)
