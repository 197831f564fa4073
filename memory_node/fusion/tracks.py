# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""People, animals and other robots, followed while they are in sight and then let go.

A mobile thing is no object of the memory: it has no place to come back to. Its track lives here
only, never in the file. Each view assigns its detections to the tracks of their label one to one,
by distance from where a steady walk would have taken them.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection, Iterable, Sequence

import numpy as np
from scipy.optimize import linear_sum_assignment

from memory_node.model import Detection, Floats, Track, Triple

FASTEST_MPS = 3.0
"""Nothing that a robot meets indoors runs faster (a person jogs at 2.5 m/s)."""
NOISE_M = 0.5
"""How far off a box of something that turns and bends may be from one view to the next."""
NAMED_M = 1000.0
"""By so much nearer is what a tracker gives the same id: within reach it decides."""
KEPT = 50
"""Places of a track that are kept, the newest."""
STEADY_S = 1.0
"""The walk that is expected is that of the last so many seconds."""


class Tracks:
    """What is followed now.

    Attributes:
        last_id: the highest id ever given; ids are of one opening of a memory.
    """

    def __init__(self) -> None:
        self.last_id = 0
        self._tracks: dict[int, Track] = {}

    def see(
        self, detections: Sequence[Detection], stamp_ns: int, map_id: str, shift_m: Floats,
        lasts_s: float,
    ) -> None:  # fmt: skip
        """Take in the mobile things of a view.

        Args:
            detections: well-formed ones. stamp_ns: of the view, which is left out if it is older
                than what is known of all it could belong to.
            map_id: of the view. shift_m: (3,) to take away from its positions.
            lasts_s: how long a track lasts that is not seen.
        """
        self._let_go(stamp_ns, lasts_s)
        seen = sorted(detections, key=lambda d: (d.label.casefold(), tuple(d.center_m), d.score))
        for label in dict.fromkeys(d.label.casefold() for d in seen):
            some = [d for d in seen if d.label.casefold() == label]
            known = [
                t for t in self._tracks.values()
                if t.label.casefold() == label and t.map_id == map_id
                and t.last_seen_ns < stamp_ns
            ]  # fmt: skip
            places = [_place(d, shift_m) for d in some]
            found = _assigned(places, [d.track_id for d in some], known, stamp_ns)
            for k, (d, place) in enumerate(zip(some, places)):
                track = found.get(k)
                if track is None:
                    self.last_id += 1
                    size = _size(d)
                    track = Track(self.last_id, d.label, place, size, stamp_ns, stamp_ns, map_id)
                self._tracks[track.id] = _extended(track, d, place, stamp_ns)

    def followed(self, at_ns: int, lasts_s: float) -> list[Track]:
        """What was seen within `lasts_s` before a time, by id."""
        return [
            self._tracks[k] for k in sorted(self._tracks)
            if _age_s(self._tracks[k], at_ns) <= lasts_s
        ]  # fmt: skip

    def clear(self) -> None:
        """Follow nothing."""
        self._tracks.clear()

    def _let_go(self, stamp_ns: int, lasts_s: float) -> None:
        gone = [k for k, t in self._tracks.items() if _age_s(t, stamp_ns) > lasts_s]
        for k in gone:
            del self._tracks[k]


def is_mobile(detection: Detection, mobile: Collection[str]) -> bool:
    """Whether a detection is of one of these case-folded labels."""
    return isinstance(detection.label, str) and detection.label.strip().casefold() in mobile


def _age_s(track: Track, at_ns: int) -> float:
    return (at_ns - track.last_seen_ns) / 1e9


def _place(d: Detection, shift_m: Floats) -> Triple:
    x, y, z = (float(v) - s for v, s in zip(d.center_m, shift_m.tolist()))
    return x, y, z


def _size(d: Detection) -> Triple:
    x, y, z = (float(v) for v in d.size_m)
    return x, y, z


def _assigned(
    places: Sequence[Triple], names: Sequence[object], known: Sequence[Track], stamp_ns: int
) -> dict[int, Track]:
    """Place in the view → the track that goes on there; a tracker's id settles it if it fits."""
    if not places or not known:
        return {}
    far = np.full((len(places), len(known)), np.inf)
    for j, track in enumerate(known):
        age_s = _age_s(track, stamp_ns)
        ahead = _expected(track, age_s)
        for k, place in enumerate(places):
            if math.dist(place, track.center_m) <= NOISE_M + FASTEST_MPS * age_s:
                same = bool(names[k]) and str(names[k]) == track.track_id
                far[k, j] = math.dist(place, ahead) - (NAMED_M if same else 0.0)
    most = 1e6
    a, b = linear_sum_assignment(np.minimum(far, most))
    return {k: known[j] for k, j in zip(a.tolist(), b.tolist()) if far[k, j] < most}


def _expected(track: Track, age_s: float) -> Triple:
    vx, vy, vz = track.velocity_mps
    x, y, z = track.center_m
    return x + vx * age_s, y + vy * age_s, z + vz * age_s


def _extended(track: Track, d: Detection, place: Triple, stamp_ns: int) -> Track:
    """A track with one more sighting."""
    path = (*track.path, (stamp_ns, place))[-KEPT:]
    return dataclasses.replace(
        track, center_m=place, size_m=_size(d), last_seen_ns=stamp_ns,
        track_id=str(d.track_id or track.track_id), path=path, velocity_mps=_velocity(path),
    )  # fmt: skip


def _velocity(path: Iterable[tuple[int, Triple]]) -> Triple:
    """Of the last second or so, m/s; zero where there is one place only."""
    steps = list(path)
    now_ns, place = steps[-1]
    older = [step for step in steps[:-1] if now_ns - step[0] <= STEADY_S * 1e9] or steps[-2:-1]
    if not older:
        return 0.0, 0.0, 0.0
    since_ns, start = older[0]
    age_s = (now_ns - since_ns) / 1e9
    x, y, z = ((b - a) / age_s for a, b in zip(start, place))
    return x, y, z
