# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Images and texts as vectors of one space, with OpenCLIP behind one interface."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from memory_node.errors import InvalidValueError, MissingExtraError, SpatialMemoryError
from memory_node.perception.settings import EncoderConfig

Vectors = npt.NDArray[np.float32]

CONFIG_FILE = 'open_clip_config.json'
WEIGHT_FILES = ('open_clip_model.safetensors', 'open_clip_pytorch_model.bin')
"""What a model has in its folder, as in its repository on the Hugging Face hub."""
DIGEST = 12
"""Digits of the hash of a file of weights that name them."""
OFFLINE = {'HF_HUB_OFFLINE': '1', 'TRANSFORMERS_OFFLINE': '1'}


class EncoderError(SpatialMemoryError):
    """A model could not be loaded."""


class Encoder(Protocol):
    """What makes vectors of images and texts.

    Attributes:
        name: of the feature space: model@pretrained@dimension.
        dimension: of its vectors.
    """

    name: str
    dimension: int

    def images(self, crops: Sequence[npt.NDArray[np.uint8]]) -> Vectors:
        """Return (N, dimension) unit vectors of (H, W, 3) RGB images, of any sizes."""

    def texts(self, texts: Sequence[str]) -> Vectors:
        """Return (N, dimension) unit vectors of texts."""


class OpenClipEncoder:
    """An encoder of OpenCLIP: https://github.com/mlfoundations/open_clip (MIT).

    Attributes:
        name, dimension: see Encoder.
    """

    def __init__(self, config: EncoderConfig) -> None:
        """Load the model; that takes seconds.

        Raises:
            MissingExtraError: OpenCLIP or PyTorch is not installed.
            EncoderError: the model or its weights are not on this machine, and may not be fetched,
                or cannot be read.
        """
        try:
            import open_clip
            import torch
        except (ImportError, OSError, RuntimeError) as error:  # the last of a torchvision for CUDA
            raise MissingExtraError(
                'clip', f'the encoder needs OpenCLIP ({error})', 'open-clip-torch'
            ) from error
        self._torch, self._batch = torch, config.encoder_batch
        with contextlib.nullcontext() if config.encoder_network else _offline():
            model, weights, pretrained = _source(open_clip, config)
            try:
                self._model, _, self._transform = open_clip.create_model_and_transforms(
                    model, pretrained=weights, device=config.encoder_device
                )
                self._tokenizer = open_clip.get_tokenizer(model)
            except Exception as error:  # whatever it raises: files of others, downloads, devices
                raise EncoderError(
                    f'encoder_model: {config.encoder_model!r} with encoder_weights '
                    f'{config.encoder_weights!r} cannot be loaded on {config.encoder_device!r}: '
                    f'{error}'
                ) from error
        self._model.eval()
        self._device = torch.device(config.encoder_device)
        self.dimension = int(self.texts(['thing']).shape[1])
        named = (
            Path(config.encoder_model).name
            if _is_folder(config.encoder_model)
            else config.encoder_model
        )
        self.name = f'{named}@{pretrained}@{self.dimension}'

    def images(self, crops: Sequence[npt.NDArray[np.uint8]]) -> Vectors:
        """Return (N, dimension) unit vectors of (H, W, 3) RGB images, of any sizes."""
        from PIL import Image

        pictures = [self._transform(Image.fromarray(checked_image(crop))) for crop in crops]
        return self._encoded(pictures, self._model.encode_image)

    def texts(self, texts: Sequence[str]) -> Vectors:
        """Return (N, dimension) unit vectors of texts."""
        return self._encoded(list(self._tokenizer(list(texts))) if texts else [],
                             self._model.encode_text)  # fmt: skip

    def _encoded(self, items: list[Any], encode: Any) -> Vectors:
        parts = []
        with self._torch.inference_mode():
            for start in range(0, len(items), self._batch):
                stack = self._torch.stack(items[start : start + self._batch]).to(self._device)
                parts.append(encode(stack).float().cpu().numpy())
        if not parts:
            return np.zeros((0, self.dimension), np.float32)
        vectors = np.concatenate(parts).astype(np.float64)
        norms = np.sqrt((vectors * vectors).sum(axis=1, keepdims=True))
        return (vectors / np.maximum(norms, 1e-12)).astype(np.float32)


def require_space(encoder: Encoder, space: str) -> None:
    """Refuse an encoder whose vectors are not of a feature space (C33).

    Args:
        encoder: to be used. space: name of that of what is there; empty: any will do.

    Raises:
        InvalidValueError: it is another one, be it of the same dimension.
    """
    if space and space != encoder.name:
        raise InvalidValueError(
            f'encoder: got {encoder.name!r}, expected {space!r}, in which the features are'
        )


def checked_image(image: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """Return an RGB image as it is.

    Raises:
        InvalidValueError: it is none.
    """
    if image.dtype != np.uint8 or image.ndim != 3 or image.shape[2] != 3 or 0 in image.shape:
        raise InvalidValueError(
            f'image: got {image.dtype} of {image.shape}, expected uint8 of (H, W, 3)'
        )
    return np.ascontiguousarray(image)


def _source(open_clip: Any, config: EncoderConfig) -> tuple[str, str | None, str]:
    """Which model OpenCLIP is to make, of which weights, and how these are called."""
    if _is_folder(config.encoder_model):
        folder = Path(config.encoder_model).expanduser().resolve()
        found = [folder / name for name in WEIGHT_FILES if (folder / name).is_file()]
        if not (folder / CONFIG_FILE).is_file() or not found:
            raise EncoderError(
                f'encoder_model: got {config.encoder_model!r}, expected a folder with '
                f'{CONFIG_FILE} and {" or ".join(WEIGHT_FILES)}'
            )
        return f'local-dir:{folder}', None, _digest(found[0])
    if config.encoder_model not in open_clip.list_models():
        raise EncoderError(
            f'encoder_model: got {config.encoder_model!r}, expected the folder of a model, or a '
            'name that open_clip.list_models() has, for example ViT-B-32'
        )
    if config.encoder_weights and Path(config.encoder_weights).expanduser().is_file():
        file = Path(config.encoder_weights).expanduser()
        return config.encoder_model, str(file), _digest(file)
    tags = open_clip.list_pretrained_tags_by_model(config.encoder_model)
    if config.encoder_weights not in tags:
        raise EncoderError(
            f'encoder_weights: got {config.encoder_weights!r}, expected a file, or one of '
            f'{", ".join(tags)}'
        )
    if config.encoder_network:
        return config.encoder_model, config.encoder_weights, config.encoder_weights
    return config.encoder_model, _cached(open_clip, config), config.encoder_weights


def _cached(open_clip: Any, config: EncoderConfig) -> str:
    """The file of weights of a tag, which must have been fetched before."""
    import huggingface_hub

    known = open_clip.get_pretrained_cfg(config.encoder_model, config.encoder_weights)
    repository, _, name = str(known.get('hf_hub', '')).rpartition('/')
    found: object = None
    for file in [name] if name else [*WEIGHT_FILES]:
        if repository and not isinstance(found, str):
            found = huggingface_hub.try_to_load_from_cache(repository, file)
    url_file = Path('~/.cache/clip').expanduser() / Path(str(known.get('url', ''))).name
    if not isinstance(found, str) and known.get('url') and url_file.is_file():
        found = str(url_file)
    if not isinstance(found, str):
        raise EncoderError(
            f'encoder_weights: those of {config.encoder_model!r} called '
            f'{config.encoder_weights!r} are not on this machine, and encoder_network is false: '
            'set it to true once, or give a file'
        )
    return found


@contextlib.contextmanager
def _offline() -> Iterator[None]:
    """Keep what loads models from trying the network (C36)."""
    import huggingface_hub.constants as hub  # reads its variable only once

    before, hub.HF_HUB_OFFLINE = hub.HF_HUB_OFFLINE, True
    kept = {name: os.environ.get(name) for name in OFFLINE}
    os.environ.update(OFFLINE)
    try:
        yield
    finally:
        hub.HF_HUB_OFFLINE = before
        for name, value in kept.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _is_folder(model: str) -> bool:
    return Path(model).expanduser().is_dir()


def _digest(file: Path) -> str:
    """The first digits of the hash of a file."""
    found = hashlib.sha256()
    with file.open('rb') as stream:
        while part := stream.read(1 << 20):
            found.update(part)
    return found.hexdigest()[:DIGEST]
