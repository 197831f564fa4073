# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""CH-33, kept from one time to the next: equal to finding all anew, at the cost of what changed."""

from __future__ import annotations

import time

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from views import seen, view
from worlds import put

from memory_node import Config, SpatialMemory
from memory_node.fusion.candidates import CandidateIndex
from memory_node.fusion.world import World
from memory_node.scene.graph import RelationGraph
from memory_node.scene.relations import relations_about


def refreshed(graph: RelationGraph, world: World, index: CandidateIndex, config: Config) -> int:
    """Refresh a graph; returns how many objects were looked at."""
    return sum(graph.refresh(world, world.live_rows(), index, config))


def anew(world: World, config: Config) -> list[object]:
    found = relations_about(world, CandidateIndex(world), world.live_rows(), config)
    return sorted(found, key=lambda r: (r.subject_id, str(r.kind), r.object_id))


LABELS = ('mug', 'table', 'drawer', 'chair', 'box', 'desk', 'what nobody lists')
places = st.tuples(*[st.sampled_from([0.0, 0.3, 0.6, 0.9, 1.5])] * 3)
acts = st.lists(
    st.tuples(st.sampled_from(['add', 'move', 'grow', 'trust', 'end', 'near']), st.integers(0, 30),
              places), max_size=40,
)  # fmt: skip


@settings(max_examples=60)
@given(acts, st.integers(1, 6))
def test_a_kept_graph_equals_one_found_anew(acts: list[tuple], every: int) -> None:
    """CH-33: edges that were kept are those found anew."""
    world, graph, config = World(), RelationGraph(), Config()
    index = CandidateIndex(world)
    for k, (act, which, place) in enumerate(acts):
        live = world.live_rows().tolist()
        row = live[which % len(live)] if live else None
        if act == 'add' or row is None:
            label = LABELS[which % len(LABELS)]
            size = (0.3, 0.3, 0.3) if which % 3 else (0.8, 0.8, 0.5)
            index.add(np.array([put(world, label, place, size)]))
        elif act == 'move':
            for name in ('center', 'hull_center', 'version_center'):
                world.records[name][row] = place
            index.update(np.array([row]))
        elif act == 'grow':
            for name in ('half', 'version_size'):
                world.records[name][row] *= 1.3
            index.update(np.array([row]))
        elif act == 'trust':
            world.records['confidence'][row] = place[0]
        elif act == 'end':
            index.remove(row)
            world.end(row)
        else:
            config = Config(near_m=0.2 + place[0])
        if k % every == 0:
            refreshed(graph, world, index, config)
            assert graph.relations() == anew(world, config)
    refreshed(graph, world, index, config)
    assert graph.relations() == anew(world, config)
    assert refreshed(graph, world, index, config) == 0


def test_a_refresh_that_was_cut_short_is_made_good() -> None:
    world, graph = World(), RelationGraph()
    for x in range(200):
        put(world, 'mug', (0.4 * x, 0, 0), (0.1, 0.1, 0.1))
    index = CandidateIndex(world)
    next(graph.refresh(world, world.live_rows(), index, Config()))
    refreshed(graph, world, index, Config())
    assert graph.relations() == anew(world, Config())


def test_only_what_changed_is_looked_at_among_ten_thousand() -> None:
    """Chronotope's relate takes 153 s for 10,000 objects; this less than a second, then none."""
    world, graph = World(), RelationGraph()
    random = np.random.default_rng(1)
    for place in random.uniform(0, 60, (10_000, 2)).tolist():
        put(world, 'mug', (*place, 0.5), (0.1, 0.1, 0.1))
    index = CandidateIndex(world)
    started = time.process_time()
    assert refreshed(graph, world, index, Config()) == 10_000
    whole_s = time.process_time() - started
    assert len(graph.relations()) > 5_000
    for name in ('center', 'hull_center', 'version_center'):
        world.records[name][77] += 0.3
    index.update(np.array([77]))
    started = time.process_time()
    assert refreshed(graph, world, index, Config()) == 1
    part_s = time.process_time() - started
    assert part_s < whole_s / 3 and whole_s < 5, (whole_s, part_s)


def test_a_page_brings_its_graph_up_to_date() -> None:
    graph = RelationGraph()
    with SpatialMemory.open(':memory:') as memory:
        for x in range(20):
            memory.observe(view(1000 + 5 * x, seen('mug', (0.5 * x, 0, 1))))
            page = memory.page()
            sum(page.refresh(graph, memory.config))
            assert list(page.relations(memory.config, graph)) == list(page.relations(memory.config))
        memory.forget(3)
        memory.merge_objects(5, 6)
        page = memory.page()
        assert sum(page.refresh(graph, memory.config)) == 1
        kept = list(page.relations(memory.config, graph))
        assert kept == list(page.relations(memory.config))
        assert not {3, 6} & {i for r in kept for i in (r.subject_id, r.object_id)}
