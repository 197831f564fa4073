# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The replay over the real middleware, with a stand-in for the memory."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from waiting import wait_for

rclpy = pytest.importorskip('rclpy')
messages = pytest.importorskip('memory_node.demo.messages')
replay = pytest.importorskip('memory_node.demo.replay')

from rclpy.context import Context  # noqa: E402
from rclpy.executors import SingleThreadedExecutor  # noqa: E402
from rclpy.node import Node  # noqa: E402
from rclpy.parameter import Parameter  # noqa: E402
from rclpy.qos import DurabilityPolicy, QoSProfile  # noqa: E402
from spatial_memory.msg import ChangeArray, DetectionArray  # noqa: E402
from tf2_msgs.msg import TFMessage  # noqa: E402

from memory_node.demo.trajectory import MAP, OPTICAL, TICK_NS  # noqa: E402

NS = messages.nanoseconds


class StandIn(Node):
    """Hears what the memory would hear, and acknowledges it unless `silent` says otherwise.

    As the memory does, it first waits for the frames at the stamp of a view: whoever sends may
    reach one endpoint before the other.
    """

    def __init__(self, context: Context, silent: Callable[[int], bool]) -> None:
        super().__init__('spatial_memory', context=context)
        self.looks: list[Any] = []
        self.heard_ns: list[int] = []
        self.frames: list[Any] = []
        self.fixed: list[Any] = []
        self._silent = silent
        self._waiting: list[Any] = []
        self._changes = self.create_publisher(ChangeArray, '~/changes', QoSProfile(depth=200))
        self.create_subscription(DetectionArray, 'detections', self._look, QoSProfile(depth=50))
        self.create_subscription(TFMessage, '/tf', self._frame, QoSProfile(depth=100))
        latched = QoSProfile(depth=100, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self.create_subscription(TFMessage, '/tf_static', self._fixed, latched)

    def _look(self, message: Any) -> None:
        self.looks.append(message)
        self.heard_ns.append(time.time_ns())
        if not self._silent(len(self.looks)):
            self._waiting.append(message)
            self._acknowledge()

    def _acknowledge(self) -> None:
        while self.frames and self._waiting:
            stamp = self._waiting[0].header.stamp
            if NS(stamp) > NS(self.frames[-1].header.stamp):
                return
            acknowledgement = ChangeArray(sensor=self._waiting.pop(0).sensor)
            acknowledgement.header.stamp = stamp
            self._changes.publish(acknowledgement)

    def _frame(self, message: Any) -> None:
        self.frames += message.transforms
        self._acknowledge()

    def _fixed(self, message: Any) -> None:
        self.fixed += message.transforms


@pytest.fixture
def context(ros_domain: int) -> Iterator[Context]:
    own = Context()
    rclpy.init(args=[], context=own)
    yield own
    own.try_shutdown()


@pytest.fixture
def listen(context: Context) -> Iterator[Callable[..., StandIn]]:
    """Starts a stand-in that listens in a thread of its own."""
    ends: list[Callable[[], None]] = []

    def start(silent: Callable[[int], bool] = lambda number: False) -> StandIn:
        node = StandIn(context, silent)
        executor = SingleThreadedExecutor(context=context)
        executor.add_node(node)
        thread = threading.Thread(target=executor.spin, daemon=True)
        thread.start()

        def end() -> None:
            executor.shutdown()
            thread.join()
            node.destroy_node()

        ends.append(end)
        return node

    yield start
    for end in ends:
        end()


@pytest.fixture
def tourist(context: Context) -> Iterator[Callable[..., Any]]:
    """Makes a replay node with the given parameters."""
    nodes: list[Any] = []

    def make(stop: threading.Event | None = None, **parameters: Any) -> Any:
        overrides = [Parameter(name, value=value) for name, value in parameters.items()]
        nodes.append(replay.Replay(stop, context=context, parameter_overrides=overrides))
        return nodes[-1]

    yield make
    for node in nodes:
        node.close()


def pose_at(frames: list[Any], fixed: list[Any], stamp_ns: int) -> tuple[np.ndarray, Rotation]:
    """Pose of the optical frame in the map; moving frames are interpolated at the stamp."""
    frame, position, rotation = OPTICAL, np.zeros(3), Rotation.identity()
    while frame != MAP:
        rows = [t for t in fixed if t.child_frame_id == frame]
        if not rows:
            rows = [t for t in frames if t.child_frame_id == frame]
            near = [t for t in rows if abs(NS(t.header.stamp) - stamp_ns) <= TICK_NS]
            assert min(NS(t.header.stamp) for t in near) <= stamp_ns
            assert max(NS(t.header.stamp) for t in near) >= stamp_ns
            rows = near
        p, q = rows[0].transform.translation, rows[0].transform.rotation
        turn = Rotation.from_quat([q.x, q.y, q.z, q.w])
        position = np.add(turn.apply(position), [p.x, p.y, p.z])
        rotation, frame = turn * rotation, rows[0].header.frame_id
    return position, rotation


def test_a_tour_is_heard_in_order_and_leads_back_to_where_things_are(
    listen: Callable[..., StandIn], tourist: Callable[..., Any]
) -> None:
    memory = listen()
    before_ns = time.time_ns()
    looks = tourist(rooms=['bathroom'], episode=1).run()
    heard = [m for m in memory.looks if m.detections or m.field_of_view.max_range_m]
    assert len(looks) == len(heard) == 10
    stamps = [NS(m.header.stamp) for m in heard]
    assert all(b > a for a, b in itertools.pairwise(stamps))
    assert before_ns - 10 * 10**9 < stamps[0] and stamps[-1] <= time.time_ns()
    knocks = [m for m in memory.looks if m not in heard]
    assert 1 <= len(knocks) <= replay.KNOCKS
    assert all(0 < NS(m.header.stamp) < stamps[0] for m in knocks)
    wait_for(lambda: NS(memory.frames[-1].header.stamp) >= stamps[-1] + replay.DETECTOR_NS)
    for look, message, stamp in zip(looks, heard, stamps, strict=True):
        position, rotation = pose_at(memory.frames, memory.fixed, stamp)
        for sent, claim in zip(message.detections, look.shown.view.detections, strict=True):
            p = sent.pose.position
            center = rotation.apply([p.x, p.y, p.z]) + position
            np.testing.assert_allclose(
                center, np.add(claim.center_m, look.room.offset_m), atol=1e-6
            )


def test_a_look_waits_for_the_acknowledgement_of_the_one_before(
    listen: Callable[..., StandIn], tourist: Callable[..., Any]
) -> None:
    memory = listen(silent=lambda number: number >= 4)
    with pytest.raises(replay.ReplayError, match=r'look \d of 10 \(FloorPlan422\) was not ackn'):
        tourist(rooms=['bathroom'], deadline_s=5.0).run()
    assert len(memory.looks) == 4


def test_a_lost_knock_is_repeated_and_a_memory_that_never_answers_is_reported(
    listen: Callable[..., StandIn], tourist: Callable[..., Any]
) -> None:
    memory = listen(silent=lambda number: number <= 2)
    tourist(rooms=['bathroom'], looks=[0, 1], deadline_s=20.0).run()
    assert [len(m.detections) > 0 for m in memory.looks] == [False] * 3 + [True] * 2
    memory.looks.clear()
    memory._silent = lambda number: True
    with pytest.raises(replay.ReplayError, match='acknowledged none of 10 views'):
        tourist(rooms=['bathroom'], deadline_s=0.5).run()
    assert not any(m.detections for m in memory.looks)


def test_nobody_there(tourist: Callable[..., Any]) -> None:
    with pytest.raises(replay.ReplayError, match=r'no memory on /detections and /spatial_memory/'):
        tourist(deadline_s=0.2).run()


def test_a_tour_that_follows_another_is_later_and_never_ahead_of_the_clock(
    listen: Callable[..., StandIn], tourist: Callable[..., Any]
) -> None:
    memory = listen()
    after_ns = time.time_ns()
    tourist(rooms=['bathroom'], looks=[3, 4], after_ns=after_ns, period_s=1).run()
    stamps = [NS(m.header.stamp) for m in memory.looks]
    assert min(stamps) > after_ns
    looks = list(zip(memory.looks, stamps, memory.heard_ns, strict=True))[-2:]
    assert all(heard_ns >= stamp for _, stamp, heard_ns in looks)
    assert looks[1][1] - looks[0][1] == 10**9


def test_the_stop_flag_ends_it(listen: Callable[..., StandIn], tourist: Callable[..., Any]) -> None:
    listen(silent=lambda number: True)
    stop = threading.Event()
    timer = threading.Timer(0.3, stop.set)
    timer.start()
    with pytest.raises(replay.StoppedError):
        tourist(stop, rooms=['bathroom']).run()
    timer.join()


def test_main_says_in_one_line_what_is_wrong(
    ros_domain: int, capfd: pytest.CaptureFixture[str]
) -> None:
    arguments = ['--ros-args', '-p', 'rooms:=[cellar]', '-p', 'deadline_s:=0.1']
    assert replay.main(arguments) == 1
    assert "room: got 'cellar', expected one of FloorPlan23 (kitchen)" in capfd.readouterr().err
