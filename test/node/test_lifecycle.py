# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Inactive means inactive, cycles leave nothing behind, failures can be mended."""

from __future__ import annotations

import os

import pytest
from lifecycle_msgs.msg import State, Transition
from node_kit import detection, gapless, local_node, transform, wait_for
from rclpy.lifecycle import TransitionCallbackReturn

CONFIGURE, ACTIVATE = Transition.TRANSITION_CONFIGURE, Transition.TRANSITION_ACTIVATE
DEACTIVATE, CLEANUP = Transition.TRANSITION_DEACTIVATE, Transition.TRANSITION_CLEANUP


def open_handles(path):
    """Open file descriptors of this process on a database."""
    count = 0
    for fd in os.listdir('/proc/self/fd'):
        try:
            count += os.readlink(f'/proc/self/fd/{fd}').startswith(str(path))
        except OSError:
            continue
    return count


def state(robot):
    return robot.call('get_state').current_state.id


@pytest.fixture
def managed(robot, run_node):
    """The node as a lifecycle manager finds it."""
    return run_node({'autostart': False}, start=False)


def send_ten(robot, active):
    # Matched is known on this side a moment before the node can hear.
    if active:
        wait_for(lambda: robot.subscribers == 1, what='one subscriber')
    stamps = [robot.see() for _ in range(10)]
    if active:
        robot.wait_acknowledged(*stamps)


def test_c40_nothing_is_taken_while_inactive_and_cycles_leave_nothing(managed, robot, tmp_path):
    path = tmp_path / 'memory.db'
    assert state(robot) == State.PRIMARY_STATE_UNCONFIGURED
    assert robot.call('query').error_code == 4  # INACTIVE
    assert robot.change_state(CONFIGURE)
    assert robot.subscribers == 0
    send_ten(robot, False)
    for name in ('query', 'history', 'forget', 'relate'):
        reply = robot.call(name)
        assert (reply.success, reply.error_code) == (False, reply.INACTIVE), name
        assert reply.message
    assert robot.change_state(ACTIVATE)
    handles = open_handles(path)
    assert handles
    send_ten(robot, True)
    assert robot.change_state(DEACTIVATE)
    wait_for(lambda: robot.subscribers == 0, what='no subscriber')
    send_ten(robot, False)
    assert robot.call('query').error_code == 4
    assert robot.change_state(CLEANUP)
    assert open_handles(path) == 0
    for _ in range(3):  # further cycles
        assert robot.change_state(CONFIGURE)
        assert robot.change_state(ACTIVATE)
        assert open_handles(path) == handles
        assert robot.change_state(DEACTIVATE)
        assert robot.change_state(CLEANUP)
    assert robot.change_state(CONFIGURE)
    assert robot.change_state(ACTIVATE)
    send_ten(robot, True)
    assert open_handles(path) == handles
    for topic in ('/detections', '/tf'):
        wait_for(lambda t=topic: robot.node.count_subscribers(t) == 1, what='one subscriber')
    (hit,) = robot.query()
    assert hit.object.observations == 20
    assert len(robot.feed) == 20
    assert gapless(robot.feed)


def test_what_was_received_is_written_and_published_before_the_node_is_inactive(managed, robot):
    assert robot.change_state(CONFIGURE)
    assert robot.change_state(ACTIVATE)
    wait_for(lambda: robot.subscribers == 1, what='a subscriber')
    robot.wait_acknowledged(robot.see())
    stamps = [robot.see(*(detection(f'{k}', (k, 0, 0)) for k in range(50))) for _ in range(30)]
    wait_for(lambda: managed._intake.counts().received == 31, what='all views')
    assert robot.change_state(DEACTIVATE)
    robot.wait_acknowledged(*stamps)


def test_a_transition_that_is_not_possible_is_refused_and_answered(managed, robot, log):
    assert not robot.change_state(ACTIVATE)
    assert not robot.change_state(99)
    assert robot.change_state(CONFIGURE)
    assert not robot.change_state(CONFIGURE)
    assert robot.change_state(ACTIVATE)
    assert not robot.change_state(CLEANUP)
    wait_for(lambda: len(log.lines('was refused')) == 4, what='four lines')
    wait_for(lambda: robot.subscribers == 1, what='a subscriber')
    robot.wait_acknowledged(robot.see())


def test_a_configuration_that_fails_can_be_mended(robot, run_node, tmp_path, log):
    folder = tmp_path / 'later'
    parameters = {'autostart': False, 'database': str(folder / 'memory.db')}
    run_node(parameters, start=False)
    assert not robot.change_state(CONFIGURE)
    assert state(robot) == State.PRIMARY_STATE_UNCONFIGURED
    log.wait('does not exist')
    folder.mkdir()
    assert robot.change_state(CONFIGURE)
    assert robot.change_state(ACTIVATE)
    assert robot.call('query').success


def test_an_error_in_a_transition_is_logged_and_closes_everything(
    managed, robot, tmp_path, monkeypatch, log
):
    assert robot.change_state(CONFIGURE)
    with monkeypatch.context() as patch:
        patch.setattr('memory_node.ros.node.make_transforms', lambda *_: 1 / 0)
        assert not robot.change_state(ACTIVATE)
    log.wait('ZeroDivisionError')
    assert state(robot) == State.PRIMARY_STATE_UNCONFIGURED
    assert open_handles(tmp_path / 'memory.db') == 0
    assert robot.call('query').error_code == 4
    assert robot.change_state(CONFIGURE)
    assert robot.change_state(ACTIVATE)
    assert robot.call('query').success


def test_shutdown_by_transition_closes_the_file(managed, robot, tmp_path):
    assert robot.change_state(CONFIGURE)
    assert robot.change_state(ACTIVATE)
    assert robot.change_state(Transition.TRANSITION_ACTIVE_SHUTDOWN)
    assert open_handles(tmp_path / 'memory.db') == 0
    assert robot.call('query').error_code == 4
    wait_for(lambda: robot.subscribers == 0, what='no subscriber')


def test_a_closed_node_cannot_be_configured_again(managed, tmp_path):
    assert managed.trigger_configure() == TransitionCallbackReturn.SUCCESS
    managed.close()
    managed.close()
    assert open_handles(tmp_path / 'memory.db') == 0


def test_transforms_are_heard_again_after_a_cycle(robot, run_node):
    node = run_node()
    robot.wait_ready()
    robot.tf(transform('map', 'base_link', 0), static=True)
    robot.wait_acknowledged(robot.see(frame='base_link'))
    for _ in range(2):
        node.trigger_deactivate()
        node.trigger_activate()
    wait_for(lambda: robot.subscribers == 1, what='a subscriber')
    robot.wait_acknowledged(robot.see(frame='base_link'))


def test_a_destroyed_node_is_off_the_graph_at_once(robot, tmp_path):
    with local_node({'database': str(tmp_path / 'memory.db')}) as node:
        robot.wait_ready()
        assert 'spatial_memory' in robot.node.get_node_names()
    wait_for(lambda: 'spatial_memory' not in robot.node.get_node_names(), what='its absence')
    assert node is not None  # not only because it was collected
