# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Colour images as what an encoder takes, and what is said without one."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from rgbd import image

pytest.importorskip('spatial_memory.msg')

from memory_node.errors import SpatialMemoryError
from memory_node.perception.regions import Claimed, Region
from memory_node.perception.settings import EncoderConfig
from memory_node.ros.depth import CameraError
from memory_node.ros.features import Features, crop_of, rgb_of

CONFIG = EncoderConfig(encoder_model='tiny')


@pytest.mark.parametrize(
    ('encoding', 'pixel'),
    [('rgb8', (1, 2, 3)), ('bgr8', (3, 2, 1)), ('rgba8', (1, 2, 3, 9)), ('bgra8', (3, 2, 1, 9))],
)
def test_colours_in_every_order(encoding: str, pixel: tuple[int, ...]) -> None:
    pixels = np.tile(np.array(pixel, np.uint8), (2, 4, 1))
    assert rgb_of(image(pixels, encoding)).tolist() == [[[1, 2, 3]] * 4] * 2


def test_grey_is_a_colour_and_depth_is_none() -> None:
    assert rgb_of(image(np.full((2, 2), 7, np.uint8), 'mono8')).tolist() == [[[7] * 3] * 2] * 2
    with pytest.raises(CameraError, match='color: got encoding'):
        rgb_of(image(np.zeros((2, 2), np.uint16), '16UC1'))
    with pytest.raises(CameraError, match='color: got 3 bytes'):
        rgb_of(image(np.zeros((2, 2, 3), np.uint8), 'rgb8', data=b'few'))


def region(top: int, left: int) -> Region:
    return Region(Claimed('mug', 0.9), top, left, np.ones((20, 10), bool))


def test_a_crop_has_a_margin_and_stays_in_the_image() -> None:
    color = np.zeros((96, 128, 3), np.uint8)
    assert crop_of(color, region(20, 30), (128, 96)).shape == (24, 12, 3)
    assert crop_of(color, region(0, 0), (128, 96)).shape == (22, 11, 3)
    twice = np.zeros((192, 256, 3), np.uint8)
    assert crop_of(twice, region(20, 30), (128, 96)).shape == (48, 24, 3)


class Counting:
    """An encoder that says how large its images were."""

    name, dimension = 'counting@none@2', 2

    def images(self, crops: Any) -> np.ndarray:
        return np.array([crop.shape[:2] for crop in crops], np.float32)

    def texts(self, texts: Any) -> np.ndarray:
        return np.zeros((len(texts), 2), np.float32)


def features(load: Any, problems: list[str] | None = None) -> Features:
    told = problems if problems is not None else []
    return Features(CONFIG, 20_000_000, 3, lambda reason, text: told.append(reason), load)


def wait_for(done: Any) -> None:
    for _ in range(6000):
        if done():
            return
        threading.Event().wait(0.01)
    raise AssertionError('waited in vain')


def colour(stamp_ns: int) -> Any:
    seconds, rest = divmod(stamp_ns, 10**9)
    header = SimpleNamespace(stamp=SimpleNamespace(sec=seconds, nanosec=rest))
    return image(np.zeros((96, 128, 3), np.uint8), 'rgb8', header=header)


def test_until_it_is_loaded_there_are_no_features() -> None:
    go = threading.Event()

    def load(_: EncoderConfig) -> Counting:
        go.wait(60)
        return Counting()

    f = features(load)
    one: Any = SimpleNamespace(region=region(20, 30))
    assert 'is being loaded' in f.state and f.space == ''
    assert len(f.of([one], (128, 96), 10**9)) == 0
    go.set()
    wait_for(lambda: f.space)
    for k in range(5):
        f.take(colour(10**9 + k * 10**8))
    assert f.of([one, one], (128, 96), 10**9 + 4 * 10**8).tolist() == [[24, 12]] * 2
    with pytest.raises(CameraError, match='no image is of the time') as refused:
        f.of([one], (128, 96), 10**9)  # it keeps three
    assert refused.value.reason == 'color_missing'
    with pytest.raises(CameraError, match='expected sizes of one shape'):
        f.of([one], (96, 96), 10**9 + 4 * 10**8)


def test_c36_what_cannot_be_loaded_is_said() -> None:
    def load(_: EncoderConfig) -> Counting:
        raise SpatialMemoryError('the weights are not there')

    problems: list[str] = []
    f = features(load, problems)
    wait_for(lambda: problems)
    assert f.state == 'no features: the weights are not there' and f.space == ''
