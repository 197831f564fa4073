# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""A robot's tour through rooms of the data set, over the topics of a real robot.

ros2 run spatial_memory replay --ros-args -p rooms:="['kitchen', 'bathroom']"
"""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import rclpy
from rcl_interfaces.msg import ParameterDescriptor
from rclpy.exceptions import ParameterException
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.signals import SignalHandlerOptions
from spatial_memory.msg import ChangeArray, DetectionArray
from tf2_msgs.msg import TFMessage

from memory_node.demo.flat import Look, furnish, tour
from memory_node.demo.messages import (
    NS_PER_S,
    empty_message,
    frames_message,
    look_message,
    nanoseconds,
)
from memory_node.demo.trajectory import FIXED, TICK_NS, Trajectory, ticks
from memory_node.errors import SpatialMemoryError

DETECTOR_NS = 200_000_000
"""A look's detections are sent this long after its stamp, when the robot is already moving on."""
KNOCKS = 10
KNOCK_STEP_NS = 2 * TICK_NS
APPROACH_NS = (KNOCKS + 2) * KNOCK_STEP_NS
"""The robot stands at the first place this long before the first look."""
SPIN_S = 0.05
"""Longest wait for an event before the deadline and the stop flag are looked at again."""


class ReplayError(SpatialMemoryError):
    """The tour could not be shown to a memory."""


class StoppedError(Exception):
    """A signal asked for the end."""


@dataclass(frozen=True)
class Settings:
    """The node's parameters; see DESCRIPTIONS."""

    rooms: tuple[str, ...] = ()
    episode: int = 0
    visit: int = 1
    looks: tuple[int, ...] = ()
    seed: int = 1
    features: bool = True
    sensor: str = 'head_camera'
    period_s: float = 0.5
    after_ns: int = 0
    ago_s: float = 0.0
    deadline_s: float = 10.0


DESCRIPTIONS = {
    'rooms': 'Rooms or kinds of rooms, side by side in the map. Empty: all four.',
    'episode': 'Episode of the data set, 0 to 4: where the things that can be carried are.',
    'visit': '1, or 2 for the second visit of the episode, before which things were moved.',
    'looks': 'Numbers of the looks of each room, from 0. Empty: all ten.',
    'seed': "Of the detector's noise.",
    'features': 'Whether detections bring an appearance embedding (64 numbers).',
    'sensor': 'Name of the sensor in the detections.',
    'period_s': 'Time between the stamps of two looks [s], more than 0.2.',
    'after_ns': 'All stamps are after this one [ns]; for a tour that follows another one.',
    'ago_s': 'How long ago the tour ended, by its stamps [s].',
    'deadline_s': 'How long to wait for the memory, and for each of its acknowledgements [s].',
}
LIST_TYPES = {
    'rooms': Parameter.Type.STRING_ARRAY,
    'looks': Parameter.Type.INTEGER_ARRAY,
}


class Replay(Node):
    """Shows a tour to a memory, in lock-step with its acknowledgements.

    A look is sent when the look before was acknowledged on the feed of changes, and never before
    its own stamp has come; the stamps end at the present. Transforms are sent ahead of it, 30 a
    second by their stamps.

    Parameters: see DESCRIPTIONS.
    Publishes: detections (spatial_memory/DetectionArray, boxes in camera_optical), /tf (map → odom
        → base_link, head_link → camera_link) and /tf_static (base_link → head_link, camera_link →
        camera_optical).
    Subscribes: spatial_memory/changes (spatial_memory/ChangeArray).
    Threads: none; `run` spins.
    """

    def __init__(self, stop: threading.Event | None = None, **kwargs: Any) -> None:
        """`stop` ends the tour when it is set; the rest is for the node."""
        super().__init__('replay', **kwargs)
        self._stop = stop or threading.Event()
        self.settings = self._declare()
        self._acknowledged: set[tuple[int, str]] = set()
        self._changes = self.create_subscription(
            ChangeArray, 'spatial_memory/changes', self._on_changes, QoSProfile(depth=200)
        )
        self._frames = self.create_publisher(TFMessage, '/tf', QoSProfile(depth=100))
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self._fixed_frames = self.create_publisher(TFMessage, '/tf_static', latched)
        self._detections = self.create_publisher(DetectionArray, 'detections', QoSProfile(depth=50))
        self._executor = SingleThreadedExecutor(context=self.context)
        self._executor.add_node(self)
        self._last_tick_ns = 0

    def run(self) -> list[Look]:
        """Show the whole tour and return its looks; all of them are acknowledged.

        Raises:
            InvalidValueError: a parameter names something that does not exist.
            ReplayError: no memory listens, or it did not acknowledge a look.
            StoppedError: the stop flag was set.
        """
        settings = self.settings
        looks = tour(
            furnish(settings.rooms, settings.episode),
            seed=settings.seed,
            visit=settings.visit,
            looks=settings.looks,
            features=settings.features,
        )
        self._wait_for_memory()
        stamps = self._stamps(len(looks))
        trajectory = Trajectory([look.stand for look in looks], stamps)
        self._last_tick_ns = (stamps[0] - APPROACH_NS) // TICK_NS * TICK_NS
        self._fixed_frames.publish(frames_message(FIXED, self._last_tick_ns))
        self._knock(trajectory)
        for number, (look, stamp) in enumerate(zip(looks, stamps, strict=True), start=1):
            self._show(trajectory, look, stamp, f'look {number} of {len(looks)}')
        count = sum(len(look.shown.view.detections) for look in looks)
        self.get_logger().info(f'{len(looks)} looks with {count} detections shown and acknowledged')
        return looks

    def close(self) -> None:
        """Free what the node holds."""
        self._executor.shutdown()
        self.destroy_node()

    def _wait_for_memory(self) -> None:
        publishers = (self._detections, self._frames, self._fixed_frames)
        matched = self._spin_until(
            lambda: (
                all(p.get_subscription_count() > 0 for p in publishers)
                and self.count_publishers(self._changes.topic_name) > 0
            )
        )
        if not matched:
            raise ReplayError(
                f'no memory on {self._detections.topic_name} and {self._changes.topic_name} '
                f'within {self.settings.deadline_s:g} s: is its node running and active, in the '
                'same ROS_DOMAIN_ID and namespace?'
            )

    def _knock(self, trajectory: Trajectory) -> None:
        """Send empty views until one is acknowledged.

        Endpoints that this side sees as matched may not be on the other side yet; whatever is sent
        until then is lost. A view without detections and field of view means nothing, so it may be
        repeated; a look may not.
        """
        knocks = set()
        for _ in range(KNOCKS):
            stamp = self._last_tick_ns + TICK_NS
            self._send_frames(trajectory, stamp + KNOCK_STEP_NS - TICK_NS)
            self._detections.publish(empty_message(stamp, self.settings.sensor))
            knocks.add((stamp, self.settings.sensor))
            if self._spin_until(
                lambda: bool(knocks & self._acknowledged), self.settings.deadline_s / KNOCKS
            ):
                return
        raise ReplayError(
            f'the memory acknowledged none of {KNOCKS} views on {self._changes.topic_name} within '
            f'{self.settings.deadline_s:g} s: its log says why it refused them'
        )

    def _show(self, trajectory: Trajectory, look: Look, stamp_ns: int, name: str) -> None:
        """Send one look with the transforms around it, and wait for its acknowledgement."""
        due_ns = stamp_ns + DETECTOR_NS
        self._spin_until(lambda: self._now_ns() >= due_ns, 1 + (due_ns - self._now_ns()) / NS_PER_S)
        self._send_frames(trajectory, due_ns)
        self._detections.publish(look_message(look, stamp_ns, self.settings.sensor))
        if not self._spin_until(lambda: (stamp_ns, self.settings.sensor) in self._acknowledged):
            raise ReplayError(
                f'{name} ({look.room.room.name}) was not acknowledged within '
                f'{self.settings.deadline_s:g} s'
            )

    def _send_frames(self, trajectory: Trajectory, until_ns: int) -> None:
        for tick in ticks(self._last_tick_ns, until_ns):
            self._frames.publish(frames_message(trajectory.transforms_at(tick), tick))
            self._last_tick_ns = tick

    def _stamps(self, count: int) -> list[int]:
        """Stamps of the looks: the last one's detections are due now, or as `after_ns` asks."""
        period = int(self.settings.period_s * NS_PER_S)
        ago_ns = int(self.settings.ago_s * NS_PER_S)
        first = self._now_ns() - ago_ns - DETECTOR_NS - (count - 1) * period
        first = max(first, self.settings.after_ns + APPROACH_NS)
        return [first + k * period for k in range(count)]

    def _spin_until(self, done: Callable[[], bool], deadline_s: float | None = None) -> bool:
        """Handle events until `done` is true; return whether it was by the deadline."""
        limit = self.settings.deadline_s if deadline_s is None else deadline_s
        until = time.monotonic() + limit
        while not done():
            if self._stop.is_set():
                raise StoppedError
            left = until - time.monotonic()
            if left <= 0:
                return False
            self._executor.spin_once(timeout_sec=min(left, SPIN_S))
        return True

    def _on_changes(self, message: ChangeArray) -> None:
        self._acknowledged.add((nanoseconds(message.header.stamp), message.sensor))

    def _now_ns(self) -> int:
        return int(self.get_clock().now().nanoseconds)

    def _declare(self) -> Settings:
        values: dict[str, Any] = {}
        for name, text in DESCRIPTIONS.items():
            default = getattr(Settings, name)
            if name in LIST_TYPES:
                descriptor = ParameterDescriptor(description=text, read_only=True)
                self.declare_parameter(name, LIST_TYPES[name], descriptor)
                given = self.get_parameter_or(name, Parameter(name, LIST_TYPES[name], []))
                values[name] = tuple(given.value)
                continue
            # Dynamic, so that a whole number is accepted for a decimal one.
            descriptor = ParameterDescriptor(
                description=text, read_only=True, dynamic_typing=isinstance(default, float)
            )
            value = self.declare_parameter(name, default, descriptor).value
            values[name] = type(default)(value)
        return Settings(**values)


def main(args: list[str] | None = None) -> int:
    """Show one tour; return 0 when all of it was acknowledged, or when a signal ended it."""
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    rclpy.init(args=args, signal_handler_options=SignalHandlerOptions.NO)
    node = None
    try:
        node = Replay(stop)
        node.run()
    except StoppedError:
        return 0
    except (SpatialMemoryError, ParameterException) as error:
        rclpy.logging.get_logger('replay').fatal(str(error))
        return 1
    finally:
        if node is not None:
            node.close()
        rclpy.try_shutdown()
    return 0


if __name__ == '__main__':
    sys.exit(main())
