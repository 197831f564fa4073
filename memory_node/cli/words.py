# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The arguments of the verb by which a person asks in words."""

from __future__ import annotations

from memory_node.cli.arguments import Verb, number, whole_from

MAX_LIMIT, MAX_TOKENS = 1000, 100_000


def add_ask(verb: Verb) -> None:
    """Add ask."""
    ask = verb(
        'ask', 'ask what is in it, in words',
        'Answer a question in words from what is remembered, as of the newest view. Nothing is '
        'written; a node may have it open.',
    )  # fmt: skip
    ask.add_argument('text', metavar='TEXT', help='for example: where is the mug?')
    ask.add_argument(
        '--pose', nargs=4, type=number, metavar=('X', 'Y', 'Z', 'DEG'),
        help='where you stand (m) and look (0: along x), for «near me» and «on my left»',
    )  # fmt: skip
    ask.add_argument(
        '--user', default='', metavar='NAME',
        help='who asks: sees their notes, and means by «near» what was learned of them',
    )  # fmt: skip
    ask.add_argument('--for', dest='occasion', default='', metavar='WHAT',
                     help='what it is asked for, for example work')  # fmt: skip
    ask.add_argument(
        '--limit', type=_limit, default=10, metavar='N', help='name N things at most (default 10)'
    )
    ask.add_argument(
        '--context', type=_tokens, default=0, metavar='TOKENS',
        help='write the scene instead, in so many tokens; TEXT: a region or thing, or nothing',
    )  # fmt: skip


def _limit(text: str) -> int:
    return whole_from(text, 1, MAX_LIMIT)


def _tokens(text: str) -> int:
    return whole_from(text, 1, MAX_TOKENS)
