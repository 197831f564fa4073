# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Evidence for and against opinions (WM-12 … WM-14): found among notes, and counted once each.

Candidates are notes about the same that share words with the opinion. What the words leave open a
judge may decide, for example a language model; without one it stays open.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Protocol, TypeVar

from memory_node.notes.beliefs import NOTED_KEYS
from memory_node.notes.items import Network, NoteState, slug
from memory_node.notes.notebook import Notebook
from memory_node.notes.stance import stance, topics
from memory_node.store import notes as rows
from memory_node.store.notes import text_words

_T = TypeVar('_T')
MAX_OPINIONS = 500
MAX_EVIDENCE = 50
"""Newest notes that are looked at for one opinion."""


class Judge(Protocol):
    """Decides where words do not tell."""

    def judge(self, opinion: str, said: str) -> int:
        """1: what was said supports the opinion; -1: contradicts it; 0: neither, or unknown."""


class Gathering:
    """Decides nothing, and keeps what it was asked.

    Attributes:
        pairs: opinion and what was said, each once, in the order in which they came.
    """

    def __init__(self) -> None:
        self.pairs: dict[tuple[str, str], None] = {}

    def judge(self, opinion: str, said: str) -> int:
        """See `Judge`."""
        self.pairs[opinion, said] = None
        return 0


class Known:
    """Decides what was decided before."""

    def __init__(self, signs: Mapping[tuple[str, str], int]) -> None:
        """Take the signs of pairs of opinion and what was said."""
        self._signs = signs

    def judge(self, opinion: str, said: str) -> int:
        """See `Judge`."""
        return self._signs.get((opinion, said), 0)


class Turn(Protocol):
    """Does one piece of work while nobody else uses the memory."""

    def __call__(self, work: Callable[[], _T], /) -> _T:
        """Do it, and return what it returns."""


def at_once(work: Callable[[], _T]) -> _T:
    """A turn where nobody else is."""
    return work()


def weigh(
    book: Notebook, since_ns: int, now_ns: int, owner: str = '', judge: Judge | None = None,
    turn: Turn = at_once,
) -> list[str]:  # fmt: skip
    """Move the opinions that hold by what was noted of the same since they were formed.

    Args:
        book: the notes. since_ns: older notes are not looked at. now_ns: up to when.
        owner: slug of the person whose opinions they are; empty: nobody's in particular.
        judge: asked where words do not tell; None: that is no evidence.
        turn: takes one for each opinion.

    Returns:
        Ids of the opinions that were moved.

    Raises:
        StoreError: not everything was written.
    """
    recent = turn(lambda: _Recent(book, since_ns, now_ns, owner))
    opinions = turn(lambda: book.newest(owner, MAX_OPINIONS, Network.OPINION))

    def move(opinion: NoteState) -> bool:
        robot, after = opinion.note.scope.get('robot_id', ''), opinion
        for found, sign, strong in _found(book, opinion, recent, judge):
            after = book.revise(
                opinion.note.id, sign > 0, found.note.id, now_ns, owner, robot, strong
            )  # fmt: skip
        return after.note.confidence != opinion.note.confidence

    return [
        opinion.note.id for opinion in opinions
        if not opinion.note.key.startswith(NOTED_KEYS)  # these follow from events
        and turn(functools.partial(move, opinion))
    ]  # fmt: skip


class _Recent:
    """The notes of a time but opinions, by whom or what they are about."""

    def __init__(self, book: Notebook, since_ns: int, now_ns: int, owner: str) -> None:
        self._of: dict[str, list[tuple[NoteState, frozenset[str]]]] = {}
        for user in dict.fromkeys(['', owner]):
            for state in book.touched(user, since_ns, now_ns):
                if state.note.network is Network.OPINION or not (
                    state.valid_to_ns is None and state.forgotten_ns is None
                    and since_ns <= state.valid_from_ns <= now_ns
                ):  # fmt: skip
                    continue
                said = frozenset(text_words(_said(state)))
                for name in {slug(name) for name in state.note.entities}:
                    self._of.setdefault(name, []).append((state, said))

    def about(self, opinion: NoteState, names: Collection[str]) -> list[NoteState]:
        """Those about one of the names that share a word with an opinion, oldest first.

        Only of its robot and clock, and from its time on; of many the newest.
        """
        words = frozenset(topics(opinion.note.content))
        robot = opinion.note.scope.get('robot_id', '')
        found = {
            state.note.id: state for name in names for state, said in self._of.get(name, ())
            if words & said and state.valid_from_ns >= opinion.valid_from_ns
            and state.clock == opinion.clock
            and state.note.scope.get('robot_id', '') in ('', robot)
        }  # fmt: skip
        order = sorted(found.values(), key=lambda s: (s.valid_from_ns, s.file, s.line))
        return order[-MAX_EVIDENCE:]


def _found(
    book: Notebook, opinion: NoteState, recent: _Recent, judge: Judge | None
) -> Iterator[tuple[NoteState, int, bool]]:  # fmt: skip
    """Notes that speak for an opinion or against it, oldest first: sign, and whether outright."""
    note = opinion.note
    scope = note.scope
    names = note.entities or book.entities_in(
        note.content, scope.get('user', ''), scope.get('robot_id', '')
    )
    about = {slug(name) for name in names}
    known = {target for relation, target in note.links if relation.endswith('ed by')}
    known |= {note.id, *note.evidence}
    for state in recent.about(opinion, about):
        if state.note.id in known or state.citation in known:
            continue
        shared = [n for n in names if slug(n) in {slug(e) for e in state.note.entities}]
        found = stance(note.content, _said(state), shared or names)
        if found is None:
            continue
        sign, strong = found.sign, found.strong
        if not sign and judge is not None:
            sign, strong = judge.judge(note.content, state.note.content), False
        if sign:
            yield state, sign, strong


def _said(state: NoteState) -> str:
    """What a note says, with the names of what it is about."""
    return ' '.join((state.note.content, *state.note.entities))


def citations(book: Notebook, state: NoteState) -> tuple[list[str], list[str]]:
    """Where what supports an opinion and what contradicts it can be read, as `FILE:LINE`."""
    found: dict[str, list[str]] = {'supported by': [], 'contradicted by': []}
    for relation, target in state.note.links:
        if relation in found:
            there = rows.of_id(book.database, target)
            found[relation].append(there[0].citation if there else target)
    return found['supported by'], found['contradicted by']
