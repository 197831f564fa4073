# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""`memory VERB FILE`: look at the file of a memory, ask, check, mend, copy, correct it."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from memory_node.cli.arguments import add_acts, add_plan, whole, whole_from
from memory_node.cli.asking import add_query
from memory_node.cli.noting import add_notes
from memory_node.cli.words import add_ask

VERBS = (
    'inspect', 'query', 'ask', 'check', 'rebuild', 'repair', 'snapshot', 'plan',
    'remember', 'recall', 'reflect', 'feedback',
    'correct', 'report', 'forget', 'purge', 'consolidate', 'split', 'merge',
)  # fmt: skip
OK, FINDINGS, CANNOT = 0, 1, 2
"""Exit codes, as `_EXITS` says."""
INTERRUPTED = 130
MOST_ROWS = 100_000

_EXITS = (
    'exit code: 0 all is well, 1 something is wrong with the file, 2 it cannot be opened, what was '
    'asked for cannot be done, or wrong usage'
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one verb and return its exit code."""
    given = _parser().parse_args(arguments)
    # What follows takes half a second to import; --help and a wrong usage need not wait for it.
    from memory_node.cli import verbs
    from memory_node.cli.terminal import Terminal
    from memory_node.errors import SpatialMemoryError

    terminal = Terminal(given.json)
    try:
        return verbs.VERBS[given.verb](given, terminal)
    except SpatialMemoryError as error:
        terminal.data({'error': str(error)})
        terminal.warn(str(error))
        return CANNOT
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # `memory inspect … | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog='memory', epilog=_EXITS,
        description='Look at the file of a spatial memory, check it, mend it, copy it, correct it.',
    )  # fmt: skip
    verbs = parser.add_subparsers(dest='verb', metavar='VERB', required=True)

    def verb(name: str, summary: str, text: str) -> argparse.ArgumentParser:
        added = verbs.add_parser(name, help=summary, description=text, epilog=_EXITS)
        added.add_argument('file', metavar='FILE', help='file of the memory; ~ is expanded')
        added.add_argument(
            '--json', action='store_true', help='write one JSON value instead of text'
        )
        return added

    inspect = verb(
        'inspect', 'show what is in it',
        'Show what the file is and what is in it. Nothing is written; a node may have it open.',
    )  # fmt: skip
    inspect.add_argument(
        '--objects', type=_count, default=20, metavar='N',
        help='show the N objects that were seen last (default 20)',
    )  # fmt: skip
    inspect.add_argument(
        '--log', type=_count, default=10, metavar='N',
        help='show the last N changes of the log; with --id also sightings (default 10)',
    )  # fmt: skip
    inspect.add_argument(
        '--id', type=whole, metavar='ID', help='show this object, also one that has ended'
    )
    add_query(verb)
    add_ask(verb)
    verb(
        'check', 'find everything that is wrong with it',
        'Read the whole file, replay its log, and say what is wrong: `clean`, or one finding a '
        'line. Nothing is written; a node may have it open.',
    )  # fmt: skip
    verb(
        'rebuild', 'derive everything anew from its log',
        'Write everything that follows from views, observations and log lines anew, and say what '
        'was different before. No memory may have the file open.',
    )  # fmt: skip
    repair = verb(
        'repair', 'save what a damaged file holds',
        'Write a new file with the longest intact prefix of the log and everything that follows '
        'from it. The damaged file is never altered: without --out it is renamed to '
        'FILE.damaged-1 (-2, …), and the new one takes its place.',
    )  # fmt: skip
    repair.add_argument('--out', metavar='NEW', help='write here, and leave the damaged file alone')
    snapshot = verb(
        'snapshot', 'copy it, also while it is in use',
        'Write a consistent copy into a new file, also while a node goes on writing.',
    )  # fmt: skip
    snapshot.add_argument('new', metavar='NEW', help='the copy; it must not be there yet')
    add_plan(verb)
    add_notes(verb)
    add_acts(verb)
    return parser


def _count(text: str) -> int:
    return whole_from(text, 0, MOST_ROWS)


if __name__ == '__main__':
    sys.exit(main())
