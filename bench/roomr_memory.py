# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The memory as the shared benchmark `roomr` plugs one in.

    PYTHONPATH=. python /work/shared/bench/roomr/run.py --memory bench.roomr_memory:RoomrMemory \
        --split bench/roomr_held_out.txt

It translates and nothing else: default settings, each episode in a new file in memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from memory_node import DepthImage, Detection, FieldOfView, Pose, SpatialMemory, View
from memory_node.config import MAX_LIMIT
from memory_node.model import ChangeKind, State


class RoomrMemory:
    """See `roomr.protocol.Memory`."""

    def __init__(self) -> None:
        self._memory = SpatialMemory.open(':memory:')

    def observe(self, view: Any) -> Sequence[int | None]:
        commit = self._memory.observe(_view(view))
        return [verdict.object_id for verdict in commit.verdicts]

    def resolve(self, object_id: int) -> int:
        return self._memory.object(object_id).id

    def objects(self) -> Sequence[Any]:
        from roomr.protocol import ObjectReport

        now = self._memory.newest_stamp_ns
        return [
            ObjectReport(o.id, o.label, o.center_m, o.presence(now), o.state.value)
            for o in self._memory.objects()
        ]

    def moved(self) -> Sequence[Any]:
        from roomr.protocol import MovedReport

        found, seq = [], 0
        while changes := self._memory.changes(since_seq=seq, limit=MAX_LIMIT):
            seq = changes[-1].seq
            for c in changes:
                if c.kind is ChangeKind.MOVED:
                    found.append(
                        MovedReport(c.object_id, c.before['center_m'], c.after['center_m'])
                    )
        return found

    def absent(self) -> Sequence[int]:
        return [o.id for o in self._memory.objects() if o.state is State.ABSENT]

    def close(self) -> None:
        self._memory.close()


def _view(view: Any) -> View:
    """A view of the benchmark in the words of the memory."""
    fov, depth, sigma_m = view.field_of_view, view.depth, view.localization_sigma_m
    return View(
        stamp_ns=view.stamp_ns,
        sensor='camera',
        detections=[_detection(d) for d in view.detections],
        sensor_pose=Pose(view.position_m, view.orientation_xyzw),
        field_of_view=FieldOfView(
            fov.horizontal_rad, fov.vertical_rad, fov.min_range_m, fov.max_range_m
        ),
        depth=depth and DepthImage(depth.depth_m, depth.fx, depth.fy, depth.cx, depth.cy),
        localization_cov=np.eye(6) * sigma_m**2 if sigma_m else None,
    )


def _detection(d: Any) -> Detection:
    return Detection(
        label=d.label, score=d.score, center_m=d.center_m, size_m=d.size_m, feature=d.feature,
        position_cov=np.eye(3) * d.position_sigma_m**2,
    )  # fmt: skip
