# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The memory as the shared benchmark `roomr` plugs one in.

    PYTHONPATH=. python /work/shared/bench/roomr/run.py --memory bench.roomr_memory:RoomrMemory \
        --split bench/roomr_held_out.txt

It translates: default settings, each episode in a new file in memory. What the memory holds for
likelier than not the same thing elsewhere (`maybe_same`), but has not settled when it is asked, is
reported as moved. What was seen once only was never believed to be there: missed since, it is still
tentative here, and not removed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from memory_node import DepthImage, Detection, FieldOfView, Pose, SpatialMemory, View
from memory_node.config import MAX_LIMIT
from memory_node.model import ChangeKind, MemoryObject, State

SIGHTINGS = 2


class RoomrMemory:
    """See `roomr.protocol.Memory`."""

    def __init__(self) -> None:
        self._memory = SpatialMemory.open(':memory:')
        self._asked_at = -1
        self._pairs: tuple[dict[int, int], dict[int, int]] = ({}, {})

    def observe(self, view: Any) -> Sequence[int | None]:
        commit = self._memory.observe(_view(view))
        return [verdict.object_id for verdict in commit.verdicts]

    def resolve(self, object_id: int) -> int:
        number = self._memory.object(object_id).id
        return self._elsewhere()[1].get(number, number)

    def objects(self) -> Sequence[Any]:
        from roomr.protocol import ObjectReport

        now = self._memory.newest_stamp_ns
        found = {o.id: o for o in self._memory.objects()}
        place_of, known_as = self._elsewhere()
        reports = []
        for number, o in found.items():
            if number not in known_as:
                at = found[place_of.get(number, number)]
                state = at.state.value if number in place_of else _state(o)
                reports.append(ObjectReport(number, o.label, at.center_m, at.presence(now), state))
        return reports

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
        for old, new in self._elsewhere()[0].items():
            places = [self._memory.object(i).center_m for i in (old, new)]
            found.append(MovedReport(old, *places))
        return found

    def absent(self) -> Sequence[int]:
        place_of, known_as = self._elsewhere()
        return [
            o.id for o in self._memory.objects()
            if o.state is State.ABSENT and o.observations >= SIGHTINGS
            and o.id not in place_of and o.id not in known_as
        ]  # fmt: skip

    def _elsewhere(self) -> tuple[dict[int, int], dict[int, int]]:
        """What is likelier than not the same thing elsewhere: old id → new id, and back."""
        if self._asked_at != self._memory.seq:
            pairs = [(p.old_id, p.new_id) for p in self._memory.maybe_same()]
            self._asked_at = self._memory.seq
            self._pairs = dict(pairs), {new: old for old, new in pairs}
        return self._pairs

    def close(self) -> None:
        self._memory.close()


def _state(o: MemoryObject) -> str:
    missed = o.state in (State.DOUBTFUL, State.ABSENT)
    return str(State.TENTATIVE if missed and o.observations < SIGHTINGS else o.state)


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
