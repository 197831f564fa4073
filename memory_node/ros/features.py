# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Gives detections features from the colour image of their time, with a model that loads beside."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from memory_node.perception.encoder import Encoder, OpenClipEncoder
from memory_node.perception.lifting import Lifted
from memory_node.perception.regions import Region, Size
from memory_node.perception.settings import EncoderConfig
from memory_node.ros import conversions
from memory_node.ros.depth import DATA, ENCODING, SIZE, CameraError
from memory_node.ros.encoding import Loader, load_beside

CHANNELS = {'rgb8': (0, 1, 2), 'bgr8': (2, 1, 0), 'rgba8': (0, 1, 2), 'bgra8': (2, 1, 0),
            'mono8': (0, 0, 0)}  # fmt: skip
"""Encoding → where red, green and blue are in a pixel."""
MARGIN = 0.1
"""Of the sides of a region, around it in the crop: models know things in their place."""
NO_COLOR = 'color_missing'


def rgb_of(image: Any) -> npt.NDArray[np.uint8]:
    """Return (H, W, 3) RGB of a sensor_msgs/Image.

    Raises:
        CameraError: it is of another encoding, or its data do not have the size that it names.
    """
    if image.encoding not in CHANNELS:
        raise CameraError(ENCODING, (
            f'color: got encoding {image.encoding!r}, expected one of {", ".join(CHANNELS)}'
        ))  # fmt: skip
    places = CHANNELS[image.encoding]
    depth = {'mono8': 1, 'rgba8': 4, 'bgra8': 4}.get(image.encoding, 3)
    height, width, step = int(image.height), int(image.width), int(image.step)
    data = np.frombuffer(image.data, np.uint8)
    if step < depth * width or len(data) != height * step:
        raise CameraError(DATA, (
            f'color: got {len(data)} bytes with step {step}, expected height times step, and a '
            f'step of at least {depth * width}'
        ))  # fmt: skip
    pixels = data.reshape(height, step)[:, : depth * width].reshape(height, width, depth)
    return np.ascontiguousarray(pixels[..., places])


def crop_of(color: npt.NDArray[np.uint8], region: Region, depth: Size) -> npt.NDArray[np.uint8]:
    """Return the part of a colour image in which a region lies, with a margin.

    Args:
        color: (H, W, 3). region: on the pixels of the depth. depth: size of the depth image.
    """
    rows, columns = region.mask.shape
    scale_x, scale_y = color.shape[1] / depth[0], color.shape[0] / depth[1]
    top, left = region.top - MARGIN * rows, region.left - MARGIN * columns
    bottom, right = region.top + (1 + MARGIN) * rows, region.left + (1 + MARGIN) * columns
    top, bottom = max(int(top * scale_y), 0), min(int(np.ceil(bottom * scale_y)), color.shape[0])
    left, right = max(int(left * scale_x), 0), min(int(np.ceil(right * scale_x)), color.shape[1])
    return color[top:bottom, left:right]


class Features:
    """Keeps a few colour images, and encodes what lies in the regions.

    The model is loaded in a thread of its own: until it is there, and where it cannot be loaded,
    detections have no features, and `state` says why (C36).
    """

    def __init__(
        self, config: EncoderConfig, tolerance_ns: int, kept: int,
        on_problem: Callable[[str, str], None], load: Loader = OpenClipEncoder,
    ) -> None:  # fmt: skip
        """Begin to load.

        Args:
            config: which model. tolerance_ns: by how much stamps of one instant may differ.
            kept: images to keep. on_problem: told reason and details. load: makes the encoder.
        """
        self._tolerance_ns = tolerance_ns
        self._on_problem = on_problem
        self._images: deque[tuple[int, Any]] = deque(maxlen=kept)
        self._lock = threading.Lock()
        self._encoder: Encoder | None = None
        self.state = f'encoder {config.encoder_model!r} is being loaded'
        load_beside(config, self._loaded, load)

    @property
    def space(self) -> str:
        """Name of the feature space; empty: there are no features."""
        return self._encoder.name if self._encoder is not None else ''

    def take(self, image: Any) -> None:
        """Keep a colour image."""
        with self._lock:
            self._images.append((conversions.stamp_to_ns(image.header.stamp), image))

    def of(self, lifted: Sequence[Lifted], depth: Size, stamp_ns: int) -> npt.NDArray[np.float32]:
        """Return (N, D) features of what was lifted; (0, 0): there are none now.

        Raises:
            CameraError: no colour image is of that time, or it cannot be used.
        """
        encoder = self._encoder
        if encoder is None or not lifted:
            return np.zeros((0, 0), np.float32)
        with self._lock:
            near = min(self._images, key=lambda item: abs(item[0] - stamp_ns), default=None)
        if near is None or abs(near[0] - stamp_ns) > self._tolerance_ns:
            raise CameraError(NO_COLOR, 'color: no image is of the time of the depth')
        color = rgb_of(near[1])
        if abs(color.shape[1] * depth[1] - color.shape[0] * depth[0]) > max(depth):
            raise CameraError(SIZE, (
                f'color: got {color.shape[1]} x {color.shape[0]} pixels beside depth of '
                f'{depth[0]} x {depth[1]}, expected sizes of one shape'
            ))  # fmt: skip
        return encoder.images([crop_of(color, one.region, depth) for one in lifted])

    def _loaded(self, encoder: Encoder | None, why_not: str) -> None:
        self._encoder = encoder
        if encoder is not None:
            self.state = f'features of {encoder.name}'
        else:
            self.state = f'no features: {why_not}'
            self._on_problem('encoder', why_not)
