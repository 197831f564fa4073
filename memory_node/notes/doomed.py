# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What a purge removes from the journal: which lines are doomed (X-5).

Privacy is stronger than the rule that nobody's text is rewritten: what a person wrote by hand goes
too, prose as well as bullets.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from memory_node.model import Triple
from memory_node.notes.items import Note, slug
from memory_node.notes.lines import BEGIN, END, read_page

_BULLET = re.compile(rb'[-*]\s+')


@dataclass(frozen=True)
class Doomed:
    """What is to go: whatever one of these says.

    Attributes:
        name: lines that name it as whole words. person: slug; their files go too.
        entities: slugs; notes about one of them.
        low_m, high_m: corners of a box in which notes with a pose lie.
        frame: whether positions of a frame are those of the box.
        elsewhere: something of it went from the map, of which generated lines may tell.
    """

    name: str = ''
    person: str = ''
    entities: Collection[str] = ()
    low_m: Triple | None = None
    high_m: Triple | None = None
    frame: Callable[[str], bool] = lambda frame_id: True
    elsewhere: bool = False

    def has_text(self, text: str) -> bool:
        """Whether a text names what has to go."""
        key = _key(self.name)
        return bool(key) and f'-{key}-' in f'-{_key(text)}-'

    def has_note(self, note: Note) -> bool:
        """Whether a note is about what has to go, or lies there."""
        if self.person and slug(note.scope.get('user', '')) == self.person:
            return True
        names = {slug(name) for name in note.entities}
        names |= {slug(target) for _, target in note.links}
        if names & set(self.entities):
            return True
        if self.low_m is None or self.high_m is None or note.pose is None:
            return False
        at = note.pose.position_m
        inside = all(low <= x <= high for low, x, high in zip(self.low_m, at, self.high_m))
        return inside and self.frame(note.pose.frame_id)

    def names(self, note: Note) -> bool:
        """Whether a note goes, by its text or by what it is about."""
        return self.has_note(note) or self.has_text(
            ' '.join((note.content, note.key, *note.entities))
        )


def doomed_ids(file: str, data: bytes, doomed: Doomed) -> set[str]:
    """Ids of the notes of a file that go."""
    page = read_page(file, data)
    notes = {found.line: found.note for found in page.notes}
    return {
        notes[line].id for line, block in _blocks(data)
        if line in notes and (doomed.has_note(notes[line]) or doomed.has_text(_text(block)))
    }  # fmt: skip


def without(
    file: str, data: bytes, doomed: Doomed, ids: Collection[str], generated: bool
) -> tuple[bytes, int]:  # fmt: skip
    """A file without what goes, and how many lines that were, but for generated ones.

    Args:
        file: its name. data: what it holds. ids: of notes that go; so does what is said of them.
        generated: what was generated on it goes too: it may tell of anything, and is made anew.
    """
    page = read_page(file, data)
    of = {found.line: found.note.id for found in page.notes}
    of |= {found.line: found.of for found in page.ops}
    kept: list[bytes] = []
    count, inside = 0, False
    for line, block in _blocks(data):
        mark = block[0].strip()
        if mark in (BEGIN.encode(), END.encode()):
            inside = mark == BEGIN.encode()
        elif inside and generated:
            continue
        elif of.get(line) in ids or doomed.has_text(_text(block)):
            count += 0 if inside else len(block)
            continue
        kept += block
    return b'\n'.join(kept), count


def _blocks(data: bytes) -> Iterator[tuple[int, list[bytes]]]:
    """A bullet with the lines that are set in below it, or one other line; and its number."""
    block: list[bytes] = []
    first = 0
    for number, line in enumerate(data.split(b'\n'), 1):
        if block and _BULLET.match(block[0]) and line[:1] in (b' ', b'\t') and line.strip():
            block.append(line)
            continue
        if block:
            yield first, block
        block, first = [line], number
    yield first, block


def _text(block: list[bytes]) -> str:
    return b' '.join(block).decode('utf-8', 'replace')


def _key(text: str) -> str:
    return slug(text).replace(':', '-').replace('.', '-')
