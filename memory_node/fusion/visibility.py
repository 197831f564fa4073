# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What a view says of each stored object that lies before its sensor (DESIGN §6).

Depth at the pixels of its box tells most: nearer, something hides it; at its range, a surface is
still there; farther on most of them, the sensor saw through where it should be. Without depth only
the detector can have missed it. What is kept of it is a word and a likelihood, since the depth is
gone afterwards.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from memory_node.config import Config
from memory_node.fusion.candidates import CandidateIndex
from memory_node.fusion.world import CHECKS, Rows, World
from memory_node.model import DepthImage, FieldOfView, Floats, Pose, View
from memory_node.scene import boxes
from memory_node.scene.boxes import Bools

SEEN, THROUGH, MISSED, OCCLUDED, TOO_FAR, NOTHING, NEVER = range(len(CHECKS))
EVIDENCE = MISSED
"""Codes up to this one say something about presence."""

DIGITS = 9
FARTHER_THAN_RANGE = 1.25
"""Up to so many times the range an object is told to be out of it; beyond, it is out of view."""
INNER = 0.6
"""Share of the box at whose points depth is read: its border pixels show what is beside it."""
LEAST_PIXELS = 1.0
"""A box whose half extent is less on the image is not resolved by depth."""
DEPTH_NOISE = 0.01
"""Depth is this share of itself uncertain, beside `depth_tolerance_m`."""
MOST, HIDDEN, BARE = 0.5, 0.5, 0.9
"""Shares of the points of a box: what most of them show is so; so many hidden ones hide it."""
TAKEN = 0.3
"""What shares so much of the union of two boxes is in the place of the other."""
NEAR_PLANE_M = 0.05
_SIGNS = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=np.float64)
_PROBES = np.concatenate([np.zeros((1, 3)), np.eye(3), -np.eye(3), _SIGNS])
"""(15, 3) middle, faces and corners of a box, in half extents."""


@dataclass(frozen=True)
class Sights:
    """What a view says of the objects it does not show.

    Attributes:
        rows: (S,) of the objects. kind: (S,) code of CHECKS.
        likelihood: (S,) how much likelier this look is if the object is there than if it is not.
    """

    rows: Rows
    kind: np.ndarray
    likelihood: Floats


NO_SIGHTS = Sights(np.zeros(0, np.int64), np.zeros(0, np.uint8), np.zeros(0))


def sights_of(
    view: View, shift: Floats, shown: Rows, shown_boxes: tuple[Floats, Floats], world: World,
    index: CandidateIndex, map_number: int, c: Config,
) -> Sights:  # fmt: skip
    """Judge every look at an object that the view does not show.

    Args:
        view: as given, its field of view and localisation being usable.
        shift: (3,) metres by which its pose is wrong.
        shown: (R,) rows of the objects it shows; these are left out.
        shown_boxes: (M, 3) centres and half extents of all that it shows.
        world, index: as before the view. map_number: of its map. c: settings.
    """
    fov, pose = view.field_of_view, view.sensor_pose
    if fov is None or pose is None or not world.count or _badly_localised(view, c):
        return NO_SIGHTS
    sensor = np.array(pose.position_m, dtype=np.float64) - shift
    rows = _before(sensor, pose, fov, world, index, map_number)
    rows = rows[~np.isin(rows, shown)]
    if not len(rows):
        return NO_SIGHTS
    kind = _kinds(view, sensor, rows, world, c)
    unclear = np.flatnonzero(kind == NOTHING)
    kind[unclear[_taken(rows[unclear], shown_boxes, world)]] = MISSED
    there = kind != NEVER
    rows, kind = rows[there], kind[there]
    return Sights(rows, kind, likelihoods(kind, view.depth is not None, view.sensor, c))


def _taken(rows: Rows, boxes_shown: tuple[Floats, Floats], world: World) -> Bools:
    """(R,) whether something else is shown where an object should be: the surface is not its."""
    center, half = boxes_shown
    if not len(center) or not len(rows):
        return np.zeros(len(rows), bool)
    held = world.records[rows]
    near = np.repeat(held['hull_center'], len(center), axis=0)
    size = np.repeat(held['half'], len(center), axis=0)
    shared = boxes.iou(np.tile(center, (len(rows), 1)), np.tile(half, (len(rows), 1)), near, size)
    best = np.nan_to_num(shared).reshape(len(rows), len(center)).max(axis=1)
    result: Bools = best.round(DIGITS) >= TAKEN
    return result


def likelihoods(kind: np.ndarray, has_depth: bool, sensor: str, c: Config) -> Floats:
    """(S,) how much likelier each kind of look is at what is there than at what is not."""
    detect, false = rates_of(sensor, c)
    table = np.ones(len(CHECKS))
    table[SEEN] = detect / false
    table[THROUGH] = c.through_if_there / c.through_if_gone
    visible = 1.0 if has_depth else c.visible_share
    table[MISSED] = (1.0 - detect * visible) / (1.0 - false * visible)
    return table.astype(np.float32).astype(np.float64)[kind]  # as it is stored


def rates_of(sensor: str, c: Config) -> tuple[float, float]:
    """P(detect) and P(false alarm) of a sensor."""
    for text in c.detector_rates:
        name, detect, false = text.split()
        if name == sensor:
            return float(detect), float(false)
    return c.detect_probability, c.false_probability


def _badly_localised(view: View, c: Config) -> bool:
    if view.localization_cov is None:
        return False
    variance = float(np.asarray(view.localization_cov, dtype=np.float64).diagonal()[:3].max())
    return variance > c.localization_limit_m**2


def _before(
    sensor: Floats, pose: Pose, fov: FieldOfView, world: World, index: CandidateIndex,
    map_number: int,
) -> Rows:  # fmt: skip
    """Rows of the objects of the map in a ball about what the sensor can see, ascending."""
    reach = fov.max_range_m * FARTHER_THAN_RANGE
    widest = max(fov.horizontal_rad, fov.vertical_rad) / 2
    ahead, radius = 0.0, reach
    if widest < math.pi / 2 - 1e-3:
        tangent = math.hypot(math.tan(fov.horizontal_rad / 2), math.tan(fov.vertical_rad / 2))
        cosine = 1.0 / math.hypot(1.0, tangent)
        ahead = reach * cosine if cosine < math.sqrt(0.5) else reach / (2 * cosine)
        radius = reach * tangent * cosine if cosine < math.sqrt(0.5) else ahead
    axis = np.array(boxes.optical_axis_of(*map(float, pose.orientation_xyzw)))
    rows, _ = index.within(sensor + ahead * axis, radius)
    if len(world.maps) > 1:
        rows = rows[world.records['map'][rows] == map_number]
    return rows


def _kinds(view: View, sensor: Floats, rows: Rows, world: World, c: Config) -> np.ndarray:
    """(R,) what the view says of each object; NEVER: it is out of view."""
    fov, pose = view.field_of_view, view.sensor_pose
    assert fov is not None and pose is not None
    turn = boxes.rotation_matrices(np.array([pose.orientation_xyzw], dtype=np.float64))[0]
    records = world.records
    center = _turned(records['center'][rows] - sensor, turn)
    axes = _axes(records['size'][rows], records['orientation'][rows], turn)
    kind = np.full(len(rows), NOTHING, np.uint8)
    inside = in_view(center[:, None], fov)[:, 0]
    away = np.sqrt(boxes.tree_sum(center * center)).round(DIGITS)
    near = (away >= fov.min_range_m) & (away <= fov.max_range_m)
    reach = np.sqrt(boxes.tree_sum((axes * axes).reshape(len(rows), 9)))
    around = away <= reach  # the sensor is within, or all but
    some = np.flatnonzero(inside & near & ~around)
    if len(some):
        probes = _probes(center[some], axes[some], 1.0)
        whole = in_view(probes, fov).all(axis=1)
        kind[some] = np.where(whole, MISSED, NOTHING)
        if view.depth is not None:
            kind[some] = _by_depth(view.depth, center[some], axes[some], kind[some], fov, c)
    kind[inside & (away > fov.max_range_m)] = TOO_FAR
    kind[~inside] = NEVER
    return kind


def in_view(points: Floats, fov: FieldOfView) -> Bools:
    """Whether points, (N, K, 3) in the optical frame, lie between the opening angles, (N, K)."""
    x, y, z = points[..., 0], points[..., 1], points[..., 2]
    if fov.horizontal_rad < math.pi and fov.vertical_rad < math.pi:
        wide = math.tan(fov.horizontal_rad / 2) * z - np.abs(x)
        high = math.tan(fov.vertical_rad / 2) * z - np.abs(y)
        result: Bools = (wide.round(DIGITS) >= 0) & (high.round(DIGITS) >= 0) & (z > 0)
        return result
    level = np.sqrt(x * x + z * z)
    away = np.sqrt(level * level + y * y)
    wide = z - math.cos(fov.horizontal_rad / 2) * level
    high = level - math.cos(min(fov.vertical_rad / 2, math.pi / 2)) * away
    result = (wide.round(DIGITS) >= 0) & (high.round(DIGITS) >= 0)
    return result


def _turned(vectors: Floats, turn: Floats) -> Floats:
    """(N, 3) map → optical frame; turn: (3, 3) of the optical frame in the map."""
    x, y, z = vectors[:, 0:1], vectors[:, 1:2], vectors[:, 2:3]
    return x * turn[0] + y * turn[1] + z * turn[2]


def _axes(size: Floats, orientation: Floats, turn: Floats) -> Floats:
    """(N, 3, 3) half axes of boxes in the optical frame, one a row."""
    own = boxes.rotation_matrices(orientation)  # columns are the axes in the map
    axes = np.empty_like(own)
    for k in range(3):
        axes[:, k] = _turned(own[:, :, k] * (size[:, k : k + 1] * 0.5), turn)
    return axes


def _probes(center: Floats, axes: Floats, share: float) -> Floats:
    """(N, K, 3) points of boxes in the optical frame."""
    p = _PROBES * share
    spread = p[:, 0:1] * axes[:, None, 0] + p[:, 1:2] * axes[:, None, 1]
    result: Floats = center[:, None] + spread + p[:, 2:3] * axes[:, None, 2]
    return result


def _by_depth(
    depth: DepthImage, center: Floats, axes: Floats, kind: np.ndarray, fov: FieldOfView, c: Config
) -> np.ndarray:
    """(N,) kinds by the depth at the pixels of the boxes; kind: as the detector alone says."""
    probes = _probes(center, axes, INNER)
    x, y, z = probes[..., 0], probes[..., 1], probes[..., 2]
    ahead = z > NEAR_PLANE_M
    safe = np.where(ahead, z, 1.0)
    height, width = depth.depth_m.shape
    u = np.rint((np.where(ahead, x, 0.0) / safe * depth.fx + depth.cx).round(DIGITS))
    v = np.rint((np.where(ahead, y, 0.0) / safe * depth.fy + depth.cy).round(DIGITS))
    on = ahead & (u >= 0) & (u < width) & (v >= 0) & (v < height)
    place = np.where(on, v, 0).astype(np.int64), np.where(on, u, 0).astype(np.int64)
    shown = np.asarray(depth.depth_m)[place].astype(np.float64)
    with np.errstate(invalid='ignore'):
        valid = on & np.isfinite(shown) & (shown > 0)
    half = boxes.tree_sum(np.abs(axes[:, :, 2]))
    far = center[:, 2]
    tolerance = c.depth_tolerance_m + DEPTH_NOISE * far
    behind = (np.where(valid, shown, 0.0) - far[:, None]).round(DIGITS)
    nearer = _share(valid & (behind < -(half + tolerance)[:, None]))
    beyond = _share(valid & (behind > tolerance[:, None]))
    through = _share(valid & (behind > (half + tolerance)[:, None]))
    extent = boxes.largest(np.sqrt(axes[:, :, 0] ** 2 + axes[:, :, 1] ** 2))
    pixels = extent * min(depth.fx, depth.fy) / np.maximum(far, NEAR_PLANE_M)
    resolved = pixels.round(DIGITS) >= LEAST_PIXELS
    side = np.sqrt(boxes.tree_sum(axes * axes)).min(axis=1)
    thin = (side - tolerance).round(DIGITS) <= 0
    bare = thin & (_share(valid & (behind >= -tolerance[:, None])) >= BARE)
    found = np.where((beyond > MOST) | bare, kind, NOTHING)
    found = np.where(resolved & (through > MOST), THROUGH, found)
    found = np.where(nearer >= HIDDEN, OCCLUDED, found)
    known = on.all(axis=1) & (_share(valid) > MOST)
    result: np.ndarray = np.where(known, found, NOTHING).astype(np.uint8)
    return result


def _share(mask: Bools) -> Floats:
    """(N, K) → (N,) the share that is true."""
    result: Floats = mask.sum(axis=1) / mask.shape[1]
    return result
