# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""A camera with a detector behind it, around the lifting node, for tests."""

from __future__ import annotations

import contextlib

import numpy as np
from node_kit import NS, Robot, Spinning, _spin_quietly, wait_for
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile
from rgbd import CAMERA, rendered
from sensor_msgs.msg import CameraInfo, Image, PointCloud2
from spatial_memory.msg import DetectionArray
from std_msgs.msg import String
from vision_msgs.msg import Detection2D, Detection2DArray, ObjectHypothesisWithPose

FRAME = 'camera_optical'
CUP = ((0.1, 0.05, 0.9), (0.1, 0.12, 0.08))
BOX = ((-0.2, 0.0, 1.2), (0.2, 0.2, 0.1))
FIRST_NS = 1_700_000_000 * NS


class Camera:
    """A camera with a detector behind it, and who listens to the lifting node."""

    def __init__(self, robot: Robot) -> None:
        self.robot, self.views = robot, []
        node = robot.node
        self.publishers = {
            topic: node.create_publisher(kind, topic, QoSProfile(depth=50))
            for topic, kind in (
                ('depth', Image), ('masks', Image), ('camera_info', CameraInfo),
                ('detections_2d', Detection2DArray), ('points', PointCloud2),
                ('semantic_labels', String), ('color', Image),
            )
        }  # fmt: skip
        node.create_subscription(DetectionArray, 'detections', self.views.append, 50)
        self.depth_m, self.ids = rendered([CUP, BOX])

    def wait_matched(self, *topics):
        for topic in topics:
            publisher = self.publishers[topic]
            wait_for(publisher.get_subscription_count, what=f'a subscriber of {topic}')
        wait_for(lambda: self.robot.node.count_publishers('detections'), what='its publisher')

    def send(self, topic, message, second, frame=FRAME):
        message.header.frame_id = frame
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(
            FIRST_NS + int(second * NS), NS
        )
        self.publishers[topic].publish(message)

    def info(self, second=0.0, width=640, height=480, **more):
        k = [CAMERA.fx, 0.0, CAMERA.cx, 0.0, CAMERA.fy, CAMERA.cy, 0.0, 0.0, 1.0]
        frame = more.pop('frame', FRAME)
        message = CameraInfo(width=width, height=height, **{'k': k, **more})
        self.send('camera_info', message, second, frame)

    def image(self, topic, array, encoding, second, frame=FRAME):
        array = np.ascontiguousarray(array)
        channels = array.shape[2] if array.ndim == 3 else 1
        message = Image(
            height=array.shape[0], width=array.shape[1], encoding=encoding,
            step=array.shape[1] * array.itemsize * channels, data=array.tobytes(),
        )  # fmt: skip
        self.send(topic, message, second, frame)

    def depth(self, second, array=None, millimetres=False, frame=FRAME):
        array = self.depth_m if array is None else array
        if millimetres:
            self.image('depth', np.round(array * 1000).astype(np.uint16), '16UC1', second, frame)
        else:
            self.image('depth', array.astype(np.float32), '32FC1', second, frame)

    def detected(self, second, labels=('cup', 'box'), ids=(1, 2), frame=FRAME):
        message = Detection2DArray()
        for label, number in zip(labels, ids):
            rows, columns = np.nonzero(self.ids == number)
            one = Detection2D(id=str(number))
            box = one.bbox
            box.center.position.x, box.center.position.y = columns.mean() + 0.5, rows.mean() + 0.5
            box.size_x, box.size_y = float(np.ptp(columns) + 1), float(np.ptp(rows) + 1)
            result = ObjectHypothesisWithPose()
            result.hypothesis.class_id, result.hypothesis.score = label, 0.8
            one.results = [result]
            message.detections.append(one)
        self.send('detections_2d', message, second, frame)

    def view(self, second):
        """The detections of one stamp, when they have come."""
        stamp_ns = FIRST_NS + int(second * NS)

        def found():
            return [
                v
                for v in self.views
                if v.header.stamp.sec * NS + v.header.stamp.nanosec == stamp_ns
            ]

        return wait_for(found, what=f'detections of second {second}')[0]

    def value(self, key):
        status = self.robot.diagnostics.get('lifting: lifting')
        return next((v.value for v in status.values if v.key == key), '') if status else ''

    def wait_state(self, key, words):
        wait_for(lambda: words in self.value(key), what=f'{words!r} in {key}')

    def wait_value(self, key, value):
        wait_for(lambda: self.value(key) == value, what=f'{key} {value}')


@contextlib.contextmanager
def lifting_node(**parameters):
    """Run the lifting node in this process."""
    from memory_node.ros.lifting_node import LiftingNode

    node = LiftingNode(parameter_overrides=[Parameter(k, value=v) for k, v in parameters.items()])
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    spinning = Spinning(executor, _spin_quietly)
    try:
        yield node
    finally:
        spinning.stop()
        node.close()
        node.destroy_node()


def places(view):
    return {
        d.label: (d.pose.position.x, d.pose.position.y, d.pose.position.z) for d in view.detections
    }
