# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""A transaction that fails leaves nothing behind that what follows could be told by."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest
from views import observe_all, seen, stream, view

from memory_node import Config, SpatialMemory, View
from memory_node.errors import StoreError
from memory_node.store import log

FEATURE = [1.0, 0.0, 0.0]


def fail(memory: SpatialMemory, given: View, patch: pytest.MonkeyPatch) -> None:
    """Observe a view on a disk that is full."""

    def full(*args: object) -> None:
        raise apsw.FullError('database or disk is full')

    with patch.context() as within:
        within.setattr(log, 'write_observations', full)
        with pytest.raises(StoreError, match='full'):
            memory.observe(given)


@pytest.mark.parametrize('profile', ['default', 'chronotope'])
def test_a_label_is_spelt_as_in_the_first_view_that_was_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, profile: str
) -> None:
    """Not as in one that was lost: nothing in the log says how that spelt it."""
    path = str(tmp_path / 'memory.db')
    with SpatialMemory.open(path, Config(profile=profile)) as memory:
        lost = seen('MUG', feature=FEATURE, alternatives={'Cup': 0.3})
        fail(memory, view(1000, lost, seen('other', (3, 3, 3), feature=FEATURE)), monkeypatch)
        memory.observe(view(1001, seen('mug', feature=FEATURE, alternatives={'cup': 0.3})))
        assert [dict(one.labels) for one in memory.objects()] == [{'mug': 0.8, 'cup': 0.3}]
        assert memory.check() == []
    with SpatialMemory.open(path, Config(profile=profile)) as memory:
        assert memory.objects()[0].label == 'mug'
        assert memory._database.rows('SELECT name FROM label ORDER BY number') == [
            ('mug',), ('cup',),
        ]  # fmt: skip


@pytest.mark.parametrize('profile', ['default', 'chronotope'])
def test_a_stream_with_failures_is_a_stream_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, profile: str
) -> None:
    """Views that were lost, with labels and maps that never come again, leave no trace."""
    views, lost = list(stream(95, 60)), list(stream(96, 60))
    config = Config(profile=profile)
    path = str(tmp_path / 'memory.db')
    with (
        SpatialMemory.open(path, config) as memory,
        SpatialMemory.open(':memory:', config) as plain,
    ):
        observe_all(plain, views)
        for k, given in enumerate(views):
            strange = [
                seen(f'{one.label} {k}', one.center_m, one.score, one.size_m, feature=one.feature)
                for one in lost[k].detections
            ]
            fail(memory, view(3000, *strange, map_id=f'map {k}'), monkeypatch)
            observe_all(memory, [given])
        assert memory.snapshot_hash() == plain.snapshot_hash()
        assert memory.objects() == plain.objects()
        assert memory.check() == []
