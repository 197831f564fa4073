# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The arguments of the verbs for notes: remember, recall, reflect."""

from __future__ import annotations

import argparse

from memory_node.cli.arguments import Verb, number, whole_from

KINDS = ('episodic', 'semantic', 'spatial')
MAX_LIMIT, MAX_TOKENS = 1000, 100_000


def add_notes(verb: Verb) -> None:
    """Add remember, recall and reflect."""
    remember = verb(
        'remember', 'write a note',
        'Write a note into the journal FILE.journal: Markdown files that may also be edited.',
    )  # fmt: skip
    remember.add_argument('text', metavar='TEXT', help='what is to be remembered')
    remember.add_argument('--about', action='append', default=[], metavar='NAME',
                          help='whom or what it is about; may be given again')  # fmt: skip
    remember.add_argument('--key', default='', help='what had this key before is no longer true')
    remember.add_argument('--kind', choices=KINDS, default='semantic', help='(default semantic)')
    remember.add_argument(
        '--opinion', type=number, metavar='C', help='it is an opinion, so sure (0 to 1)'
    )
    recall = verb(
        'recall', 'ask the notes, in words',
        'Answer a question from notes, each answer with file and line. Nothing is written; a node '
        'may have the file open.',
    )  # fmt: skip
    recall.add_argument('text', metavar='TEXT', help='for example: what does Anna prefer?')
    recall.add_argument('--k', type=_limit, default=25, metavar='N', help='(default 25)')
    recall.add_argument(
        '--since', metavar='TIME', help='none older than this date, or than so much: 30d, 12h'
    )
    recall.add_argument(
        '--tokens', type=_tokens, default=2000, metavar='N', help='budget (default 2000)'
    )
    reflect = verb(
        'reflect', 'write the pages of the journal',
        'Write what recent notes say of whom and what into the generated part of their pages, and '
        'propose what belongs into memory.md.',
    )  # fmt: skip
    reflect.add_argument('--since', metavar='TIME', help='what is recent (default: everything)')
    for added in (remember, recall, reflect):
        added.add_argument('--user', default='', help='whose (default: nobody in particular)')
        added.add_argument('--at', metavar='TIME', help='now; a date, or seconds (default: that of '
                           'the newest view)')  # fmt: skip


def of(given: argparse.Namespace) -> dict[str, str]:
    """The scope of whoever asks."""
    return {'user': given.user} if given.user else {}


def _limit(text: str) -> int:
    return whole_from(text, 1, MAX_LIMIT)


def _tokens(text: str) -> int:
    return whole_from(text, 1, MAX_TOKENS)
