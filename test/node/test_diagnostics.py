# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What /diagnostics says, from states alone; and once over the middleware."""

from __future__ import annotations

import threading
from collections import Counter

import pytest
from node_kit import detection, wait_for
from std_msgs.msg import String

from memory_node.ros import diagnostics as d

HEARD = d.InputState('/detections', 'spatial_memory/msg/DetectionArray', 'reliable', 1)
ALONE = d.InputState('/detections', 'spatial_memory/msg/DetectionArray', 'reliable', 0)
OTHER = d.InputState(
    '/detections', 'spatial_memory/msg/DetectionArray', 'reliable', 0, ('std_msgs/msg/String',)
)


def intake(**more):
    given = {
        'active': True, 'inputs': [HEARD], 'received': 300, 'committed': 300, 'rate_hz': 30.0,
        'committed_lately': 300, 'silent_s': 0.03, 'view_age_s': 0.05, 'queue_size': 200, **more,
    }  # fmt: skip
    return d.intake_status(d.IntakeState(**given))


@pytest.mark.parametrize(
    ('state', 'level', 'words'),
    [
        ({}, d.OK, '30.0 views a second'),
        ({'active': False}, d.OK, 'not active'),
        ({'has_clock': False}, d.WARN, '/clock'),
        ({'inputs': [ALONE]}, d.WARN, 'no publisher: nobody publishes /detections'),
        ({'inputs': [OTHER]}, d.ERROR, 'wrong type: /detections is published as std_msgs/msg/S'),
        ({'silent_s': None}, d.WARN, 'no input: /detections is published, but nothing came yet'),
        ({'silent_s': 12.0}, d.WARN, 'nothing came for 12 s'),
        ({'dropped_lately': {'queue_full': 7}}, d.WARN, '7 views dropped in 10 s (queue_full 7)'),
        (
            {'dropped_lately': {'missing_frame': 7}, 'missing_frames': {'map': 7},
             'committed_lately': 0},
            d.ERROR, 'no view gets through: 7 dropped (missing_frame 7; missing: map)',
        ),
        ({'waiting': 150}, d.WARN, '150 views are waiting'),
        ({'refused_lately': {'not_finite': 2}}, d.WARN, '2 detections refused in 10 s'),
    ],
)  # fmt: skip
def test_intake_says_one_thing_first(state, level, words):
    status = intake(**state)
    assert status.level == level
    assert words in status.message


def test_intake_lists_every_number():
    values = intake(
        dropped={'queue_full': 3}, refused={'no_label': 4}, missing_frames={'odom': 2},
        restamped=5, waiting=6, callback_errors=1, silent_s=None, view_age_s=None,
    ).values  # fmt: skip
    assert values['dropped: queue_full'] == '3'
    assert values['refused detections: no_label'] == '4'
    assert values['missing frame: odom'] == '2 views'
    assert values['given the time of receipt'] == '5'
    assert values['waiting'] == '6 of 200'
    assert values['exceptions in callbacks'] == '1'
    assert values['age of the newest view [s]'] == 'none'
    assert values['topic /detections'] == f'{HEARD.type_name}, reliable, 1 publishers'


def test_two_inputs_of_which_one_is_published():
    second = d.InputState('/detections_vision', 'vision_msgs/msg/Detection3DArray', 'reliable', 0)
    assert intake(inputs=[second, HEARD]).level == d.OK
    status = intake(inputs=[ALONE, second])
    assert status.message == 'no publisher: nobody publishes /detections, /detections_vision'


def store(**more):
    given = {
        'open': True, 'path': '/m.db', 'file_bytes': 2_500_000, 'log_bytes': 4000, 'seq': 70,
        'durable_seq': 65, 'objects': 9, 'commits_s': [k / 1000 for k in range(1, 101)], **more,
    }  # fmt: skip
    return d.store_status(d.StoreState(**given))


def test_store_lists_sizes_lines_and_latency():
    status = store()
    assert (status.level, status.message) == (d.OK, '9 objects, log line 70')
    assert status.values == {
        'path': '/m.db', 'file [MB]': '2.50', 'write-ahead log [MB]': '0.00', 'log line': '70',
        'log line safe in a power cut': '65', 'objects': '9', 'commits in the last minute': '100',
        'commit p50 [ms]': '50.00', 'commit p99 [ms]': '99.00',
    }  # fmt: skip


@pytest.mark.parametrize(
    ('state', 'level', 'words'),
    [
        ({'open': False}, d.OK, 'not open'),
        ({'failures_lately': {'store_error': 3}}, d.ERROR, '3 views could not be written'),
        ({'busy': True}, d.WARN, 'another program holds the lock'),
        ({'log_bytes': 100 * 2**20}, d.WARN, '105 MB'),
    ],
)
def test_store_says_what_is_wrong(state, level, words):
    status = store(**state)
    assert status.level == level
    assert words in status.message


def test_services_say_what_failed():
    states = {
        '~/query': d.ServiceState(10, 2, 0, 0, 0.0125),
        '~/forget': d.ServiceState(3, 0, 1, 1, 0.002),
    }
    status = d.services_status(states)
    assert (status.level, status.message) == (d.ERROR, '1 requests failed in 10 s (~/forget 1)')
    assert status.values['~/query'] == '10 requests, 2 refused, 0 failed, slowest 12.5 ms'
    healthy = d.services_status({'~/query': states['~/query']})
    assert (healthy.level, healthy.message) == (d.OK, '10 requests, slowest lately 12.5 ms')
    assert d.services_status({}).level == d.OK


def test_percentile():
    assert d.percentile([], 0.5) is None
    assert d.percentile([3.0], 0.99) == 3.0
    assert d.percentile([1.0, 2.0], 0.5) == 1.0
    assert d.percentile([1.0, 2.0, 3.0], 0.5) == 2.0
    assert d.percentile(list(range(1, 101)), 0.99) == 99


def test_lately_forgets():
    lately = d.Lately(10.0)
    assert lately({'a': 2}, 0.0) == {'a': 2}
    assert lately({'a': 5, 'b': 1}, 5.0) == {'a': 5, 'b': 1}
    assert lately({'a': 5, 'b': 1}, 10.0) == {'a': 3, 'b': 1}
    assert lately({'a': 5, 'b': 1}, 15.0) == {}
    assert lately({'a': 1}, 16.0) == {}  # began anew
    assert lately.span_s == pytest.approx(11.0)


def test_durations_keep_a_minute():
    durations = d.Durations(60.0, most=3)
    for k in range(3):
        durations.add(float(k), k * 40.0)
    assert durations.values(80.0) == [1.0, 2.0]
    durations.add(3.0, 90.0)
    assert durations.values(90.0) == [1.0, 2.0, 3.0]


def test_a_service_meter_is_safe_to_use_from_several_threads():
    meter = d.ServiceMeter()

    def use():
        for k in range(1000):
            meter.add('~/query', 0.001 * k, refused=k % 2 == 0, failed=False)
            if k % 50 == 0:
                Counter(meter.states(0.0))

    threads = [threading.Thread(target=use) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    state = meter.states(0.0)['~/query']
    assert (state.requests, state.refused, state.failed) == (4000, 2000, 0)


@pytest.fixture
def stranger(ros, cleanup):
    """A node of another participant: one participant cannot have two types on a topic."""
    context = ros.Context()
    ros.init(context=context)
    cleanup.callback(context.try_shutdown)
    return ros.create_node('stranger', context=context)


def test_three_states_of_an_input_in_words(robot, make_robot, stranger, run_node):
    """As C42 asks for: nobody, another type, data."""
    run_node()
    wait_for(lambda: robot.status('intake').message.startswith('no input'), what='no input')
    robot.node.destroy_publisher(robot._views)
    wait_for(lambda: robot.status('intake').message.startswith('no publisher'), what='nobody')
    wrong = stranger.create_publisher(String, '/detections', 1)
    wait_for(lambda: robot.status('intake').message.startswith('wrong type'), what='wrong type')
    assert 'std_msgs/msg/String' in robot.status('intake').message
    stranger.destroy_publisher(wrong)
    second = make_robot()
    second.wait_heard()
    second.wait_acknowledged(second.see(detection()))
    wait_for(lambda: robot.status('intake').message.endswith('views a second'), what='input')
    assert robot.status('intake').level == b'\x00'
    assert robot.status('store').level == b'\x00'
    assert robot.status_value('store', 'objects') == '1'
    assert robot.status_value('store', 'log line') == '2'


def test_diagnostics_come_while_simulated_time_stands_still(robot, run_node):
    run_node({'use_sim_time': True}, start=False)
    said = 'the node is not active'
    wait_for(lambda: robot.status('intake').message == said, what='diagnostics')
