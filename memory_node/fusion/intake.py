# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Turn the detections of a view into arrays; refuse each malformed one alone, with a reason."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from memory_node.config import Config
from memory_node.fusion import blending
from memory_node.fusion.depth import depth_problem
from memory_node.fusion.features import unit_rows
from memory_node.fusion.looks import variance_of
from memory_node.fusion.reading import pick, read_numbers, sort_rows
from memory_node.fusion.world import Features
from memory_node.model import UNKNOWN_LABEL, Detection, FieldOfView, Floats, View
from memory_node.scene.boxes import Bools

REASONS = {
    'bad_type': 'a field has the wrong type or number of values',
    'not_finite': 'a position, size, orientation or score is NaN or infinite',
    'bad_score': 'the score is not from 0 to 1',
    'bad_size': 'a side of the box is negative',
    'no_label': 'the label is empty and there is no feature',
    'ignored': 'the label is one of ignored_labels, or of what labels_file says to leave out',
    'no_feature': 'profile chronotope cannot judge a detection without a feature',
    'feature_space': 'the feature is of another embedding model than this memory uses',
    'feature_dim': 'the feature has another length than the features of this store',
    'bad_feature': 'the feature is all zero, NaN or infinite',
}
"""Why a detection is refused before it is judged. It is counted, and not stored."""

VIEW_REASONS = {
    'bad_stamp': 'the stamp is zero, or further ahead of the clock than max_future_s',
    'too_old': 'the stamp is more than max_age_s before the newest one',
    'bad_view': 'sensor, map, feature space or scope is no text, or the clock neither wall nor sim',
    'bad_pose': 'the sensor pose is not finite, or its quaternion has no unit norm',
}
"""Why a whole view is refused. It is counted, and not stored."""

VIEW_FAULTS = {
    'bad_field_of_view': 'an angle is not above zero and up to a full turn, or a range is not',
    'bad_localization_cov': 'the covariance of the localisation is no (6, 6) of finite numbers',
    'bad_depth': 'the depth is no (H, W) of numbers, or the focal lengths are not above zero',
    'depth_size': 'the depth is of another size than its intrinsics or the field of view',
    'no_depth': 'the depth holds no measurement',
}
"""What of a view is left aside, and counted. What it shows is judged all the same."""

CLOCKS = ('wall', 'sim')

MAX_LABEL = 120
"""Characters of a label that are kept (CH-45); control characters never are."""
TINY = 1e-6
"""What a covariance may miss by and still be one, as a share of its largest variance."""
_REAL = (int, float, np.integer, np.floating)


@dataclass(frozen=True)
class Evidence:
    """The accepted detections of one view, in an order that does not depend on the sender's.

    Attributes:
        index: (n,) place of each in the view that was given.
        labels: n label texts. label: (n,) their numbers, set by whoever owns the LabelBook.
        score: (n,) 0 to 1.
        center, size, half: (n, 3) metres, map; half is that of the axis-aligned hull.
        orientation: (n, 4) unit quaternions; oriented: (n,) whether it is known.
        extent: (n,) whether any side is above zero.
        cov: (n, 9) square metres, NaN where unknown; sigma: (n,) metres, largest axis.
        feature: (n, D) float32 of unit norm, zero where there is none; has_feature: (n,).
        alternatives: n mappings label → score, or None.
        track_ids: n texts.
    """

    index: np.ndarray
    labels: list[str]
    score: Floats
    center: Floats
    size: Floats
    half: Floats
    orientation: Floats
    oriented: Bools
    extent: Bools
    cov: Floats
    sigma: Floats
    feature: Features
    has_feature: Bools
    alternatives: list[Mapping[str, float] | None]
    track_ids: list[str]

    def __len__(self) -> int:
        return len(self.labels)

    def less_sure_by(self, localization_cov: Any) -> Evidence:
        """The same with the position noise of the sensor itself added; (6, 6), None: unknown."""
        if localization_cov is None:
            return self
        variance = variance_of(localization_cov)
        if not variance > 0:
            return self
        return self._with_variance(variance)

    def noisier(self, believed_m: float, known_m: float) -> Evidence:
        """The same, where no covariance was given, with another noise of the sensor."""
        more = np.where(np.isnan(self.cov[:, 0]), known_m**2 - believed_m**2, 0.0)
        return self._with_variance(more)

    def _with_variance(self, more: Any) -> Evidence:
        return dataclasses.replace(self, sigma=np.sqrt(self.sigma * self.sigma + more))

    def moved_by(self, vector: Floats) -> Evidence:
        """The same elsewhere; (3,) metres."""
        return dataclasses.replace(self, center=self.center + vector)

    def one(self, k: int) -> Evidence:
        """The k-th detection alone."""
        parts = {}
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            parts[field.name] = value[k : k + 1]
        return Evidence(**parts)


@dataclass(frozen=True)
class Intake:
    """What may be judged, and why the rest may not: place in the view → reason."""

    evidence: Evidence
    refused: dict[int, str]


def view_problem(view: View, recorded_ns: int, newest_ns: int, config: Config) -> str:
    """Return why a view as a whole must be refused (see VIEW_REASONS); empty: it need not be."""
    stamp = view.stamp_ns
    if isinstance(stamp, bool) or not isinstance(stamp, (int, np.integer)):
        return 'bad_stamp'
    if not 0 < stamp < 2**63 or stamp - recorded_ns > config.max_future_s * 1e9:
        return 'bad_stamp'
    if config.max_age_s and newest_ns - stamp > config.max_age_s * 1e9:
        return 'too_old'
    names = (view.sensor, view.map_id, view.feature_space)
    if not all(_is_text(name) for name in names) or view.clock not in CLOCKS:
        return 'bad_view'
    scope = view.scope.items() if isinstance(view.scope, Mapping) else [(None, None)]
    if not all(_is_text(key) and _is_text(value) for key, value in scope):
        return 'bad_view'
    if view.sensor_pose is not None:
        pose = view.sensor_pose
        try:
            position = [float(value) for value in pose.position_m]
            turn = [float(value) for value in pose.orientation_xyzw]
        except (TypeError, ValueError, OverflowError, AttributeError):
            return 'bad_pose'
        if len(position) != 3 or len(turn) != 4 or not all(map(math.isfinite, position)):
            return 'bad_pose'
        if not abs(sum(value * value for value in turn) - 1.0) <= 1e-3:
            return 'bad_pose'
    return ''


def _is_text(value: Any) -> bool:
    """A text that can be stored."""
    return isinstance(value, str) and (value.isascii() or value == _storable(value))


def _storable(text: str) -> str:
    return text.encode('utf-8', 'replace').decode('utf-8')


def view_faults(view: View) -> list[str]:
    """What of a view cannot be right (see VIEW_FAULTS); its detections are judged all the same."""
    fov, cov = view.field_of_view, view.localization_cov
    faults = []
    if fov is not None and not _is_field_of_view(fov):
        faults.append('bad_field_of_view')
        view = dataclasses.replace(view, field_of_view=None)
    if cov is not None and not _is_square(cov, 6):
        faults.append('bad_localization_cov')
    if view.depth is not None:
        faults += filter(None, [depth_problem(view.depth, view.field_of_view)])
    return faults


def usable_view(view: View, faults: Sequence[str]) -> View:
    """Return the view without what cannot be right.

    Wrong depth takes the field of view along: what such a view does not show tells nothing.
    """
    given: dict[str, Any] = {}
    if 'bad_localization_cov' in faults:
        given['localization_cov'] = None
    if set(faults) - {'bad_localization_cov'}:
        given.update(field_of_view=None, depth=None)
    return dataclasses.replace(view, **given) if given else view


def _is_field_of_view(fov: FieldOfView) -> bool:
    """Angles above zero and up to a full turn, ranges from 0 and in order, all finite."""
    try:
        values = (fov.horizontal_rad, fov.vertical_rad, fov.min_range_m, fov.max_range_m)
        if not all(map(math.isfinite, values)):
            return False
    except (TypeError, ValueError, OverflowError, AttributeError):
        return False
    turn = 2 * np.pi + 1e-9
    angles = 0 < fov.horizontal_rad <= turn and 0 < fov.vertical_rad <= turn
    return bool(angles and 0 <= fov.min_range_m < fov.max_range_m)


def _is_square(value: Any, side: int) -> bool:
    try:
        matrix = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        return False
    return matrix.shape == (side, side) and bool(np.isfinite(matrix).all())


def take_in(
    detections: Sequence[Detection],
    feature_dim: int | None,
    default_sigma_m: float,
    ignored: frozenset[str] = frozenset(),
    in_turn: bool = False,
    foreign: bool = False,
) -> Intake:
    """Check every detection alone.

    Args:
        detections: as given by the caller.
        feature_dim: length of the features of this store; None: that of most features of the view.
        default_sigma_m: position noise where no covariance is given.
        ignored: case-folded labels that are refused as `ignored`.
        in_turn: profile chronotope: the sender's order stays, and a detection without a feature is
            refused as `no_feature`.
        foreign: the features are of another space than the store's: refused as `feature_space`.
    """
    numbers, refused = _numbers(detections)
    _check_numbers(numbers, refused)
    labels = [_clean(d.label) if isinstance(d.label, str) else '' for d in detections]
    if ignored:
        for k, label in enumerate(labels):
            if (label or UNKNOWN_LABEL).casefold() in ignored:
                refused.setdefault(k, 'ignored')
    if foreign:
        for k, d in enumerate(detections):
            if d.feature is not None:
                refused.setdefault(k, 'feature_space')
    features = _features(detections, feature_dim, refused)
    for k, (label, has_feature) in enumerate(zip(labels, features.has.tolist())):
        if not label and k not in refused:
            if has_feature:
                labels[k] = UNKNOWN_LABEL
            else:
                refused[k] = 'no_label'
        elif in_turn and not has_feature:
            refused.setdefault(k, 'no_feature')
    kept = np.arange(len(detections))
    if refused:
        kept = np.delete(kept, list(refused))
    order = kept if in_turn else _canonical(detections, kept, labels, numbers, features)
    return Intake(_evidence(detections, order, labels, numbers, features, default_sigma_m), refused)


def _canonical(
    detections: Sequence[Detection],
    kept: np.ndarray,
    labels: list[str],
    numbers: Floats,
    features: _Units,
) -> np.ndarray:
    """Sort by label, position, size and score: ids and ties never hang on the sender's order."""
    order = kept.copy()
    if sort_rows(labels, numbers, order):
        return order

    def everything(k: int) -> tuple[Any, ...]:
        d = detections[k]
        rest = (str(d.position_cov), str(_alternatives(d.alternatives)), str(d.track_id))
        return labels[k], numbers[k].tolist(), features.bytes_of(k), rest

    return np.array(sorted(kept.tolist(), key=everything), dtype=np.int64)


def _numbers(detections: Sequence[Detection]) -> tuple[Floats, dict[int, str]]:
    """(n, 11) score, centre, size, orientation; what is no number is refused as bad_type."""
    refused: dict[int, str] = {}
    table = np.empty((len(detections), 11))
    for k in read_numbers(detections, table):
        row = _one_row(detections[k])
        if row is None:
            refused[k] = 'bad_type'
        table[k] = 0.0 if row is None else row
    return table, refused


def _one_row(d: Detection) -> Floats | None:
    try:
        row = np.array([d.score, *d.center_m, *d.size_m, *d.orientation_xyzw], dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        return None
    fits = (len(d.center_m), len(d.size_m), len(d.orientation_xyzw)) == (3, 3, 4)
    return row if fits and row.shape == (11,) else None


def _check_numbers(numbers: Floats, refused: dict[int, str]) -> None:
    if blending.are_sound(numbers):
        return
    score, size = numbers[:, 0], numbers[:, 4:7]
    known = np.asarray(np.isfinite(numbers).all(axis=1))
    score_ok = (score >= 0) & (score <= 1)
    size_ok = np.asarray((size >= 0).all(axis=1))
    for k in range(len(numbers)):
        if not known[k]:
            refused.setdefault(k, 'not_finite')
        elif not score_ok[k]:
            refused.setdefault(k, 'bad_score')
        elif not size_ok[k]:
            refused.setdefault(k, 'bad_size')


def _clean(text: str) -> str:
    """Without what cannot be printed or stored, and not longer than MAX_LABEL."""
    if not text.isprintable():
        text = ''.join(c if c.isprintable() else ' ' for c in text)
    return text[:MAX_LABEL].strip()


@dataclass(frozen=True)
class _Units:
    """Features of unit norm: (n, D) float32, of those detections that have one (n,)."""

    units: Features
    has: Bools

    def bytes_of(self, place: int) -> bytes:
        """To compare features by; empty where there is none."""
        return self.units[place].tobytes() if self.has[place] else b''


def _features(detections: Sequence[Detection], dim: int | None, refused: dict[int, str]) -> _Units:
    """The usable features, of unit norm; the rest is refused.

    The sum of squares of float32 numbers, in float64, is zero or not finite just where a feature
    has no direction.
    """
    with np.errstate(over='ignore', invalid='ignore'):  # beyond float32 is infinite
        stacked = None if refused or not dim else _stacked(detections, dim)
        units, given = _one_by_one(detections, dim, refused) if stacked is None else stacked
    usable = np.empty(len(units), bool)
    unit_rows(units, usable.view(np.uint8), np.empty(units.shape[1]))
    if not all(usable.tolist()):
        for k in np.flatnonzero(given & ~usable).tolist():
            refused[k] = 'bad_feature'
    return _Units(units, given & usable)


def _stacked(detections: Sequence[Detection], dim: int) -> tuple[Features, Bools] | None:
    """As `_one_by_one`, at once; None: not every detection has a feature of this length."""
    try:
        rows = np.array([d.feature for d in detections], dtype=np.float32)
    except (TypeError, ValueError, OverflowError):
        return None
    return (rows, np.array([True] * len(rows))) if rows.shape == (len(detections), dim) else None


def _one_by_one(
    detections: Sequence[Detection], dim: int | None, refused: dict[int, str]
) -> tuple[Features, Bools]:
    """The features, (n, D), zero where there is none, and where there is one; others: refused."""
    found: dict[int, Features] = {}
    for k, d in enumerate(detections):
        if d.feature is None or k in refused:
            continue
        try:
            feature = np.asarray(d.feature, dtype=np.float32)
        except (TypeError, ValueError, OverflowError):
            refused[k] = 'bad_type'
            continue
        if feature.ndim == 1 and feature.size == 0:
            continue
        if feature.ndim != 1 or (dim is not None and len(feature) != dim):
            refused[k] = 'feature_dim'
        else:
            found[k] = feature
    if found and dim is None:
        dim = _usual_length(found)
        for k in [k for k, feature in found.items() if len(feature) != dim]:
            del found[k]
            refused[k] = 'feature_dim'
    table, has = np.zeros((len(detections), dim or 0), np.float32), np.zeros(len(detections), bool)
    for k, feature in found.items():
        table[k], has[k] = feature, True
    return table, has


def _usual_length(found: dict[int, Features]) -> int:
    """The most frequent length, the shortest of several."""
    lengths = Counter(len(feature) for feature in found.values() if _is_usable(feature))
    lengths = lengths or Counter(len(feature) for feature in found.values())
    return max(lengths, key=lambda n: (lengths[n], -n))


def _is_usable(feature: Features) -> bool:
    return bool(np.isfinite(feature).all() and feature.any())


def _evidence(
    detections: Sequence[Detection],
    order: np.ndarray,
    labels: list[str],
    numbers: Floats,
    features: _Units,
    default_sigma_m: float,
) -> Evidence:
    places = order.tolist()
    some = [detections[k] for k in places]
    n = len(places)
    center, size, half = np.empty((n, 3)), np.empty((n, 3)), np.empty((n, 3))
    orientation, oriented = np.empty((n, 4)), np.empty(n, bool)
    blending.spread_out(numbers, order, center, size, half, orientation, oriented.view(np.uint8))
    score, extent = np.empty(n), np.empty(n, bool)
    pick(numbers, order, score, extent.view(np.uint8))
    cov, sigma = _covariances([d.position_cov for d in some], default_sigma_m)
    return Evidence(
        index=order,
        labels=[labels[k] for k in places],
        score=score,
        center=center,
        size=size,
        half=half,
        orientation=orientation,
        oriented=oriented,
        extent=extent,
        cov=cov,
        sigma=sigma,
        feature=features.units.take(order, axis=0),
        has_feature=features.has[order],
        alternatives=[_alternatives(d.alternatives) for d in some],
        track_ids=[_clean(str(d.track_id)) if d.track_id else '' for d in some],
    )


def _covariances(given: list[Any], default_sigma_m: float) -> tuple[Floats, Floats]:
    """A covariance that is no covariance is taken as unknown; the detection stays (C14)."""
    cov, sigma = np.empty((len(given), 9)), np.empty(len(given))
    cov.fill(np.nan)
    sigma.fill(default_sigma_m)
    for k, value in enumerate(given):
        if value is None:
            continue
        try:
            matrix = np.asarray(value, dtype=np.float64).reshape(3, 3)
        except (TypeError, ValueError, OverflowError):
            continue
        if _is_covariance(matrix):
            cov[k] = matrix.ravel()
            sigma[k] = np.sqrt(matrix.diagonal().max())
    return cov, sigma


def _is_covariance(matrix: Floats) -> bool:
    """Finite, symmetric, no negative eigenvalue, not zero: (3, 3), to a millionth of its largest.

    A matrix has no negative eigenvalue exactly when no principal minor is negative.
    """
    largest = matrix.diagonal().max()
    if not np.isfinite(matrix).all() or largest <= 0:
        return False
    (a, d, e), (d2, b, f), (e2, f2, c) = (matrix / largest).tolist()
    asymmetry = max(abs(d - d2), abs(e - e2), abs(f - f2))
    minors = (
        a, b, c, a * b - d * d, a * c - e * e, b * c - f * f,
        a * b * c + 2 * d * e * f - a * f * f - b * e * e - c * d * d,
    )  # fmt: skip
    return asymmetry <= TINY and min(minors) >= -TINY


def _alternatives(given: Any) -> Mapping[str, float] | None:
    """Alternatives with a usable label and score; others are left out."""
    if (type(given) is dict and not given) or not isinstance(given, Mapping):
        return None
    kept = {
        clean: float(score)
        for label, score in given.items()
        if isinstance(label, str) and (clean := _clean(label))
        if isinstance(score, _REAL) and not isinstance(score, bool) and 0 < score <= 1
    }
    return dict(sorted(kept.items())) or None
