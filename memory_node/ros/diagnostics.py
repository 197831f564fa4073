# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What /diagnostics says: how well things come in, are stored, and are answered.

`intake_status`, `store_status` and `services_status` are pure: a state in, a status out. The
classes around them collect the states and publish once a second.
"""

from __future__ import annotations

import bisect
import math
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.clock import Clock, ClockType
from rclpy.node import Node

OK, WARN, ERROR = 0, 1, 2
PERIOD_S = 1.0
LATELY_S = 10.0
"""«Lately»: what happened within this time decides the level."""
MINUTE_S = 60.0
QUIET_S = 10.0
"""A sensor that has sent nothing for this long is said to be quiet."""
WAL_WARN_BYTES = 64 * 2**20
"""A write-ahead log of this size is held back by a reader that does not end (C32)."""

Counts = Mapping[str, int]


@dataclass(frozen=True)
class Status:
    """Level, one sentence, and the numbers behind it."""

    level: int
    message: str
    values: Mapping[str, str]


@dataclass(frozen=True)
class InputState:
    """One topic on which views come in.

    Attributes:
        topic, type_name, reliability: as subscribed.
        publishers: how many publish that type. other_types: which other types are published.
    """

    topic: str
    type_name: str
    reliability: str
    publishers: int
    other_types: tuple[str, ...] = ()


@dataclass(frozen=True)
class IntakeState:
    """How views come in.

    Attributes:
        active: whether the node is.
        has_clock: whether the node's clock has a time yet.
        received, committed, restamped: views since the start.
        rate_hz: views received a second, lately.
        committed_lately: views put into the memory, lately.
        silent_s: time since the last view came; None: none has.
        view_age_s: the clock minus the stamp of the newest view in the memory; None: there is none.
        waiting: views not judged yet; queue_size: how many may be.
        dropped, dropped_lately: reason → views.
        refused, refused_lately: reason → detections.
        blind, blind_lately: reason → views judged without what their camera should have told.
        missing_frames: name → views dropped for it, lately.
        callback_errors: exceptions in callbacks since the start.
    """

    active: bool
    inputs: Sequence[InputState] = ()
    has_clock: bool = True
    received: int = 0
    committed: int = 0
    restamped: int = 0
    rate_hz: float = 0.0
    committed_lately: int = 0
    silent_s: float | None = None
    view_age_s: float | None = None
    waiting: int = 0
    queue_size: int = 1
    dropped: Counts = field(default_factory=dict)
    dropped_lately: Counts = field(default_factory=dict)
    refused: Counts = field(default_factory=dict)
    refused_lately: Counts = field(default_factory=dict)
    blind: Counts = field(default_factory=dict)
    blind_lately: Counts = field(default_factory=dict)
    missing_frames: Counts = field(default_factory=dict)
    callback_errors: int = 0


@dataclass(frozen=True)
class StoreState:
    """How the file is.

    Attributes:
        open: whether the memory is.
        file_bytes, log_bytes: size of the file and of its write-ahead log.
        seq, durable_seq: last log line, and last one that survives a power cut.
        objects: that have not ended.
        commits_s: durations of the commits within the last minute, seconds.
        failures_lately: reason → views that could not be written.
        busy: whether another program holds the lock at present.
    """

    open: bool
    path: str
    file_bytes: int = 0
    log_bytes: int = 0
    seq: int = 0
    durable_seq: int = 0
    objects: int = 0
    commits_s: Sequence[float] = ()
    failures_lately: Counts = field(default_factory=dict)
    busy: bool = False


@dataclass(frozen=True)
class ServiceState:
    """One service.

    Attributes:
        requests, refused, failed: since the start. refused: the request was at fault, or the node
            was not active; failed: the node was.
        failed_lately: of these, lately.
        slowest_s: within the last minute; 0: there was no request.
    """

    requests: int = 0
    refused: int = 0
    failed: int = 0
    failed_lately: int = 0
    slowest_s: float = 0.0


# -- pure ------------------------------------------------------------------------------------


def intake_status(state: IntakeState) -> Status:
    """Say how views come in."""
    values = {
        'rate [1/s]': f'{state.rate_hz:.1f}',
        'received': str(state.received),
        'committed': str(state.committed),
        'waiting': f'{state.waiting} of {state.queue_size}',
        'time since the last message [s]': _seconds(state.silent_s),
        'age of the newest view [s]': _seconds(state.view_age_s),
        'given the time of receipt': str(state.restamped),
        'exceptions in callbacks': str(state.callback_errors),
    }
    for kind, counts in (
        ('dropped', state.dropped), ('refused detections', state.refused),
        ('judged without depth', state.blind),
    ):  # fmt: skip
        values |= {f'{kind}: {reason}': str(n) for reason, n in sorted(counts.items())}
    values |= {f'missing frame: {f}': f'{n} views' for f, n in sorted(state.missing_frames.items())}
    for source in state.inputs:
        others = f'; also published as {", ".join(source.other_types)}' * bool(source.other_types)
        values[f'topic {source.topic}'] = (
            f'{source.type_name}, {source.reliability}, {source.publishers} publishers{others}'
        )
    return Status(*_intake_words(state), values)


def _intake_words(s: IntakeState) -> tuple[int, str]:
    dropped, frames = sum(s.dropped_lately.values()), ', '.join(sorted(s.missing_frames))
    why = f'{_listed(s.dropped_lately)}{f"; missing: {frames}" * bool(frames)}'
    topics = ', '.join(source.topic for source in s.inputs)
    if not s.active:
        return OK, 'the node is not active'
    if not s.has_clock:
        return WARN, 'no time yet: use_sim_time is true and nothing came on /clock'
    if dropped and not s.committed_lately:
        return ERROR, f'no view gets through: {dropped} dropped ({why})'
    if not any(source.publishers for source in s.inputs):
        return _unpublished(s, topics)
    if s.silent_s is None or s.silent_s > QUIET_S:
        since = 'yet' if s.silent_s is None else f'for {s.silent_s:.0f} s'
        return WARN, f'no input: {topics} is published, but nothing came {since}'
    if dropped:
        return WARN, f'{dropped} views dropped in {LATELY_S:.0f} s ({why})'
    if s.waiting > s.queue_size / 2:
        return WARN, f'{s.waiting} views are waiting, from {s.queue_size} on they are dropped'
    if refused := sum(s.refused_lately.values()):
        listed = _listed(s.refused_lately)
        return WARN, f'{refused} detections refused in {LATELY_S:.0f} s ({listed})'
    if blind := sum(s.blind_lately.values()):
        listed = _listed(s.blind_lately)
        return WARN, f'{blind} views judged without depth in {LATELY_S:.0f} s ({listed})'
    return OK, f'{s.rate_hz:.1f} views a second'


def _unpublished(s: IntakeState, topics: str) -> tuple[int, str]:
    for source in s.inputs:
        if source.other_types:
            return ERROR, (
                f'wrong type: {source.topic} is published as {", ".join(source.other_types)}, '
                f'expected {source.type_name}'
            )
    return WARN, f'no publisher: nobody publishes {topics}'


def store_status(state: StoreState) -> Status:
    """Say how the file is."""
    if not state.open:
        return Status(OK, 'the memory is not open', {'path': state.path})
    commits = sorted(state.commits_s)
    values = {
        'path': state.path,
        'file [MB]': f'{state.file_bytes / 1e6:.2f}',
        'write-ahead log [MB]': f'{state.log_bytes / 1e6:.2f}',
        'log line': str(state.seq),
        'log line safe in a power cut': str(state.durable_seq),
        'objects': str(state.objects),
        'commits in the last minute': str(len(commits)),
        'commit p50 [ms]': _milliseconds(percentile(commits, 0.5)),
        'commit p99 [ms]': _milliseconds(percentile(commits, 0.99)),
    }
    level, message = OK, f'{state.objects} objects, log line {state.seq}'
    if failures := sum(state.failures_lately.values()):
        level = ERROR
        message = f'{failures} views could not be written ({_listed(state.failures_lately)})'
    elif state.busy:
        level, message = WARN, 'another program holds the lock of the file: views are waiting'
    elif state.log_bytes > WAL_WARN_BYTES:
        level = WARN
        message = (
            f'the write-ahead log has {state.log_bytes / 1e6:.0f} MB: a reader outside does not '
            'end its transaction'
        )
    return Status(level, message, values)


def services_status(services: Mapping[str, ServiceState]) -> Status:
    """Say how requests are answered."""
    values = {
        name: (
            f'{s.requests} requests, {s.refused} refused, {s.failed} failed, '
            f'slowest {s.slowest_s * 1e3:.1f} ms'
        )
        for name, s in sorted(services.items())
    }
    failed = {name: s.failed_lately for name, s in services.items() if s.failed_lately}
    if failed:
        message = f'{sum(failed.values())} requests failed in {LATELY_S:.0f} s ({_listed(failed)})'
        return Status(ERROR, message, values)
    slowest = max((s.slowest_s for s in services.values()), default=0.0)
    total = sum(s.requests for s in services.values())
    return Status(OK, f'{total} requests, slowest lately {slowest * 1e3:.1f} ms', values)


def encoder_status(model: str, off: str | None) -> Status:
    """Say whether texts are searched by what things look like.

    Args:
        model: name of the encoder. off: why not; empty: they are; None: the memory is not open.
    """
    if off is None:
        return Status(OK, 'the memory is not open', {'encoder_model': model})
    message = off or 'texts are searched by what things look like too'
    return Status(WARN if off else OK, message, {'encoder_model': model})


def percentile(ordered: Sequence[float], share: float) -> float | None:
    """The smallest value that this share of the ascending values does not exceed; None: none."""
    if not ordered:
        return None
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def to_message(
    statuses: Mapping[str, Status], node_name: str, stamp: Any | None = None
) -> DiagnosticArray:
    """Return statuses by task as one message."""
    message = DiagnosticArray()
    if stamp is not None:
        message.header.stamp = stamp
    message.status = [
        DiagnosticStatus(
            level=bytes([status.level]),
            name=f'{node_name}: {task}',
            message=str(status.message),
            hardware_id='none',
            values=[KeyValue(key=str(k), value=str(v)) for k, v in status.values.items()],
        )
        for task, status in statuses.items()
    ]
    return message


def _listed(counts: Counts) -> str:
    return ', '.join(f'{name} {n}' for name, n in sorted(counts.items()))


def _seconds(value: float | None) -> str:
    return 'none' if value is None else f'{value:.2f}'


def _milliseconds(value: float | None) -> str:
    return 'none' if value is None else f'{value * 1e3:.2f}'


# -- collecting ------------------------------------------------------------------------------


class Lately:
    """How much counters have grown within the last seconds."""

    def __init__(self, span_s: float = LATELY_S) -> None:
        """Create it without a past."""
        self._span_s = span_s
        self._past: deque[tuple[float, dict[str, int]]] = deque()

    def __call__(self, totals: Counts, now: float) -> dict[str, int]:
        """Take the totals of now, and return what was added: only what is above zero."""
        if not self._past:
            self._past.append((now, {}))
        self._past.append((now, dict(totals)))
        while len(self._past) > 1 and self._past[1][0] <= now - self._span_s:
            self._past.popleft()
        before = self._past[0][1]
        grown = {name: n - before.get(name, 0) for name, n in totals.items()}
        return {name: n for name, n in grown.items() if n > 0}

    @property
    def span_s(self) -> float:
        """Seconds between the oldest and the newest totals."""
        return self._past[-1][0] - self._past[0][0] if self._past else 0.0


class Durations:
    """How long things took within the last minute; safe to use from several threads."""

    def __init__(self, span_s: float = MINUTE_S, most: int = 20000) -> None:
        """Keep this many seconds, and at most this many values."""
        self._span_s = span_s
        self._lock = threading.Lock()
        self._ends: deque[float] = deque(maxlen=most)
        self._values: deque[float] = deque(maxlen=most)

    def add(self, seconds: float, now: float) -> None:
        """Take one that ended now."""
        with self._lock:
            self._ends.append(now)
            self._values.append(seconds)

    def values(self, now: float) -> list[float]:
        """Return those that ended within the span."""
        with self._lock:
            first = bisect.bisect_left(self._ends, now - self._span_s)
            return list(self._values)[first:]


class ServiceMeter:
    """Counts requests and their durations by service; safe to use from several threads."""

    def __init__(self) -> None:
        """Create it with nothing counted."""
        self._lock = threading.Lock()
        self._counts: dict[str, dict[str, int]] = {}
        self._durations: dict[str, Durations] = {}
        self._lately: dict[str, Lately] = {}

    def add(self, service: str, seconds: float, *, refused: bool, failed: bool) -> None:
        """Take one request.

        Args:
            service: its name.
            seconds: from the request to the reply.
            refused: the request was at fault, or the node not active.
            failed: the node was at fault.
        """
        now = time.monotonic()
        with self._lock:
            counts = self._counts.setdefault(service, {'requests': 0, 'refused': 0, 'failed': 0})
            counts['requests'] += 1
            counts['refused'] += refused
            counts['failed'] += failed
            durations = self._durations.setdefault(service, Durations())
        durations.add(seconds, now)

    def states(self, now: float) -> dict[str, ServiceState]:
        """Return the state of each service that was called."""
        with self._lock:
            counted = {name: dict(counts) for name, counts in self._counts.items()}
        states = {}
        for name, counts in counted.items():
            lately = self._lately.setdefault(name, Lately())(counts, now)
            slowest = max(self._durations[name].values(now), default=0.0)
            states[name] = ServiceState(
                **counts, failed_lately=lately.get('failed', 0), slowest_s=slowest
            )
        return states


class Diagnostics:
    """Publishes /diagnostics once a second, in every state of the node, by a steady clock."""

    def __init__(
        self,
        node: Node,
        collect: Callable[[float], Mapping[str, Status]],
        on_error: Callable[[Exception], None],
    ) -> None:
        """Create publisher and timer.

        Args:
            node: whose they are.
            collect: returns status by task; given the monotonic time.
            on_error: told when it raises.
        """
        self._node, self._collect, self._on_error = node, collect, on_error
        self._name = node.get_fully_qualified_name().lstrip('/')
        self._publisher = node.create_publisher(DiagnosticArray, '/diagnostics', 10)
        # Under simulated time a timer stands still while the simulation does.
        self._clock = Clock(clock_type=ClockType.STEADY_TIME)
        node.create_timer(
            PERIOD_S, self._tick, clock=self._clock, callback_group=MutuallyExclusiveCallbackGroup()
        )

    def _tick(self) -> None:
        try:
            statuses = self._collect(time.monotonic())
            stamp = self._node.get_clock().now().to_msg()
            self._publisher.publish(to_message(statuses, self._name, stamp))
        except Exception as error:
            self._on_error(error)


def file_sizes(path: str) -> tuple[int, int]:
    """Return the bytes of a database file and of its write-ahead log; 0 where there is none."""
    return _size(path), _size(f'{path}-wal')


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0
