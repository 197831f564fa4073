# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The arguments of the verbs by which a person changes what is remembered."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable

Verb = Callable[[str, str, str], argparse.ArgumentParser]
"""Adds a verb: its name, what it does in a few words, and in more."""

CORRECT, REPORT = 'correct', 'report'
PLAN, SEARCH, APPROACH = 'plan', 'search', 'approach'
ACTOR = 'command line'


def add_acts(verb: Verb) -> None:
    """Add correct, report, forget, purge, consolidate, split and merge."""
    _add_correct(verb)
    _add_report(verb)
    forget = verb(
        'forget', 'end an object',
        'End an object; its next sightings do not bring it back, only enough of them do.',
    )  # fmt: skip
    _object(forget)
    forget.add_argument(
        '--for', dest='for_s', type=_seconds, default=0.0, metavar='SECONDS',
        help='from the newest view on, then a view may show it as a new object (default: for ever)',
    )  # fmt: skip
    forget.add_argument('--undo', action='store_true', help='bring it back instead')
    _why(forget)
    purge = verb(
        'purge', 'remove content for good',
        'Remove the content of objects, sightings, features, facts and log lines for good, and '
        'write the file anew. The numbered lines stay, and one says that it happened. Copies that '
        'were made before are not touched.',
    )  # fmt: skip
    what = purge.add_mutually_exclusive_group(required=True)
    what.add_argument('--id', type=whole, metavar='ID', help='an object, also one that has ended')
    what.add_argument('--label', default='', help='all objects and sightings of a label')
    what.add_argument(
        '--region', nargs=6, type=number, metavar=('X', 'Y', 'Z', 'X', 'Y', 'Z'),
        help='what lies in the box between two corners (m)',
    )  # fmt: skip
    what.add_argument(
        '--person', default='', help='what views of this scope showed; what they said'
    )
    purge.add_argument('--map', metavar='MAP', help='of the region (default: of the newest view)')
    _why(purge)
    _why(verb('consolidate', 'merge what has become one', 'Merge objects that score like one.'))
    split = verb(
        'split', 'make one object two', 'Make an object two, if it was seen at two places.'
    )
    _object(split)
    _why(split)
    merge = verb('merge', 'make two objects one', 'Make two objects one, under the first id.')
    _object(merge)
    merge.add_argument('other', type=whole, metavar='OTHER', help='the object that becomes it')
    _why(merge)


def _add_correct(verb: Verb) -> None:
    correct = verb(
        CORRECT, 'say what is right',
        'Say what is right: it is pinned, so later sightings do not change it, and can be undone. '
        '`memory correct FILE OPERATION --help` says what an operation needs.',
    )  # fmt: skip
    operations = correct.add_subparsers(dest='operation', metavar='OPERATION', required=True)

    def operation(name: str, text: str, about: bool = True) -> argparse.ArgumentParser:
        added = operations.add_parser(name, help=text, description=text)
        if about:
            _object(added)
        return added

    relabel = operation('relabel', 'call an object something else')
    relabel.add_argument('label', metavar='LABEL')
    _three(operation('move', 'put an object somewhere else'), 'center_m', 'its middle')
    _three(operation('resize', 'give an object other side lengths'), 'size_m', 'side lengths')
    confirm = operation('confirm', 'confirm an object')
    confirm.add_argument('--confidence', type=number, metavar='C', help='what it is then, 0 to 1')
    operation('absent', 'say that an object is not there any more')
    stated = operation('assert', 'state an object that nobody has seen', about=False)
    stated.add_argument('label', metavar='LABEL')
    _three(stated, 'center_m', 'its middle')
    stated.add_argument(
        '--size', nargs=3, type=number, default=(0.0, 0.0, 0.0), metavar=('X', 'Y', 'Z'),
        help='its side lengths (m; default: unknown)',
    )  # fmt: skip
    stated.add_argument('--map', metavar='MAP', help='(default: that of the newest view)')
    for name, text in (('pin', 'let no sighting change it'), ('unpin', 'let sightings change it')):
        pinned = operation(name, text)
        pinned.add_argument('aspects', nargs='+', metavar='ASPECT', help='label, pose or size')
    undo = operation('undo', 'take back a correction, merge, split or forgetting', about=False)
    undo.add_argument('seq', type=whole, metavar='LINE', help='log line of it')
    for added in operations.choices.values():
        added.add_argument('--json', action='store_true', default=argparse.SUPPRESS,
                           help='write one JSON value instead of text')  # fmt: skip
        _why(added)


def _add_report(verb: Verb) -> None:
    report = verb(
        REPORT, 'say what the robot did',
        'Say what the robot did with an object: it explains what is seen, and what is not.',
    )  # fmt: skip
    acts = report.add_subparsers(dest='act', metavar='ACT', required=True)

    def act(name: str, text: str) -> argparse.ArgumentParser:
        added = acts.add_parser(name, help=text, description=text)
        _object(added)
        return added

    act('picked', 'the robot holds it')
    _three(act('placed', 'it lies where the robot put it'), 'center_m', 'its middle')
    inside = act('put_inside', 'it is inside another object')
    inside.add_argument('container', type=whole, metavar='CONTAINER', help='that object')
    act('opened', 'it is open')
    act('closed', 'it is not open')
    act('not_found', 'it was looked for at its place, and not found')
    for added in acts.choices.values():
        added.add_argument('--json', action='store_true', default=argparse.SUPPRESS,
                           help='write one JSON value instead of text')  # fmt: skip
        _why(added)


def add_plan(verb: Verb) -> None:
    """Add plan."""
    plan = verb(
        PLAN, 'where to look next, where to stand',
        'Say where to look next for something, or where to stand to face an object. Nothing is '
        'written; a node may have the file open.',
    )  # fmt: skip
    questions = plan.add_subparsers(dest='question', metavar='QUESTION', required=True)
    text = 'where to look next, likeliest first'
    search = questions.add_parser(SEARCH, help=text, description=text)
    what = search.add_mutually_exclusive_group(required=True)
    what.add_argument('text', nargs='?', default='', metavar='TEXT', help='what is looked for')
    what.add_argument('--id', type=whole, metavar='ID', help='an object')
    text = 'where to stand to face an object, best first'
    approach = questions.add_parser(APPROACH, help=text, description=text)
    _object(approach)
    approach.add_argument('--distance', type=number, default=0.8, metavar='M',
                          help='largest distance to its side (m; default 0.8)')  # fmt: skip
    approach.add_argument('--radius', type=number, default=0.25, metavar='M',
                          help='radius of the robot (m; default 0.25)')  # fmt: skip
    for added in (search, approach):
        added.add_argument('--from', dest='from_m', nargs=3, type=number,
                           metavar=('X', 'Y', 'Z'), help='where the robot is (m)')  # fmt: skip
        added.add_argument('--limit', type=whole, default=10, metavar='N', help='(default 10)')
        added.add_argument('--json', action='store_true', default=argparse.SUPPRESS,
                           help='write one JSON value instead of text')  # fmt: skip


def _object(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('id', type=whole, metavar='ID', help='the object')


def _three(parser: argparse.ArgumentParser, name: str, text: str) -> None:
    parser.add_argument(name, nargs=3, type=number, metavar=name[:-2].upper(), help=f'{text} (m)')


def _why(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('--reason', default='', help='why, for the log')
    parser.add_argument('--actor', default=ACTOR, help=f'who says so (default: {ACTOR})')


def whole(text: str) -> int:
    """An id or a log line."""
    return whole_from(text, 1, 2**63 - 1)


def whole_from(text: str, low: int, high: int) -> int:
    """A whole number of a range."""
    try:
        number = int(text)
    except ValueError:
        number = low - 1
    if not low <= number <= high:
        raise argparse.ArgumentTypeError(
            f'got {text!r}, expected a whole number from {low} to {high}'
        )
    return number


def number(text: str) -> float:
    """A finite number."""
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not math.isfinite(found):
        raise argparse.ArgumentTypeError(f'got {text!r}, expected a number')
    return found


def _seconds(text: str) -> float:
    seconds = number(text)
    if not 0 < seconds < 1e9:
        raise argparse.ArgumentTypeError(f'got {text!r}, expected more than 0 s')
    return seconds
