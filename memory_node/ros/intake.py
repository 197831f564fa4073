# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""From a DetectionArray to a commit: a bounded queue, the wait for transforms, one thread."""

from __future__ import annotations

import dataclasses
import math
import threading
import time
import traceback
from collections import Counter, deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import NamedTuple, Protocol

from spatial_memory.msg import DetectionArray

from memory_node.config import Config, NodeConfig
from memory_node.errors import StoreBusyError, StoreError
from memory_node.model import Commit, Pose, View
from memory_node.ros import conversions
from memory_node.ros.transform_buffer import (
    MissingFrameError,
    TransformError,
    Transforms,
    frame_name,
)

NO_FRAME = 'no_frame'
NO_CLOCK = 'no_clock'
BAD_STAMP = 'bad_stamp'
QUEUE_FULL = 'queue_full'
STOPPED = 'stopped'
STORE = 'store_error'
INTERNAL = 'internal_error'

REASONS = {
    NO_FRAME: 'the header names no frame',
    NO_CLOCK: 'use_sim_time is true, and no /clock has come',
    BAD_STAMP: 'the stamp is zero, or further ahead of the clock than max_future_s',
    QUEUE_FULL: 'more views were waiting than queue_size',
    STOPPED: 'the node was stopped while the view was waiting',
    STORE: 'it could not be written; the log says why',
    INTERNAL: 'judging it failed; the log says how',
}
"""Why a whole message is dropped, beside the reasons of TransformError and of the core."""

BUSY = 'store_busy'
"""Reported, but nothing is dropped: another program holds the file's lock."""

STOP_S = 1.5
"""How long a stop goes on judging what was received."""
RETRY_S = 0.1
"""How long a busy file is left alone."""
CLOCK_RETRY_S = 0.05
"""How often to look for the first /clock: nothing tells of it."""
REPORT_WAIT_S = 2.0
"""A view that has waited this long is reported, although it is not yet given up."""

_NANOSECONDS = 1_000_000_000
_MAX_FRAMES = 100


class Settings(NamedTuple):
    """What the parameters say at present."""

    core: Config
    node: NodeConfig


@dataclass
class IntakeCounts:
    """What became of the messages, since the start of the node.

    Attributes:
        received, committed: messages.
        restamped: messages whose bad stamp was replaced by the time of receipt.
        dropped: reason → messages.
        missing_frames: name → messages that were dropped because it is missing.
        received_at: monotonic time of the last message; None: there was none.
    """

    received: int = 0
    committed: int = 0
    restamped: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    missing_frames: Counter[str] = field(default_factory=Counter)
    received_at: float | None = None


@dataclass
class _Waiting:
    number: int
    message: DetectionArray
    received_ns: int
    since: float
    give_up_at: float
    reported: bool = False
    view: View | None = None
    depth_due: float = math.inf


class _Outcome(Enum):
    DONE = auto()
    WAIT = auto()
    BUSY = auto()


class _Refused(Exception):
    """A message that cannot be used, whatever comes: reason, and details in words."""

    def __init__(self, reason: str, details: str) -> None:
        super().__init__(details)
        self.reason = reason


class _NoClock(TransformError):
    reason = NO_CLOCK

    def __init__(self) -> None:
        super().__init__(REASONS[NO_CLOCK])


class _NoDepth(TransformError):
    reason = 'no_depth'


class Eyes(Protocol):
    """What the intake needs of the cameras; see `cameras.Cameras`."""

    def waits_for(self, view: View) -> bool: ...

    def complete(self, view: View, frame: str) -> View: ...


_Lane = tuple[str, str]


class Intake:
    """Judges views one after the other, in the order of arrival.

    A view waits for its transform without holding up those of other frames; when it has waited for
    `wait_s`, it is given up and counted. While another program holds the file's lock, all wait.
    What waits is bounded: beyond, the oldest is dropped and counted. One thread does all the work,
    so that subscriptions and services never wait for it.
    """

    def __init__(
        self,
        observe: Callable[[View], Commit],
        on_commit: Callable[[View, Commit], None],
        on_problem: Callable[[str, str], None],
        transforms: Transforms,
        *,
        settings: Callable[[], Settings],
        now_ns: Callable[[], int],
        clock: Callable[[], str],
        scope: Mapping[str, str],
        cameras: Eyes | None = None,
        counts: IntakeCounts | None = None,
    ) -> None:
        """Create it; `start` makes it work.

        Args:
            observe: puts a view into the memory.
            on_commit: told of every view that was put there.
            on_problem: told why a message was dropped or waits: reason, and details in words.
            transforms: where frames were.
            settings: returns what the parameters say.
            now_ns: returns the time of the node's clock; 0: there is none yet.
            clock: returns 'sim' or 'wall'.
            scope: stored with every view.
            cameras: give views their depth; None: there are none.
            counts: to go on counting in; new ones when None.
        """
        self._counts = counts or IntakeCounts()
        self._observe, self._on_commit, self._on_problem = observe, on_commit, on_problem
        self._transforms = transforms
        self._settings, self._now_ns, self._clock = settings, now_ns, clock
        self._scope, self._cameras = scope, cameras
        # By what they wait for, each in order of arrival; no lane is empty.
        self._lanes: dict[_Lane, deque[_Waiting]] = {}
        self._waiting = 0
        self._number = 0
        self._changed = threading.Condition()
        self._news = False
        self._stop_at: float | None = None
        self._thread = threading.Thread(target=self._run, name='intake', daemon=True)

    # -- called by other threads -------------------------------------------------------------

    @property
    def waiting(self) -> int:
        """Messages that have not been judged yet."""
        return self._waiting

    @property
    def queue_size(self) -> int:
        """Messages that may wait."""
        return self._settings().node.queue_size

    def counts(self) -> IntakeCounts:
        """Return a copy of what was counted."""
        with self._changed:
            return dataclasses.replace(
                self._counts,
                dropped=self._counts.dropped.copy(),
                missing_frames=self._counts.missing_frames.copy(),
            )

    def start(self) -> None:
        """Start the worker thread."""
        self._thread.start()

    def stop(self) -> None:
        """Judge what need not wait, for `STOP_S` at most, then end the thread."""
        with self._changed:
            self._stop_at = time.monotonic() + STOP_S
            self._changed.notify()
        if self._thread.is_alive():
            self._thread.join()

    def offer(self, message: DetectionArray) -> None:
        """Take a message from a subscription; never blocks."""
        lane = self._lane(message)
        now, now_ns, settings = time.monotonic(), self._now_ns(), self._settings().node
        with self._changed:
            self._counts.received += 1
            self._counts.received_at = now
            self._number += 1
            self._put(lane, _Waiting(
                self._number, message, now_ns, now, now + settings.transform_wait_s))  # fmt: skip
            full = self._waiting > settings.queue_size
            if full:
                self._take(min(self._lanes, key=self._order))
            self._news = True
            self._changed.notify()
        if full:
            self._drop(QUEUE_FULL, f'more than {settings.queue_size} were waiting')

    def transforms_changed(self) -> None:
        """New transforms, or depth, have come: try the waiting views again."""
        with self._changed:
            if self._waiting:
                self._news = True
                self._changed.notify()

    # -- the thread --------------------------------------------------------------------------

    def _run(self) -> None:
        while True:
            with self._changed:
                if not self._news and self._stop_at is None:
                    self._changed.wait(self._patience())
                self._news = False
                stopping = self._stop_at is not None
            try:
                self._work_through()
            except Exception:  # the outermost handler: the thread must live
                self._on_problem(INTERNAL, traceback.format_exc())
            if stopping:
                self._drop_rest()
                return

    def _patience(self) -> float | None:
        """Seconds until the first of the waiting views must be looked at again."""
        if not self._lanes:
            return None
        if not self._now_ns():
            return CLOCK_RETRY_S
        now = time.monotonic()
        heads = [lane[0] for lane in self._lanes.values()]
        due = min(
            head.give_up_at if head.reported else min(head.give_up_at, head.since + REPORT_WAIT_S)
            for head in heads
        )
        due = min(due, *(head.depth_due for head in heads))
        return max(0.0, due - now)

    def _work_through(self) -> None:
        """Judge what can be judged; a view that must wait keeps those of its lane waiting."""
        held_up: set[_Lane] = set()
        while True:
            with self._changed:
                if self._stop_at is not None and time.monotonic() > self._stop_at:
                    return
                ready = self._lanes.keys() - held_up
                if not ready:
                    return
                lane = min(ready, key=self._order)
                item = self._take(lane)
            outcome = self._judge(item)
            if outcome is _Outcome.DONE:
                continue
            with self._changed:
                self._put(lane, item, front=True)
            if outcome is _Outcome.WAIT:
                held_up.add(lane)
            else:
                self._wait_for_the_file()

    def _wait_for_the_file(self) -> None:
        """Wait a little; meanwhile place what has come, before its transforms are forgotten."""
        with self._changed:
            unplaced = [i for lane in self._lanes.values() for i in lane if i.view is None]
        for item in unplaced:
            with suppress(Exception):  # decided when its turn comes
                item.view = self._view(item)
        with self._changed:
            self._changed.wait_for(lambda: self._stop_at is not None, RETRY_S)

    def _judge(self, item: _Waiting) -> _Outcome:
        try:
            view = item.view = item.view or self._view(item)
        except TransformError as error:
            return self._not_yet(item, error)
        except _Refused as error:
            self._drop(error.reason, str(error))
            return _Outcome.DONE
        except Exception:  # a message that cannot be read costs only itself
            self._drop(INTERNAL, traceback.format_exc())
            return _Outcome.DONE
        try:
            commit = self._observe(view)
        except StoreBusyError as error:
            self._on_problem(BUSY, f'{error}; {self._waiting + 1} views are waiting')
            return _Outcome.BUSY
        except StoreError as error:
            self._drop(STORE, str(error))
            return _Outcome.DONE
        except Exception:
            self._drop(INTERNAL, traceback.format_exc())
            return _Outcome.DONE
        self._judged(item, view, commit)
        return _Outcome.DONE

    def _judged(self, item: _Waiting, view: View, commit: Commit) -> None:
        if commit.refused:
            self._drop(commit.refused, f'stamp {view.stamp_ns} ns of sensor {view.sensor!r}')
            return
        with self._changed:
            self._counts.committed += 1
            stamp = item.message.header.stamp
            self._counts.restamped += view.stamp_ns != conversions.stamp_to_ns(stamp)
        try:
            self._on_commit(view, commit)
        except Exception:
            self._on_problem(INTERNAL, traceback.format_exc())

    def _not_yet(self, item: _Waiting, error: TransformError) -> _Outcome:
        if isinstance(error, _NoDepth):
            return _Outcome.WAIT
        now = time.monotonic()
        if error.waiting_helps and (now < item.give_up_at or self._stop_at is not None):
            if not item.reported and now >= item.since + REPORT_WAIT_S:
                item.reported = True
                self._on_problem(error.reason, f'views are waiting: {error}')
            return _Outcome.WAIT
        frame = error.frame if isinstance(error, MissingFrameError) else ''
        self._drop(error.reason, str(error), frame)
        return _Outcome.DONE

    def _view(self, item: _Waiting) -> View:
        """Return what the message says, in the map frame.

        Raises:
            TransformError: a transform, or the time, cannot be had; it may be worth waiting for.
            _Refused: the message cannot be used.
        """
        message = item.message
        frame = frame_name(message.header.frame_id)
        if not frame:
            raise _Refused(NO_FRAME, f'a view of sensor {message.sensor!r} names no frame')
        now_ns = self._now_ns()
        if not now_ns:
            raise _NoClock
        core, node = self._settings()
        stamp_ns = conversions.stamp_to_ns(message.header.stamp)
        if stamp_ns <= 0 or stamp_ns - now_ns > core.max_future_s * _NANOSECONDS:
            if node.stamp_policy != 'receive_time':
                raise _Refused(BAD_STAMP, (
                    f'stamp {stamp_ns / _NANOSECONDS:.3f} s of sensor {message.sensor or frame!r}, '
                    f'the clock says {now_ns / _NANOSECONDS:.3f} s'))  # fmt: skip
            stamp_ns = item.received_ns or now_ns
        view = view_in_map(message, stamp_ns, self._transforms, node, self._clock())
        view = dataclasses.replace(view, stamp_ns=stamp_ns, scope=self._scope)
        return view if self._cameras is None else self._with_depth(item, view, self._cameras)

    def _with_depth(self, item: _Waiting, view: View, cameras: Eyes) -> View:
        """Return the view with what its camera says; it may be worth waiting a little for that."""
        node = self._settings().node
        item.depth_due = item.since + node.depth_wait_s
        if time.monotonic() < item.depth_due and self._stop_at is None and cameras.waits_for(view):
            raise _NoDepth('its depth has not come yet')
        item.depth_due = math.inf
        return cameras.complete(view, conversions.sensor_frame_of(item.message, node.map_frame))

    # -- the queue; call with the lock held --------------------------------------------------

    def _lane(self, message: DetectionArray) -> _Lane:
        return frame_name(message.header.frame_id), frame_name(message.sensor_frame)

    def _order(self, lane: _Lane) -> int:
        return self._lanes[lane][0].number

    def _put(self, lane: _Lane, item: _Waiting, front: bool = False) -> None:
        items = self._lanes.setdefault(lane, deque())
        if front:
            items.appendleft(item)
        else:
            items.append(item)
        self._waiting += 1

    def _take(self, lane: _Lane) -> _Waiting:
        items = self._lanes[lane]
        item = items.popleft()
        if not items:
            del self._lanes[lane]
        self._waiting -= 1
        return item

    # -- counting ----------------------------------------------------------------------------

    def _drop_rest(self) -> None:
        with self._changed:
            count, self._waiting = self._waiting, 0
            self._lanes.clear()
            if count:
                self._counts.dropped[STOPPED] += count
        if count:
            self._on_problem(STOPPED, f'{count} views were waiting when the node was stopped')

    def _drop(self, reason: str, details: str, frame: str = '') -> None:
        with self._changed:
            self._counts.dropped[reason] += 1
            frames = self._counts.missing_frames
            if frame and (frame in frames or len(frames) < _MAX_FRAMES):
                frames[frame] += 1
        self._on_problem(reason, details)


def view_in_map(
    message: DetectionArray, stamp_ns: int, transforms: Transforms, settings: NodeConfig, clock: str
) -> View:
    """Return a message as a view in the map frame.

    Args:
        message: its header names a frame.
        stamp_ns: the time at which the transforms are looked up.
        transforms, settings: where frames were, and which one is the map's.
        clock: 'sim' or 'wall'.

    Raises:
        TransformError: a transform is not (yet) known.
    """
    frame = frame_name(message.header.frame_id)
    to_map = transforms.lookup(settings.map_frame, frame, stamp_ns)
    sensor_frame = frame_name(conversions.sensor_frame_of(message, settings.map_frame))
    pose = None
    if sensor_frame:
        sensor = to_map
        if sensor_frame != frame:
            sensor = transforms.lookup(settings.map_frame, sensor_frame, stamp_ns)
        pose = Pose(sensor.translation_m, sensor.rotation_xyzw)
    return conversions.view_from_msg(message, to_map, pose, settings.map_id, clock)
