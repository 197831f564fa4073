# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The executable `lifting_node`: depth and what a detector saw in the image become detections."""

from __future__ import annotations

import threading
import time
import traceback
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.node import Node
from sensor_msgs.msg import CameraInfo, CompressedImage, Image, PointCloud2
from spatial_memory.msg import DetectionArray
from std_msgs.msg import String

from memory_node.errors import InvalidValueError, MissingExtraError, SpatialMemoryError
from memory_node.fusion.classes import load_classes
from memory_node.perception.adapters import ClassNames, labels_of_json
from memory_node.perception.lifting import Lifted, Lifting
from memory_node.perception.regions import RegionError
from memory_node.perception.settings import EncoderConfig, LiftingConfig, LiftingNodeConfig
from memory_node.ros import conversions, lifting, parameters, qos
from memory_node.ros.complaints import Complaints
from memory_node.ros.depth import CameraError
from memory_node.ros.diagnostics import OK, WARN, Diagnostics, Durations, Lately, Status, percentile
from memory_node.ros.features import Features
from memory_node.ros.inputs import Input
from memory_node.ros.matching import Matcher, Set
from memory_node.ros.memory_node import spin_once
from memory_node.ros.process import until_signal
from memory_node.ros.transforms import TransformError, TransformListener, make_transforms
from memory_node.ros.vision import has_vision_msgs

THREADS = 4
NOT_LEVEL = 'level_frame unknown'
INFO, LABELS, COLOR = 'camera_info', 'semantic_labels', 'color'


class LiftingNode(Node):
    """Turns what a detector saw in an image into boxes in the optical frame.

    ROS parameters: those of `memory_node.perception.settings` (README lists them).

    Subscriptions: `detections_2d` (vision_msgs/Detection2DArray) or `masks` (sensor_msgs/Image) or
    both; `depth` (sensor_msgs/Image), `depth/compressedDepth` (sensor_msgs/CompressedImage) or
    `points` (sensor_msgs/PointCloud2); `camera_info` (sensor_msgs/CameraInfo); `semantic_labels`
    (std_msgs/String, as Isaac Sim publishes them); `color` (sensor_msgs/Image) with an encoder;
    `/tf`, `/tf_static` with `level_frame`.

    Publications: `detections` (DetectionArray), also an empty one: that is evidence too;
    `/diagnostics`.

    Frames: what is published is in the optical frame of the depth, at its stamp.

    Threads: one lifts, the newest view first; one loads the encoder; the executor's threads only
    take messages in.
    """

    def __init__(self, **kwargs: Any) -> None:
        """Subscribe and begin.

        Raises:
            InvalidValueError: a bad parameter.
            MissingExtraError: Open3D, or vision_msgs where it is needed, is not installed.
        """
        super().__init__('lifting', **kwargs)
        parameters.declare(self, LiftingConfig, LiftingNodeConfig, EncoderConfig)
        self._config = parameters.read_as(self, LiftingConfig)
        self._settings = parameters.read_as(self, LiftingNodeConfig)
        self._complain = Complaints(lambda text: self.get_logger().warning(text))
        self._names = ClassNames.of_file(self._settings.class_names_file, self.get_logger().warning)
        self._names_are_given = len(self._names) > 0
        self._lifting = Lifting(self._config, load_classes(self._settings.labels_file))
        topics = lifting.topics_of(self._settings)
        tolerance_ns = int(self._settings.sync_tolerance_s * 1e9)
        self._matcher = Matcher(topics, tolerance_ns, self._settings.kept_images)
        self._info: Any | None = None
        self._refused: Counter[str] = Counter()
        self._published = self._detections = 0
        self._durations, self._lately = Durations(), Lately()
        self._count_lock = threading.Lock()
        self._transforms: TransformListener | None = None
        if self._settings.level_frame:
            self._transforms = make_transforms(self, lambda: None)
        self._features: Features | None = None
        encoder = parameters.read_as(self, EncoderConfig)
        if encoder.encoder_model:
            self._features = Features(
                encoder, tolerance_ns, self._settings.kept_images, self._complain_of
            )  # fmt: skip
        self._out = self.create_publisher(DetectionArray, 'detections', qos.detections())
        self._group = MutuallyExclusiveCallbackGroup()
        self._listen(topics)
        Diagnostics(self, self._statuses, self.callback_failed)
        self._wake, self._ended = threading.Event(), False
        self._thread = threading.Thread(target=self._run, name='lifting', daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the thread; what it is at is still published."""
        self._ended = True
        self._wake.set()
        self._thread.join()

    def callback_failed(self, error: BaseException) -> None:
        """Report an exception that nothing else caught; the node goes on."""
        self._complain('callback', ''.join(traceback.format_exception(error)))

    # -- in ----------------------------------------------------------------------------------

    def _listen(self, topics: Sequence[str]) -> None:
        kinds: dict[str, Any] = {
            lifting.MASKS_TOPIC: Image, lifting.DEPTH: Image,
            lifting.COMPRESSED_DEPTH: CompressedImage, lifting.POINTS: PointCloud2,
        }  # fmt: skip
        if lifting.DETECTIONS in topics:
            if not has_vision_msgs():
                raise MissingExtraError(
                    'vision_msgs', f'{lifting.DETECTIONS} needs vision_msgs',
                    'nothing; sudo apt-get install ros-$ROS_DISTRO-vision-msgs',
                )  # fmt: skip
            from vision_msgs.msg import Detection2DArray

            kinds[lifting.DETECTIONS] = Detection2DArray
        for topic in topics:
            self._subscribe(kinds[topic], topic, partial(self._take, topic))
        self._subscribe(CameraInfo, INFO, self._take_info)
        if self._features is not None:
            self._subscribe(Image, COLOR, self._features.take)
        if not self._names_are_given:
            self._subscribe(String, LABELS, self._take_labels)

    def _subscribe(self, kind: Any, topic: str, take: Any) -> None:
        """Reliably where the publisher is: an image is many packets, of which none may be lost."""
        source = Input(
            self, kind, topic, qos.images, qos.sensor_data, callback_group=self._group
        )  # fmt: skip
        source.start(take)

    def _take(self, topic: str, message: Any) -> None:
        self._matcher.add(topic, conversions.stamp_to_ns(message.header.stamp), message)
        self._wake.set()

    def _take_info(self, message: CameraInfo) -> None:
        self._info = message
        self._wake.set()

    def _take_labels(self, message: String) -> None:
        try:
            self._names = ClassNames(labels_of_json(message.data), self.get_logger().warning)
        except InvalidValueError as error:
            self._refuse('semantic_labels', error)

    # -- work --------------------------------------------------------------------------------

    def _run(self) -> None:
        while not self._ended:
            self._wake.wait()
            self._wake.clear()
            while not self._ended and (found := self._matcher.take()) is not None:
                try:
                    self._lift(found)
                except (CameraError, RegionError) as error:
                    self._refuse(error.reason, error)
                except SpatialMemoryError as error:
                    self._refuse(type(error).__name__, error)
                except Exception as error:
                    self.callback_failed(error)

    def _lift(self, found: Set) -> None:
        started = time.monotonic()
        seen = lifting.seen_of(found.messages, self._info, self._config, self._settings)
        depth = found.messages[lifting.depth_topic(self._settings)]
        stamp_ns = conversions.stamp_to_ns(depth.header.stamp)
        refused: Counter[str] = Counter()
        regions = lifting.regions_of(found.messages, seen, self._names, self._settings, refused)
        lifted, more = self._lifting.lift(
            seen.surface, regions, self._level(seen.frame, stamp_ns, refused)
        )
        view = lifting.view_of(lifted, seen, stamp_ns, self._settings)
        self._add_features(view, lifted, seen, stamp_ns, refused)
        self._out.publish(view)
        ended = time.monotonic()
        with self._count_lock:
            self._refused += refused + more
            self._published += 1
            self._detections += len(lifted)
            self._durations.add(ended - started, ended)

    def _add_features(
        self, view: DetectionArray, lifted: list[Lifted], seen: lifting.Seen, stamp_ns: int,
        refused: Counter[str],
    ) -> None:  # fmt: skip
        """Put features into the detections, as far as there are any."""
        if self._features is None:
            return
        try:
            features = self._features.of(lifted, seen.surface.size, stamp_ns)
        except CameraError as error:
            refused[error.reason] += 1
            self._complain_of(error.reason, str(error))
            return
        if len(features):
            view.feature_space = self._features.space
            for detection, feature in zip(view.detections, features, strict=True):
                detection.feature = feature.tolist()

    def _level(self, frame: str, stamp_ns: int, refused: Counter[str]) -> np.ndarray | None:
        """Rotation from the optical frame into `level_frame` at a stamp, or shortly before it.

        A camera tilts little until its newest transform is there, so that nothing has to wait.
        """
        if self._transforms is None:
            return None
        buffer, target = self._transforms.buffer, self._settings.level_frame
        try:
            newest_ns = buffer.newest_ns(target, frame)
            known_ns = min(stamp_ns, newest_ns) if newest_ns else stamp_ns
            return lifting.rotation_of(buffer.lookup(target, frame, known_ns).matrix())
        except TransformError as error:
            self._complain(NOT_LEVEL, f'boxes do not stand upright: {error}')
            refused[NOT_LEVEL] += 1
            return None

    def _complain_of(self, reason: str, details: str) -> None:
        self._complain(reason, f'{reason}: {details}')

    def _refuse(self, reason: str, error: Exception) -> None:
        with self._count_lock:
            self._refused[reason] += 1
        self._complain_of(reason, str(error))

    # -- diagnostics -------------------------------------------------------------------------

    def _statuses(self, now: float) -> Mapping[str, Status]:
        received, dropped = self._matcher.counts()
        with self._count_lock:
            refused, times = dict(self._refused), sorted(self._durations.values(now))
            counts = {'views': self._published, 'detections': self._detections}
        values = {**counts, **{f'received: {t}': received.get(t, 0) for t in received}}
        values |= {f'dropped views: {k}': n for k, n in sorted(dropped.items())}
        values |= {f'refused: {k}': n for k, n in sorted(refused.items())}
        median = percentile(times, 0.5)
        shown = {k: str(v) for k, v in values.items()}
        shown['median time [ms]'] = 'none' if median is None else f'{median * 1000:.1f}'
        if self._features is not None:
            shown['encoder'] = self._features.state
        lately = self._lately({**refused, **{f'dropped {k}': n for k, n in dropped.items()}}, now)
        return {'lifting': Status(*self._words(received, lately), shown)}

    def _words(self, received: Mapping[str, int], lately: Mapping[str, int]) -> tuple[int, str]:
        topics = [INFO, lifting.depth_topic(self._settings)]
        for topic in topics:
            count = self.count_publishers(topic)
            if count > 1:
                return WARN, f'{count} cameras publish on {topic}: expected one for each node'
        missing = [t for t in lifting.topics_of(self._settings) if not received.get(t)]
        if missing:
            return WARN, f'nothing came on {", ".join(missing)}'
        if lately:
            listed = ', '.join(f'{k} {n}' for k, n in sorted(lately.items()))
            return WARN, f'lately refused or dropped: {listed}'
        if self._features is not None and not self._features.space:
            return WARN, self._features.state
        return OK, 'lifting'


def main(args: Sequence[str] | None = None) -> None:
    """Run the node until SIGINT or SIGTERM."""
    until_signal(lambda stop: _run(args, stop))


def _run(args: Sequence[str] | None, stop: threading.Event) -> int:
    import rclpy
    from rclpy.executors import MultiThreadedExecutor
    from rclpy.signals import SignalHandlerOptions

    node: LiftingNode | None = None
    executor: MultiThreadedExecutor | None = None
    try:
        rclpy.init(args=args, signal_handler_options=SignalHandlerOptions.NO)
        node = LiftingNode()
        executor = MultiThreadedExecutor(num_threads=THREADS)
        executor.add_node(node)
        while not stop.is_set() and rclpy.ok():
            spin_once(executor, node)
        return 0
    except SpatialMemoryError as error:
        rclpy.logging.get_logger('lifting').fatal(str(error))
        return 1
    finally:
        if node is not None:
            node.close()
        if executor is not None:
            executor.shutdown()
        if node is not None:
            node.destroy_node()
        rclpy.try_shutdown()


if __name__ == '__main__':
    main()
