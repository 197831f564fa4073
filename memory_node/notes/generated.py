# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What the memory writes on pages that people keep: only what stands between its two marks."""

from __future__ import annotations

from collections.abc import Sequence

from memory_node.notes.journal import Journal
from memory_node.notes.lines import BEGIN, END

TRIES = 3
"""A page that somebody else writes meanwhile is tried so often."""


def put(journal: Journal, page: str, title: str, lines: Sequence[str]) -> bool | None:
    """Put lines between the marks of a page; nothing is written where that changes nothing.

    A page without marks gets them at its end, unless there are no lines.

    Args:
        page: its name. title: of a page that is not there yet. lines: each without its end.

    Returns:
        Whether the page says so now; False: a person keeps writing it, or its marks are not one
        pair. None: there is nothing to say, and nothing was said.

    Raises:
        StoreError: it cannot be read or written.
    """
    for _ in range(TRIES):
        old = journal.read(page)
        if not lines and BEGIN.encode() not in old and END.encode() not in old:
            return None
        new = with_generated(old, title, lines)
        if new is None:
            return False
        if new == old or journal.replace(page, old, new):
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
