# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""From a DetectionArray to a commit: a bounded queue, the wait for transforms, one thread."""

from __future__ import annotations

import threading
import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field

from spatial_memory.msg import DetectionArray

from memory_node.model import Commit, Pose, View
from memory_node.ros import conversions
from memory_node.ros.transform_buffer import TransformError, Transforms, frame_name

NO_FRAME = 'no_frame'
QUEUE_FULL = 'queue_full'
INTERNAL = 'internal_error'

REASONS = {
    NO_FRAME: 'the header names no frame',
    QUEUE_FULL: 'more views were waiting than queue_size',
    INTERNAL: 'judging or writing it failed; the log says how',
}
"""Why a whole message is dropped, beside the reasons of TransformError."""


@dataclass
class _Waiting:
    message: DetectionArray
    give_up_at: float


@dataclass
class IntakeCounts:
    """What became of the messages. dropped: reason → messages."""

    received: int = 0
    committed: int = 0
    dropped: Counter[str] = field(default_factory=Counter)


class Intake:
    """Judges views one after the other, in the order of arrival.

    A view waits for its transform without holding up those of other frames; when it has waited for
    `wait_s`, it is given up and counted. One thread does all the work, so that subscriptions and
    services never wait for it.
    """

    def __init__(
        self,
        observe: Callable[[View], Commit],
        on_commit: Callable[[View, Commit], None],
        on_problem: Callable[[str, str], None],
        transforms: Transforms,
        *,
        map_frame: str,
        map_id: str,
        clock: Callable[[], str],
        wait_s: Callable[[], float],
        queue_size: int,
    ) -> None:
        """Create it; `start` makes it work.

        Args:
            observe: puts a view into the memory.
            on_commit: told of every committed view.
            on_problem: told why a message was dropped: reason, and the details in words.
            transforms: where frames were.
            map_frame: frame of the memory. map_id: identity of the map.
            clock: returns 'sim' or 'wall'. wait_s: returns how long to wait for a transform.
            queue_size: messages that may wait; beyond, the oldest is dropped.
        """
        self.counts = IntakeCounts()
        self._observe, self._on_commit, self._on_problem = observe, on_commit, on_problem
        self._transforms = transforms
        self._map_frame, self._map_id = frame_name(map_frame), map_id
        self._clock, self._wait_s = clock, wait_s
        self._waiting: deque[_Waiting] = deque()
        self._queue_size = queue_size
        self._changed = threading.Condition()
        self._news = False
        self._stop = False
        self._thread = threading.Thread(target=self._run, name='intake', daemon=True)

    @property
    def waiting(self) -> int:
        """Messages that have not been judged yet."""
        return len(self._waiting)

    def start(self) -> None:
        """Start the worker thread."""
        self._thread.start()

    def stop(self) -> None:
        """Finish the view under way and those that need not wait, then end the thread."""
        with self._changed:
            self._stop = True
            self._changed.notify()
        if self._thread.is_alive():
            self._thread.join()

    def offer(self, message: DetectionArray) -> None:
        """Take a message from a subscription; never blocks."""
        dropped = False
        with self._changed:
            self.counts.received += 1
            self._waiting.append(_Waiting(message, time.monotonic() + self._wait_s()))
            if len(self._waiting) > self._queue_size:
                self._waiting.popleft()
                dropped = True
            self._news = True
            self._changed.notify()
        if dropped:
            self._drop(QUEUE_FULL, f'more than {self._queue_size} views were waiting')

    def transforms_changed(self) -> None:
        """New transforms have come: try the waiting views again."""
        with self._changed:
            if self._waiting:
                self._news = True
                self._changed.notify()

    def _run(self) -> None:
        while True:
            with self._changed:
                if not self._news and not self._stop:
                    self._changed.wait(self._patience())
                self._news = False
                stopping = self._stop
                batch = list(self._waiting)
                self._waiting.clear()
            left = self._work_through(batch)
            with self._changed:
                self._waiting.extendleft(reversed(left))
                if stopping:
                    return

    def _patience(self) -> float | None:
        if not self._waiting:
            return None
        return max(0.0, min(w.give_up_at for w in self._waiting) - time.monotonic())

    def _work_through(self, batch: list[_Waiting]) -> list[_Waiting]:
        """Judge what can be judged; a frame whose view must wait keeps its later ones waiting."""
        left: list[_Waiting] = []
        held_up: set[str] = set()
        for waiting in batch:
            frame = waiting.message.header.frame_id
            if frame in held_up:
                left.append(waiting)
            elif not self._judge(waiting):
                held_up.add(frame)
                left.append(waiting)
        return left

    def _judge(self, waiting: _Waiting) -> bool:
        """Return False if the message must wait for a transform."""
        message = waiting.message
        if not frame_name(message.header.frame_id):
            self._drop(NO_FRAME, 'the header of a DetectionArray names no frame')
            return True
        try:
            view = self._view(message)
        except TransformError as error:
            if error.waiting_helps and time.monotonic() < waiting.give_up_at:
                return False
            self._drop(error.reason, str(error))
            return True
        try:
            commit = self._observe(view)
        except Exception as error:  # the outermost handler of this thread
            self._drop(INTERNAL, f'{type(error).__name__}: {error}')
            return True
        if not commit.refused:
            self.counts.committed += 1
        self._on_commit(view, commit)
        return True

    def _view(self, message: DetectionArray) -> View:
        frame = frame_name(message.header.frame_id)
        stamp_ns = conversions.stamp_to_ns(message.header.stamp)
        to_map = self._transforms.lookup(self._map_frame, frame, stamp_ns)
        sensor_frame = frame_name(conversions.sensor_frame_of(message, self._map_frame))
        pose = None
        if sensor_frame:
            sensor = to_map
            if sensor_frame != frame:
                sensor = self._transforms.lookup(self._map_frame, sensor_frame, stamp_ns)
            pose = Pose(sensor.translation_m, sensor.rotation_xyzw)
        return conversions.view_from_msg(message, to_map, pose, self._map_id, self._clock())

    def _drop(self, reason: str, details: str) -> None:
        self.counts.dropped[reason] += 1
        self._on_problem(reason, details)
