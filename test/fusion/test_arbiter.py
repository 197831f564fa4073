# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Terms by hand (CH-15 to CH-17), and the decision over a whole view (CH-18)."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from views import seen, stream
from worlds import evidence_of, put

from memory_node import Config, Detection, SpatialMemory, View
from memory_node.fusion.arbiter import TERMS, Judgement, Pairs, find_pairs, judge
from memory_node.fusion.candidates import CandidateIndex
from memory_node.fusion.world import World

NAN = float('nan')
CUBE = (1.0, 1.0, 1.0)
PLAIN = Config(noise_aware=False, size_gate=False)
"""CH-16 as it is written."""


def pairs_of(
    world: World,
    *detections: Detection,
    config: Config | None = None,
    map_number: int = 0,
    sigma_m: float = 0.02,
) -> Pairs:
    evidence, label = evidence_of(world, *detections, sigma_m=sigma_m)
    index = CandidateIndex(world)
    return find_pairs(evidence, label, map_number, world, index, config or PLAIN)


def one_pair(world: World, detection: Detection, **more: Any) -> dict[str, float]:
    pairs = pairs_of(world, detection, **more)
    assert len(pairs) == 1
    terms = dict(zip(TERMS, pairs.terms[0].tolist(), strict=True))
    return {**{k: v for k, v in terms.items() if v == v}, 'total': float(pairs.total[0])}


def mug_at(x: float = 0.0, **more: Any) -> Detection:
    more.setdefault('size_m', CUBE)
    return seen('mug', (x, 0, 0), **more)


# -- terms -----------------------------------------------------------------------------------


def test_all_four_terms_by_hand() -> None:
    world = World()
    put(world, 'mug', (0, 0, 0), CUBE, mass=0.9, feature=(1.0, 0.0))
    # geometry 1 - 0.1/0.5 = 0.8; iou 0.9/1.1 = 0.818181818; cosine 0.8; label max(0.9, 0.8).
    # total 0.2·0.8 + 0.2·0.818181818 + 0.5·0.8 + 0.1·0.9 = 0.813636364.
    assert one_pair(world, mug_at(0.1, feature=(0.8, 0.6))) == pytest.approx(
        {'geometry': 0.8, 'iou': 0.818181818, 'feature': 0.8, 'label': 0.9, 'total': 0.813636364},
        abs=2e-8,  # features are float32
    )


@pytest.mark.parametrize('lacks', ['detection', 'object', 'both'])
def test_a_missing_feature_renormalises(lacks: str) -> None:
    world = World()
    put(world, 'mug', mass=0.9, feature=None if lacks in ('object', 'both') else (1.0, 0.0))
    feature = None if lacks in ('detection', 'both') else (0.8, 0.6)
    # (0.2·0.8 + 0.2·0.818181818 + 0.1·0.9) / 0.5 = 0.827272727.
    assert one_pair(world, mug_at(0.1, feature=feature)) == pytest.approx(
        {'geometry': 0.8, 'iou': 0.818181818, 'label': 0.9, 'total': 0.827272727}, abs=2e-9
    )


def test_a_missing_box_renormalises_too() -> None:
    world = World()
    put(world, 'mug', size_m=(0, 0, 0), mass=0.9)
    # (0.2·0.8 + 0.1·0.9) / 0.3 = 0.833333333.
    assert one_pair(world, mug_at(0.1, size_m=(0, 0, 0))) == pytest.approx(
        {'geometry': 0.8, 'label': 0.9, 'total': 0.833333333}, abs=2e-9
    )


def test_other_weights() -> None:
    config = Config(
        noise_aware=False, geometry_weight=0.5, iou_weight=0.0, feature_weight=0.0, label_weight=0.5
    )
    world = World()
    put(world, 'mug', mass=0.9)
    found = one_pair(world, mug_at(0.1), config=config)
    assert found['total'] == pytest.approx((0.5 * 0.8 + 0.5 * 0.9) / 1.0)


@pytest.mark.parametrize(
    ('side', 'sigma', 'tells'),
    [(0.06, 0.02, True), (0.059, 0.02, False), (0.3, 0.1, True), (0.3, 0.101, False)],
)
@pytest.mark.parametrize('whose', ['detection', 'object'])
def test_the_overlap_says_nothing_under_three_sigma(
    side: float, sigma: float, tells: bool, whose: str
) -> None:
    small = (1.0, 1.0, side)
    world = World()
    put(world, 'mug', size_m=small if whose == 'object' else CUBE)
    found = one_pair(world, mug_at(size_m=small if whose == 'detection' else CUBE), sigma_m=sigma)
    assert ('iou' in found) == tells


def test_the_sigma_is_that_of_the_detections_covariance() -> None:
    world = World()
    put(world, 'mug')
    variance = np.diag([0.01, 0.01, 0.16])  # 3·0.4 > 1
    assert 'iou' not in one_pair(world, mug_at(position_cov=variance))
    variance = np.diag([0.01, 0.01, 0.09])  # 3·0.3 < 1
    assert 'iou' in one_pair(world, mug_at(position_cov=variance))


def test_geometry_reaches_zero_and_stays_there() -> None:
    world = World()
    put(world, 'mug', size_m=(4, 4, 4))
    for x, expected in ((0.25, 0.5), (0.5, 0.0), (1.5, 0.0)):
        assert one_pair(world, mug_at(x))['geometry'] == pytest.approx(expected)


def test_overlap_after_what_noise_explains_is_taken_away() -> None:
    world = World()
    put(world, 'mug', mass=0.9)
    # One sighting each: three sigmas of 0.02·√2 are 0.084852814; 0.1 m leaves 0.015147186.
    found = one_pair(world, mug_at(0.1), config=Config())
    assert found['iou'] == pytest.approx((1 - 0.015147186) / (1 + 0.015147186), abs=2e-9)
    assert found['geometry'] == pytest.approx(1 - 0.1 / (1.5 * (0.09 * 2**0.5 + 0.3 * 3**0.5)))
    assert one_pair(world, mug_at(0.05), config=Config())['iou'] == 1.0


def test_the_geometry_term_reaches_as_far_as_noise_does() -> None:
    world = World()
    put(world, 'mug', mass=0.9)
    # One and a half times the gate: 1.5·(4.5·0.2·√2 + 0.3·√3).
    found = one_pair(world, mug_at(0.9), config=Config(), sigma_m=0.2)
    assert found['geometry'] == pytest.approx(1 - 0.9 / (1.5 * (0.9 * 2**0.5 + 0.3 * 3**0.5)))


@pytest.mark.parametrize(('x', 'found'), [(0.149, 1), (0.151, 0)])
def test_the_gate_is_that_of_noise_and_of_the_smaller_box(x: float, found: int) -> None:
    world = World()
    put(world, 'mug', size_m=(0.04, 0.04, 0.02))  # diagonal 0.06
    # 4.5·0.0208·√2 + 0.3·0.06 = 0.15037; the detection is larger.
    config = Config(dilation_m=1.0)
    pairs = pairs_of(world, mug_at(x), config=config, sigma_m=0.0208)
    assert (pairs.total > 0).tolist() == [bool(found)]
    assert (pairs_of(world, mug_at(x), sigma_m=0.0208).total > 0).all()


def test_opposite_features_are_zero_not_negative() -> None:
    world = World()
    put(world, 'mug', feature=(1.0, 0.0))
    found = one_pair(world, mug_at(feature=(-1.0, 0.0)))
    assert found['feature'] == 0.0
    assert found['total'] == pytest.approx(0.2 + 0.2 + 0.1 * 0.9)


def test_the_hull_of_a_turned_box_is_what_overlaps() -> None:
    world = World()
    put(world, 'mug', (0, 0, 0), (0.2, 1.0, 1.0))
    turned = mug_at(size_m=(1.0, 0.2, 1.0), orientation_xyzw=(0, 0, 0.5**0.5, 0.5**0.5))
    assert one_pair(world, turned)['iou'] == pytest.approx(1.0)


@pytest.mark.parametrize(('x', 'found'), [(1.249, 1), (1.25, 1), (1.251, 0)])
def test_candidates_overlap_the_box_grown_by_the_dilation(x: float, found: int) -> None:
    world = World()
    put(world, 'mug')
    assert len(pairs_of(world, mug_at(x))) == found


def test_another_map_and_ended_objects_are_no_candidates() -> None:
    world = World()
    put(world, 'mug', map_id='A')
    put(world, 'mug', map_id='B')
    put(world, 'mug', map_id='A')
    world.end(2)
    assert pairs_of(world, mug_at(), map_number=0).object_id.tolist() == [1]
    assert pairs_of(world, mug_at(), map_number=1).object_id.tolist() == [2]


# -- the decision ----------------------------------------------------------------------------


def table(n: int, totals: dict[tuple[int, int], float]) -> Pairs:
    """Pairs (detection, object id) → total, in the order in which the index gives them."""
    keys = sorted(totals)
    place = np.array([k[0] for k in keys], np.int64)
    ids = np.array([k[1] for k in keys], np.int64)
    total = np.array([totals[k] for k in keys])
    return Pairs(place, ids - 1, ids, np.tile(total[:, None], 4), total)


def decided(
    n: int,
    totals: dict[tuple[int, int], float],
    score: list[float] | None = None,
    barred: list[bool] | None = None,
) -> tuple[list[int], Judgement]:
    """Object id that each detection joins, 0: none."""
    given_ones = [seen('mug', (k, 0, 0), s) for k, s in enumerate(score or [0.8] * n)]
    evidence, _ = evidence_of(World(), *given_ones)
    bars = np.array(barred or [False] * n, bool)
    judgement = judge(evidence, table(n, totals), bars, Config())
    return (judgement.row + 1).tolist(), judgement


@pytest.mark.parametrize(('total', 'joins'), [(0.62, 1), (0.619999999, 0), (0.99, 1), (0.0, 0)])
def test_the_threshold_for_joining(total: float, joins: int) -> None:
    ids, judgement = decided(1, {(0, 1): total})
    assert ids == [joins]
    assert judgement.created.tolist() == [not joins]
    assert judgement.total.tolist() == [total]


@pytest.mark.parametrize(
    ('score', 'barred', 'created', 'reason'),
    [
        (0.3, False, True, ''),
        (0.299999, False, False, 'low_score'),
        (0.3, True, False, 'forgotten'),
        (0.299999, True, False, 'low_score'),
    ],
)
def test_the_threshold_for_creating(score: float, barred: bool, created: bool, reason: str) -> None:
    _, judgement = decided(1, {}, [score], [barred])
    assert judgement.row.tolist() == [-1]
    assert judgement.created.tolist() == [created]
    assert judgement.reason == [reason]
    assert np.isnan(judgement.total).all() and np.isnan(judgement.terms).all()


@pytest.mark.parametrize(('score', 'barred'), [(0.01, False), (0.8, True)])
def test_what_matches_joins_whatever_its_score_or_tombstone(score: float, barred: bool) -> None:
    ids, judgement = decided(1, {(0, 1): 0.9}, [score], [barred])
    assert ids == [1]
    assert judgement.reason == ['']
    assert judgement.created.tolist() == [False]


def test_ties_go_to_the_lowest_id() -> None:
    assert decided(1, {(0, 7): 0.9, (0, 3): 0.9, (0, 5): 0.9})[0] == [3]
    assert decided(1, {(0, 7): 0.9, (0, 3): 0.89})[0] == [7]


def test_ties_go_to_the_lowest_id_also_beside_a_conflict() -> None:
    # 1 and 2 both want object 9, which has nothing to do with the tie of 0.
    ids, _ = decided(3, {(0, 4): 0.9, (0, 3): 0.9, (1, 9): 0.9, (2, 9): 0.8})
    assert ids == [3, 9, 0]
    ids, _ = decided(2, {(0, 5): 0.9, (1, 2): 0.8, (1, 3): 0.8, (1, 5): 0.9})
    assert ids == [5, 2]


def test_the_terms_shown_are_those_of_the_best_pair_where_none_is_joined() -> None:
    _, judgement = decided(1, {(0, 1): 0.4, (0, 2): 0.5, (0, 3): 0.5})
    assert judgement.total.tolist() == [0.5]
    assert judgement.created.tolist() == [True]


def test_one_to_one_gives_the_highest_sum_not_the_greedy_one() -> None:
    # Greedy: 0 takes 1 (0.95), 1 is left with nothing: 0.95. Best: 0.80 + 0.90.
    ids, _ = decided(2, {(0, 1): 0.95, (0, 2): 0.80, (1, 1): 0.90})
    assert ids == [2, 1]


def test_who_loses_its_only_object_makes_a_new_one_or_is_rejected() -> None:
    ids, judgement = decided(3, {(0, 1): 0.7, (1, 1): 0.9, (2, 1): 0.8}, [0.8, 0.8, 0.1])
    assert ids == [0, 1, 0]
    assert judgement.created.tolist() == [True, False, False]
    assert judgement.reason == ['', '', 'low_score']
    assert judgement.total.tolist() == [0.7, 0.9, 0.8]


@given(
    st.dictionaries(
        st.tuples(st.integers(0, 3), st.integers(1, 4)),
        st.sampled_from([0.5, 0.62, 0.7, 0.75, 0.8, 1.0]),
    )
)
def test_one_to_one_equals_brute_force(totals: dict) -> None:
    ids, _ = decided(4, totals)
    joined = [(k, i) for k, i in enumerate(ids) if i]
    assert len({i for _, i in joined}) == len(joined), 'an object was joined twice in one view'
    assert all(totals.get(pair, 0.0) >= 0.62 for pair in joined)
    best = 0.0
    for choice in itertools.product(range(5), repeat=4):
        taken = [i for i in choice if i]
        good = [totals.get((k, i), 0.0) for k, i in enumerate(choice) if i]
        if len(set(taken)) == len(taken) and all(t >= 0.62 for t in good):
            best = max(best, sum(good))
    assert sum(totals[pair] for pair in joined) == pytest.approx(best, abs=1e-9)
    for k, i in joined:
        lower = [j for j in range(1, i) if j not in ids and totals.get((k, j)) == totals[k, i]]
        assert not lower, 'a lower id with the same total was left alone'


def test_c02_two_alike_in_one_view_stay_two() -> None:
    world = World()
    put(world, 'chair', (1.00, 0, 0.45), (0.5, 0.5, 0.9))
    put(world, 'chair', (1.35, 0, 0.45), (0.5, 0.5, 0.9))
    config = Config()
    index = CandidateIndex(world)
    given_ones = [seen('chair', (x, 0, 0.45), size_m=(0.5, 0.5, 0.9)) for x in (1.35, 1.00)]
    evidence, label = evidence_of(world, *given_ones)
    pairs = find_pairs(evidence, label, 0, world, index, config)
    assert len(pairs) == 4
    judgement = judge(evidence, pairs, np.zeros(2, bool), config)
    by_place = dict(zip(evidence.index.tolist(), judgement.row.tolist(), strict=True))
    assert by_place == {0: 1, 1: 0}


@settings(max_examples=25)
@given(st.integers(0, 200), st.randoms(use_true_random=False))
def test_the_order_of_detections_in_a_view_never_changes_the_result(seed: int, random: Any) -> None:
    with SpatialMemory.open(':memory:') as plain, SpatialMemory.open(':memory:') as shuffled:
        for given_view in stream(seed, 6):
            order = list(range(len(given_view.detections)))
            random.shuffle(order)
            other = View(
                given_view.stamp_ns, given_view.sensor,
                [given_view.detections[k] for k in order], given_view.sensor_pose,
                map_id=given_view.map_id, scope=given_view.scope,
            )  # fmt: skip
            a, b = plain.observe(given_view), shuffled.observe(other)
            assert [a.verdicts[k] for k in order] == list(b.verdicts)
            assert a.changes == b.changes
        assert plain.snapshot_hash() == shuffled.snapshot_hash()
