# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Is it still there? Depth and camera_info on their topics, presence in the replies."""

from __future__ import annotations

import numpy as np
import pytest
from asking_kit import Asking
from lifecycle_msgs.msg import Transition
from node_kit import NS, detection, transform, view, wait_for
from rclpy.qos import qos_profile_sensor_data
from rooms import HEIGHT, WIDTH, camera_depth
from sensor_msgs.msg import CameraInfo, Image
from spatial_memory.msg import DetectionArray, MemoryObject
from views import FORWARD

FRAME = 'head_optical'
PARAMETERS = {'sensors': ['head'], 'camera_max_range_m': 9.0}
BOX = detection('box', (2.0, 0.0, 0.5), size=(0.3, 0.3, 0.3))
BOX_DEPTH = [((2.0, 0.0, 0.5), (0.3, 0.3, 0.3))]


class Head:
    """A camera at (0, 0, 0.5) that looks along x: its detections, depth and camera_info."""

    def __init__(self, ask):
        self.robot, node = ask.robot, ask.robot.node
        self.views = node.create_publisher(DetectionArray, 'head/detections', 50)
        self.infos = node.create_publisher(CameraInfo, 'head/camera_info', qos_profile_sensor_data)
        self.depths = node.create_publisher(Image, 'head/depth', qos_profile_sensor_data)
        for publisher in (self.views, self.infos, self.depths):
            wait_for(publisher.get_subscription_count, what=f'the node on {publisher.topic_name}')
        stand = transform('map', FRAME, 0, (0.0, 0.0, 0.5))
        q = stand.transform.rotation
        q.x, q.y, q.z, q.w = FORWARD
        self.robot.tf(stand, static=True)
        self.first_ns = self.robot.now_ns() - 300 * NS

    def info(self, **more):
        shown = camera_depth()
        message = CameraInfo(width=WIDTH, height=HEIGHT)
        message.header.frame_id = FRAME
        message.k = [shown.fx, 0.0, shown.cx, 0.0, shown.fy, shown.cy, 0.0, 0.0, 1.0]
        for name, value in more.items():
            setattr(message, name, value)
        self.infos.publish(message)

    def depth(self, second, boxes=(), millimetres=False, frame=FRAME, **more):
        shown = camera_depth(boxes=boxes).depth_m
        if millimetres:
            shown = np.round(shown * 1000).astype(np.uint16)
        message = Image(
            width=WIDTH, height=HEIGHT, encoding='16UC1' if millimetres else '32FC1',
            step=WIDTH * shown.itemsize, data=shown.tobytes(),
        )  # fmt: skip
        message.header.frame_id = frame
        stamp_ns = self.stamp_ns(second)
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp_ns, NS)
        for name, value in more.items():
            setattr(message, name, value)
        self.depths.publish(message)

    def stamp_ns(self, second):
        return self.first_ns + int(second * NS)

    def see(self, second, *detections, **more):
        """A view in the map frame; returns when it was judged."""
        stamp_ns = self.stamp_ns(second)
        self.views.publish(
            view(*detections, stamp_ns=stamp_ns, sensor='', sensor_frame=FRAME, **more)
        )
        self.robot.wait_acknowledged(stamp_ns)


@pytest.fixture
def ask(robot, run_node):
    """A running node that knows a camera."""
    return Asking(robot, run_node(PARAMETERS))


@pytest.fixture
def head(ask):
    """That camera."""
    return Head(ask)


def known(ask, head):
    """The camera is known: its info and depth have come, and a view was judged with them."""
    head.info()
    head.depth(0, BOX_DEPTH)
    head.see(0, BOX)
    reply = ask('query', text='box')
    return reply.hits[0].object


def changes(ask):
    return [c.kind for array in ask.robot.feed for c in array.changes]


@pytest.mark.parametrize('millimetres', [False, True])
def test_c04_seen_through_by_depth_it_is_doubtful_then_absent(ask, head, millimetres):
    known(ask, head)
    for second in (2, 4):
        head.depth(second, BOX_DEPTH, millimetres)
        head.see(second, BOX)
    for second in (6, 8, 10):
        head.depth(second, (), millimetres)
        head.see(second)
    wait_for(lambda: 'ABSENT' in changes(ask), what='that it is absent')
    assert changes(ask).count('DOUBTFUL') == changes(ask).count('ABSENT') == 1
    assert ask.ids(text='box') == []
    (hit,) = ask('query', text='box', include_absent=True).hits
    it = hit.object
    assert (it.state, it.last_check) == (MemoryObject.STATE_ABSENT, it.CHECK_SEEN_THROUGH)
    assert it.presence < 0.15 and it.last_checked.sec == head.stamp_ns(10) // NS
    assert ask('get_scene').scene.objects[0].state == MemoryObject.STATE_ABSENT
    assert ask.ids(states=['absent']) == [1]
    assert 'judged without depth' not in str(ask.robot.status('intake').values)


def test_c05_what_is_found_elsewhere_while_its_place_is_empty_has_moved(ask, head):
    known(ask, head)
    there = detection('box', (4.0, 1.5, 0.5), size=(0.3, 0.3, 0.3))
    for second in (2, 4):
        head.depth(second, BOX_DEPTH)
        head.see(second, BOX)
    for second in (200, 202, 204, 206):
        head.depth(second, [((4.0, 1.5, 0.5), (0.3, 0.3, 0.3))])
        head.see(second, there)
    wait_for(lambda: 'MOVED' in changes(ask), what='that it moved')
    (hit,) = ask('query', text='box').hits
    assert hit.object.id == 1 and hit.object.pose.position.x == pytest.approx(4.0, abs=0.05)
    assert hit.presence > 0.9
    assert ask.ids(text='box', moved_m=1.0) == [1]


def test_hidden_by_depth_is_no_miss_and_says_so(ask, head):
    known(ask, head)
    for second in (2, 4, 6, 8):
        head.depth(second, [((1.0, 0.0, 0.5), (0.2, 1.0, 1.0))])
        head.see(second)
    it = ask('history', object_id=1).object
    assert (it.state, it.last_check) == (MemoryObject.STATE_TENTATIVE, it.CHECK_OCCLUDED)


def test_min_presence_is_asked_about_a_time(ask, head):
    known(ask, head)
    assert ask.ids(text='box', min_presence=0.5) == [1]
    later = ask.robot.now_ns() + 10 * 365 * 86400 * NS
    at = DetectionArray().header.stamp
    at.sec, at.nanosec = divmod(later, NS)
    assert ask.ids(text='box', min_presence=0.5, at=at) == []
    (hit,) = ask('query', text='box', at=at).hits
    assert hit.presence < 0.5
    ask.refused('query', 'INVALID_REQUEST', min_presence=float('nan'))


def blind(ask, reason):
    return ask.robot.status_value('intake', f'judged without depth: {reason}')


def test_wrong_depth_is_counted_by_reason_and_costs_no_view(ask, head):
    known(ask, head)
    wrong = {
        'depth_encoding': lambda s: head.depth(s, encoding='rgb8'),
        'depth_size': lambda s: head.depth(s, width=WIDTH // 2),
        'depth_data': lambda s: head.depth(s, data=b'few'),
        'camera_frame': lambda s: head.depth(s, frame='another'),
        'depth_unmatched': lambda s: head.depth(s + 0.5),
    }
    for k, (reason, publish) in enumerate(wrong.items()):
        publish(2 + 2 * k)
        head.see(2 + 2 * k)
        wait_for(lambda reason=reason: blind(ask, reason) == '1', what=reason)
    head.depth(20, data=bytes(WIDTH * HEIGHT * 4))
    head.see(20)
    wait_for(
        lambda: ask.robot.status_value('intake', 'refused detections: no_depth') == '1',
        what='that all of it is invalid',
    )
    assert ask('history', object_id=1).object.state == MemoryObject.STATE_TENTATIVE
    head.info(k=[0.0] * 9)
    head.depth(22)
    head.see(22, BOX)
    wait_for(lambda: blind(ask, 'camera_info_empty') == '1', what='an empty camera_info')
    assert ask('history', object_id=1).object.observations == 2


def test_c21_where_k_is_zero_p_counts(ask, head):
    shown = camera_depth()
    head.info(k=[0.0] * 9, p=[shown.fx, 0.0, shown.cx, 0.0, 0.0, shown.fy, shown.cy, 0.0,
                              0.0, 0.0, 1.0, 0.0])  # fmt: skip
    head.depth(0, BOX_DEPTH)
    head.see(0, BOX)
    for second in (2, 4, 6):
        head.depth(second)
        head.see(second)
    assert ask.ids(states=['absent']) == [1]


def test_late_depth_holds_a_view_up_for_a_moment_only(ask, head):
    known(ask, head)
    head.see(2, BOX)  # no depth of that time ever comes
    wait_for(lambda: blind(ask, 'depth_late') == '1', what='that it was late')
    stamp_ns = head.stamp_ns(4)
    head.views.publish(view(stamp_ns=stamp_ns, sensor='', sensor_frame=FRAME))
    head.depth(4)  # comes after its view, and soon enough
    ask.robot.wait_acknowledged(stamp_ns)
    wait_for(
        lambda: ask('history', object_id=1).object.last_check == MemoryObject.CHECK_SEEN_THROUGH,
        what='that it was seen through',
    )


def test_a_field_of_view_that_cannot_be_is_counted(ask, head):
    head.info()
    declared = DetectionArray().field_of_view
    declared.horizontal_rad, declared.vertical_rad, declared.max_range_m = 7.0, 1.0, 4.0
    head.see(0, BOX, field_of_view=declared)
    wait_for(
        lambda: ask.robot.status_value('intake', 'refused detections: bad_field_of_view') == '1',
        what='that it is wrong',
    )
    assert ask.ids(text='box') == [1], 'its detections count all the same'


def test_a_node_that_is_activated_again_hears_its_cameras_again(ask, head):
    known(ask, head)
    assert ask.robot.change_state(Transition.TRANSITION_DEACTIVATE)
    wait_for(lambda: not head.depths.get_subscription_count(), what='that nobody hears the depth')
    assert ask.robot.change_state(Transition.TRANSITION_ACTIVATE)
    for publisher in (head.views, head.infos, head.depths):
        wait_for(publisher.get_subscription_count, what='the node again')
    head.depth(2)
    head.see(2)
    wait_for(lambda: blind(ask, 'camera_info_missing') == '1', what='that camera_info is missing')
    head.info()
    for second in (4, 6, 8):
        head.depth(second)
        head.see(second)
    assert ask.ids(states=['absent']) == [1]
