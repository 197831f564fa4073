# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Masks, compressed depth and clouds as arrays."""

from __future__ import annotations

import io
import struct
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from rgbd import image

from memory_node.errors import MissingExtraError
from memory_node.ros.depth import CameraError, metres_of
from memory_node.ros.images import LABEL_SHIFT, ids_of, metres_of_compressed, points_of


@pytest.mark.parametrize(
    ('encoding', 'kind'),
    [('mono8', '<u1'), ('8UC1', '<u1'), ('mono16', '<u2'), ('16UC1', '<u2'), ('32SC1', '<i4')],
)
def test_masks_of_every_encoding(encoding: str, kind: str) -> None:
    ids = np.array([[0, 7, 200], [1, 1, 0]], kind)
    found, packed = ids_of(image(ids, encoding))
    assert found.tolist() == ids.tolist() and not packed


def test_masks_of_the_other_byte_order() -> None:
    ids = np.array([[1, 770]], '>u2')
    assert ids_of(image(ids, 'mono16', is_bigendian=1))[0].tolist() == [[1, 770]]


def test_gazebos_labels_map_holds_label_and_instance() -> None:
    pixels = np.zeros((2, 2, 3), np.uint8)
    pixels[0, 0] = (2, 1, 40)  # instance 1 * 256 + 2 of label 40
    ids, packed = ids_of(image(pixels, 'rgb8'))
    assert packed and ids[0, 0] == 258 + (40 << LABEL_SHIFT) and ids[1, 1] == 0


def test_masks_that_cannot_be_used_say_why() -> None:
    ids = np.zeros((4, 4), np.uint8)
    with pytest.raises(CameraError, match="got encoding '32FC1'") as refused:
        ids_of(image(ids, '32FC1'))
    assert refused.value.reason == 'depth_encoding'
    for encoding in ('mono8', 'rgb8'):
        with pytest.raises(CameraError, match='masks: got 3 bytes') as refused:
            ids_of(image(ids, encoding, step=12, data=b'few'))
        assert refused.value.reason == 'depth_data'


@pytest.mark.parametrize(
    ('encoding', 'value', 'kind', 'bigendian'),
    [('16UC1', 1500, '<u2', 0), ('16UC1', 1500, '>u2', 1), ('32FC1', 1.5, '<f4', 0)],
)
def test_c20_the_unit_follows_the_encoding(
    encoding: str, value: float, kind: str, bigendian: int
) -> None:
    from memory_node.perception.surface import Pinhole, Surface

    pixels = np.zeros((480, 640), kind)
    pixels[240, 420] = value
    depth = metres_of(image(pixels, encoding, is_bigendian=bigendian))
    point = Surface(depth, Pinhole(500, 500, 320, 240)).points(np.array([240]), np.array([420]))
    assert point[0] == pytest.approx((0.3, 0.0, 1.5), abs=1e-3)


def compressed(values: np.ndarray, encoding: str, a: float = 0.0, b: float = 0.0) -> Any:
    pil = pytest.importorskip('PIL.Image', reason='needs Pillow')
    buffer = io.BytesIO()
    pil.fromarray(values).save(buffer, format='PNG')
    data = struct.pack('<iff', 0, a, b) + buffer.getvalue()
    return SimpleNamespace(format=f'{encoding}; compressedDepth png', data=data)


def test_compressed_depth_in_millimetres() -> None:
    values = np.array([[0, 1500], [65535, 200]], np.uint16)
    depth = metres_of_compressed(compressed(values, '16UC1'))
    assert depth == pytest.approx(values / 1000.0) and depth.dtype == np.float32


def test_compressed_depth_that_was_no_integer() -> None:
    a, b = 10000.0, -99.0  # depth = a / (value - b), as the plugin writes it
    depth = metres_of_compressed(compressed(np.array([[0, 5000]], np.uint16), '32FC1', a, b))
    assert depth[0] == pytest.approx([0.0, a / (5000 - b)])


def test_compressed_depth_that_cannot_be_used_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CameraError, match='expected 16UC1 or 32FC1; compressedDepth'):
        metres_of_compressed(SimpleNamespace(format='jpeg', data=b''))
    with pytest.raises(CameraError, match='no rvl'):
        metres_of_compressed(SimpleNamespace(format='16UC1; compressedDepth rvl', data=bytes(40)))
    good = compressed(np.ones((2, 2), np.uint16), '16UC1')
    broken = SimpleNamespace(format=good.format, data=good.data[:30])
    with pytest.raises(CameraError, match='cannot be read') as refused:
        metres_of_compressed(broken)
    assert refused.value.reason == 'depth_data'
    monkeypatch.setitem(sys.modules, 'PIL', None)
    with pytest.raises(MissingExtraError, match='pip install pillow'):
        metres_of_compressed(good)


def cloud(points: np.ndarray, **more: Any) -> Any:
    height, width, _ = points.shape
    padded = np.zeros((height, width, 8), '<f4')  # with colours and the like between
    padded[..., [0, 1, 3]] = points
    fields = [SimpleNamespace(name=n, offset=o, datatype=7) for n, o in zip('xyz', (0, 4, 12))]
    return SimpleNamespace(**{
        'height': height, 'width': width, 'fields': fields, 'is_bigendian': False,
        'point_step': 32, 'row_step': 32 * width, 'data': padded.tobytes(), **more,
    })  # fmt: skip


def test_an_organised_cloud() -> None:
    points = np.random.default_rng(0).random((3, 4, 3), np.float32)
    assert points_of(cloud(points)) == pytest.approx(points)


def test_c23_a_cloud_of_one_row_is_refused() -> None:
    points = np.zeros((1, 12, 3), np.float32)
    with pytest.raises(CameraError, match='got 12 x 1 points') as refused:
        points_of(cloud(points))
    assert refused.value.reason == 'cloud_not_organised'


def test_clouds_that_cannot_be_used_say_why() -> None:
    points = np.zeros((2, 2, 3), np.float32)
    with pytest.raises(CameraError, match='expected x, y and z'):
        points_of(cloud(points, fields=[]))
    with pytest.raises(CameraError, match='got 5 bytes'):
        points_of(cloud(points, data=bytes(5)))
