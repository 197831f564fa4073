# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""How the robot gets from look to look, as the frames of a mobile robot with a tilting head.

    map → odom → base_link → head_link → camera_link → camera_optical

map → odom drifts slowly, odom → base_link drives, base_link → head_link and camera_link →
camera_optical are fixed, head_link → camera_link tilts. The robot stands still for a moment
around each look and moves in between, so that only the transform at the stamp is the right one.
"""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memory_node.demo.roomr.sensor import BODY_TO_OPTICAL, Stand
from memory_node.errors import InvalidValueError
from memory_node.model import IDENTITY, Quaternion, Triple

MAP, ODOM, BASE = 'map', 'odom', 'base_link'
HEAD, CAMERA, OPTICAL = 'head_link', 'camera_link', 'camera_optical'

TICK_NS = 10**9 // 30
"""Time between two transforms of a moving frame."""
DWELL_NS = 100_000_000
"""The robot stands still this long before and after a look."""
HEAD_M: Triple = (0.1, 0.0, 1.5)
"""Where the head is mounted on the base: x forward, z up, metres."""
DRIFT_START = (0.5, -0.3, 0.05)
DRIFT_PER_S = (0.002, 0.001, 0.0005)
"""Place of odom in the map when the trajectory starts, and its drift: x, y in m, yaw in rad."""


@dataclass(frozen=True)
class Transform:
    """Pose of the child frame in its parent: metres, unit quaternion (x, y, z, w)."""

    parent: str
    child: str
    translation_m: Triple
    rotation_xyzw: Quaternion


FIXED = (
    Transform(BASE, HEAD, HEAD_M, IDENTITY),
    Transform(CAMERA, OPTICAL, (0.0, 0.0, 0.0), BODY_TO_OPTICAL),
)


class Trajectory:
    """The sensor's pose over time.

    Before the first look it stands at the first place, after the last look at the last one.
    """

    def __init__(self, stands: Sequence[Stand], stamps_ns: Sequence[int]) -> None:
        """Raises InvalidValueError when there is no look, or no time to move between two."""
        if not stands or len(stands) != len(stamps_ns):
            raise InvalidValueError(
                f'looks: got {len(stands)} places and {len(stamps_ns)} stamps, expected as many '
                'of both and at least one'
            )
        for before, after in itertools.pairwise(stamps_ns):
            if after - before <= 2 * DWELL_NS:
                raise InvalidValueError(
                    f'looks: got two {(after - before) / 1e9:g} s apart, expected more than '
                    f'{2 * DWELL_NS / 1e9:g} s'
                )
        self._stands, self._stamps = list(stands), list(stamps_ns)

    def stand_at(self, stamp_ns: int) -> Stand:
        """Return the sensor's pose in the map."""
        k = bisect.bisect_right(self._stamps, stamp_ns)
        if k == 0:
            return self._stands[0]
        if k == len(self._stamps):
            return self._stands[-1]
        leave, arrive = self._stamps[k - 1] + DWELL_NS, self._stamps[k] - DWELL_NS
        share = min(max((stamp_ns - leave) / (arrive - leave), 0.0), 1.0)
        return _between(self._stands[k - 1], self._stands[k], share)

    def transforms_at(self, stamp_ns: int) -> tuple[Transform, ...]:
        """Return the moving frames; with FIXED they lead from the map to the optical frame."""
        stand = self.stand_at(stamp_ns)
        seconds = (stamp_ns - self._stamps[0]) / 1e9
        x, y, yaw = (s + d * seconds for s, d in zip(DRIFT_START, DRIFT_PER_S, strict=True))
        head_x, head_y = _turn(HEAD_M[0], HEAD_M[1], stand.yaw_rad)
        base_x, base_y, base_z = stand.position_m
        local_x, local_y = _turn(base_x - head_x - x, base_y - head_y - y, -yaw)
        in_odom = (local_x, local_y, base_z - HEAD_M[2])
        tilt = (0.0, math.sin(-stand.pitch_rad / 2), 0.0, math.cos(stand.pitch_rad / 2))
        return (
            Transform(MAP, ODOM, (x, y, 0.0), _about_z(yaw)),
            Transform(ODOM, BASE, in_odom, _about_z(stand.yaw_rad - yaw)),
            Transform(HEAD, CAMERA, (0.0, 0.0, 0.0), tilt),
        )


def ticks(after_ns: int, until_ns: int) -> Iterator[int]:
    """Yield the times of the moving frames after one time, up to one at or after another."""
    for k in range(after_ns // TICK_NS + 1, -(-until_ns // TICK_NS) + 1):
        yield k * TICK_NS


def _between(a: Stand, b: Stand, share: float) -> Stand:
    """Straight line; yaw turns the shorter way."""
    x, y, z = (p + (q - p) * share for p, q in zip(a.position_m, b.position_m, strict=True))
    turn = math.remainder(b.yaw_rad - a.yaw_rad, 2 * math.pi)
    pitch = a.pitch_rad + (b.pitch_rad - a.pitch_rad) * share
    return Stand((x, y, z), a.yaw_rad + turn * share, pitch)


def _turn(x: float, y: float, yaw: float) -> tuple[float, float]:
    c, s = math.cos(yaw), math.sin(yaw)
    return c * x - s * y, s * x + c * y


def _about_z(yaw: float) -> Quaternion:
    return (0.0, 0.0, math.sin(yaw / 2), math.cos(yaw / 2))
