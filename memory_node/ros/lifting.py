# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Messages of one instant as what `perception.lifting` takes, and its detections as a message."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from spatial_memory.msg import DetectionArray, FieldOfView

from memory_node.perception.adapters import ClassNames, claim_of
from memory_node.perception.lifting import Lifted
from memory_node.perception.regions import (
    NO_NAME,
    Claimed,
    Region,
    RegionError,
    Size,
    fitted,
    masks_of,
    region_of_box,
    scale_between,
)
from memory_node.perception.settings import (
    BOXES,
    CLOUD,
    COMPRESSED,
    LABELLED_MASKS,
    LiftingConfig,
    LiftingNodeConfig,
)
from memory_node.perception.surface import Pinhole, Surface
from memory_node.ros import conversions
from memory_node.ros.depth import (
    SIZE,
    CameraError,
    field_of_view_of,
    intrinsics_of,
    metres_of,
)
from memory_node.ros.images import LABEL_SHIFT, ids_of, metres_of_compressed, points_of
from memory_node.ros.transform_buffer import frame_name

DETECTIONS, MASKS_TOPIC = 'detections_2d', 'masks'
DEPTH, COMPRESSED_DEPTH, POINTS = 'depth', 'depth/compressedDepth', 'points'
NO_INFO, NO_FRAME, FRAME = 'camera_info_missing', 'no_frame', 'camera_frame'


class Seen(NamedTuple):
    """What a depth camera measured.

    Attributes:
        surface: it. frame: its optical frame.
        image: width and height of the image that detectors look at.
        field_of_view: as a message; zeros where no camera says.
    """

    surface: Surface
    frame: str
    image: Size
    field_of_view: FieldOfView


def topics_of(settings: LiftingNodeConfig) -> list[str]:
    """Return the topics of which one message each makes a view; the first leads."""
    first = {BOXES: [DETECTIONS], LABELLED_MASKS: [MASKS_TOPIC, DETECTIONS]}
    return [*first.get(settings.regions, [MASKS_TOPIC]), depth_topic(settings)]


def depth_topic(settings: LiftingNodeConfig) -> str:
    """Return the topic on which depth comes."""
    return {COMPRESSED: COMPRESSED_DEPTH, CLOUD: POINTS}.get(settings.depth_source, DEPTH)


def seen_of(
    messages: Mapping[str, Any],
    info: Any | None,
    config: LiftingConfig,
    settings: LiftingNodeConfig,
) -> Seen:
    """Return what the depth camera measured.

    Args:
        messages: of one instant by topic. info: newest camera_info. config, settings: parameters.

    Raises:
        CameraError: it cannot be used; says why.
        RegionError: its size does not go with that of camera_info.
    """
    message = messages[depth_topic(settings)]
    frame = frame_name(message.header.frame_id)
    if not frame:
        raise CameraError(NO_FRAME, 'depth: got an empty frame_id, expected an optical frame')
    others = [m for topic, m in messages.items() if topic != depth_topic(settings)]
    _same_frame(frame, [m for m in (*others, info) if m is not None], settings)
    if settings.depth_source == CLOUD:
        points = points_of(message)
        surface = Surface(points[..., 2], xy_m=points[..., :2])
        return Seen(surface, frame, surface.size, FieldOfView())
    if info is None:
        raise CameraError(NO_INFO, 'camera_info: nothing came, expected it beside depth')
    camera = intrinsics_of(info)
    if settings.depth_source == COMPRESSED:
        depth_m = metres_of_compressed(message)
    else:
        depth_m = metres_of(message)
    image, size = (camera.width, camera.height), (depth_m.shape[1], depth_m.shape[0])
    try:
        scale = scale_between(image, size, settings.aligned)
    except RegionError as error:
        raise CameraError(SIZE, f'camera_info: {error}') from error
    pinhole = Pinhole(camera.fx, camera.fy, camera.cx, camera.cy).scaled(scale)
    fov = field_of_view_of(camera, config.min_range_m, config.max_range_m)
    shown = FieldOfView(
        horizontal_rad=fov.horizontal_rad, vertical_rad=fov.vertical_rad,
        min_range_m=fov.min_range_m, max_range_m=fov.max_range_m,
    )  # fmt: skip
    return Seen(Surface(depth_m, pinhole), frame, image, shown)


def regions_of(
    messages: Mapping[str, Any], seen: Seen, names: ClassNames, settings: LiftingNodeConfig,
    refused: Counter[str],
) -> list[Region]:  # fmt: skip
    """Return where the detector saw things; what cannot be used alone is counted in `refused`.

    Raises:
        CameraError, RegionError: none of it can be used.
    """
    if settings.regions == BOXES:
        return list(_boxes(messages[DETECTIONS], seen, names, settings, refused))
    ids, packed = ids_of(messages[MASKS_TOPIC])
    ids = fitted(ids, seen.surface.size, settings.aligned)
    claims: dict[str, Claimed] | None = None
    if settings.regions == LABELLED_MASKS:
        claims = {str(d.id).strip(): _claim(d, names) for d in messages[DETECTIONS].detections}
    regions = []
    for number, top, left, mask in masks_of(ids):
        if claims is not None:
            claim = claims.get(str(number), Claimed('', 0.0))
        else:
            name = names.known(str(number >> LABEL_SHIFT if packed else number))
            claim = Claimed(name, settings.mask_score)
        if claim.label:
            regions.append(Region(claim, top, left, mask))
        else:
            refused[NO_NAME] += 1
    return regions


def view_of(
    lifted: Iterable[Lifted], seen: Seen, stamp_ns: int, settings: LiftingNodeConfig
) -> DetectionArray:
    """Return detections as a message in the optical frame."""
    view = DetectionArray(
        sensor=settings.sensor or seen.frame, sensor_frame=seen.frame,
        field_of_view=seen.field_of_view,
        detections=[conversions.detection_to_msg(one.detection) for one in lifted],
    )  # fmt: skip
    view.header.frame_id = seen.frame
    view.header.stamp = conversions.stamp_from_ns(stamp_ns)
    return view


def rotation_of(matrix: np.ndarray) -> np.ndarray:
    """Return the (3, 3) rotation of a transform's matrix."""
    return np.asarray(matrix, np.float64)[:3, :3]


def _boxes(
    message: Any, seen: Seen, names: ClassNames, settings: LiftingNodeConfig, refused: Counter[str]
) -> Iterable[Region]:
    size = seen.surface.size
    scale = scale_between(seen.image, size, settings.aligned)
    for given in message.detections:
        box, claim = given.bbox, _claim(given, names)
        center = (float(box.center.position.x), float(box.center.position.y))
        extent = (float(box.size_x), float(box.size_y))
        try:
            yield region_of_box(claim, center, extent, size, scale, float(box.center.theta))
        except RegionError as error:
            refused[error.reason] += 1


def _claim(given: Any, names: ClassNames) -> Claimed:
    guesses = ((r.hypothesis.class_id, r.hypothesis.score) for r in given.results)
    claim = claim_of(guesses, names)
    # With masks the id names pixels, which need not be the same thing in the next image.
    return Claimed(claim.label, float(claim.score), claim.alternatives)


def _same_frame(frame: str, messages: Iterable[Any], settings: LiftingNodeConfig) -> None:
    for message in messages:
        given = frame_name(message.header.frame_id)
        if given and given != frame and not settings.aligned:
            raise CameraError(FRAME, (
                f'got depth of frame {frame!r} beside {type(message).__name__} of {given!r}, '
                'expected one frame, or aligned: true where both show the same'
            ))  # fmt: skip
