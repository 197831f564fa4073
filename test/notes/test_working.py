# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Working memory (HY-9)."""

from __future__ import annotations

import pytest

from memory_node.errors import InvalidValueError
from memory_node.notes.doomed import Doomed
from memory_node.notes.items import Note, NoteKind
from memory_node.notes.working import WorkingMemory


def at_hand(text: str, key: str = 'goal', **scope: str) -> Note:
    return Note(text, NoteKind.WORKING, key=key, scope=scope)


def test_hy_9_each_user_has_their_own_and_what_is_nobodys() -> None:
    memory = WorkingMemory(10)
    memory.write(at_hand('shared'))
    memory.write(at_hand('annas', user='anna'))
    assert [memory.read('goal', user).content for user in ('anna', 'ben')] == ['annas', 'shared']  # type: ignore[union-attr]
    assert [note.content for note in memory.all('ben')] == ['shared']
    assert memory.forget(Doomed(person='anna').names) == 1 and len(memory) == 1


def test_hy_9_what_is_written_again_is_newest() -> None:
    memory = WorkingMemory(2)
    for key in 'aba':
        memory.write(at_hand(key, key))
    memory.write(at_hand('c', 'c'))
    assert [note.key for note in memory.all()] == ['a', 'c']


def test_hy_9_a_key_is_needed() -> None:
    with pytest.raises(InvalidValueError, match='key'):
        WorkingMemory(2).write(at_hand('x', ''))
