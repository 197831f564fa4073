# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Evidence for and against opinions (WM-12 … WM-14): found among notes, and counted once each.

Candidates are notes about the same that share words with the opinion. What the words leave open a
judge may decide, for example a language model; without one it stays open.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol

from memory_node.notes.beliefs import NOTED_KEYS
from memory_node.notes.items import Network, NoteState, slug
from memory_node.notes.notebook import Notebook
from memory_node.notes.stance import stance, topics
from memory_node.store import notes as rows

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


def weigh(
    book: Notebook, since_ns: int, now_ns: int, owner: str = '', judge: Judge | None = None
) -> list[str]:  # fmt: skip
    """Move the opinions that hold by what was noted of the same since they were formed.

    Args:
        book: the notes. since_ns: older notes are not looked at. now_ns: up to when.
        owner: slug of the person whose opinions they are; empty: nobody's in particular.
        judge: asked where words do not tell; None: that is no evidence.

    Returns:
        Ids of the opinions that were moved.

    Raises:
        StoreError: not everything was written.
    """
    moved = []
    for opinion in book.holding(Network.OPINION, owner, MAX_OPINIONS):
        if opinion.note.key.startswith(NOTED_KEYS):
            continue  # these follow from events
        before = opinion.note.confidence
        after = before
        for found, sign, strong in _found(book, opinion, since_ns, now_ns, judge):
            state = book.revise(
                opinion.note.id, sign > 0, found.note.id, now_ns, owner,
                opinion.note.scope.get('robot_id', ''), strong,
            )  # fmt: skip
            after = state.note.confidence
        if after != before:
            moved.append(opinion.note.id)
    return moved


def _found(
    book: Notebook, opinion: NoteState, since_ns: int, now_ns: int, judge: Judge | None
) -> Iterator[tuple[NoteState, int, bool]]:  # fmt: skip
    """Notes that speak for an opinion or against it, oldest first: sign, and whether outright."""
    note = opinion.note
    names = note.entities or book.entities_in(note.content)
    about = {slug(name) for name in names}
    known = {target for relation, target in note.links if relation.endswith('ed by')}
    known |= {note.id, *note.evidence}
    words = topics(note.content, ())
    if not about or not words:
        return
    first = max(since_ns, opinion.valid_from_ns)
    for state in book.of_same(opinion, about, words, first, now_ns, MAX_EVIDENCE):
        if state.note.id in known or state.citation in known:
            continue
        said = ' '.join((state.note.content, *state.note.entities))
        shared = [n for n in names if slug(n) in {slug(e) for e in state.note.entities}]
        found = stance(note.content, said, shared or names)
        if found is None:
            continue
        sign, strong = found.sign, found.strong
        if not sign and judge is not None:
            sign, strong = judge.judge(note.content, state.note.content), False
        if sign:
            yield state, sign, strong


def citations(book: Notebook, state: NoteState) -> tuple[list[str], list[str]]:
    """Where what supports an opinion and what contradicts it can be read, as `FILE:LINE`."""
    found: dict[str, list[str]] = {'supported by': [], 'contradicted by': []}
    for relation, target in state.note.links:
        if relation in found:
            there = rows.of_id(book.database, target)
            found[relation].append(there[0].citation if there else target)
    return found['supported by'], found['contradicted by']
