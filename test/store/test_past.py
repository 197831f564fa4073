# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What was believed once equals what a memory believes that has seen and heard no more."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from views import stream

from memory_node import Config, Query, SpatialMemory
from memory_node.errors import SpatialMemoryError
from memory_node.model import MemoryObject, State

EVERY = [s.value for s in State if s not in (State.FORGOTTEN, State.MERGED)]
Act = Callable[[SpatialMemory], object]


@pytest.fixture
def memory() -> Iterator[SpatialMemory]:
    with SpatialMemory.open(':memory:') as opened:
        yield opened


def believed(memory: SpatialMemory, **when: Any) -> dict[int, MemoryObject]:
    hits = memory.query(Query(states=EVERY, limit=1000, **when))
    assert hits.total == len(hits)
    return {hit.object.id: hit.object for hit in hits}


def at_ids(memory: SpatialMemory, share: float) -> int:
    """Some object that has not ended; 0: there is none."""
    ids = [obj.id for obj in memory.objects()]
    return ids[int(share * len(ids))] if ids else 0


def edits(random: np.random.Generator) -> Act:
    """Something that a person or the robot says; refused where it makes no sense."""
    kind, one, two = int(random.integers(12)), float(random.random()), float(random.random())
    spot = random.uniform(0, 5, 3).round(2).tolist()

    def say(memory: SpatialMemory) -> object:
        a, b = at_ids(memory, one), at_ids(memory, two)
        acts: list[Act] = [
            lambda m: m.forget(a),
            lambda m: m.correct_label(a, 'stool'),
            lambda m: m.correct_pose(a, spot),
            lambda m: m.declare_absent(a),
            lambda m: m.state_object('vase', spot),
            lambda m: m.merge_objects(a, b),
            lambda m: m.picked(a),
            lambda m: m.placed(a, spot),
            lambda m: m.undo(max(1, m.seq - 1)),
            lambda m: m.undo(max(1, m.seq)),
            lambda m: m.set_property(a, 'owner', 'Bo'),
            lambda m: m.set_region('corner', 'place', (spot, (6, 6, 6))),
        ]
        try:
            return acts[kind](memory)
        except SpatialMemoryError:
            return None

    return say


def story(seed: int, views: int, late: bool) -> list[Act]:
    """Views and edits of a small world, the same ones for the same seed."""
    random = np.random.default_rng(seed)
    acts: list[Act] = [lambda m: m.set_region('room', 'room', ((0, 0, 0), (2.5, 5, 5)))]
    newest = 0
    for one in stream(seed, views):
        if one.stamp_ns >= newest or late:
            newest = max(newest, one.stamp_ns)
            acts.append(lambda m, v=one: m.observe(v, v.stamp_ns + 7))
        if random.random() < 0.3:
            acts.append(edits(random))
    return acts


def tell(memory: SpatialMemory, acts: list[Act]) -> SpatialMemory:
    for act in acts:
        act(memory)
    return memory


def compare(then: dict[int, MemoryObject], now: dict[int, MemoryObject], config: Config) -> None:
    """Equal in ids, state, label; in pose and so in region within the threshold of versions."""
    assert then.keys() == now.keys()
    for number, old in then.items():
        new = now[number]
        assert (old.state, old.label, old.map_id) == (new.state, new.label, new.map_id)
        assert (old.observations, old.last_seen_ns) == (new.observations, new.last_seen_ns)
        assert old.first_seen_ns == new.first_seen_ns
        for name in ('center_m', 'size_m'):
            apart = np.abs(np.subtract(getattr(old, name), getattr(new, name)))
            assert apart.max() < config.version_distance_m + 1e-9
        if old.center_m == new.center_m:
            assert old.region == new.region


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 10**6), st.floats(0, 1), st.booleans())
def test_known_at_equals_a_memory_that_was_told_no_more(
    seed: int, share: float, late: bool
) -> None:
    acts = story(seed, 25, late)
    cut = int(share * len(acts))
    with SpatialMemory.open(':memory:') as whole, SpatialMemory.open(':memory:') as part:
        tell(part, acts[:cut])
        tell(whole, acts)
        compare(believed(whole, known_at=part.seq), believed(part), part.config)


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 10**6), st.floats(0, 1))
def test_as_of_equals_a_replay_cut_at_that_time(seed: int, share: float) -> None:
    acts = story(seed, 25, late=False)
    with SpatialMemory.open(':memory:') as whole, SpatialMemory.open(':memory:') as part:
        tell(whole, acts)
        stamps = [stamp for (stamp,) in whole._database.rows('SELECT stamp_ns FROM log ORDER BY 1')]
        cut_ns = stamps[int(share * (len(stamps) - 1))] + int(share * 1000) % 2
        for act in acts:
            copy_seq = part.seq
            act(part)
            if part.seq > copy_seq and part._database.rows(
                'SELECT 1 FROM log WHERE seq > ? AND stamp_ns > ?', (copy_seq, cut_ns)
            ):
                break
        else:
            copy_seq = part.seq
        with SpatialMemory.open(':memory:') as cut:
            for act in acts:
                if cut.seq >= copy_seq:
                    break
                act(cut)
            compare(believed(whole, as_of_ns=cut_ns), believed(cut), cut.config)
