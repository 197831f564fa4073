# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The arguments of the verbs for notes: remember, recall, reflect, feedback."""

from __future__ import annotations

import argparse

from memory_node.cli.arguments import Verb, number, whole_from

KINDS = ('episodic', 'semantic', 'spatial')
MAX_LIMIT, MAX_TOKENS = 1000, 100_000
VERDICTS = ('useful', 'misleading', 'wrong', 'not_applicable', 'supports', 'contradicts')
OUTCOMES = ('succeeded', 'failed')


def add_notes(verb: Verb) -> None:
    """Add remember, recall, reflect and feedback."""
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
    for added in (remember, recall, reflect, *_add_feedback(verb)):
        added.add_argument('--user', default='', help='whose (default: nobody in particular)')
        added.add_argument('--at', metavar='TIME', help='now; a date, or seconds (default: that of '
                           'the newest view)')  # fmt: skip


def _add_feedback(verb: Verb) -> list[argparse.ArgumentParser]:
    feedback = verb(
        'feedback', 'say how it went',
        'Say what somebody took or declined, how notes served, how an episode ended, what somebody '
        'says of themselves. `memory feedback FILE OPERATION --help` says what it needs.',
    )  # fmt: skip
    operations = feedback.add_subparsers(dest='operation', metavar='OPERATION', required=True)

    def operation(name: str, text: str) -> argparse.ArgumentParser:
        added = operations.add_parser(name, help=text, description=text)
        added.add_argument('--json', action='store_true', default=argparse.SUPPRESS,
                           help='write one JSON value instead of text')  # fmt: skip
        return added

    accepted = operation('accepted', 'somebody took an option: learn what near, budget, … mean')
    declined = operation('declined', 'somebody declined an option; no word is learned')
    for added in (accepted, declined):
        added.add_argument('option', metavar='OPTION', help='its name')
        added.add_argument('measures', nargs='*', type=_measure, metavar='MEASURE=NUMBER',
                           help='distance, reach, walk_time, wait, price, noise, …')  # fmt: skip
        added.add_argument('--context', default='', help='what for, for example work')
    declined.add_argument('--reason', default='', help='why, for example: too far')
    rated = operation('rated', 'how notes served')
    rated.add_argument('verdict', choices=VERDICTS, metavar='VERDICT', help=', '.join(VERDICTS))
    rated.add_argument('--evidence', default='', help='an episode, FILE:LINE; of opinions needed')
    episode = operation('episode', 'how an episode ended in which notes were used')
    episode.add_argument('outcome', choices=OUTCOMES, metavar='OUTCOME', help=' or '.join(OUTCOMES))
    episode.add_argument('--episode', default='', metavar='ID', help='which')
    for added in (rated, episode):
        added.add_argument('notes', nargs='+', metavar='NOTE', help='ids, as remember tells them')
    stated = operation('stated', 'what somebody says of themselves')
    stated.add_argument('predicate', metavar='PREDICATE', help='likes, avoids, prefers, …')
    stated.add_argument('object', metavar='WHAT', help='for example: tea')
    return list(operations.choices.values())


def of(given: argparse.Namespace) -> dict[str, str]:
    """The scope of whoever asks."""
    return {'user': given.user} if given.user else {}


def _limit(text: str) -> int:
    return whole_from(text, 1, MAX_LIMIT)


def _tokens(text: str) -> int:
    return whole_from(text, 1, MAX_TOKENS)


def _measure(text: str) -> tuple[str, float]:
    name, mark, value = text.partition('=')
    if not mark or not name:
        raise argparse.ArgumentTypeError(f'got {text!r}, expected MEASURE=NUMBER')
    return name, number(value)
