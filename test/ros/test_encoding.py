# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Texts are searched by looks once the encoder is there; nothing waits for it (C36, C33)."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memory_node import Detection, Query, SpatialMemory, View
from memory_node.errors import MissingExtraError
from memory_node.perception.settings import EncoderConfig
from memory_node.ros.encoding import OFF, TextEncoding

CONFIG = EncoderConfig(encoder_model='tiny')


class Encoder:
    """Says of every text that it looks like the first axis."""

    dimension = 4

    def __init__(self, name: str = 'tiny@weights@4') -> None:
        self.name = name

    def images(self, crops: Any) -> np.ndarray:
        raise NotImplementedError

    def texts(self, texts: Any) -> np.ndarray:
        return np.eye(4, dtype=np.float32)[[0] * len(texts)]


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[SpatialMemory]:
    with SpatialMemory.open(str(tmp_path / 'memory.db')) as memory:
        yield memory


@pytest.fixture
def problems() -> list[tuple[str, str]]:
    return []


@pytest.fixture
def encoding(problems: list[tuple[str, str]]) -> Callable[..., TextEncoding]:
    return lambda load, config=CONFIG: TextEncoding(
        config, lambda reason, text: problems.append((reason, text)), load
    )


def fill(memory: SpatialMemory, space: str) -> None:
    seen = Detection('gadget', 0.9, (1, 0, 1), (0.1, 0.1, 0.1), feature=np.eye(4)[0])
    memory.observe(View(10**9, detections=[seen], feature_space=space))


def wait_for(done: Callable[[], Any]) -> None:
    deadline = time.monotonic() + 60
    while not done():
        assert time.monotonic() < deadline, 'waited in vain'
        time.sleep(0.01)


def test_words_do_until_it_is_loaded(memory, problems, encoding) -> None:
    go, loads = threading.Event(), []

    def load(config: EncoderConfig) -> Encoder:
        loads.append(config)
        assert go.wait(60)
        return Encoder()

    fill(memory, Encoder().name)
    one = encoding(load)
    one.serve(memory)
    assert memory.text_search == "semantic search is off: the encoder 'tiny' is being loaded"
    assert list(memory.query(Query(text='corkscrew'))) == []
    go.set()
    wait_for(lambda: not memory.text_search)
    assert [hit.object.label for hit in memory.query(Query(text='corkscrew'))] == ['gadget']
    assert loads == [CONFIG] and problems == []


def test_it_is_loaded_once_for_one_memory_after_the_other(memory, tmp_path, encoding) -> None:
    loads = []

    def load(config: EncoderConfig) -> Encoder:
        loads.append(config)
        return Encoder()

    fill(memory, Encoder().name)
    one = encoding(load)
    one.serve(memory)
    wait_for(lambda: not memory.text_search)
    with SpatialMemory.open(str(tmp_path / 'other.db')) as other:
        fill(other, Encoder().name)
        one.serve(other)
        assert other.text_search == ''
    assert len(loads) == 1


def test_c36_what_cannot_be_loaded_is_said_once(memory, problems, encoding) -> None:
    def load(_: EncoderConfig) -> Encoder:
        raise MissingExtraError('clip', 'the encoder needs OpenCLIP', 'open-clip-torch')

    encoding(load).serve(memory)
    wait_for(lambda: problems)
    [(reason, text)] = problems
    assert reason == OFF and 'pip install open-clip-torch' in text
    assert memory.text_search == f'semantic search is off: {text}'


def test_c36_whatever_a_library_raises_is_said(memory, problems, encoding) -> None:
    def load(_: EncoderConfig) -> Encoder:
        raise AttributeError('no such thing in this version')

    encoding(load).serve(memory)
    wait_for(lambda: problems)
    assert 'AttributeError: no such thing in this version' in memory.text_search
    assert "encoder_model: 'tiny'" in memory.text_search


def test_c33_another_model_than_that_of_the_features_is_refused(memory, problems, encoding) -> None:
    fill(memory, 'other@weights@4')
    encoding(lambda _: Encoder()).serve(memory)
    wait_for(lambda: problems)
    [(reason, text)] = problems
    assert reason == OFF and 'tiny@weights@4' in text and 'other@weights@4' in text
    assert text in memory.text_search
    assert list(memory.query(Query(text='corkscrew'))) == []
    assert [hit.object.label for hit in memory.query(Query(text='gadget'))] == ['gadget']


def test_c33_features_of_another_model_that_come_later_are_not_compared(
    memory, problems, encoding
) -> None:
    encoding(lambda _: Encoder()).serve(memory)
    wait_for(lambda: 'name their space' in memory.text_search)
    fill(memory, 'other@weights@4')
    assert 'tiny@weights@4' in memory.text_search and 'other@weights@4' in memory.text_search
    assert list(memory.query(Query(text='corkscrew'))) == [] and problems == []


def test_without_a_model_nothing_is_loaded(memory, problems, encoding) -> None:
    def load(_: EncoderConfig) -> Encoder:
        raise AssertionError

    encoding(load, EncoderConfig()).serve(memory)
    assert memory.text_search == 'semantic search is off: there is no encoder of texts'
    assert problems == []
