# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The copied stream code gives exactly the views of ../shared/bench/roomr."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memory_node.demo.roomr.rooms import load_room, room_names
from memory_node.demo.roomr.sensor import SensorModel, in_view
from memory_node.demo.roomr.streams import FALSE_ALARM, EpisodeStream, Shown

BENCH = Path(__file__).resolve().parents[3] / 'shared' / 'bench'
NOISE = {'features': True, 'wrong_label': 0.1, 'offset_m': 0.03, 'false_alarms': 0.5}


@pytest.fixture(scope='module')
def original() -> Iterator[Any]:
    """The modules of the benchmark, imported from beside the project."""
    if not (BENCH / 'roomr' / 'streams.py').exists():
        pytest.skip(f'the benchmark is not at {BENCH}')
    sys.path.insert(0, str(BENCH))
    try:
        from roomr import sensor, streams, tour, world

        if not (world.DATA / world.VAL_SPLIT).exists():
            pytest.skip(f'the data set is not at {world.DATA}')
        yield {
            'sensor': sensor,
            'streams': streams,
            'tour': tour,
            'world': world,
            'metadata': world.load_metadata(),
            'split': world.load_split(world.DATA / world.VAL_SPLIT),
        }
    finally:
        sys.path.remove(str(BENCH))


def original_stream(original: Any, name: str, episode: int, **noise: Any) -> Any:
    """The same episode out of the whole data set, by the benchmark's own code."""
    world = original['world']
    raw = original['split'][name]
    scene = world.build_scene(name, world.inventory(original['metadata'], name), raw)
    return original['streams'].EpisodeStream(
        scene,
        world.build_episode(scene, episode, raw[episode]),
        original['tour'].load_tour(scene),
        original['sensor'].SensorModel(**noise),
        seed=3,
    )


def copied_stream(name: str, episode: int, **noise: Any) -> EpisodeStream:
    """The same episode out of the demo."""
    room = load_room(name)
    model = SensorModel(**noise)
    return EpisodeStream(room.scene, room.episode(episode), room.tour, model, seed=3)


@pytest.mark.parametrize('name', room_names())
@pytest.mark.parametrize('noise', [{}, NOISE], ids=['plain', 'all noise'])
def test_views_equal_those_of_the_benchmark(
    original: Any, name: str, noise: dict[str, Any]
) -> None:
    theirs, ours = original_stream(original, name, 2, **noise), copied_stream(name, 2, **noise)
    pairs = list(zip(theirs, ours, strict=True))
    assert len(pairs) == 20
    for a, b in pairs:
        assert_same_view(a, b, noise.get('offset_m', 0.0))
    assert theirs.truth.labels == ours.truth.labels
    for k in (0, 1):
        np.testing.assert_array_equal(
            (theirs.truth.center_1, theirs.truth.center_2)[k], ours.truth.visits[k].center
        )
        np.testing.assert_array_equal(
            (theirs.truth.detected_1, theirs.truth.detected_2)[k], ours.truth.detected[k]
        )
        np.testing.assert_array_equal(
            (theirs.truth.visible_1, theirs.truth.visible_2)[k], ours.truth.visible[k]
        )
    for field in ('displacement_m', 'removed', 'old_place_visible', 'old_place_clear', 'small'):
        np.testing.assert_array_equal(getattr(theirs.truth, field), getattr(ours.truth, field))


def assert_same_view(theirs: Any, ours: Shown, offset_m: float) -> None:
    """Bit for bit."""
    a, b = theirs.view, ours.view
    assert (theirs.visit, a.stamp_ns) == (ours.visit, b.stamp_ns)
    assert b.sensor_pose is not None and b.field_of_view is not None
    assert (a.position_m, a.orientation_xyzw) == (
        b.sensor_pose.position_m,
        b.sensor_pose.orientation_xyzw,
    )
    assert vars(a.field_of_view) == vars(b.field_of_view)
    assert a.localization_sigma_m == offset_m
    assert (b.localization_cov is None) == (offset_m == 0.0)
    np.testing.assert_array_equal(theirs.things, ours.things)
    assert len(a.detections) == len(b.detections)
    for p, q in zip(a.detections, b.detections, strict=True):
        assert (p.label, p.score, p.center_m, p.size_m) == (q.label, q.score, q.center_m, q.size_m)
        np.testing.assert_array_equal(q.position_cov, np.eye(3) * p.position_sigma_m**2)
        if p.feature is None:
            assert q.feature is None
        else:
            np.testing.assert_array_equal(p.feature, q.feature)


def test_a_single_visit_equals_that_part_of_both() -> None:
    both = [shown for shown in copied_stream('kitchen', 0) if shown.visit == 2]
    alone = copied_stream('kitchen', 0)
    for a, b in zip(both, alone.visit(2), strict=True):
        assert [d.center_m for d in a.view.detections] == [d.center_m for d in b.view.detections]
    assert not alone.truth.detected[0].any() and alone.truth.detected[1].any()


@pytest.mark.parametrize('name', room_names())
def test_what_is_detected_is_in_view_and_where_the_truth_has_it(name: str) -> None:
    stream = copied_stream(name, 1)
    for shown in stream:
        boxes = stream.truth.visits[shown.visit - 1]
        for thing, detection in zip(shown.things, shown.view.detections, strict=True):
            if thing == FALSE_ALARM:
                continue
            true = boxes.center[thing]
            assert in_view(SensorModel(), shown.stand, true[None])[0]
            assert np.linalg.norm(np.subtract(detection.center_m, true)) < 0.12
            assert detection.label == stream.truth.labels[thing]
