# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Profile `chronotope` decides and merges exactly as CH-14 to CH-19 say (vectors by hand)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memory_node import Config, Detection, SpatialMemory, View

DATA = json.loads((Path(__file__).parents[1] / 'data' / 'chronotope_parity.json').read_text())
VECTORS = DATA['vectors']
TERMS = ('geometry', 'iou', 'feature', 'label', 'total')


@pytest.fixture
def memory() -> Iterator[SpatialMemory]:
    with SpatialMemory.open(':memory:', Config(profile='chronotope')) as opened:
        yield opened


def detection(given: dict[str, Any]) -> Detection:
    return Detection(**given)


def show(memory: SpatialMemory, stamp_s: int, *given: dict[str, Any]) -> Any:
    view = View(stamp_s * 10**9, 'camera', [detection(g) for g in given])
    return memory.observe(view).verdicts


def test_there_are_enough_vectors() -> None:
    assert len(VECTORS) >= 12
    assert {v['expect']['verdict'] for v in VECTORS} == {'merged', 'created', 'rejected'}


@pytest.mark.parametrize('vector', VECTORS, ids=[v['name'] for v in VECTORS])
def test_parity(memory: SpatialMemory, vector: dict[str, Any]) -> None:
    for k, given in enumerate(vector['given'], 1):
        show(memory, k, given)
    (verdict,) = show(memory, 100, vector['then'])
    expect = vector['expect']
    assert (verdict.kind, verdict.object_id) == (expect['verdict'], expect['object_id'])
    assert verdict.reason == expect.get('reason', '')
    for term in TERMS:
        if expect.get(term) is not None:
            assert verdict.terms[term] == pytest.approx(expect[term], abs=1e-6), term
    if expect.get('total', 0) is None:
        assert not verdict.terms
    if expect['object_id']:
        check_object(memory, expect)
    assert memory.check() == []


def check_object(memory: SpatialMemory, expect: dict[str, Any]) -> None:
    obj = memory.object(expect['object_id'])
    for name in ('center_m', 'size_m'):
        if name in expect:
            assert getattr(obj, name) == pytest.approx(expect[name])
    if 'confidence' in expect:
        assert obj.confidence == pytest.approx(expect['confidence'])
    if 'masses' in expect:
        assert dict(obj.labels) == pytest.approx(expect['masses'])
    assert obj.label == expect.get('canonical', next(iter(obj.labels)))
    if 'feature_after' in expect:
        world = memory._session.engine.world
        row = world.row_of(obj.id)
        assert row is not None
        held = world.features.take(np.array([row]))[0]
        np.testing.assert_allclose(held, expect['feature_after'], atol=1e-6)


def test_a_detection_without_a_feature_is_refused_alone(memory: SpatialMemory) -> None:
    plain = dict(VECTORS[0]['then'], feature=None)
    refused, kept = show(memory, 1, plain, VECTORS[0]['then'])
    assert (refused.kind, refused.reason) == ('rejected', 'no_feature')
    assert kept.kind == 'created'
    assert memory.refusals == {'no_feature': 1}


def test_ch_v3_two_alike_in_one_view_become_one(memory: SpatialMemory) -> None:
    """Judged one after the other, the second joins what the first has made."""
    first, second = show(memory, 1, VECTORS[0]['then'], VECTORS[0]['then'])
    assert (first.kind, second.kind) == ('created', 'merged')
    assert first.object_id == second.object_id == 1


def test_ch_v4_the_box_keeps_both_places(memory: SpatialMemory) -> None:
    """Shifted 0.3 m and seen there four times more: the centroid lags, the box is the union."""
    given = VECTORS[0]['then']
    show(memory, 1, given)
    for k in range(2, 7):
        show(memory, k, dict(given, center_m=[0.3, 0, 0]))
    (obj,) = memory.objects()
    assert obj.center_m[0] == pytest.approx(0.3 * (1 - 0.8**5))  # 0.2017
    assert obj.size_m[0] == pytest.approx(0.7)


def test_every_feature_is_kept_as_it_came(memory: SpatialMemory) -> None:
    for k in range(1, 9):
        show(memory, k, VECTORS[0]['then'])
    rows = memory._database.rows('SELECT length(feature) FROM observation')
    assert rows == [(16,)] * 8  # float32, dimension 4
