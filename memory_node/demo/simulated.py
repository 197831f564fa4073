# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""A simulated home: pixels through the lifting node into the memory, and what changed in it.

A robot's camera tours three furnished rooms; six things are moved and three taken away; it tours
them again. What the memory says of that is compared with what was done.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from memory_node.demo import comeback
from memory_node.demo.camera import ANSWER_S, DemoCamera, Shown, lifting_arguments, memory_arguments
from memory_node.demo.client import CONFIRMED, center_of
from memory_node.demo.home import FOCAL_PX, HEIGHT, ROOMS, WIDTH, Frame, Home
from memory_node.demo.home import Thing as Furnishing
from memory_node.demo.messages import NS_PER_S
from memory_node.demo.rearranged import Changed, Verdict, losses, moves
from memory_node.demo.truth import REPORTED, Thing
from memory_node.model import Triple

if TYPE_CHECKING:
    from memory_node.demo.main import Stage

SENSOR, RANGE_M = 'head_camera', 6.0
MOVES, REMOVALS = 6, 3
STEP_NS, AWAY_NS = 2 * NS_PER_S, 3600 * NS_PER_S
SCORE = 0.9
K = np.array([
    [FOCAL_PX, 0.0, (WIDTH - 1) / 2], [0.0, FOCAL_PX, (HEIGHT - 1) / 2], [0.0, 0.0, 1.0],
])  # fmt: skip
COUNT_WITHIN, LEAST, NEAR_M = 1, 0.9, 0.05
"""By how much the count may be wrong; least precision and recall of what changed; largest median
error of the centres."""


def shown(frame: Frame) -> Shown:
    """Return a frame as a camera shows it."""
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = frame.stand.rotation, frame.stand.eye_m
    depth_mm = np.round(np.clip(frame.depth_m, 0.0, 65.0) * 1000).astype(np.uint16)
    detected = {body: (label, SCORE) for body, label in frame.labels.items()}
    return Shown(pose, K, depth_mm, frame.ids, detected)


def show(stage: Stage, seed: int) -> bool:
    """Tour the home twice, ask what changed; return whether enough of it is right."""
    home = Home(seed)
    try:
        return _Visits(stage, home).run()
    finally:
        home.close()


class _Visits:
    """Two tours of a home, and what is asked after each."""

    def __init__(self, stage: Stage, home: Home) -> None:
        self._stage, self._home, self._report = stage, home, stage.report
        self._frames: list[Frame] = []

    def run(self) -> bool:
        """Do all of it."""
        self._stage.start_memory(memory_arguments(SENSOR, RANGE_M))
        lifting = self._stage.start_lifting(lifting_arguments(SENSOR, RANGE_M))
        camera = DemoCamera(self._stage.client.context, SENSOR, lifting.check)
        count = len(self._home.tour())
        first_ns = time.time_ns() - AWAY_NS - 2 * count * STEP_NS
        try:
            camera.wait_ready(shown(self._home.look(self._home.tour()[0])), first_ns)
            self._report.say(f'tour of {", ".join(ROOMS)}: {count} looks')
            self._tour(camera, first_ns)
            counted, error_m = self._is_all_there()
            known = Counter(body for frame in self._frames for body in frame.labels)
            before = {t.label: t.body for t in self._home.things}
            done = self._home.rearrange(MOVES, REMOVALS)
            self._report.question(
                f'An hour later {MOVES} things were moved, {REMOVALS} taken away: the tour again.'
            )
            self._stage.client.moved.clear()
            again_ns = first_ns + AWAY_NS + count * STEP_NS
            self._tour(camera, again_ns)
        finally:
            camera.close()
        changed = [
            self._changed(thing, start_m, known[before[thing.label] or 0])
            for thing, start_m in done
        ]  # fmt: skip
        seen = comeback.asked(self._stage.client, again_ns)
        comeback.told(self._report, seen, changed)
        both = moves(changed, seen.moved) + losses(changed, seen.gone)
        return self._verdict(counted, error_m, both)

    def _tour(self, camera: DemoCamera, first_ns: int) -> None:
        self._frames = [self._home.look(stand) for stand in self._home.tour()]
        last_ns = first_ns + (len(self._frames) - 1) * STEP_NS
        for stamp_ns, frame in zip(range(first_ns, last_ns + 1, STEP_NS), self._frames):
            camera.show(shown(frame), stamp_ns)
        client = self._stage.client
        until = time.monotonic() + ANSWER_S
        while client.last_stamp_ns < last_ns and time.monotonic() < until:
            client.spin()  # what the feed said meanwhile

    def _is_all_there(self) -> tuple[int, float]:
        """How many objects there are too many, and the median distance of the things' centres."""
        hits, _ = self._stage.client.query(states=CONFIRMED)
        truth = [*self._home.furniture, *self._home.things]
        away = []
        for thing in self._home.things:
            places = [center_of(h.object) for h in hits if h.object.label == thing.label]
            away.append(min((math.dist(p, thing.center_m) for p in places), default=math.inf))
        error_m = float(np.median(away))
        self._report.say(
            f'  {len(hits)} objects for {len(self._home.things)} things on '
            f'{len(self._home.furniture)} pieces of furniture; median error of the things '
            f'{error_m * 100:.1f} cm'
        )
        return len(hits) - len(truth), error_m

    def _changed(self, thing: Furnishing, start_m: Triple, reported: int) -> Changed:
        """What was done to a thing, and whether the robot could know."""
        was = Thing(thing.label, start_m, thing.size_m, True, reported)
        clear = sum(self._home.clears(frame, start_m) for frame in self._frames) >= REPORTED
        if thing.body is None:
            return Changed(was, None, clear and reported >= REPORTED)
        again = sum(thing.body in frame.labels for frame in self._frames) >= REPORTED
        return Changed(was, thing.center_m, clear and again and reported >= REPORTED)

    def _verdict(self, counted: int, error_m: float, both: Verdict) -> bool:
        precision, recall = both.right / max(both.said, 1), both.found / max(both.true, 1)
        right = abs(counted) <= COUNT_WITHIN and error_m <= NEAR_M
        right &= precision >= LEAST and recall >= LEAST
        self._report.say('')
        self._report.say(
            f'demo: {"" if right else "FAILED: "}{both.found} of {both.true} changes that could be '
            f'known, {both.right} of {both.said} that were told are so; count off by '
            f'{abs(counted)}, median error {error_m * 100:.1f} cm'
        )
        return right
