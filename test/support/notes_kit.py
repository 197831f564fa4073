# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Notes for tests: short to write, at times that are easy to read."""

from __future__ import annotations

from typing import Any

from memory_node.notes.items import Note, NoteHit, NoteKind, NotePose
from memory_node.notes.journal import Journal
from memory_node.notes.notebook import Notebook
from memory_node.store.database import Database

SECOND = 10**9
DAY = 86_400 * SECOND
T0 = 1_764_460_800 * SECOND
"""2025-11-30, the beginning of that day (UTC)."""
TODAY = 'memory/2025-11-30.md'


def notebook(journal: Journal | None = None, **more: Any) -> Notebook:
    """Notes kept in memory, or of a journal."""
    book = Notebook(Database(':memory:'), journal or Journal(None), **more)
    book.sync()
    return book


def landmark(key: str, at: tuple[float, float, float], frame: str = 'map', **more: Any) -> Note:
    """Where something is."""
    content = more.pop('content', f'{key} is at {at}')
    return Note(content, NoteKind.SPATIAL, key=key, pose=NotePose(frame, at), **more)


def contents(hits: list[NoteHit]) -> list[str]:
    """What hits say."""
    return [hit.note.content for hit in hits]


def put(book: Notebook, name: str, text: str | bytes) -> None:
    """Write a file as a person does, in an editor."""
    data = text if isinstance(text, bytes) else text.encode()
    assert book.journal.replace(name, book.journal.read(name), data)
