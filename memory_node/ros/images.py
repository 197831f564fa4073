# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Masks, compressed depth and clouds as arrays: pure functions on messages, nothing else."""

from __future__ import annotations

import io
import struct
from typing import Any

import numpy as np
import numpy.typing as npt

from memory_node.errors import MissingExtraError
from memory_node.ros.depth import DATA, ENCODING, CameraError, pixels_of

MASK_ENCODINGS = {
    'mono8': np.dtype(np.uint8), '8UC1': np.dtype(np.uint8), 'mono16': np.dtype(np.uint16),
    '16UC1': np.dtype(np.uint16), '32SC1': np.dtype(np.int32),
}  # fmt: skip
"""Encodings of masks with one number a pixel."""
PACKED = ('rgb8', 'bgr8')
"""Gazebo's labels map: bytes 0 and 1 count the instances, byte 2 is the label, whatever the name of
the encoding says (gz-sensors, tutorials/05_segmentation_camera.md)."""
LABEL_SHIFT = 16
"""Of an id from such an image, the label begins at this bit."""

NOT_ORGANISED = 'cloud_not_organised'
NO_XYZ = 'cloud_fields'
_HEADER = struct.Struct('<iff')
"""Before the PNG of compressed depth: its format, and two numbers for depth that is no integer
(image_transport_plugins, compressed_depth_image_transport)."""
_PNG = b'\x89PNG'
_FLOAT32 = 7
"""sensor_msgs/PointField.FLOAT32."""


def ids_of(image: Any) -> tuple[npt.NDArray[Any], bool]:
    """Return (H, W) ids of a mask image, and whether they are packed (see PACKED).

    Raises:
        CameraError: it is of another encoding, or its data do not have the size that it names.
    """
    if image.encoding in MASK_ENCODINGS:
        return pixels_of(image, MASK_ENCODINGS[image.encoding], 'masks'), False
    if image.encoding not in PACKED:
        raise CameraError(ENCODING, (
            f'masks: got encoding {image.encoding!r}, expected one of '
            f'{", ".join([*MASK_ENCODINGS, *PACKED])}'
        ))  # fmt: skip
    height, width, step = int(image.height), int(image.width), int(image.step)
    data = np.frombuffer(image.data, np.uint8)
    if step < 3 * width or len(data) != height * step:
        raise CameraError(DATA, (
            f'masks: got {len(data)} bytes with step {step}, expected height times step, and a '
            f'step of at least {3 * width}'
        ))  # fmt: skip
    channels = data.reshape(height, step)[:, : 3 * width].reshape(height, width, 3).astype(np.int32)
    return channels[..., 0] + (channels[..., 1] << 8) + (channels[..., 2] << LABEL_SHIFT), True


def metres_of_compressed(message: Any) -> npt.NDArray[np.float32]:
    """Return (H, W) metres of a sensor_msgs/CompressedImage of compressed depth, 0 for no depth.

    Raises:
        CameraError: it is no compressed depth, or not as PNG.
        MissingExtraError: Pillow is not installed.
    """
    encoding, _, codec = (part.strip() for part in message.format.partition(';'))
    data = bytes(message.data)
    if encoding not in ('16UC1', '32FC1') or 'compressedDepth' not in codec:
        raise CameraError(ENCODING, (
            f'depth: got format {message.format!r}, expected 16UC1 or 32FC1; compressedDepth'
        ))  # fmt: skip
    if data[_HEADER.size : _HEADER.size + len(_PNG)] != _PNG:
        raise CameraError(
            ENCODING, f'depth: got format {message.format!r} without a PNG, expected one: no rvl'
        )
    values = _decoded(data[_HEADER.size :])
    if encoding == '16UC1':
        return values * np.float32(1e-3)
    _, a, b = _HEADER.unpack_from(data)
    with np.errstate(divide='ignore'):
        metres = np.float32(a) / (values - np.float32(b))
    return np.where(values > 0, metres, np.float32(0)).astype(np.float32)


def _decoded(png: bytes) -> npt.NDArray[np.float32]:
    try:
        from PIL import Image
    except ImportError as error:
        raise MissingExtraError('perception', 'compressed depth needs Pillow', 'pillow') from error
    try:
        with Image.open(io.BytesIO(png), formats=('PNG',)) as image:
            values = np.asarray(image)
    except (OSError, ValueError, SyntaxError) as error:
        raise CameraError(DATA, f'depth: its PNG cannot be read: {error}') from error
    if values.ndim != 2:
        raise CameraError(DATA, f'depth: got a PNG of {values.shape}, expected one number a pixel')
    return values.astype(np.float32)


def points_of(cloud: Any) -> npt.NDArray[np.float32]:
    """Return (H, W, 3) metres of an organised sensor_msgs/PointCloud2.

    Raises:
        CameraError: it has one row (it is not organised), no x, y and z of 32 bits, or its data do
            not have the size that it names.
    """
    height, width = int(cloud.height), int(cloud.width)
    if height < 2:
        raise CameraError(NOT_ORGANISED, (
            f'points: got {width} x {height} points, expected the rows and columns of an image'
        ))  # fmt: skip
    offsets = {f.name: int(f.offset) for f in cloud.fields if f.datatype == _FLOAT32}
    if not {'x', 'y', 'z'} <= set(offsets):
        raise CameraError(NO_XYZ, (
            f'points: got fields {sorted(f.name for f in cloud.fields)}, expected x, y and z as '
            'FLOAT32'
        ))  # fmt: skip
    step, row_step = int(cloud.point_step), int(cloud.row_step)
    data = np.frombuffer(cloud.data, np.uint8)
    if row_step < width * step or len(data) != height * row_step:
        raise CameraError(DATA, (
            f'points: got {len(data)} bytes with row_step {row_step}, expected height times that, '
            f'and a row_step of at least {width * step}'
        ))  # fmt: skip
    kind = np.dtype('>f4' if cloud.is_bigendian else '<f4')
    points = data.reshape(height, row_step)[:, : width * step].reshape(height, width, step)
    columns = [
        np.ascontiguousarray(points[..., offsets[k] : offsets[k] + 4]).view(kind)[..., 0]
        for k in 'xyz'
    ]
    return np.stack(columns, axis=2).astype(np.float32)
