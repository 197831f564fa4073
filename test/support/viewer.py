# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""A small model of a marker viewer: what it shows, and what it would choke on."""

from __future__ import annotations

import math
import threading
from typing import Any

from visualization_msgs.msg import Marker

INT32 = range(-(2**31), 2**31)
SOLID = (Marker.CUBE, Marker.SPHERE)


class Viewer:
    """Takes marker messages as RViz does, and refuses those that RViz cannot show.

    Messages may come in a thread of their own: what is asked meanwhile sees whole messages.

    Attributes:
        shown: (namespace, id) → marker.
        messages, markers: how many came.
    """

    def __init__(self) -> None:
        self.shown: dict[tuple[str, int], Marker] = {}
        self.messages = self.markers = 0
        self._lock = threading.Lock()

    def take(self, array: Any) -> None:
        """Apply a MarkerArray."""
        with self._lock:
            self._take(array)

    def of(self, namespace: str) -> list[Marker]:
        """What is shown of a namespace, by id."""
        with self._lock:
            return [m for (ns, _), m in sorted(self.shown.items()) if ns == namespace]

    def labels(self) -> list[str]:
        """All texts, sorted."""
        with self._lock:
            shown = list(self.shown.values())
        return sorted(m.text for m in shown if m.type == Marker.TEXT_VIEW_FACING)

    def _take(self, array: Any) -> None:
        self.messages += 1
        keys = set()
        for marker in array.markers:
            self.markers += 1
            key = (marker.ns, marker.id)
            assert key not in keys or marker.action == Marker.DELETEALL, f'{key} twice'
            keys.add(key)
            if marker.action == Marker.DELETEALL:
                self.shown.clear()
            elif marker.action == Marker.DELETE:
                self.shown.pop(key, None)
            else:
                assert marker.action == Marker.ADD
                require_valid(marker)
                self.shown[key] = marker


def require_valid(marker: Marker) -> None:
    """AssertionError: says what a viewer would refuse or end at."""
    p, q, s, c = marker.pose.position, marker.pose.orientation, marker.scale, marker.color
    turn, scale = (q.x, q.y, q.z, q.w), (s.x, s.y, s.z)
    points = [(point.x, point.y, point.z) for point in marker.points]
    numbers = [p.x, p.y, p.z, *turn, *scale, *(n for point in points for n in point)]
    assert all(math.isfinite(n) and abs(n) < 1e9 for n in numbers), marker
    assert abs(math.hypot(*turn) - 1.0) < 1e-6, turn
    assert all(0.0 <= n <= 1.0 for n in (c.r, c.g, c.b)) and 0.0 < c.a <= 1.0, c
    assert marker.header.frame_id
    assert marker.id in INT32
    assert (marker.lifetime.sec, marker.lifetime.nanosec) == (0, 0)
    if marker.type in SOLID:
        assert min(scale) > 0.0, scale
    elif marker.type == Marker.TEXT_VIEW_FACING:
        assert s.z > 0.0 and marker.text.strip()
    else:
        assert marker.type == Marker.LINE_LIST
        assert s.x > 0.0 and points and len(points) % 2 == 0
