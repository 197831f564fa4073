# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""From regions of a depth image to detections: boxes in the optical frame, with their doubt."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import ndimage
from scipy.spatial import cKDTree

from memory_node.fusion.classes import Classes, load_classes
from memory_node.model import Detection
from memory_node.perception.cloud import Box, Clouds, Points
from memory_node.perception.regions import Claimed, Mask, Region
from memory_node.perception.settings import LiftingConfig
from memory_node.perception.surface import Surface

NO_LABEL = 'no_label'
NO_DEPTH = 'no_depth'
TOO_NEAR, TOO_FAR = 'too_near', 'too_far'
TOO_FEW = 'too_few_points'
SCATTERED = 'scattered'
TOO_LARGE, TOO_SMALL = 'too_large', 'too_small'

REASONS = {
    NO_LABEL: 'it has no label',
    NO_DEPTH: 'no pixel of it has depth',
    TOO_NEAR: 'all of it is nearer than min_range_m',
    TOO_FAR: 'all of it is farther than max_range_m',
    TOO_FEW: 'fewer pixels with depth than min_pixels or min_depth_share, or than a box needs',
    SCATTERED: 'the largest thing in its mask is smaller than min_share',
    TOO_LARGE: 'it is longer than a thing of its class can be',
    TOO_SMALL: 'all of it is in view, and it is shorter than a thing of its class can be',
}
"""Why a region becomes no detection."""

FEWEST = 12
"""Points that a box needs at the least."""
SHARED_ERRORS = 6.0
"""The errors of one view go together: its points say as much as so many independent ones."""
PARTIAL_DOUBT = 3.0
"""The centre of what is seen in part is so many times less certain, as a standard deviation."""
HIDDEN_MOST_M = 0.1
"""What is seen from one side is taken to be as deep as it is wide or high, but for no more than
this: how much of that is behind what is seen is not known."""
PIXELS_PER_POINT = 4
"""Pixels that are looked at for each point that is kept: large masks are thinned out before."""
RIM_SLACK = 1.5
"""What was taken off the rim counts for the box if it is no farther from the rest than so many
times what was taken off."""
RIM_PX = 3
"""How far outside a mask is looked for what hides the rest; the first pixels mix the two."""
THICKEST = 1.5
"""What stands in a box of an image is at most so many times as deep as it is wide or high."""
MIDDLE = 200
"""Pixels about the middle of a box that say which of the things in it is meant."""


class Lifted(NamedTuple):
    """One thing with its place.

    Attributes:
        detection: in the optical frame.
        partial: whether only a part of it is in view: cut off by the image, or behind something.
        region: what it was made of.
    """

    detection: Detection
    partial: bool
    region: Region


class Lifting:
    """Turns regions into detections. What makes none is counted by reason (see REASONS)."""

    def __init__(self, config: LiftingConfig | None = None, classes: Classes | None = None) -> None:
        """Get ready.

        Args:
            config: how. classes: plausible sizes; None: those of the package.

        Raises:
            MissingExtraError: Open3D is not installed.
        """
        self._config = config or LiftingConfig()
        self._classes = classes or load_classes()
        self._clouds = Clouds()

    def lift(
        self, surface: Surface, regions: Iterable[Region],
        level: npt.NDArray[np.float64] | None = None,
    ) -> tuple[list[Lifted], Counter[str]]:  # fmt: skip
        """Return what the regions show, in their order, and reason → regions that show nothing.

        Args:
            surface: what the depth camera measured.
            regions: within its image.
            level: (3, 3) rotation from the optical frame into one whose z points up; see `Clouds`.
        """
        lifted: list[Lifted] = []
        refused: Counter[str] = Counter()
        for region in regions:
            made = self._lift_one(surface, region, level)
            if isinstance(made, str):
                refused[made] += 1
            else:
                lifted.append(made)
        return lifted, refused

    def _lift_one(
        self, surface: Surface, region: Region, level: npt.NDArray[np.float64] | None
    ) -> Lifted | str:
        """What a region shows, or why it shows nothing."""
        if not region.claim.label:
            return NO_LABEL
        depth = surface.depth_m[region.rows, region.columns]
        seen = region.mask & (depth > 0)
        if not seen.any():
            return NO_DEPTH
        near = depth < self._config.min_range_m
        far = depth > self._config.max_range_m
        usable = seen & ~near & ~far
        if not usable.any():
            return TOO_NEAR if (seen & near).any() else TOO_FAR
        least = self._config.min_depth_share * region.mask.sum()
        if usable.sum() < max(self._config.min_pixels, least):
            return TOO_FEW
        kept = self._core(surface, region, usable)
        points = self._one_thing(surface, region, usable, kept)
        if isinstance(points, str):
            return points
        box = self._clouds.box(points, level)
        partial = self._is_partial(surface, region, usable, float(np.median(points[:, 2])))
        implausible = self._implausible(region.claim.label, box, partial)
        if implausible:
            return implausible
        return Lifted(self._detection(region.claim, box, points, partial), partial, region)

    # -- which pixels ------------------------------------------------------------------------

    def _core(self, surface: Surface, region: Region, usable: Mask) -> Mask:
        """Pixels that are surely the thing: not at its rim, not at a jump in depth."""
        c = self._config
        edges = surface.edges(region.rows, region.columns, c.edge_m, c.edge_share)
        kept = usable & ~edges
        if c.erosion_px and not region.is_box:
            # What the image cuts off has no rim there.
            inner = ndimage.binary_erosion(region.mask, iterations=c.erosion_px, border_value=0)
            inner |= _at_image_border(surface, region, c.erosion_px) & region.mask
            if (kept & inner).sum() >= c.min_pixels:
                return kept & inner
        return kept if kept.sum() >= c.min_pixels else usable

    def _one_thing(
        self, surface: Surface, region: Region, usable: Mask, kept: Mask
    ) -> Points | str:
        """Points of the thing that is meant, without strays."""
        c = self._config
        rows, columns = _some_of(kept, PIXELS_PER_POINT * c.max_points)
        points = surface.points(rows + region.top, columns + region.left)
        anchor = None
        if region.is_box:
            anchor = _middle(points, rows, columns, kept.shape)
            points = _not_too_deep(points, anchor, region, surface.pixel_rad)
        pixel_m = float(np.median(points[:, 2])) * surface.pixel_rad
        cell_m = pixel_m * max(1.0, (kept.sum() / c.max_points) ** 0.5)
        points = self._clouds.thinned(points, cell_m)
        labels = self._clouds.clusters(points, max(c.cluster_gap_m, 3.0 * cell_m))
        if (labels < 0).all():
            return TOO_FEW
        pixels = 1.0 / points[:, 2] ** 2  # that a point of thinned ones stands for, about
        shares = np.bincount(labels + 1, pixels)[1:] / pixels.sum()
        chosen = int(np.argmax(shares))
        if anchor is not None:
            chosen = _cluster_at(points, labels, anchor)
        elif shares[chosen] < c.min_share:
            return SCATTERED
        one = self._clouds.without_outliers(
            points[labels == chosen], c.outlier_neighbors, c.outlier_deviations
        )
        if len(one) < FEWEST:
            return TOO_FEW
        return np.concatenate([one, self._rim(surface, region, usable & ~kept, one, cell_m)])

    def _rim(
        self, surface: Surface, region: Region, rim: Mask, one: Points, cell_m: float
    ) -> Points:
        """Points of what was taken off the rim that lie beside the thing after all."""
        rows, columns = _some_of(rim, self._config.max_points)
        if not len(rows):
            return np.zeros((0, 3))
        points = surface.points(rows + region.top, columns + region.left)
        pixel_m = float(np.median(one[:, 2])) * surface.pixel_rad
        away, _ = cKDTree(one).query(points)
        near = points[away <= RIM_SLACK * (self._config.erosion_px + 1) * pixel_m + cell_m]
        return self._clouds.thinned(near, cell_m)

    def _is_partial(self, surface: Surface, region: Region, usable: Mask, depth_m: float) -> bool:
        """Whether the border of the image or something nearer takes a share of its rim."""
        if region.is_box:
            touching = _at_image_border(surface, region, 1)
            return bool(touching.any())
        grown = _around(region, surface, RIM_PX)
        mask, depth = grown.mask, surface.depth_m[grown.rows, grown.columns]
        rim = mask & ~ndimage.binary_erosion(mask, border_value=0)
        cut = rim & _at_image_border(surface, grown, 1)
        beside = ndimage.binary_dilation(mask, iterations=RIM_PX) & ~mask
        own = depth[mask & (depth > 0)]
        gap = self._config.edge_m + self._config.edge_share * depth_m
        nearest = float(np.percentile(own, 5)) if len(own) else depth_m
        nearer = beside & (depth > 0) & (depth < nearest - gap)
        rim_count = max(int(rim.sum()), 1)
        hidden = int(nearer.sum()) / max(int(beside.sum()), 1)
        return int(cut.sum()) / rim_count + hidden >= max(self._config.partial_share, 1e-9)

    # -- what comes out ----------------------------------------------------------------------

    def _implausible(self, label: str, box: Box, partial: bool) -> str:
        """Why a thing of this class cannot be so long; empty: it can."""
        low, high = self._classes.of(label).size_m
        longest, margin = max(box.size_m), self._config.size_margin
        if longest > high * margin:
            return TOO_LARGE
        return TOO_SMALL if not partial and longest < low / margin else ''

    def _detection(self, claim: Claimed, box: Box, points: Points, partial: bool) -> Detection:
        return Detection(
            claim.label, claim.score, box.center_m, box.size_m, box.orientation_xyzw,
            position_cov=self._covariance(box, points, partial),
            alternatives=claim.alternatives, track_id=claim.track_id,
        )  # fmt: skip

    def _covariance(self, box: Box, points: Points, partial: bool) -> npt.NDArray[np.float64]:
        """(3, 3) of the centre: the camera's noise along the ray, and how far the points spread.

        Noise of one measurement after Nguyen, Izadi and Lovell, "Modeling Kinect sensor noise for
        improved 3D reconstruction and tracking", 2012: it grows with the square of the distance.
        """
        c = self._config
        center = np.array(box.center_m)
        distance = float(np.sqrt((center * center).sum()))
        noise = c.noise_m + c.noise_per_m * max(distance - 0.4, 0.0) ** 2
        ray = center / max(distance, 1e-9)
        spread = np.atleast_2d(np.cov(points, rowvar=False)) / SHARED_ERRORS
        if partial:
            spread = spread * PARTIAL_DOUBT**2
        hidden = min(_hidden_m(points, ray), HIDDEN_MOST_M) / 12.0**0.5
        along = noise**2 + hidden**2
        lateral = (noise / 3.0) ** 2 * np.eye(3)
        return np.asarray(along * np.outer(ray, ray) + lateral + spread)


def _some_of(mask: Mask, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows and columns of a mask, of large ones evenly spread ones, at most about so many."""
    rows, columns = np.nonzero(mask)
    step = -(-len(rows) // most)
    if step > 1:
        some = (columns + 2 * rows) % step == 0  # not a multiple in each row: that would be lines
        rows, columns = rows[some], columns[some]
    return rows, columns


def _hidden_m(points: Points, ray: npt.NDArray[np.float64]) -> float:
    """How much deeper along the ray it would be if it were as deep as it is wide or high."""
    along = points @ ray
    across = points - along[:, None] * ray
    low, high = np.percentile(np.column_stack([along, across[:, :2]]), (5, 95), axis=0)
    depth, width, height = (high - low).tolist()
    return max(min(width, height) - depth, 0.0)


def _at_image_border(surface: Surface, region: Region, width: int) -> Mask:
    """(h, w) pixels of a region that lie at the border of the image."""
    columns, rows = surface.size
    v = np.arange(region.rows.start, region.rows.stop)[:, None]
    u = np.arange(region.columns.start, region.columns.stop)
    return (v < width) | (v >= rows - width) | (u < width) | (u >= columns - width)


def _around(region: Region, surface: Surface, width: int) -> Region:
    """The region with so many pixels around its mask, as far as the image goes."""
    columns, rows = surface.size
    above, left = min(width, region.top), min(width, region.left)
    below = min(width, rows - region.rows.stop)
    right = min(width, columns - region.columns.stop)
    mask = np.pad(region.mask, ((above, below), (left, right)))
    return Region(region.claim, region.top - above, region.left - left, mask)


def _middle(
    points: Points, rows: np.ndarray, columns: np.ndarray, shape: tuple[int, ...]
) -> Points:
    """The nearer half of the points about the middle of a box, where the thing is."""
    away = ((rows - shape[0] / 2) / shape[0]) ** 2 + ((columns - shape[1] / 2) / shape[1]) ** 2
    middle = points[np.argsort(away, kind='stable')[:MIDDLE]]
    return middle[middle[:, 2] <= np.median(middle[:, 2])]


def _not_too_deep(points: Points, anchor: Points, region: Region, pixel_rad: float) -> Points:
    """The points of a box that are not much nearer or farther than its middle."""
    depth_m = float(np.median(anchor[:, 2]))
    reach_m = THICKEST / 2 * max(region.mask.shape) * pixel_rad * depth_m
    return points[np.abs(points[:, 2] - depth_m) <= max(reach_m, 0.01)]


def _cluster_at(points: Points, labels: np.ndarray, anchor: Points) -> int:
    """The cluster to which most of the anchor's points are nearest."""
    in_one = labels >= 0
    _, nearest = cKDTree(points[in_one]).query(anchor)
    return int(np.argmax(np.bincount(labels[in_one][nearest])))
