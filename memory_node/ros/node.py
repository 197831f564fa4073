# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The node: puts the parts together, starts and stops them with its lifecycle."""

from __future__ import annotations

import dataclasses
import os
import threading
import time
import traceback
from collections import deque
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from spatial_memory.msg import DetectionArray

from memory_node.config import Config, NodeConfig
from memory_node.errors import (
    InvalidValueError,
    SpatialMemoryError,
    StoreBusyError,
    StoreError,
)
from memory_node.memory import SpatialMemory
from memory_node.model import Commit, Pose, Triple, View
from memory_node.perception.settings import EncoderConfig
from memory_node.ros import conversions, parameters
from memory_node.ros.asking import model_of
from memory_node.ros.boards import make_boards
from memory_node.ros.cameras import Cameras
from memory_node.ros.complaints import Complaints
from memory_node.ros.diagnostics import Diagnostics
from memory_node.ros.encoding import TextEncoding
from memory_node.ros.feed import Feed
from memory_node.ros.handlers import Desk
from memory_node.ros.health import Health
from memory_node.ros.intake import Intake, IntakeCounts, Settings, view_in_map
from memory_node.ros.note_edits import Edits
from memory_node.ros.note_feed import NoteFeed
from memory_node.ros.sensors import make_inputs
from memory_node.ros.services import Services
from memory_node.ros.transforms import TransformListener, frame_name, make_transforms
from memory_node.ros.transitions import answer_invalid_transitions, reported
from memory_node.scene.transform import Transform

FRESH_NS = 1_000_000_000
"""A transform of this age still says where a frame is now."""
SUCCESS = TransitionCallbackReturn.SUCCESS


class SpatialMemoryNode(LifecycleNode):
    """Remembers the things that detectors report. It decides nothing itself: the core does.

    ROS parameters: those of `memory_node.config`, and which encoder (README lists them).

    Subscriptions, while it is active: `detections` (DetectionArray) and `detections_vision`
    (vision_msgs/Detection3DArray), both also below the name of each sensor in `sensors`, and there
    `camera_info` (sensor_msgs/CameraInfo) and `depth` (sensor_msgs/Image); `/tf`, `/tf_static`.

    Publications: `~/changes` (ChangeArray, one message for each commit), `~/note_events`
    (NoteActivity), those of `memory_node.ros.boards`, `/diagnostics`.

    Services: those of `memory_node.ros.handlers`; they answer INACTIVE until the node is active.

    Frames: detections are transformed from the frame of their header into `map_frame`, at the
    stamp of the message.

    Threads: one judges and writes (`Intake`); services are answered by the executor's threads and
    take turns with it; one loads the encoder, once the node is active. The executor must have
    several: `MultiThreadedExecutor`.
    """

    def __init__(self, **kwargs: Any) -> None:
        """Create it unconfigured; raises InvalidValueError for a bad parameter."""
        super().__init__('spatial_memory', **kwargs)
        parameters.declare(self)
        self._settings = Settings(*parameters.read(self))
        parameters.on_change(self, self._reconfigured)
        self._unsaved: Config | None = None
        self._path = database_path(self._settings.node.database, self.get_namespace())
        self._complain = Complaints(lambda text: self.get_logger().warning(text))
        self._failures: deque[BaseException] = deque(maxlen=8)
        self._transition_lock = threading.RLock()
        self._closed = False
        self._memory: SpatialMemory | None = None
        self._counts = IntakeCounts()
        # What there is only while the node is active, and how to end it.
        self._intake: Intake | None = None
        self._transforms: TransformListener | None = None
        self._parts = ExitStack()
        # What lives as long as the node.
        map_frame = self._settings.node.map_frame
        self._transforms_group = MutuallyExclusiveCallbackGroup()
        self._inputs = make_inputs(self, self._settings.node)
        self._cameras = Cameras(self, lambda: self._settings.node, self._problem)
        encoder = parameters.read_as(self, EncoderConfig)
        self._encoding = TextEncoding(encoder, self._problem)
        self._health = Health(
            self._path, self._inputs, self._now_ns, lambda: self._memory, lambda: self._intake,
            self._cameras.counts, encoder.encoder_model,
        )  # fmt: skip
        self._feed = Feed(self, map_frame, self._problem)
        self._boards = make_boards(self, lambda: self._settings.node, self._problem)
        self._note_feed = NoteFeed(self, self._now_ns, self._problem)
        self._edits = Edits(self, self._settings.node.notes_sync_s, lambda: self._memory,
                            self._problem)  # fmt: skip
        desk = Desk(
            self._now_ns, self._to_map, self._pose_to_map, self._to_view, self._requested,
            map_frame, self._settings.node.map_id, lambda: model_of(self._settings.node),
            self._clock_domain, self._note_feed.flush,
        )  # fmt: skip
        self._answers = Services(self, self._active_memory, desk, self._health.services)
        self._diagnostics = Diagnostics(self, self._health.statuses, self.callback_failed)
        answer_invalid_transitions(self)

    @property
    def autostart(self) -> bool:
        """Whether it is to be activated without a lifecycle manager."""
        return self._settings.node.autostart

    def start(self) -> bool:
        """Configure and activate; return whether that worked."""
        return self.trigger_configure() == SUCCESS and self.trigger_activate() == SUCCESS

    # -- lifecycle ---------------------------------------------------------------------------

    @reported
    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Open the file."""
        with self._transition_lock:
            if self._closed:
                return TransitionCallbackReturn.FAILURE
            try:
                if not self._settings.node.database:  # a folder that was named must be there
                    Path(self._path).parent.mkdir(parents=True, exist_ok=True)
                self._memory = SpatialMemory.open(
                    self._path, self._settings.core, recover=self._settings.node.recover
                )
                self._edits.look()
                if self._settings.node.regions_file:
                    self._memory.load_regions(
                        self._settings.node.regions_file, self._settings.node.map_id,
                        'regions_file', self._now_ns() or None,
                    )  # fmt: skip
            except (SpatialMemoryError, OSError) as error:
                self.get_logger().error(f'cannot open the memory: {error}')
                self._close_memory()
                return TransitionCallbackReturn.FAILURE
            self.get_logger().info(
                f'{self._path}: {self._memory.object_count} objects, log line {self._memory.seq}'
            )
            for notice in self._memory.notices:
                self.get_logger().warning(notice)
            return super().on_configure(state)

    @reported
    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Start to listen."""
        with self._transition_lock, ExitStack() as parts:
            if self._memory is None:
                return TransitionCallbackReturn.FAILURE
            result = super().on_activate(state)  # publishers first: what comes in goes out
            self._feed.start(self._memory)
            self._note_feed.start(self._memory)
            parts.callback(self._note_feed.flush)
            for board in self._boards:
                board.start(self._memory)
                parts.callback(board.stop)
            transforms = make_transforms(self, self._transforms_changed, self._transforms_group)
            parts.callback(transforms.destroy)
            intake = Intake(
                self._observe, self._committed, self._problem, transforms.buffer,
                settings=lambda: self._settings, now_ns=self._now_ns, clock=self._clock_domain,
                scope=robot_scope(self.get_namespace()), cameras=self._cameras,
                counts=self._counts,
            )  # fmt: skip
            intake.start()
            parts.callback(intake.stop)
            self._intake, self._transforms = intake, transforms
            parts.callback(self._forget_parts)
            self._cameras.start(intake.transforms_changed)
            parts.callback(self._cameras.stop)
            for source in self._inputs:
                source.start(intake.offer)
                parts.callback(source.stop)
            self._parts = parts.pop_all()
            self._encoding.serve(self._memory)  # last: loading takes much of the processor
            return result

    @reported
    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Stop to listen; what was received is judged, written and published."""
        with self._transition_lock:
            self._parts.close()
            return super().on_deactivate(state)

    @reported
    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Close the file."""
        with self._transition_lock:
            self._close_memory()
            return super().on_cleanup(state)

    @reported
    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Stop and close."""
        with self._transition_lock:
            self._close_memory()
            super().on_deactivate(state)
            return super().on_shutdown(state)

    @reported
    def on_error(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Stop and close, whatever went wrong: the node can be configured again."""
        return self.on_shutdown(state)

    def close(self) -> None:
        """Judge what was received, and close the file for good; may be called twice."""
        with self._transition_lock:
            self._closed = True
            self._close_memory()

    def _close_memory(self) -> None:
        try:
            self._parts.close()
        finally:
            memory, self._memory = self._memory, None
            if memory is not None:
                memory.close()

    def _forget_parts(self) -> None:
        self._intake = self._transforms = None

    # -- in ----------------------------------------------------------------------------------

    def _transforms_changed(self) -> None:
        intake = self._intake
        if intake is not None:
            intake.transforms_changed()

    def _observe(self, view: View) -> Commit:
        assert self._memory is not None
        if self._unsaved is not None:
            self._memory.configure(self._unsaved, wait=False)
            self._unsaved = None
        started = time.monotonic()
        try:
            commit = self._memory.observe(view, self._now_ns() or None, False)
        except StoreBusyError:
            self._health.busy_at = time.monotonic()
            raise
        self._health.committed(started)
        return commit

    def _now_ns(self) -> int:
        return int(self.get_clock().now().nanoseconds)

    def _clock_domain(self) -> str:
        return 'sim' if self.get_clock().ros_time_is_active else 'wall'

    # -- out ---------------------------------------------------------------------------------

    def _active_memory(self) -> SpatialMemory | None:
        return self._memory if self._intake is not None else None

    def _committed(self, view: View, commit: Commit) -> None:
        self._announce(commit, view.stamp_ns, view.sensor)

    def _requested(self, view: View | None, commit: Commit) -> None:
        if view is not None:
            self._committed(view, commit)
        else:
            self._announce(commit, commit.changes[-1].stamp_ns if commit.changes else 0)

    def _announce(self, commit: Commit, stamp_ns: int, sensor: str = '') -> None:
        """Tell everyone who publishes what changed."""
        memory = self._memory
        if memory is not None:
            self._feed.publish(memory, commit, stamp_ns, sensor)
            for board in self._boards:
                board.changed(commit)

    def _to_map(self, point: Any) -> Triple:
        """Map metres of a PointStamped; see `_transform_to_map`."""
        given = conversions.triple_from_msg(point.point)
        return self._transform_to_map(point.header).apply_point(given)

    def _pose_to_map(self, stamped: Any) -> Pose:
        """A PoseStamped in the map frame; an orientation of zeros stays that."""
        pose = conversions.pose_from_msg(stamped.pose)
        to_map = self._transform_to_map(stamped.header)
        turn = pose.orientation_xyzw
        if any(turn):
            x, y, z, w = to_map.rotate([turn])[0].tolist()
            turn = (x, y, z, w)
        return Pose(to_map.apply_point(pose.position_m), turn)

    def _transform_to_map(self, header: Any) -> Transform:
        """From the frame of a request to that of the map; it must be known at its stamp.

        Without a stamp it is meant now; then a transform that is a little older will do, as none is
        ever there for this very moment.
        """
        frame, target = frame_name(header.frame_id), self._settings.node.map_frame
        transforms = self._transforms
        if not frame or frame == frame_name(target) or transforms is None:
            return Transform()
        stamp_ns = conversions.stamp_to_ns(header.stamp)
        if not stamp_ns:
            now_ns, newest_ns = self._now_ns(), transforms.buffer.newest_ns(target, frame)
            stamp_ns = newest_ns if now_ns - newest_ns < FRESH_NS else now_ns
        return transforms.buffer.lookup(target, frame, stamp_ns)

    def _to_view(self, message: DetectionArray) -> View:
        """The view of a request, in the map frame; its transforms must be there already."""
        transforms = self._transforms
        if not frame_name(message.header.frame_id):
            raise InvalidValueError('header.frame_id: got an empty text, expected a frame')
        assert transforms is not None
        stamp_ns = conversions.stamp_to_ns(message.header.stamp)
        view = view_in_map(
            message, stamp_ns, transforms.buffer, self._settings.node, self._clock_domain()
        )
        view = dataclasses.replace(view, scope=robot_scope(self.get_namespace()))
        frame = conversions.sensor_frame_of(message, self._settings.node.map_frame)
        return self._cameras.complete(view, frame)

    # -- the rest ----------------------------------------------------------------------------

    def destroy_node(self) -> None:
        """Free what rclpy holds of it, and take it off the ROS graph at once."""
        super().destroy_node()
        # rclpy leaves this one to the garbage collector, and with it the node on the graph.
        self._state_machine.destroy_when_not_in_use()

    def callback_failed(self, error: BaseException) -> None:
        """Report an exception that a callback raised; the node goes on."""
        if any(error is known for known in self._failures):
            return  # the executor may hand out one exception twice
        self._failures.append(error)
        self._health.callback_errors += 1
        text = ''.join(traceback.format_exception(error))
        self._problem('callback', f'a callback failed: {text}')

    def _problem(self, reason: str, details: str) -> None:
        self._complain(reason, f'{reason}: {details}')

    def _reconfigured(self, config: Config, node_config: NodeConfig) -> None:
        self._settings = Settings(config, node_config)
        memory = self._memory
        if memory is None:
            return
        try:
            memory.configure(config, wait=False)
            self._unsaved = None
        except StoreError as error:
            self._unsaved = config
            self._problem('settings', f'the new settings hold from the next view on: {error}')
        for board in self._boards:
            board.refresh()


def database_path(given: str, namespace: str = '/') -> str:
    """Return the file to use; empty: spatial_memory.db in ROS_HOME (~/.ros), by namespace."""
    if given:
        return os.path.expanduser(given)
    home = os.environ.get('ROS_HOME') or os.path.join(os.path.expanduser('~'), '.ros')
    return os.path.join(home, *namespace.strip('/').split('/'), 'spatial_memory.db')


def robot_scope(namespace: str) -> dict[str, str]:
    """Return the scope of the views: robots are told apart by their namespaces (C41)."""
    name = namespace.strip('/')
    return {'robot': name} if name else {}
