# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The node: declares, subscribes, converts, calls the memory, publishes."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import rclpy
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.executors import ExternalShutdownException, MultiThreadedExecutor
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from rclpy.signals import SignalHandlerOptions
from rclpy.subscription import Subscription
from spatial_memory.msg import DetectionArray

from memory_node.config import Config, NodeConfig
from memory_node.errors import SpatialMemoryError
from memory_node.memory import SpatialMemory
from memory_node.model import Commit, Triple, View
from memory_node.ros import conversions, parameters, qos
from memory_node.ros.feed import Feed
from memory_node.ros.intake import Intake
from memory_node.ros.services import Services
from memory_node.ros.transforms import TransformListener, frame_name, make_transforms

WARN_EVERY_S = 5.0
THREADS = 4


class SpatialMemoryNode(LifecycleNode):
    """Remembers the things that detectors report. It decides nothing itself: the core does.

    ROS parameters: those of `memory_node.config` (README lists them).

    Subscriptions: `detections` (DetectionArray), `/tf`, `/tf_static`.

    Publications: `~/changes` (ChangeArray, one message for each commit).

    Services: `~/query`, `~/history`, `~/forget`, `~/relate`; they answer INACTIVE until the node is
    active.

    Frames: detections are transformed from the frame of their header into `map_frame`, at the
    stamp of the message.

    Threads: one judges and writes (`Intake`); services are answered by the executor's threads and
    take turns with it.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__('spatial_memory', **kwargs)
        parameters.declare(self)
        self._config, self._node_config = parameters.read(self)
        parameters.on_change(self, self._reconfigured)
        self._memory: SpatialMemory | None = None
        self._active = False
        self._intake: Intake | None = None
        self._transforms: TransformListener | None = None
        self._detections: Subscription | None = None
        self._feed = Feed(self, self._node_config.map_frame)
        self._answers = Services(
            self, self._active_memory, self._published, self._to_map, self._node_config.map_frame
        )

    # -- lifecycle ---------------------------------------------------------------------------

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Open the file."""
        path = database_path(self._node_config.database)
        try:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            self._memory = SpatialMemory.open(path, self._config)
        except (SpatialMemoryError, OSError) as error:
            self.get_logger().error(f'cannot open the memory: {error}')
            return TransitionCallbackReturn.FAILURE
        count = len(self._memory.objects())
        self.get_logger().info(f'{path}: {count} objects, log line {self._memory.seq}')
        return TransitionCallbackReturn.SUCCESS

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Start to listen."""
        assert self._memory is not None
        result = super().on_activate(state)
        c = self._node_config
        self._feed.start(self._memory)
        self._transforms = make_transforms(
            self, self._transforms_changed, MutuallyExclusiveCallbackGroup()
        )
        self._intake = Intake(
            self._observe, self._committed, self._problem, self._transforms.buffer,
            map_frame=c.map_frame, map_id=c.map_id, clock=self._clock_domain,
            wait_s=lambda: self._node_config.transform_wait_s, queue_size=c.queue_size,
        )  # fmt: skip
        self._intake.start()
        self._intake_group = MutuallyExclusiveCallbackGroup()
        self._subscribe(qos.detections())
        self._active = True
        return result

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Stop to listen; what was received is judged and written."""
        self._stop_intake()
        return super().on_deactivate(state)

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Close the file."""
        self.close()
        return TransitionCallbackReturn.SUCCESS

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Stop and close."""
        self.close()
        return TransitionCallbackReturn.SUCCESS

    def close(self) -> None:
        """Judge what was received, then close the file; may be called twice."""
        self._stop_intake()
        if self._memory is not None:
            self._memory.close()
            self._memory = None

    def _stop_intake(self) -> None:
        self._active = False
        if self._detections is not None:
            self.destroy_subscription(self._detections)
            self._detections = None
        if self._intake is not None:
            self._intake.stop()
            self._intake = None
        if self._transforms is not None:
            self._transforms.destroy()
            self._transforms = None

    # -- in ----------------------------------------------------------------------------------

    def _subscribe(self, profile: Any) -> None:
        self._detections = self.create_subscription(
            DetectionArray, 'detections', self._received, profile,
            callback_group=self._intake_group,
            event_callbacks=SubscriptionEventCallbacks(incompatible_qos=self._incompatible),
            qos_overriding_options=qos.overrides(),
        )  # fmt: skip

    def _incompatible(self, event: Any) -> None:
        """A best-effort detector offers less than was asked for: ask for less (C13)."""
        self.get_logger().warning(
            "a publisher of 'detections' offers an incompatible QoS (policy "
            f'{event.last_policy_kind}): listening as best effort from now on',
            once=True,
        )
        old, self._detections = self._detections, None
        if old is not None and self._active:
            self.destroy_subscription(old)
            self._subscribe(qos.detections_best_effort())

    def _received(self, message: DetectionArray) -> None:
        if self._intake is not None:
            self._intake.offer(message)

    def _transforms_changed(self) -> None:
        if self._intake is not None:
            self._intake.transforms_changed()

    def _observe(self, view: View) -> Commit:
        assert self._memory is not None
        return self._memory.observe(view, self.get_clock().now().nanoseconds or None)

    def _clock_domain(self) -> str:
        return 'sim' if self.get_parameter('use_sim_time').value else 'wall'

    def _problem(self, reason: str, details: str) -> None:
        self.get_logger().warning(
            f'a view was dropped ({reason}): {details}', throttle_duration_sec=WARN_EVERY_S
        )

    # -- out ---------------------------------------------------------------------------------

    def _active_memory(self) -> SpatialMemory | None:
        return self._memory if self._active else None

    def _committed(self, view: View, commit: Commit) -> None:
        assert self._memory is not None
        if commit.refused:
            self._problem(commit.refused, f'stamp {view.stamp_ns} ns of sensor {view.sensor!r}')
        else:
            self._feed.publish(self._memory, commit, view.stamp_ns, view.sensor)

    def _published(self, commit: Commit) -> None:
        memory = self._memory
        if memory is not None:
            self._feed.publish(memory, commit, commit.changes[-1].stamp_ns)

    def _to_map(self, point: Any) -> Triple:
        """Map metres of a PointStamped; the frame must be the map's, or known at its stamp."""
        given = conversions.triple_from_msg(point.point)
        frame, target = frame_name(point.header.frame_id), self._node_config.map_frame
        transforms = self._transforms
        if not frame or frame == frame_name(target) or transforms is None:
            return given
        stamp_ns = conversions.stamp_to_ns(point.header.stamp)
        stamp_ns = stamp_ns or self.get_clock().now().nanoseconds
        x, y, z = transforms.buffer.lookup(target, frame, stamp_ns).apply([given])[0].tolist()
        return x, y, z

    def _reconfigured(self, config: Config, node_config: NodeConfig) -> None:
        self._config, self._node_config = config, node_config
        if self._memory is not None:
            self._memory.configure(config)


def database_path(given: str) -> str:
    """Return the file to use; empty: spatial_memory.db in ROS_HOME (~/.ros)."""
    if given:
        return os.path.expanduser(given)
    home = os.environ.get('ROS_HOME') or os.path.join(os.path.expanduser('~'), '.ros')
    return os.path.join(home, 'spatial_memory.db')


def main(args: Sequence[str] | None = None) -> None:
    """Run the node until SIGINT or SIGTERM; then everything acknowledged is on disk."""
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    rclpy.init(args=args, signal_handler_options=SignalHandlerOptions.NO)
    code = 1
    try:
        code = _run(stop)
    except (KeyboardInterrupt, ExternalShutdownException):
        code = 0
    except SpatialMemoryError as error:
        rclpy.logging.get_logger('spatial_memory').fatal(str(error))
    finally:
        rclpy.try_shutdown()
    sys.exit(code)


def _run(stop: threading.Event) -> int:
    node = SpatialMemoryNode()
    executor = MultiThreadedExecutor(num_threads=THREADS)
    executor.add_node(node)
    try:
        if node.get_parameter('autostart').value and not _start(node):
            return 1
        while not stop.is_set() and rclpy.ok():
            executor.spin_once(timeout_sec=0.2)
        return 0
    finally:
        executor.shutdown()
        node.close()
        node.destroy_node()


def _start(node: SpatialMemoryNode) -> bool:
    good = TransitionCallbackReturn.SUCCESS
    return node.trigger_configure() == good and node.trigger_activate() == good


if __name__ == '__main__':
    main()
