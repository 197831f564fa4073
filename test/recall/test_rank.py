# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Certain, similar, or not at all: each test puts in what must stay out (CH-47)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from views import seen, view

from memory_node import Query, SpatialMemory
from memory_node.errors import InvalidValueError
from memory_node.recall import rank


@pytest.fixture
def memory() -> Iterator[SpatialMemory]:
    with SpatialMemory.open(':memory:') as opened:
        yield opened


def fill(memory: SpatialMemory, *labels: str, feature=None) -> None:
    for k, label in enumerate(labels):
        more = {} if feature is None else {'feature': feature[k]}
        memory.observe(view(1000 + k / 10, seen(label, (10.0 * k, 0, 0), **more)))


def found(memory: SpatialMemory, text: str) -> list[tuple[str, float]]:
    return [(h.object.label, h.terms['certain']) for h in memory.query(Query(text=text))]


def test_names_make_certain_and_words_do_not(memory: SpatialMemory) -> None:
    fill(memory, 'Sofa', 'DogBed', 'mug', 'Bed', 'stable')
    assert found(memory, 'couch') == [('Sofa', 1.0)]
    assert found(memory, 'dog') == [('DogBed', 0.0)]
    assert found(memory, 'bed') == [('Bed', 1.0), ('DogBed', 0.0)]
    assert found(memory, 'able') == []


def test_what_is_certain_comes_first_whatever_it_scores(memory: SpatialMemory) -> None:
    fill(memory, 'lamp shade holder', 'desk lamp', 'lamp')
    assert found(memory, 'lamp') == [
        ('lamp', 1.0), ('desk lamp', 1.0), ('lamp shade holder', 0.0),
    ]  # fmt: skip


def test_alike_is_found_only_where_nothing_has_all_words(memory: SpatialMemory) -> None:
    fill(memory, 'coffee grinder', 'meat grinder', 'chair')
    assert found(memory, 'coffee grinder') == [('coffee grinder', 1.0)]
    assert found(memory, 'pepper grinder') == [('coffee grinder', 0.0), ('meat grinder', 0.0)]
    hits = memory.query(Query(text='pepper grinder'))
    assert all(0 < hit.score <= rank.ALIKE and hit.terms['label'] == 0 for hit in hits)
    assert found(memory, 'violin') == []


def test_parts_of_other_names_are_no_likeness(memory: SpatialMemory) -> None:
    fill(memory, 'mug')
    assert found(memory, 'coffee cup') == [('mug', 1.0)]
    assert found(memory, 'cup') == []


def test_evidence_below_half_is_not_certain(memory: SpatialMemory) -> None:
    for k, label in enumerate(['mug', 'mug', 'mug', 'cup', 'bowl']):
        memory.observe(view(1000 + 2 * k, seen(label, score=0.8)))
    (obj,) = memory.objects()
    assert obj.label == 'mug' and len(obj.labels) == 3
    assert found(memory, 'mug') == [('mug', 1.0)]
    assert found(memory, 'cup') == [('mug', 0.0)]


def test_a_stated_quality_makes_certain(memory: SpatialMemory) -> None:
    fill(memory, 'mug', 'mug')
    assert found(memory, 'red mug') == [('mug', 0.0), ('mug', 0.0)]
    memory.set_property(2, 'color', 'Red', 'it is', 'Ann', 1)
    hits = memory.query(Query(text='red mug'))
    assert [(h.object.id, h.terms['certain']) for h in hits] == [(2, 1.0), (1, 0.0)]


def test_what_was_stated_ranks(memory: SpatialMemory) -> None:
    fill(memory, 'box', 'box', 'chair')
    assert found(memory, 'christmas things') == []
    memory.set_property(2, 'content', 'Christmas tree', 'it says so', 'Ann', 1)
    assert found(memory, 'christmas things') == [('box', 0.0)]
    assert memory.query(Query(text='christmas things'))[0].object.id == 2


# -- looks -----------------------------------------------------------------------------------


class Encoder:
    """Says of each text that it looks like one axis."""

    name = ''

    def __init__(self, axes: dict[str, int]) -> None:
        self.axes = axes

    def texts(self, texts: Sequence[str]) -> np.ndarray:
        return 3.0 * np.eye(4)[[self.axes.get(text, 3) for text in texts]]


def test_an_encoder_ranks_and_never_makes_certain(memory: SpatialMemory) -> None:
    assert memory.text_search == 'semantic search is off: there is no encoder of texts'
    fill(memory, 'gadget', 'widget', feature=np.eye(4, dtype=np.float32)[:2])
    assert found(memory, 'corkscrew') == []
    memory.use_encoder(Encoder({'corkscrew': 1}))
    assert memory.text_search == ''
    assert found(memory, 'corkscrew') == [('widget', 0.0)]
    assert found(memory, 'gadget') == [('gadget', 1.0)]
    assert found(memory, 'violin') == [], 'unlike everything'


def test_an_encoder_of_another_space_is_not_used(memory: SpatialMemory) -> None:
    fill(memory, 'gadget', feature=np.eye(4, dtype=np.float32)[:1])
    encoder = Encoder({'corkscrew': 0})
    encoder.name = 'other@model@4'
    memory.use_encoder(encoder)
    assert "is of 'other@model@4'" in memory.text_search
    assert found(memory, 'corkscrew') == []


def test_it_is_said_why_there_is_no_encoder(memory: SpatialMemory) -> None:
    encoder = Encoder({})
    encoder.name = 'some@model@4'
    memory.use_encoder(encoder)
    assert memory.text_search.endswith("of 'some@model@4', no features name their space")
    memory.use_encoder(None, 'it is being loaded')
    assert memory.text_search == 'semantic search is off: it is being loaded'
    memory.use_encoder(None)
    assert memory.text_search == 'semantic search is off: there is no encoder of texts'


def test_a_long_text_is_refused_before_anything_is_encoded(memory: SpatialMemory) -> None:
    memory.use_encoder(Encoder({}))
    with pytest.raises(InvalidValueError, match='text'):
        memory.query(Query(text='x' * 100_000))


def test_word_vectors_rank_and_never_make_certain(memory: SpatialMemory, llama) -> None:
    fill(memory, 'car', 'stapler', 'table')
    assert found(memory, 'automobile') == [('car', 0.0)]
    assert found(memory, 'able') == [], 'part of a word is no likeness'
    assert found(memory, 'unicorn') == []


# -- arithmetic ------------------------------------------------------------------------------


def test_bm25_by_hand() -> None:
    documents = ['coffee mug', 'mug', 'wine glass']
    idf = math.log(1 + (3 - 2 + 0.5) / (2 + 0.5))
    mean = 5 / 3
    expected = [
        idf * 2.2 / (1 + 1.2 * (0.25 + 0.75 * length / mean)) for length in (2, 1)
    ]  # fmt: skip
    assert rank.bm25('mugs', documents) == pytest.approx([*expected, 0.0])
    assert rank.bm25('', documents).tolist() == [0, 0, 0]
    assert rank.bm25('mug', []).tolist() == []


def test_fusion_by_hand() -> None:
    first, second = np.array([3.0, 2.0, 0.0, 2.0]), np.array([0.0, 1.0, 0.0, 0.5])
    assert rank.fused([first, second]) == pytest.approx(
        [(1 + 0) / 2, (61 / 62 + 1) / 2, 0.0, (61 / 62 + 61 / 62) / 2]
    )


def test_a_direction_has_length_one() -> None:
    assert rank.unit([0.0, 3e30, -4e30]).tolist() == pytest.approx([0, 0.6, -0.8])
    assert rank.unit([0.0, 0.0]) is None
    assert rank.unit([float('nan')]) is None
    assert rank.unit([float('inf')]) is None
