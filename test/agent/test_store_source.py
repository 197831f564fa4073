# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""A file as what tools ask: as it is now, and never written."""

from __future__ import annotations

from pathlib import Path

import pytest
from views import seen, view

from memory_node import SpatialMemory
from memory_node.agent.store_source import StoreSource
from memory_node.errors import StoreError


def test_it_shows_what_a_writer_wrote_meanwhile_and_writes_nothing(tmp_path: Path) -> None:
    path = str(tmp_path / 'memory.db')
    with SpatialMemory.open(path) as memory:
        memory.observe(view(1, seen('mug')))
        with StoreSource(path) as source:
            assert [o.label for o in source.objects()] == ['mug']
            first = source._memory
            assert source.seq == memory.seq and source._memory is first, 'opened once'
            memory.observe(view(3, seen('cup', (3, 0, 1))))
            assert sorted(o.label for o in source.objects()) == ['cup', 'mug']
            with pytest.raises(StoreError):
                source.observe(view(5, seen('cup', (3, 0, 1))))
        assert memory.check() == []


def test_a_missing_file_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(StoreError):
        StoreSource(str(tmp_path / 'none.db'))
    assert not list(tmp_path.glob('none.db'))
