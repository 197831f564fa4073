# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Gathers from the parts of the node what /diagnostics says about them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

from memory_node.memory import SpatialMemory
from memory_node.ros import intake
from memory_node.ros.diagnostics import (
    Durations,
    InputState,
    IntakeState,
    Lately,
    ServiceMeter,
    Status,
    StoreState,
    encoder_status,
    file_sizes,
    intake_status,
    services_status,
    store_status,
)
from memory_node.ros.inputs import Input
from memory_node.ros.intake import Intake, IntakeCounts

BUSY_S = 2.0
"""A file that was busy within this time is said to be busy."""
_NANOSECONDS = 1_000_000_000


class Health:
    """The state of the node, for `Diagnostics` to publish.

    Attributes:
        commits: to be told of the duration of every commit.
        services: to be told of every request.
        busy_at: monotonic time at which the file was last found busy.
        callback_errors: exceptions that callbacks of the executor raised.
    """

    def __init__(
        self,
        path: str,
        inputs: Sequence[Input],
        now_ns: Callable[[], int],
        memory: Callable[[], SpatialMemory | None],
        intake: Callable[[], Intake | None],
        cameras: Callable[[], Mapping[str, int]] = dict,
        encoder: str = '',
    ) -> None:
        """Create it.

        Args:
            path: of the file.
            inputs: topics on which views come in.
            now_ns: returns the time of the node's clock; 0: there is none yet.
            memory: returns it while it is open.
            intake: returns it while the node is active.
            cameras: returns reason → views judged without what a camera should have told.
            encoder: name of the model that texts are to be searched with; empty: none.
        """
        self.commits = Durations()
        self.services = ServiceMeter()
        self.busy_at = -BUSY_S
        self.callback_errors = 0
        self._path, self._inputs, self._now_ns = path, inputs, now_ns
        self._memory, self._intake = memory, intake
        self._views, self._dropped, self._frames, self._refused = (Lately() for _ in range(4))
        self._unwritten, self._blind = Lately(), Lately()
        self._cameras, self._encoder = cameras, encoder
        self._counts = IntakeCounts()

    def statuses(self, now: float) -> Mapping[str, Status]:
        """Return status by task; call it once a second with the monotonic time."""
        states = self.services.states(now)
        statuses = {
            'intake': intake_status(self._intake_state(now)),
            'store': store_status(self._store_state(now)),
            'services': services_status(states),
        }
        if self._encoder:
            memory = self._memory()
            statuses['encoder'] = encoder_status(
                self._encoder, None if memory is None else memory.text_search
            )
        return statuses

    def _intake_state(self, now: float) -> IntakeState:
        worker, memory = self._intake(), self._memory()
        if worker is None or memory is None:
            return IntakeState(active=False, callback_errors=self.callback_errors)
        counts = self._counts = worker.counts()
        refused, blind = dict(memory.refusals), dict(self._cameras())
        views = {'received': counts.received, 'committed': counts.committed}
        lately = self._views(views, now)
        now_ns, newest_ns = self._now_ns(), memory.newest_stamp_ns
        return IntakeState(
            active=True,
            inputs=[self._input_state(source) for source in self._inputs],
            has_clock=now_ns != 0,
            received=counts.received,
            committed=counts.committed,
            restamped=counts.restamped,
            rate_hz=lately.get('received', 0) / max(self._views.span_s, 1.0),
            committed_lately=lately.get('committed', 0),
            silent_s=None if counts.received_at is None else now - counts.received_at,
            view_age_s=(now_ns - newest_ns) / _NANOSECONDS if newest_ns and now_ns else None,
            waiting=worker.waiting,
            queue_size=worker.queue_size,
            dropped=counts.dropped,
            dropped_lately=self._dropped(counts.dropped, now),
            refused=refused,
            refused_lately=self._refused(refused, now),
            blind=blind,
            blind_lately=self._blind(blind, now),
            missing_frames=self._frames(counts.missing_frames, now),
            callback_errors=self.callback_errors,
        )

    def _input_state(self, source: Input) -> InputState:
        publishers, others = source.publishers()
        return InputState(source.name, source.type_name, source.reliability, publishers, others)

    def _store_state(self, now: float) -> StoreState:
        memory = self._memory()
        if memory is None:
            return StoreState(open=False, path=self._path)
        file_bytes, log_bytes = file_sizes(self._path)
        failures = {r: n for r, n in self._counts.dropped.items() if r == intake.STORE}
        return StoreState(
            open=True,
            path=self._path,
            file_bytes=file_bytes,
            log_bytes=log_bytes,
            seq=memory.seq,
            durable_seq=memory.durable_seq,
            objects=memory.object_count,
            commits_s=self.commits.values(now),
            failures_lately=self._unwritten(failures, now),
            busy=now - self.busy_at < BUSY_S,
        )

    def committed(self, started: float) -> None:
        """Take a commit that began at this monotonic time and has just ended."""
        now = time.monotonic()
        self.commits.add(now - started, now)
