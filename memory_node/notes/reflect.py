# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Reflecting (WM-12): opinions move with evidence; the pages of the bank and of entities follow.

Only what stands between the generated marks is written; all else on a page is a person's. Nothing
here changes the core file: what could be added to it is proposed on a page of its own.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from memory_node import checks
from memory_node.notes.bank import Pages, bank_pages, entity_page, proposals
from memory_node.notes.evidence import Judge, Turn, at_once, weigh
from memory_node.notes.generated import put
from memory_node.notes.items import scope_of, slug
from memory_node.notes.notebook import Notebook


@dataclass(frozen=True)
class Reflection:
    """What reflecting did.

    Attributes:
        pages: that say so now, by name. proposed: ids of notes that are proposed for the core file.
        skipped: pages that could not be written. revised: ids of opinions that were moved.
    """

    pages: tuple[str, ...]
    proposed: tuple[str, ...]
    skipped: tuple[str, ...]
    revised: tuple[str, ...] = ()


def reflect(
    book: Notebook, since_ns: int, now_ns: int, scope: Mapping[str, str] | None = None,
    judge: Judge | None = None, turn: Turn = at_once,
) -> Reflection:  # fmt: skip
    """Move opinions by what was noted since they were formed, and write the pages.

    Args:
        book: the notes. since_ns: what happened before is not recent. now_ns: up to when.
        scope: with `user`: of that person's own folder; else what is everybody's.
        judge: decides whether a note speaks for an opinion where words do not tell; None: nobody.
        turn: takes one for each opinion and page, so that others may use the memory between.

    Raises:
        StoreError: a page cannot be written.
    """
    checks.whole('since_ns', since_ns, 0)
    checks.whole('now_ns', now_ns, since_ns)
    turn(book.sync)
    owner = scope_of(scope or {}).get('user', '')
    folder = f'users/{owner}/' if owner else ''
    revised = weigh(book, since_ns, now_ns, owner, judge, turn)
    touched = turn(lambda: book.touched(owner, since_ns, now_ns))
    names: dict[str, str] = {}
    for state in touched:
        for name in state.note.entities:
            names.setdefault(slug(name), name)
    recent = [
        state for state in touched
        if state.valid_to_ns is None and state.forgotten_ns is None
        and since_ns <= state.valid_from_ns
    ]  # fmt: skip
    proposed: tuple[str, ...] = ()

    def propose() -> Pages:
        nonlocal proposed
        found, proposed = proposals(book, folder, recent, owner)
        return found

    wanted: list[Callable[[], Pages]] = [functools.partial(bank_pages, book, folder, owner)]
    wanted += [
        functools.partial(entity_page, book, folder, key, name, owner)
        for key, name in sorted(names.items())
    ]
    pages: list[str] = []
    skipped: list[str] = []

    def write(made: Callable[[], Pages]) -> None:
        for page, title, lines in made():
            written = put(book.journal, page, title, lines)
            if written is not None:
                (pages if written else skipped).append(page)

    for made in (*wanted, propose):
        turn(functools.partial(write, made))
    turn(book.sync)
    return Reflection(tuple(pages), proposed, tuple(skipped), tuple(revised))
