# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The executable `simulation_node`: a robot in a simulated home, over the topics of a real one.

ros2 run spatial_memory simulation_node --ros-args -p seed:=3 -p tours:=0
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import rclpy
from rclpy.duration import Duration
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.signals import SignalHandlerOptions
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import CameraInfo, Image
from spatial_memory.msg import ChangeArray
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage

from memory_node.errors import MissingExtraError, SpatialMemoryError
from memory_node.ros import parameters, qos, simulation
from memory_node.ros.client import MemoryClient, RequestError
from memory_node.ros.conversions import stamp_from_ns, stamp_to_ns
from memory_node.ros.process import until_signal
from memory_node.ros.vision import has_vision_msgs
from memory_node.sim.scene import Frame
from memory_node.sim.script import Done
from memory_node.sim.settings import SimulationConfig, SimulationNodeConfig
from memory_node.sim.world import SimulatedWorld

MEMORY = 'spatial_memory'
TICK_NS = 100_000_000
"""Transforms are sent so often, by their stamps; and one at the stamp of each image."""
KEPT_NS = 2_000_000_000
"""Of a longer time without images, only the transforms of the last so many nanoseconds."""
SPIN_S, AWAKE_S = 0.02, 1.0
"""Longest wait for an event before other things are looked at, and for what counts as waiting."""
AGAIN_S = 5.0
"""A view that is not acknowledged is shown again: images may be lost on their way."""
ACKED_S = 5.0
"""At the end, how long to wait until all have the truth who listen to it."""
REPORT_S = 2.0
"""Without lock_step, how long to wait for the memory to take a report."""
SETTLE_S = 0.5
"""Endpoints that this side sees may not be on the other side yet."""
NEAR_M = 0.3
"""The memory has an object this near to where it was, or the robot did not know of it."""


class SimulationError(SpatialMemoryError):
    """The simulation could not be shown to a memory."""


class StoppedError(Exception):
    """A signal asked for the end."""


class SimulationNode(Node):
    """A robot that tours a simulated home in which things change and people walk about.

    ROS parameters: those of `memory_node.sim.settings` (README lists them).

    Publications: `/clock`; `/tf` (odom → base_link → SENSOR_optical) and `/tf_static` (map → odom);
    `SENSOR/camera_info`, `SENSOR/depth` (16UC1), `SENSOR/masks` (16UC1), `SENSOR/color` (rgb8,
    where somebody listens), `SENSOR/semantic_labels` (std_msgs/String, as Isaac Sim has it); and
    apart from what a robot knows the truth, `~/truth` and `~/left` (vision_msgs/Detection3DArray,
    see `memory_node.ros.simulation`), ahead of each image.

    Subscriptions: `spatial_memory/changes` (ChangeArray), the acknowledgements.

    Services called: `spatial_memory/query` and `spatial_memory/report`, about what the robot does.

    Threads: none of its own; `run` spins.
    """

    def __init__(self, stop: threading.Event | None = None, **kwargs: Any) -> None:
        """Build the world; `stop` ends `run` when it is set.

        Raises:
            InvalidValueError: a bad parameter.
            MissingExtraError: pybullet or vision_msgs is not installed.
        """
        super().__init__('simulation', **kwargs)
        self._stop = stop or threading.Event()
        parameters.declare(self, SimulationConfig, SimulationNodeConfig)
        config = parameters.read_as(self, SimulationConfig)
        self._settings = parameters.read_as(self, SimulationNodeConfig)
        if not has_vision_msgs():
            raise MissingExtraError(
                'vision_msgs', '~/truth needs vision_msgs',
                'nothing; sudo apt-get install ros-$ROS_DISTRO-vision-msgs',
            )  # fmt: skip
        self.world = SimulatedWorld(config)
        self._acknowledged: set[int] = set()
        self._reported = 0
        self._last_ns = 0
        self._make_publishers()
        self.create_subscription(
            ChangeArray, f'{MEMORY}/changes', self._on_changes, qos.changes()
        )  # fmt: skip
        self._executor = SingleThreadedExecutor(context=self.context)
        self._executor.add_node(self)

    def run(self) -> int:
        """Make the tours; return how many images were shown.

        Raises:
            SimulationError: with lock_step, nobody listens, or a view was not acknowledged.
            StoppedError: the stop flag was set.
        """
        first_ns = self.world.begins_ns(self.world.config.first_tour)
        self._fixed_frames.publish(TFMessage(transforms=[simulation.map_frame(first_ns)]))
        if self._settings.lock_step:
            self._wait_for_listeners()
        count = 0
        for tour in self.world.tours():
            stamps = self.world.stamps(tour)
            self.get_logger().info(f'tour {tour} begins: {len(stamps)} images')
            began = time.monotonic()
            for number, stamp_ns in enumerate(stamps):
                self._wait_for_time(began + (stamp_ns - stamps[0]) / 1e9 / self._settings.speed)
                self._show(stamp_ns, f'image {number + 1} of tour {tour}')
            count += len(stamps)
            took_s = time.monotonic() - began
            simulated_s = (stamps[-1] - stamps[0]) / 1e9
            self.get_logger().info(
                f'tour {tour} is over: {simulated_s:.0f} s simulated in {took_s:.0f} s'
            )
        for publisher in (self._truth, self._left):
            publisher.wait_for_all_acked(Duration(seconds=ACKED_S))
        return count

    def close(self) -> None:
        """Free what it holds."""
        self._executor.shutdown()
        self.world.close()
        self.destroy_node()

    # -- out ---------------------------------------------------------------------------------

    def _make_publishers(self) -> None:
        from vision_msgs.msg import Detection3DArray

        sensor, images = self._settings.sensor, qos.images()
        self._clock = self.create_publisher(Clock, '/clock', qos.tf())
        self._frames = self.create_publisher(TFMessage, '/tf', qos.tf())
        self._fixed_frames = self.create_publisher(TFMessage, '/tf_static', qos.state())
        self._infos = self.create_publisher(CameraInfo, f'{sensor}/camera_info', images)
        self._depths = self.create_publisher(Image, f'{sensor}/depth', images)
        self._masks = self.create_publisher(Image, f'{sensor}/masks', images)
        self._colors = self.create_publisher(Image, f'{sensor}/color', images)
        self._names = self.create_publisher(String, f'{sensor}/semantic_labels', images)
        self._truth = self.create_publisher(Detection3DArray, '~/truth', qos.truth())
        self._left = self.create_publisher(Detection3DArray, '~/left', qos.truth())

    def _show(self, stamp_ns: int, name: str) -> None:
        """Let the world go on to a time, and show what the camera sees then.

        Transforms go ahead, so that they have come when the image does: it is drawn meanwhile.
        """
        self._send_frames(stamp_ns)
        frame = self.world.look(stamp_ns)
        self._report()
        self._truth.publish(simulation.truth_message(self.world.truth(frame), stamp_ns))
        self._left.publish(simulation.left_message(self.world.left(frame), stamp_ns))
        self._send(frame, stamp_ns)
        if not self._settings.lock_step:
            return
        again = math.ceil(self._settings.deadline_s / AGAIN_S)
        while not self._spin_until(lambda: stamp_ns in self._acknowledged, AGAIN_S):
            again -= 1
            if again <= 0:
                raise SimulationError(
                    f'{name} was not acknowledged on {MEMORY}/changes within '
                    f'{self._settings.deadline_s:g} s: the logs of lifting and memory say why'
                )
            self._send(frame, stamp_ns)
        self._acknowledged = {stamp_ns}

    def _send_frames(self, stamp_ns: int) -> None:
        """Send the clock, and the transforms until it."""
        self._clock.publish(Clock(clock=stamp_from_ns(stamp_ns)))
        first_ns = max(self._last_ns, stamp_ns - KEPT_NS)
        ticks = [*range(first_ns // TICK_NS * TICK_NS + TICK_NS, stamp_ns, TICK_NS), stamp_ns]
        sensor = self._settings.sensor
        self._frames.publish(TFMessage(transforms=[
            one for tick in ticks
            for one in simulation.robot_frames(self.world.stand_at(tick), sensor, tick)
        ]))  # fmt: skip
        self._last_ns = stamp_ns

    def _send(self, frame: Frame, stamp_ns: int) -> None:
        name = simulation.optical_frame(self._settings.sensor)
        self._names.publish(simulation.names_message(self.world.labels))
        self._infos.publish(simulation.camera_info(name, stamp_ns))
        if self._colors.get_subscription_count():
            self._colors.publish(simulation.image(frame.color, 'rgb8', name, stamp_ns))
        self._depths.publish(simulation.depth_image(frame.depth_m, name, stamp_ns))
        self._masks.publish(simulation.image(frame.ids, '16UC1', name, stamp_ns))

    # -- the robot's own acts ----------------------------------------------------------------

    def _report(self) -> None:
        """Tell the memory what the robot has done itself."""
        done = self.world.done
        new, self._reported = done[self._reported :], len(done)
        first_ns = self.world.begins_ns(self.world.config.first_tour)
        acts = [one for one in new if one.by_robot and one.at_ns > first_ns - KEPT_NS * 5]
        if not acts or not self._settings.report:
            return
        deadline_s = self._settings.deadline_s
        if not self._settings.lock_step:  # nothing waits
            deadline_s = min(deadline_s, REPORT_S)
        with MemoryClient(MEMORY, self.get_namespace(), self.context, deadline_s) as memory:
            for one in acts:
                try:
                    self._report_one(memory, one)
                except RequestError as error:
                    self.get_logger().warning(f'not reported: {one.thing.name}: {error}')

    def _report_one(self, memory: MemoryClient, done: Done) -> None:
        """Say that something was put into a drawer: into the piece of furniture, for the memory."""
        drawer = self.world.home.drawer_with(done.thing)
        if drawer is None:
            return
        piece = self.world.home.furniture[drawer.piece]
        thing = _object_at(memory, done.thing.label, done.from_m)
        holder = _object_at(memory, piece.label, piece.center_m)
        if thing is None or holder is None:
            self.get_logger().info(f'{done.thing.name} put into {piece.name}: not known before')
            return
        memory.call(
            'report', act='put_inside', object_id=thing, container_id=holder,
            stamp=stamp_from_ns(done.at_ns), actor='robot', reason='tidied up',
        )  # fmt: skip
        self.get_logger().info(f'{done.thing.name} put into {piece.name}: reported')

    # -- waiting -----------------------------------------------------------------------------

    def _wait_for_listeners(self) -> None:
        """Wait until lifting and memory listen, and tell them of the camera.

        Raises:
            SimulationError: they are not there.
        """
        wanted: Sequence[tuple[Publisher, int]] = (
            (self._frames, 2), (self._infos, 2), (self._depths, 2), (self._masks, 1),
            (self._names, 1), (self._clock, 2),
        )  # fmt: skip

        def missing() -> list[str]:
            return [p.topic_name for p, n in wanted if p.get_subscription_count() < n]

        if not self._spin_until(lambda: not missing(), self._settings.deadline_s):
            raise SimulationError(
                f'with lock_step a lifting node and a memory with use_sim_time are waited for: '
                f'too few listen to {", ".join(missing())} after {self._settings.deadline_s:g} s'
            )
        first_ns = self.world.begins_ns(self.world.config.first_tour)
        frame = simulation.optical_frame(self._settings.sensor)
        until = time.monotonic() + SETTLE_S
        while time.monotonic() < until:
            self._clock.publish(Clock(clock=stamp_from_ns(first_ns - TICK_NS)))
            self._infos.publish(simulation.camera_info(frame, first_ns - TICK_NS))
            self._names.publish(simulation.names_message(self.world.labels))
            self._spin_until(lambda: False, SETTLE_S / 5)

    def _wait_for_time(self, due: float) -> None:
        """Without lock_step, wait until it is time (monotonic clock) for the next image."""
        if not self._settings.lock_step:
            self._spin_until(lambda: False, due - time.monotonic())
        if self._stop.is_set():
            raise StoppedError

    def _spin_until(self, done: Callable[[], bool], deadline_s: float) -> bool:
        """Handle events until `done` is true; return whether it was by the deadline.

        Time in which this process was stopped does not count: nobody else may have run either.
        """
        waited_s, last = 0.0, time.monotonic()
        while not done():
            if self._stop.is_set():
                raise StoppedError
            if waited_s >= deadline_s:
                return False
            self._executor.spin_once(timeout_sec=min(deadline_s - waited_s, SPIN_S))
            now = time.monotonic()
            waited_s += min(now - last, AWAKE_S)
            last = now
        return True

    def _on_changes(self, message: ChangeArray) -> None:
        if message.sensor == self._settings.sensor:
            self._acknowledged.add(stamp_to_ns(message.header.stamp))


def _object_at(memory: MemoryClient, label: str, place_m: Sequence[float]) -> int | None:
    """Return the id of the object of a label at a place; None: the memory knows of none."""
    from geometry_msgs.msg import Point, PointStamped

    x, y, z = (float(v) for v in place_m)
    near = PointStamped(point=Point(x=x, y=y, z=z))
    hits = memory.call('query', labels=[label], near=near, radius_m=NEAR_M, limit=1).hits
    return int(hits[0].object.id) if hits else None


def main(args: Sequence[str] | None = None) -> None:
    """Make the tours; end with 0 after them, or when a signal ended it."""
    until_signal(lambda stop: _run(args, stop))


def _run(args: Sequence[str] | None, stop: threading.Event) -> int:
    node: SimulationNode | None = None
    try:
        rclpy.init(args=args, signal_handler_options=SignalHandlerOptions.NO)
        node = SimulationNode(stop)
        node.run()
        return 0
    except StoppedError:
        return 0
    except SpatialMemoryError as error:
        rclpy.logging.get_logger('simulation').fatal(str(error))
        return 1
    finally:
        if node is not None:
            node.close()
        rclpy.try_shutdown()


if __name__ == '__main__':
    main()
