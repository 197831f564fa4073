# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Reflecting (WM-12): pages of entities, and proposals for the core file.

Only what stands between the generated marks is written; all else on a page is a person's. Nothing
here changes the core file: what could be added to it is proposed on a page of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memory_node import checks
from memory_node.notes.items import Network, NoteQuery, NoteState, scope_of, slug
from memory_node.notes.lines import BEGIN, END
from memory_node.notes.notebook import Notebook
from memory_node.recall.wording import harmless

MAX_LINES = 20
PROPOSALS = 'bank/proposals.md'
_LONGEST = 400
_TRIES = 3


@dataclass(frozen=True)
class Reflection:
    """What was written: pages by name, and the notes that are proposed for the core file."""

    pages: tuple[str, ...]
    proposed: tuple[str, ...]
    skipped: tuple[str, ...]


def reflect(
    book: Notebook, since_ns: int, now_ns: int, scope: Mapping[str, str] | None = None
) -> Reflection:  # fmt: skip
    """Write the pages of the entities that recent notes are about.

    Args:
        book: the notes. since_ns: what happened before is not recent. now_ns: up to when.
        scope: with `user`: of that person's own folder; else what is everybody's.

    Raises:
        StoreError: a page cannot be written.
    """
    checks.whole('since_ns', since_ns, 0)
    checks.whole('now_ns', now_ns, since_ns)
    book.sync()
    owner = scope_of(scope or {}).get('user', '')
    folder = f'users/{owner}/' if owner else ''
    recent = [
        state for state in book.newest(owner)
        if since_ns <= state.valid_from_ns <= now_ns
    ]  # fmt: skip
    names: dict[str, str] = {}
    for state in recent:
        for name in state.note.entities:
            names.setdefault(slug(name), name)
    pages: list[str] = []
    skipped: list[str] = []
    for key, name in sorted(names.items()):
        query = NoteQuery(entities=[name], scope={'user': owner} if owner else {}, limit=MAX_LINES)
        lines = [_line(hit.state) for hit in book.query(query) if _own(hit.state, owner)]
        page = f'{folder}bank/entities/{key.replace(":", "-").replace(".", "-")}.md'
        (pages if _put(book, page, f'# {harmless(name)}', lines) else skipped).append(page)
    proposed = [
        state for state in recent
        if state.verdicts.get('useful', 0) >= 2 and state.note.network is not Network.OBSERVATION
    ]  # fmt: skip
    if proposed:
        page = folder + PROPOSALS
        title = '# Proposed for memory.md'
        lines = [_line(state) for state in proposed[:MAX_LINES]]
        (pages if _put(book, page, title, lines) else skipped).append(page)
    book.sync()
    return Reflection(tuple(pages), tuple(s.note.id for s in proposed), tuple(skipped))


def _own(state: NoteState, owner: str) -> bool:
    return state.note.scope.get('user', '') == owner


def _line(state: NoteState) -> str:
    note = state.note
    sure = f' ({note.confidence:.2f})' if note.network is Network.OPINION else ''
    return f'- {harmless(note.content, _LONGEST)}{sure} [{state.citation}]'


def _put(book: Notebook, page: str, title: str, lines: Sequence[str]) -> bool:
    """Put lines between the marks of a page; False: a person keeps writing it, or it is no text."""
    for _ in range(_TRIES):
        old = book.journal.read(page)
        new = with_generated(old, title, lines)
        if new is None:
            return False
        if new == old or book.journal.replace(page, old, new):
            return True
    return False


def with_generated(old: bytes, title: str, lines: Sequence[str]) -> bytes | None:
    """A page with other lines between its marks, all else byte for byte as it was.

    Returns:
        None: the marks are not one pair, so it cannot be told what is a person's.
    """
    block = '\n'.join([BEGIN, *lines, END]).encode()
    begin, end = BEGIN.encode(), END.encode()
    if begin not in old and end not in old:
        head = old if old else f'{title}\n'.encode()
        gap = b'' if head.endswith(b'\n') else b'\n'
        return head + gap + b'\n' + block + b'\n'
    if old.count(begin) != 1 or old.count(end) != 1 or old.index(begin) > old.index(end):
        return None
    return old[: old.index(begin)] + block + old[old.index(end) + len(end) :]
