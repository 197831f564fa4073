# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Rigid transforms, in float64 and without BLAS.

Everything is elementwise arithmetic, so that the same input gives the same numbers on another CPU
and one bad row of an array never reaches its neighbours.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from memory_node.errors import InvalidValueError
from memory_node.model import IDENTITY, Floats, Pose, Quaternion, Triple

_NEARLY_PARALLEL = 1.0 - 1e-9
"""Cosine of half an angle above which a slerp is a lerp within float64."""


@dataclass(frozen=True)
class Transform:
    """Takes coordinates in a source frame to coordinates in a target frame.

    Equal to the pose of the source frame in the target frame.

    Attributes:
        translation_m: origin of the source frame in the target frame, metres.
        rotation_xyzw: unit quaternion (x, y, z, w).
    """

    translation_m: Triple = (0.0, 0.0, 0.0)
    rotation_xyzw: Quaternion = IDENTITY

    @classmethod
    def of(cls, translation_m: Sequence[float], rotation_xyzw: Sequence[float]) -> Transform:
        """Return a transform with the rotation normalised.

        Args:
            translation_m: (3,) metres.
            rotation_xyzw: (4,) quaternion of any norm but zero.

        Raises:
            InvalidValueError: a number is not finite, or the quaternion has no direction.
        """
        x, y, z = (float(v) for v in translation_m)
        rotation = tuple(float(v) for v in rotation_xyzw)
        norm = math.hypot(*rotation)
        if not all(map(math.isfinite, (x, y, z, norm))):
            raise InvalidValueError(
                f'transform: got translation {(x, y, z)} and rotation {rotation}, '
                'expected finite numbers'
            )
        if norm < 1e-9:
            raise InvalidValueError(
                f'transform: got rotation {rotation}, expected a quaternion of norm 1'
            )
        qx, qy, qz, qw = (v / norm for v in rotation)
        return cls((x, y, z), (qx, qy, qz, qw))

    @classmethod
    def from_pose(cls, pose: Pose) -> Transform:
        """Return the transform from the frame that has this pose; see `of`."""
        return cls.of(pose.position_m, pose.orientation_xyzw)

    def as_pose(self) -> Pose:
        """Return the pose of the source frame in the target frame."""
        return Pose(self.translation_m, self.rotation_xyzw)

    def rotation_matrix(self) -> Floats:
        """Return the rotation, (3, 3) float64."""
        x, y, z, w = self.rotation_xyzw
        return np.array((
            (1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)),
            (2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)),
            (2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)),
        ))  # fmt: skip

    def matrix(self) -> Floats:
        """Return the homogeneous matrix, (4, 4) float64."""
        m = np.eye(4)
        m[:3, :3] = self.rotation_matrix()
        m[:3, 3] = self.translation_m
        return m

    def apply(self, points: npt.ArrayLike) -> Floats:
        """Return points of the source frame in the target frame.

        Args:
            points: (N, 3) metres. A row with a number that is not finite comes out as it went in.
        """
        p = np.asarray(points, dtype=np.float64).reshape(-1, 3)
        with np.errstate(invalid='ignore', over='ignore'):
            moved = _rows_times(p, self.rotation_matrix()) + np.array(self.translation_m)
        return np.where(np.isfinite(p).all(axis=1, keepdims=True), moved, p)

    def apply_point(self, point_m: Triple) -> Triple:
        """Return one point of the source frame in the target frame, metres; see `apply`."""
        if self == _UNMOVED:  # as a rule a request names the frame of the map
            return point_m
        x, y, z = self.apply((point_m,))[0].tolist()
        return x, y, z

    def rotate(self, quaternions: npt.ArrayLike) -> Floats:
        """Return orientations given in the source frame as seen from the target frame.

        Args:
            quaternions: (N, 4) x, y, z, w. Norms are kept, so all zeros stay all zeros; a row with
                a number that is not finite comes out as it went in.
        """
        q = np.asarray(quaternions, dtype=np.float64).reshape(-1, 4)
        ax, ay, az, aw = self.rotation_xyzw
        with np.errstate(invalid='ignore', over='ignore'):
            bx, by, bz, bw = q.T
            turned = np.stack((
                aw * bx + ax * bw + ay * bz - az * by,
                aw * by - ax * bz + ay * bw + az * bx,
                aw * bz + ax * by - ay * bx + az * bw,
                aw * bw - ax * bx - ay * by - az * bz,
            ), axis=1)  # fmt: skip
        return np.where(np.isfinite(q).all(axis=1, keepdims=True), turned, q)

    def rotate_covariances(self, covariances: npt.ArrayLike) -> Floats:
        """Return covariances of positions in the source frame as covariances in the target frame.

        Args:
            covariances: (N, 3, 3) square metres. One with a number that is not finite comes out as
                it went in.
        """
        c = np.asarray(covariances, dtype=np.float64).reshape(-1, 3, 3)
        r = self.rotation_matrix()
        with np.errstate(invalid='ignore', over='ignore'):
            half = _rows_times(c.reshape(-1, 3), r).reshape(-1, 3, 3)  # c rᵀ
            turned = _rows_times(half.transpose(0, 2, 1).reshape(-1, 3), r).reshape(-1, 3, 3)
        turned = turned.transpose(0, 2, 1)  # r c rᵀ
        return np.where(np.isfinite(c).all(axis=(1, 2), keepdims=True), turned, c)

    def compose(self, other: Transform) -> Transform:
        """Return what `other` and then this one do: a ← b composed with b ← c is a ← c."""
        return Transform(
            _add(_turn(self.rotation_xyzw, other.translation_m), self.translation_m),
            _normalised(_product(self.rotation_xyzw, other.rotation_xyzw)),
        )

    def inverse(self) -> Transform:
        """Return the transform from the target frame back to the source frame."""
        x, y, z, w = self.rotation_xyzw
        back: Quaternion = (-x, -y, -z, w)
        tx, ty, tz = _turn(back, self.translation_m)
        return Transform((-tx, -ty, -tz), back)

    def interpolate(self, other: Transform, fraction: float) -> Transform:
        """Return the transform a fraction of the way to another one.

        The translation moves on a straight line, the rotation at constant speed the shorter way
        round (slerp).

        Args:
            other: where fraction 1 arrives.
            fraction: 0 to 1.
        """
        (ax, ay, az), (bx, by, bz) = self.translation_m, other.translation_m
        return Transform(
            (ax + fraction * (bx - ax), ay + fraction * (by - ay), az + fraction * (bz - az)),
            _slerp(self.rotation_xyzw, other.rotation_xyzw, fraction),
        )


_UNMOVED = Transform()


def _rows_times(rows: Floats, matrix: Floats) -> Floats:
    """Return rows (N, 3) times the transposed matrix (3, 3), without BLAS."""
    x, y, z = rows[:, 0:1], rows[:, 1:2], rows[:, 2:3]
    return x * matrix[:, 0] + y * matrix[:, 1] + z * matrix[:, 2]


def _add(a: Triple, b: Triple) -> Triple:
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


def _product(a: Quaternion, b: Quaternion) -> Quaternion:
    ax, ay, az, aw = a
    bx, by, bz, bw = b
    return (
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    )


def _turn(q: Quaternion, v: Triple) -> Triple:
    """Return v turned by a unit quaternion: v + 2w(u × v) + 2u × (u × v)."""
    x, y, z, w = q
    cx, cy, cz = y * v[2] - z * v[1], z * v[0] - x * v[2], x * v[1] - y * v[0]
    return (
        v[0] + 2 * (w * cx + y * cz - z * cy),
        v[1] + 2 * (w * cy + z * cx - x * cz),
        v[2] + 2 * (w * cz + x * cy - y * cx),
    )


def _normalised(q: Quaternion) -> Quaternion:
    norm = math.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    return q[0] / norm, q[1] / norm, q[2] / norm, q[3] / norm


def _slerp(a: Quaternion, b: Quaternion, fraction: float) -> Quaternion:
    dot = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]
    sign = -1.0 if dot < 0 else 1.0
    dot = min(abs(dot), 1.0)
    if dot > _NEARLY_PARALLEL:
        from_a, from_b = 1.0 - fraction, fraction
    else:
        angle = math.acos(dot)
        from_a = math.sin((1.0 - fraction) * angle) / math.sin(angle)
        from_b = math.sin(fraction * angle) / math.sin(angle)
    from_b *= sign
    return _normalised((
        from_a * a[0] + from_b * b[0],
        from_a * a[1] + from_b * b[1],
        from_a * a[2] + from_b * b[2],
        from_a * a[3] + from_b * b[3],
    ))  # fmt: skip
