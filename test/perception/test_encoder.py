# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""OpenCLIP behind our interface, on a small model that is made here, without a network."""

from __future__ import annotations

import socket
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from clip_kit import DIMENSION, import_open_clip, make_model

from memory_node import Detection, Query, SpatialMemory, View
from memory_node.config import Config
from memory_node.errors import InvalidValueError, MissingExtraError
from memory_node.perception.encoder import EncoderError, OpenClipEncoder, require_space
from memory_node.perception.settings import EncoderConfig


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Every attempt to reach another machine, which fails."""
    tried: list[Any] = []

    def refuse(*args: Any, **_: Any) -> Any:
        tried.append(args)
        raise OSError('no network in this test')

    monkeypatch.setattr(socket.socket, 'connect', refuse)
    monkeypatch.setattr(socket, 'getaddrinfo', refuse)
    return tried


@pytest.fixture(scope='module')
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_model(tmp_path_factory.mktemp('models') / 'tiny')


@pytest.fixture(scope='module')
def encoder(folder: Path) -> OpenClipEncoder:
    return OpenClipEncoder(EncoderConfig(encoder_model=str(folder), encoder_batch=2))


def crops(count: int) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [rng.integers(0, 256, (20 + 9 * k, 30, 3), dtype=np.uint8) for k in range(count)]


def test_without_open_clip_it_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, 'open_clip', None)
    with pytest.raises(MissingExtraError, match=r'\[clip\]: pip install open-clip-torch'):
        OpenClipEncoder(EncoderConfig(encoder_model='ViT-B-32'))


def test_images_and_texts_are_unit_vectors_of_one_space(encoder: OpenClipEncoder) -> None:
    images, texts = encoder.images(crops(5)), encoder.texts(['a mug', 'a chair'])
    assert images.shape == (5, DIMENSION) and texts.shape == (2, DIMENSION)
    assert images.dtype == texts.dtype == np.float32
    for vectors in (images, texts):
        assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-5)
    assert encoder.dimension == DIMENSION
    assert encoder.images([]).shape == encoder.texts([]).shape == (0, DIMENSION)


def test_a_batch_says_what_single_images_say(encoder: OpenClipEncoder) -> None:
    given = crops(5)
    together = encoder.images(given)
    alone = np.concatenate([encoder.images([crop]) for crop in given])
    assert together == pytest.approx(alone, abs=1e-5)


def test_the_space_is_named_by_model_weights_and_dimension(
    encoder: OpenClipEncoder, tmp_path: Path
) -> None:
    model, pretrained, dimension = encoder.name.split('@')
    assert (model, int(dimension)) == ('tiny', DIMENSION) and len(pretrained) == 12
    other = OpenClipEncoder(EncoderConfig(encoder_model=str(make_model(tmp_path / 'tiny', seed=1))))
    assert other.name != encoder.name, 'of the same length, and another model all the same'


def test_c33_another_model_is_refused_with_both_names(encoder: OpenClipEncoder) -> None:
    require_space(encoder, '')
    require_space(encoder, encoder.name)
    with pytest.raises(InvalidValueError) as refused:
        require_space(encoder, f'ViT-B-32@laion2b@{DIMENSION}')
    assert encoder.name in str(refused.value) and 'ViT-B-32@laion2b@24' in str(refused.value)


def test_c33_the_memory_refuses_features_of_another_model(
    encoder: OpenClipEncoder, tmp_path: Path
) -> None:
    image, path = encoder.images(crops(1))[0], str(tmp_path / 'memory.db')
    seen = Detection('mug', 0.9, (1, 0, 1), (0.1, 0.1, 0.1), feature=image)
    with SpatialMemory.open(path, Config(feature_space=encoder.name)) as memory:
        memory.observe(View(10**9, detections=[seen], feature_space=encoder.name))
        (hit,) = memory.query(Query(feature=image))
        assert hit.object.label == 'mug'
        other = f'other@other@{DIMENSION}'
        commit = memory.observe(View(2 * 10**9, detections=[seen], feature_space=other))
        assert commit.verdicts[0].reason == 'feature_space'


def test_texts_find_what_looks_so(encoder: OpenClipEncoder, tmp_path: Path) -> None:
    looks = encoder.texts(['corkscrew', 'xylophone'])
    assert abs(looks[0] - looks[1]).max() > 1e-3
    with SpatialMemory.open(str(tmp_path / 'memory.db')) as memory:
        memory.use_encoder(encoder)
        assert 'no features' in memory.text_search
        seen = Detection('thing', 0.9, (1, 0, 1), (0.1, 0.1, 0.1), feature=looks[0])
        memory.observe(View(10**9, detections=[seen], feature_space=encoder.name))
        assert memory.text_search == '' and memory.feature_space == encoder.name
        (hit,) = memory.query(Query(text='corkscrew'))
        assert hit.object.label == 'thing' and hit.terms['certain'] == 0.0


def test_c36_a_folder_is_loaded_without_the_network(folder: Path, no_network: list[Any]) -> None:
    OpenClipEncoder(EncoderConfig(encoder_model=str(folder)))
    assert no_network == []


def test_c36_weights_that_are_not_there_are_not_fetched(no_network: list[Any]) -> None:
    import_open_clip()
    config = EncoderConfig(encoder_model='ViT-B-32', encoder_weights='laion2b_s34b_b79k')
    with pytest.raises(EncoderError, match='encoder_network is false'):
        OpenClipEncoder(config)
    openai = EncoderConfig(encoder_model='ViT-B-32', encoder_weights='openai')
    with pytest.raises(EncoderError, match='not on this machine'):
        OpenClipEncoder(openai)
    assert no_network == []


def test_c36_with_leave_it_tries_the_network(
    no_network: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    import_open_clip()
    monkeypatch.setattr('time.sleep', lambda _: None)  # the hub's library tries again and again
    config = EncoderConfig(
        encoder_model='ViT-B-32', encoder_weights='laion2b_s34b_b79k', encoder_network=True
    )
    with pytest.raises(EncoderError, match='cannot be loaded'):
        OpenClipEncoder(config)
    assert no_network


@pytest.mark.parametrize(
    ('config', 'words'),
    [
        (EncoderConfig(encoder_model='no-such-model'), 'open_clip.list_models'),
        (EncoderConfig(encoder_model='ViT-B-32'), "encoder_weights: got ''"),
        (EncoderConfig(encoder_model='ViT-B-32', encoder_weights='mine'), 'laion2b_s34b_b79k'),
    ],
)
def test_what_cannot_be_loaded_says_what_was_expected(config: EncoderConfig, words: str) -> None:
    import_open_clip()
    with pytest.raises(EncoderError, match=words):
        OpenClipEncoder(config)


def test_a_folder_without_a_model_and_broken_weights_say_so(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(EncoderError, match='expected a folder with open_clip_config'):
        OpenClipEncoder(EncoderConfig(encoder_model=str(tmp_path)))
    for name in ('open_clip_config.json', 'open_clip_pytorch_model.bin'):
        (tmp_path / name).write_bytes((folder / name).read_bytes()[:300])
    with pytest.raises(EncoderError, match='cannot be loaded'):
        OpenClipEncoder(EncoderConfig(encoder_model=str(tmp_path)))
    with pytest.raises(EncoderError, match="on 'nowhere'"):
        OpenClipEncoder(EncoderConfig(encoder_model=str(folder), encoder_device='nowhere'))


def test_what_is_no_image_is_refused(encoder: OpenClipEncoder) -> None:
    for image in (np.zeros((4, 4), np.uint8), np.zeros((4, 4, 3)), np.zeros((0, 4, 3), np.uint8)):
        with pytest.raises(InvalidValueError, match='expected uint8 of'):
            encoder.images([image])
