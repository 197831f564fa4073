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
from functools import cached_property, lru_cache

import numpy as np

from memory_node.config import Config
from memory_node.fusion import looking
from memory_node.fusion.candidates import CandidateIndex
from memory_node.fusion.looks import variance_of
from memory_node.fusion.world import CHECKS, Rows, World
from memory_node.model import FieldOfView, Floats, View
from memory_node.scene import boxes

SEEN, THROUGH, MISSED, OCCLUDED, TOO_FAR, NOTHING, NEVER = range(len(CHECKS))
EVIDENCE = MISSED
"""Codes up to this one say something about presence."""

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
"""What shares so much of the union of two boxes is in the place of the other: if an object
should be there, the surface is that of something else."""
NEAR_PLANE_M = 0.05
_NO_DEPTH = np.zeros((0, 0), np.float32)
_CODES = np.array([MISSED, NOTHING, THROUGH, OCCLUDED, TOO_FAR, NEVER])
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

    def only(self, places: Rows) -> Sights:
        """Some of them."""
        return Sights(self.rows[places], self.kind[places], self.likelihood[places])

    @cached_property
    def glances(self) -> Sights:
        """Those without evidence."""
        return self.only(np.flatnonzero(self.kind > EVIDENCE))


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
    turn = np.array(boxes.rotation_of(*map(float, pose.orientation_xyzw)))
    rows = _before(sensor, turn[:, 2], fov, world, index, map_number)
    if not len(rows):
        return NO_SIGHTS
    kind = _kinds(view, sensor, turn, rows, shown, shown_boxes, world, c)
    there = np.flatnonzero(kind != NEVER)
    rows, kind = rows[there], kind[there]
    return Sights(rows, kind, likelihoods(kind, view.depth is not None, view.sensor, c))


def likelihoods(kind: np.ndarray, has_depth: bool, sensor: str, c: Config) -> Floats:
    """(S,) how much likelier each kind of look is at what is there than at what is not."""
    visible = 1.0 if has_depth else c.visible_share
    through = c.through_if_there / c.through_if_gone
    result: Floats = _likelihood_of(*rates_of(sensor, c), visible, through)[kind]
    return result


@lru_cache(maxsize=64)
def _likelihood_of(detect: float, false: float, visible: float, through: float) -> Floats:
    """(C,) likelihood of each code of CHECKS."""
    table = np.ones(len(CHECKS))
    table[SEEN], table[THROUGH] = detect / false, through
    table[MISSED] = (1.0 - detect * visible) / (1.0 - false * visible)
    return table.astype(np.float32).astype(np.float64)  # as it is stored


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
    return variance_of(view.localization_cov) > c.localization_limit_m**2


def _before(
    sensor: Floats, axis: Floats, fov: FieldOfView, world: World, index: CandidateIndex,
    map_number: int,
) -> Rows:  # fmt: skip
    """Rows of the objects of the map in a ball about what the sensor can see along its axis."""
    reach = fov.max_range_m * FARTHER_THAN_RANGE
    widest = max(fov.horizontal_rad, fov.vertical_rad) / 2
    ahead, radius = 0.0, reach
    if widest < math.pi / 2 - 1e-3:
        tangent = math.hypot(math.tan(fov.horizontal_rad / 2), math.tan(fov.vertical_rad / 2))
        cosine = 1.0 / math.hypot(1.0, tangent)
        ahead = reach * cosine if cosine < math.sqrt(0.5) else reach / (2 * cosine)
        radius = reach * tangent * cosine if cosine < math.sqrt(0.5) else ahead
    rows, _ = index.within(sensor + ahead * axis, radius)
    if len(world.maps) > 1:
        rows = rows[world.records['map'][rows] == map_number]
    return rows


def _kinds(
    view: View, sensor: Floats, turn: Floats, rows: Rows, shown: Rows,
    shown_boxes: tuple[Floats, Floats], world: World, c: Config,
) -> np.ndarray:  # fmt: skip
    """(R,) what the view says of each object; NEVER: it is out of view, or shown."""
    fov, depth = view.field_of_view, view.depth
    assert fov is not None
    image, lens = _NO_DEPTH, np.zeros(4)
    if depth is not None:
        image = np.asarray(depth.depth_m).astype(np.float32, copy=False)
        lens = np.array([depth.fx, depth.fy, depth.cx, depth.cy], dtype=np.float64)
    kind = np.empty(len(rows), np.uint8)
    looking.kinds(
        world.records, rows, shown, *shown_boxes, sensor, turn, angles_of(fov),
        np.array([fov.min_range_m, fov.max_range_m], dtype=np.float64), _PROBES, image, lens,
        _limits(c.depth_tolerance_m), _CODES, kind,
    )  # fmt: skip
    return kind


@lru_cache(maxsize=8)
def _limits(tolerance_m: float) -> Floats:
    """As `looking` wants them."""
    return np.array(
        [INNER, tolerance_m, DEPTH_NOISE, NEAR_PLANE_M, MOST, HIDDEN, BARE, LEAST_PIXELS, TAKEN]
    )


def angles_of(fov: FieldOfView) -> Floats:
    """As `looking` wants them."""
    across, along = fov.horizontal_rad / 2, fov.vertical_rad / 2
    if max(across, along) < math.pi / 2:
        return np.array([0.0, math.tan(across), math.tan(along)])
    return np.array([1.0, math.cos(across), math.cos(min(along, math.pi / 2))])
