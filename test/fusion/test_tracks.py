# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""People, animals and robots: followed while they are in sight, never written."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from views import SECOND, seen, view

from memory_node import Config, Detection, SpatialMemory
from memory_node.fusion.tracks import KEPT, Tracks
from memory_node.model import Track

NOWHERE = np.zeros(3)
FOLLOWING = Config(track_mobile=True)


def person(x: float, y: float = 0.0, label: str = 'person', **more: object) -> Detection:
    return Detection(label, 0.9, (x, y, 0.9), (0.5, 0.5, 1.8), **more)  # type: ignore[arg-type]


def walked(*views: list[Detection], step_s: float = 0.2, lasts_s: float = 5.0) -> list[Track]:
    tracks = Tracks()
    for k, detections in enumerate(views):
        tracks.see(detections, round(k * step_s * SECOND), '', NOWHERE, lasts_s)
    return tracks.followed(round((len(views) - 1) * step_s * SECOND), lasts_s)


def test_a_person_who_walks_is_one_track_with_a_velocity() -> None:
    (track,) = walked(*([person(0.3 * k)] for k in range(10)))
    assert track.id == 1
    assert track.center_m == pytest.approx((2.7, 0.0, 0.9))
    assert track.velocity_mps == pytest.approx((1.5, 0.0, 0.0))
    assert [place[0] for _, place in track.path] == pytest.approx([0.3 * k for k in range(10)])
    assert (track.first_seen_ns, track.last_seen_ns) == (0, round(1.8 * SECOND))


def test_two_who_cross_keep_their_ids() -> None:
    ways = [[person(0.3 * k), person(3.0 - 0.3 * k, 0.4)] for k in range(11)]
    one, other = walked(*ways)
    assert one.center_m[0] == pytest.approx(3.0)
    assert other.center_m[0] == pytest.approx(0.0)


def test_what_a_tracker_says_settles_what_distance_leaves_open() -> None:
    ways = [
        [person(0.0, 0.2, track_id='a'), person(0.0, -0.2, track_id='b')],
        [person(0.0, -0.2, track_id='a'), person(0.0, 0.2, track_id='b')],
    ]
    one, other = walked(*ways)
    assert {one.track_id: one.path[0][1][1], other.track_id: other.path[0][1][1]} == {
        'a': 0.2, 'b': -0.2,
    }  # fmt: skip
    (far,) = [
        t for t in walked([person(0.0, track_id='a')], [person(9.0, track_id='a')]) if t.id == 2
    ]
    assert far.center_m[0] == 9.0, 'nobody runs 9 m in a fifth of a second, whoever says so'


def test_others_maps_and_long_absences_begin_anew() -> None:
    tracks = Tracks()
    tracks.see([person(0.0)], 0, 'ground floor', NOWHERE, 5.0)
    tracks.see([person(0.1)], SECOND, 'first floor', NOWHERE, 5.0)
    tracks.see([person(0.1, label='dog')], SECOND, 'ground floor', NOWHERE, 5.0)
    assert [t.id for t in tracks.followed(SECOND, 5.0)] == [1, 2, 3]
    tracks.see([person(0.0)], 7 * SECOND, 'ground floor', NOWHERE, 5.0)
    assert [t.id for t in tracks.followed(7 * SECOND, 5.0)] == [4]
    assert tracks.followed(13 * SECOND, 5.0) == []


def test_a_late_view_moves_nobody_back() -> None:
    tracks = Tracks()
    tracks.see([person(1.0)], 2 * SECOND, '', NOWHERE, 5.0)
    tracks.see([person(0.0)], SECOND, '', NOWHERE, 5.0)
    assert tracks.followed(2 * SECOND, 5.0)[0].center_m[0] == 1.0


@given(
    st.lists(
        st.lists(
            st.tuples(st.sampled_from(['person', 'dog']), st.floats(-9, 9), st.floats(-9, 9)),
            max_size=5,
        ),
        max_size=12,
    ),
    st.randoms(use_true_random=False),
)
def test_each_sighting_goes_to_one_track_of_its_label_whatever_the_order(
    views: list[list[tuple[str, float, float]]], shuffle: object
) -> None:
    given_views = [[person(x, y, label) for label, x, y in some] for some in views]
    tracks = walked(*given_views, lasts_s=1e6) if views else []
    assert sum(len(t.path) for t in tracks) == sum(map(len, views))
    for k, some in enumerate(given_views):
        stamp = round(k * 0.2 * SECOND)
        places = sorted((t.label, p) for t in tracks for at, p in t.path if at == stamp)
        assert places == sorted((d.label, tuple(map(float, d.center_m))) for d in some)
    for some in given_views:
        shuffle.shuffle(some)  # type: ignore[attr-defined]
    assert (walked(*given_views, lasts_s=1e6) if views else []) == tracks


def test_a_path_is_short() -> None:
    (track,) = walked(*([person(0.0)] for _ in range(KEPT + 9)))
    assert len(track.path) == KEPT


def test_the_memory_follows_whom_it_does_not_remember(tmp_path: Path) -> None:
    path = str(tmp_path / 'memory.db')
    with SpatialMemory.open(path, FOLLOWING) as memory:
        for k in range(5):
            commit = memory.observe(
                view(1000 + 0.2 * k, person(0.2 * k, label='Person'), seen('mug'))
            )
        assert [v.reason for v in commit.verdicts] == ['ignored', '']
        (track,) = memory.tracks()
        assert (track.label, track.velocity_mps[0]) == ('Person', pytest.approx(1.0))
        assert memory.tracks(round(1020 * SECOND)) == []
        assert [o.label for o in memory.objects()] == ['mug']
        assert memory.check() == []
    with SpatialMemory.open(path, FOLLOWING) as memory:
        assert memory.tracks() == []
    assert b'Person' not in Path(path).read_bytes()


def test_nobody_is_followed_unless_asked_for_and_what_is_malformed_never() -> None:
    bad = person(float('nan'))
    for config, expected in (Config(), 0), (FOLLOWING, 1), (
        Config(track_mobile=True, ignored_labels=('person',)), 0,
    ):  # fmt: skip
        with SpatialMemory.open(':memory:', config) as memory:
            memory.observe(view(1000, person(1.0), bad))
            assert len(memory.tracks()) == expected
            memory.configure(Config())
            memory.observe(view(1001, person(1.0)))
            assert memory.tracks() == []
