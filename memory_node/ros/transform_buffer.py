# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Where frames were at a given time: a transform buffer in plain Python.

It never extrapolates, nor falls back to the latest transform: a lookup that cannot be answered
says by name what is missing, and whether it is worth waiting for.
"""

from __future__ import annotations

import threading
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Container, Mapping
from typing import Any, ClassVar, Protocol

from memory_node.errors import InvalidValueError, SpatialMemoryError
from memory_node.model import Pose
from memory_node.scene.transform import Transform

CACHE_S = 10.0
"""How much of the past is kept, as in tf2."""

_STALE_RUN = 3
"""So many transforms of a frame in a row, all from before the cache: its clock went back."""

_NANOSECONDS = 1_000_000_000


class TransformError(SpatialMemoryError):
    """A transform cannot be had.

    Attributes:
        reason: the key to count it under.
        waiting_helps: whether a transform that is still to come can mend it.
    """

    reason: ClassVar[str] = 'no_transform'
    waiting_helps: ClassVar[bool] = True


class MissingFrameError(TransformError):
    """No transform to or from this frame has ever been received.

    Attributes:
        frame: its name.
    """

    reason = 'missing_frame'

    def __init__(self, frame: str, known: frozenset[str] = frozenset()) -> None:
        listed = ', '.join(sorted(known)[:10]) or 'none at all'
        more = f' and {len(known) - 10} more' if len(known) > 10 else ''
        super().__init__(f'frame {frame!r} is missing; known frames: {listed}{more}')
        self.frame = frame


class NotConnectedError(TransformError):
    """Both frames are known, but no chain of transforms connects them.

    Attributes:
        a, b: their names.
    """

    reason = 'not_connected'

    def __init__(self, a: str, b: str) -> None:
        super().__init__(f'frames {a!r} and {b!r} are not connected')
        self.a, self.b = a, b


class TooEarlyError(TransformError):
    """The stamp is newer than the newest transform on the way: it was asked for too early."""

    reason = 'transform_too_early'


class TooOldError(TransformError):
    """The stamp is older than what the buffer holds, or in a gap that nothing will fill."""

    reason = 'transform_too_old'
    waiting_helps = False


class Transforms(Protocol):
    """What the node needs of a buffer; see TransformBuffer."""

    @property
    def refused(self) -> Mapping[str, int]: ...

    def frames(self) -> frozenset[str]: ...

    def lookup(self, target_frame: str, source_frame: str, stamp_ns: int) -> Transform: ...

    def newest_ns(self, target_frame: str, source_frame: str) -> int: ...

    def add_message(self, message: Any, *, static: bool) -> bool: ...

    def clear(self) -> None: ...


def frame_name(name: str) -> str:
    """Return a frame name without the leading slash of ROS 1."""
    return name.lstrip('/')


class _Track:
    """What is known of one child frame, as arrays sorted by stamp; a static one has one entry."""

    __slots__ = ('parents', 'stale', 'stamps', 'static', 'values')

    def __init__(self, static: bool) -> None:
        self.static = static
        self.stale = 0
        self.stamps = array('q')
        self.values = array('d')  # 7 an entry: translation, rotation
        self.parents: list[str] = []

    def insert(self, stamp_ns: int, parent: str, transform: Transform, cache_ns: int) -> bool:
        """Put an entry in its place and drop what is too old; False: it is itself too old."""
        row = array('d', (*transform.translation_m, *transform.rotation_xyzw))
        stamps = self.stamps
        if self.static:
            self._keep_from(len(stamps))
        elif stamps and stamp_ns < stamps[-1] - cache_ns:
            self.stale += 1
            if self.stale < _STALE_RUN:
                return False
            self._keep_from(len(stamps))
        self.stale = 0
        i = bisect_left(stamps, stamp_ns)
        same = i < len(stamps) and stamps[i] == stamp_ns
        stamps[i : i + same] = array('q', (stamp_ns,))
        self.values[7 * i : 7 * (i + same)] = row
        self.parents[i : i + same] = [parent]
        self._keep_from(bisect_left(stamps, stamps[-1] - cache_ns))
        return True

    def at(self, child: str, stamp_ns: int) -> tuple[str, Transform]:
        """Return the parent at a time, and the transform parent ← child."""
        stamps, parents = self.stamps, self.parents
        if self.static:
            return parents[0], self._entry(0)
        i = bisect_left(stamps, stamp_ns)
        if i == len(stamps):
            raise TooEarlyError(
                f'{_asked(child, stamp_ns)}, the newest is {_seconds(stamp_ns - stamps[-1])} older'
            )
        if stamps[i] == stamp_ns:
            return parents[i], self._entry(i)
        if i == 0:
            raise TooOldError(
                f'{_asked(child, stamp_ns)}, the oldest is {_seconds(stamps[0] - stamp_ns)} newer'
            )
        if parents[i - 1] != parents[i]:
            raise TooOldError(
                f'{_asked(child, stamp_ns)}, between which its parent changed from '
                f'{parents[i - 1]!r} to {parents[i]!r}'
            )
        fraction = (stamp_ns - stamps[i - 1]) / (stamps[i] - stamps[i - 1])
        return parents[i], self._entry(i - 1).interpolate(self._entry(i), fraction)

    def _entry(self, i: int) -> Transform:
        x, y, z, qx, qy, qz, qw = self.values[7 * i : 7 * i + 7]
        return Transform((x, y, z), (qx, qy, qz, qw))

    def _keep_from(self, i: int) -> None:
        if i:
            del self.stamps[:i], self.values[: 7 * i], self.parents[:i]


class TransformBuffer:
    """Keeps the last seconds of every transform, and interpolates between them.

    Safe to use from several threads. A frame that gets another parent keeps its past; a transform
    with the stamp of one that is held replaces it.
    """

    def __init__(self, cache_s: float = CACHE_S) -> None:
        """Create an empty buffer that holds this many seconds, for each frame before its newest."""
        self._cache_ns = round(cache_s * _NANOSECONDS)
        self._tracks: dict[str, _Track] = {}
        self._refused: Counter[str] = Counter()
        self._lock = threading.Lock()

    @property
    def refused(self) -> Mapping[str, int]:
        """How many transforms were refused, by reason."""
        return dict(self._refused)

    def frames(self) -> frozenset[str]:
        """Return the names of all frames that are known at present."""
        with self._lock:
            return self._frames()

    def add(
        self,
        parent: str,
        child: str,
        stamp_ns: int,
        transform: Transform | Pose,
        static: bool = False,
    ) -> bool:
        """Take a transform parent ← child, which is the pose of the child in the parent.

        Args:
            parent, child: frame names, with or without a leading slash.
            stamp_ns: when it held; without meaning for a static one.
            transform: of any quaternion norm but zero.
            static: it holds at all times.

        Returns:
            False: refused and counted, because a name is empty or both are the same, a number is
            not finite, the quaternion is zero, or the stamp is older than the cache.
        """
        parent, child = frame_name(parent), frame_name(child)
        if isinstance(transform, Pose):
            transform = Transform(transform.position_m, transform.orientation_xyzw)
        with self._lock:
            try:
                transform = checked(parent, child, transform)
            except InvalidValueError:
                self._refused['invalid'] += 1
                return False
            track = self._tracks.get(child)
            if track is None or track.static != static:
                track = self._tracks[child] = _Track(static)
            if track.insert(stamp_ns, parent, transform, self._cache_ns):
                return True
            self._refused['too_old'] += 1
            return False

    def add_message(self, message: Any, *, static: bool) -> bool:
        """Take a geometry_msgs/TransformStamped; see `add`."""
        return self.add(*from_message(message), static)

    def lookup(self, target_frame: str, source_frame: str, stamp_ns: int) -> Transform:
        """Return the transform target ← source at exactly this time.

        Raises:
            MissingFrameError: one of the frames is unknown; names the target first.
            NotConnectedError: no chain connects them.
            TooEarlyError: a transform on the way is not yet there.
            TooOldError: a transform on the way is no longer there, or never was.
        """
        target, source = frame_name(target_frame), frame_name(source_frame)
        with self._lock:
            up = self._walk(source, stamp_ns, (target,))
            if target in up:
                return up[target]
            down = self._walk(target, stamp_ns, up)
            meeting = next(reversed(down))
            if meeting in up:
                return down[meeting].inverse().compose(up[meeting])
            raise self._why_not(target, source, stamp_ns)

    def newest_ns(self, target_frame: str, source_frame: str) -> int:
        """Return the newest time for which `lookup` has every transform; 0: all are static.

        Raises:
            MissingFrameError, NotConnectedError: see `lookup`.
        """
        target, source = frame_name(target_frame), frame_name(source_frame)
        with self._lock:
            up, down = self._newest_chain(source), self._newest_chain(target)
            meeting = next((frame for frame in up if frame in down), None)
            if meeting is None:
                raise self._why_not(target, source, 0)
            way = (*up[: up.index(meeting)], *down[: down.index(meeting)])
            tracks = [self._tracks[frame] for frame in way]
            return min((track.stamps[-1] for track in tracks if not track.static), default=0)

    def clear(self) -> None:
        """Forget all but the static transforms: the clock jumped back."""
        with self._lock:
            self._tracks = {child: t for child, t in self._tracks.items() if t.static}

    def _walk(self, start: str, stamp_ns: int, goals: Container[str]) -> dict[str, Transform]:
        """Climb from a frame until one of the goals, the root, or a time that is not covered.

        Returns:
            Every frame that was reached, in order, with the transform from the start to it.
        """
        reached = {start: Transform()}
        frame = start
        while frame not in goals and (track := self._tracks.get(frame)):
            try:
                parent, step = track.at(frame, stamp_ns)
            except TransformError:
                break
            if parent in reached:  # the frames form a loop
                break
            reached[parent] = step.compose(reached[frame])
            frame = parent
        return reached

    def _why_not(self, target: str, source: str, stamp_ns: int) -> TransformError:
        known = self._frames()
        for frame in (target, source):
            if frame not in known:
                return MissingFrameError(frame, known)
        up, down = self._newest_chain(source), self._newest_chain(target)
        meeting = next((frame for frame in up if frame in down), None)
        if meeting is None:
            return NotConnectedError(target, source)
        early: TransformError | None = None
        for frame in (*up[: up.index(meeting)], *down[: down.index(meeting)]):
            try:
                self._tracks[frame].at(frame, stamp_ns)
            except TooEarlyError as error:
                early = early or error
            except TransformError as error:
                return error
        return early or NotConnectedError(target, source)

    def _newest_chain(self, frame: str) -> list[str]:
        chain = [frame]
        while (track := self._tracks.get(chain[-1])) and track.parents[-1] not in chain:
            chain.append(track.parents[-1])
        return chain

    def _frames(self) -> frozenset[str]:
        return frozenset(self._tracks) | {track.parents[-1] for track in self._tracks.values()}


def from_message(message: Any) -> tuple[str, str, int, Transform]:
    """Return parent, child, stamp [ns] and transform of a TransformStamped, not checked."""
    stamp, t, q = message.header.stamp, message.transform.translation, message.transform.rotation
    return (
        frame_name(message.header.frame_id),
        frame_name(message.child_frame_id),
        stamp.sec * _NANOSECONDS + stamp.nanosec,
        Transform((t.x, t.y, t.z), (q.x, q.y, q.z, q.w)),
    )


def checked(parent: str, child: str, transform: Transform) -> Transform:
    """Return the transform normalised; InvalidValueError: it or a frame name is not usable."""
    if not parent or not child or parent == child:
        raise InvalidValueError(
            f'transform from {child!r} to {parent!r}, expected two different frames'
        )
    return Transform.of(transform.translation_m, transform.rotation_xyzw)


def _asked(child: str, stamp_ns: int) -> str:
    return f'frame {child!r} was asked for at {_seconds(stamp_ns)}'


def _seconds(duration_ns: int) -> str:
    return f'{duration_ns / _NANOSECONDS:.3f} s'
