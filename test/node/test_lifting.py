# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The lifting node over real topics: depth and what a detector saw become detections."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from lifting_kit import FIRST_NS, FRAME, Camera, lifting_node, places
from node_kit import ros_arguments, transform, wait_for
from rgbd import CAMERA
from sensor_msgs.msg import Image, PointCloud2, PointField
from std_msgs.msg import String

open3d = pytest.importorskip('open3d', reason='needs Open3D: scripts/env --with perception')


@pytest.fixture
def camera(robot):
    return Camera(robot)


@pytest.fixture
def lift(cleanup, monkeypatch):
    """Run the lifting node in this process: lift(parameter=value, …)."""
    monkeypatch.setattr('memory_node.ros.diagnostics.PERIOD_S', 0.2)
    return lambda **parameters: cleanup.enter_context(lifting_node(**parameters))


@pytest.mark.parametrize('millimetres', [False, True])
def test_c20_boxes_and_depth_become_detections(camera, lift, millimetres):
    lift(sensor='head')
    camera.wait_matched('depth', 'detections_2d', 'camera_info')
    camera.info()
    camera.depth(0, millimetres=millimetres)
    camera.detected(0)
    view = camera.view(0)
    assert (view.sensor, view.sensor_frame, view.header.frame_id) == ('head', FRAME, FRAME)
    found = places(view)
    assert found['cup'] == pytest.approx((0.1, 0.05, 0.86), abs=0.02)
    assert found['box'] == pytest.approx((-0.2, 0.0, 1.15), abs=0.02)
    assert view.field_of_view.horizontal_rad == pytest.approx(2 * np.arctan(0.64))
    assert all(d.score == 0.8 and d.position_covariance[8] > 0 for d in view.detections)


def test_masks_get_their_labels_from_detections_of_the_same_id(camera, lift):
    lift(regions='labelled_masks')
    camera.wait_matched('depth', 'detections_2d', 'camera_info', 'masks')
    camera.info()
    camera.depth(0)
    camera.image('masks', camera.ids.astype(np.uint8), 'mono8', 0)
    camera.detected(0, labels=('cup',), ids=(1,))
    assert set(places(camera.view(0))) == {'cup'}
    camera.wait_value('refused: id_without_name', '1')


def test_masks_of_ids_get_their_labels_from_isaacs_string(camera, lift):
    lift(regions='masks')
    camera.wait_matched('depth', 'camera_info', 'masks', 'semantic_labels')
    camera.publishers['semantic_labels'].publish(
        String(data='{"0": {"class": "BACKGROUND"}, "1": {"class": "cup"}, "2": "/World/Box_01"}')
    )
    camera.info()
    for second in range(20):
        camera.depth(second)
        camera.image('masks', camera.ids.astype(np.int32), '32SC1', second)
        if set(places(camera.view(second))) == {'cup', 'Box_01'}:
            return
    raise AssertionError('the labels never came through')


def test_an_organised_cloud_needs_no_camera_info(camera, lift):
    lift(depth_source='cloud')
    camera.wait_matched('points', 'detections_2d')
    v, u = np.mgrid[:480, :640]
    z = camera.depth_m
    points = np.stack([(u - CAMERA.cx) / CAMERA.fx * z, (v - CAMERA.cy) / CAMERA.fy * z, z], axis=2)
    cloud = PointCloud2(
        height=480, width=640, point_step=12, row_step=12 * 640,
        fields=[PointField(name=n, offset=4 * k, datatype=7, count=1) for k, n in enumerate('xyz')],
        data=points.astype(np.float32).tobytes(),
    )  # fmt: skip
    camera.send('points', cloud, 0)
    camera.detected(0)
    view = camera.view(0)
    assert places(view)['cup'] == pytest.approx((0.1, 0.05, 0.86), abs=0.02)
    assert view.field_of_view.horizontal_rad == 0.0


def test_a_view_without_detections_is_sent_too(camera, lift):
    lift()
    camera.wait_matched('depth', 'detections_2d', 'camera_info')
    camera.info()
    camera.depth(0)
    camera.detected(0, labels=())
    assert list(camera.view(0).detections) == []


def test_what_cannot_be_used_is_counted_and_the_next_view_is_lifted(camera, lift):
    lift()
    camera.wait_matched('depth', 'detections_2d', 'camera_info')

    def refused(second, reason, send):
        send(second)
        camera.detected(second)
        camera.wait_value(f'refused: {reason}', '1')

    refused(0, 'camera_info_missing', camera.depth)  # C21 d
    camera.info(k=[0.0] * 9)  # C21 c
    refused(1, 'camera_info_empty', camera.depth)
    camera.info(k=[float('inf'), 0.0, 320.0, 0.0, 500.0, 240.0, 0.0, 0.0, 1.0])
    refused_before = camera.value('refused: camera_info_empty')
    camera.depth(2)
    camera.detected(2)
    wait_for(lambda: camera.value('refused: camera_info_empty') > refused_before, what='infinite')
    camera.info()
    refused(3, 'depth_size', lambda s: camera.depth(s, camera.depth_m[:240, :320]))  # C23
    refused(4, 'depth_encoding', lambda s: camera.image('depth', camera.ids, '32SC1', s))
    refused(5, 'camera_frame', lambda s: camera.depth(s, frame='another'))
    refused(6, 'no_frame', lambda s: camera.depth(s, frame=''))
    camera.depth(7, np.zeros_like(camera.depth_m))
    camera.detected(7)
    assert list(camera.view(7).detections) == []
    camera.wait_value('refused: no_depth', '2')
    camera.info(k=[0.0] * 9, p=[500.0, 0.0, 320.0, 0.0, 0.0, 500.0, 240.0, 0.0,
                                0.0, 0.0, 1.0, 0.0])  # fmt: skip
    camera.depth(8)
    camera.detected(8)
    assert set(places(camera.view(8))) == {'cup', 'box'}  # C21 b: P where K is zero


def test_c23_aligned_depth_of_another_size_and_frame_is_scaled(camera, lift):
    lift(aligned=True)
    camera.wait_matched('depth', 'detections_2d', 'camera_info')
    camera.info(frame='color_optical')
    camera.depth(0, camera.depth_m[::2, ::2])
    camera.detected(0, frame='color_optical')
    view = camera.view(0)
    assert view.header.frame_id == FRAME
    assert places(view)['cup'] == pytest.approx((0.1, 0.05, 0.86), abs=0.02)


def test_masks_of_another_size_are_refused(camera, lift):
    lift(regions='masks')
    camera.wait_matched('depth', 'camera_info', 'masks')
    camera.info()
    camera.depth(0)
    camera.image('masks', camera.ids[::2, ::2].astype(np.uint8), 'mono8', 0)
    camera.wait_value('refused: mask_size', '1')


def test_colour_without_depth_says_what_is_missing(camera, lift):
    lift()
    camera.wait_matched('detections_2d')
    camera.detected(0)
    wait_for(
        lambda: 'nothing came on depth' in camera.robot.diagnostics['lifting: lifting'].message
        if 'lifting: lifting' in camera.robot.diagnostics else False,
        what='that depth is missing',
    )  # fmt: skip


def test_two_cameras_of_one_name_are_noticed(camera, lift, cleanup):
    lift()
    other = camera.robot.node.create_publisher(Image, 'depth', 5)
    cleanup.callback(lambda: camera.robot.node.destroy_publisher(other))
    wait_for(
        lambda: (
            '2 cameras publish on depth'
            in getattr(camera.robot.diagnostics.get('lifting: lifting'), 'message', '')
        ),
        what='that there are two',
    )


def test_the_newest_view_wins_while_it_is_busy(camera, lift):
    node = lift()
    camera.wait_matched('depth', 'detections_2d', 'camera_info')
    camera.info()
    held, begun = threading.Event(), threading.Event()
    lift_one = node._lifting.lift

    def slowly(*args):
        begun.set()
        held.wait(60)
        return lift_one(*args)

    node._lifting.lift = slowly
    camera.depth(0)
    camera.detected(0)
    assert begun.wait(60)
    for k in range(1, 5):
        camera.depth(k * 0.1)
        camera.detected(k * 0.1)
    wait_for(lambda: node._matcher.counts()[0] == {'depth': 5, 'detections_2d': 5}, what='all')
    held.set()
    assert set(places(camera.view(0.4))) == {'cup', 'box'}
    camera.wait_value('dropped views: superseded', '3')
    assert len(camera.views) == 2


def test_boxes_stand_upright_in_a_level_frame(camera, lift):
    lift(level_frame='map')
    camera.wait_matched('depth', 'detections_2d', 'camera_info')
    wait_for(lambda: camera.robot.transform_subscribers, what='it listens to transforms')
    pose = transform('map', FRAME, FIRST_NS, at=(0.0, 0.0, 1.0))
    q = pose.transform.rotation
    q.x, q.y, q.z, q.w = -0.5, 0.5, -0.5, 0.5
    camera.robot.tf(pose, static=True)
    camera.info()
    for second in range(40):
        camera.depth(second)
        camera.detected(second)
        (cup,) = [d for d in camera.view(second).detections if d.label == 'cup']
        q = cup.pose.orientation
        if abs(abs(q.x) - 0.5) < 0.1:  # turned by what the camera is turned
            assert cup.size.z == pytest.approx(0.12, abs=0.02)
            return
    raise AssertionError('the boxes never stood upright')


def test_without_open3d_it_ends_and_says_how_to_install_it(tmp_path, ros_domain):
    code = (
        'import sys; sys.modules["open3d"] = None\n'
        'from memory_node.ros.lifting_node import main; main(sys.argv[1:])'
    )
    done = subprocess.run(
        [sys.executable, '-c', code, *ros_arguments({})], capture_output=True, text=True,
        env={**os.environ, 'ROS_LOG_DIR': str(tmp_path)}, timeout=120,
    )  # fmt: skip
    assert done.returncode == 1
    assert 'Install the extra [perception]: pip install open3d' in done.stderr + done.stdout
    assert 'Traceback' not in done.stderr
