# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The simulated robot over real topics: what it publishes, lock-step, and whole runs again."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rclpy
from node_kit import Spinning, _spin_quietly, ros_arguments, wait_for
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile
from rosgraph_msgs.msg import Clock
from scipy.spatial.transform import Rotation
from sensor_msgs.msg import CameraInfo, Image
from spatial_memory.msg import ChangeArray
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage
from vision_msgs.msg import Detection3DArray

from memory_node import SpatialMemory
from memory_node.errors import InvalidValueError, MissingExtraError
from memory_node.ros import qos, simulation_node
from memory_node.ros.conversions import stamp_to_ns
from memory_node.ros.simulation_node import SimulationError, SimulationNode, StoppedError
from memory_node.ros.simulators import SIMULATED_HOME, topics
from memory_node.sim.people import PERSON

pytest.importorskip('pybullet', reason='needs pybullet: scripts/env --with sim')

SENSOR = 'head_camera'
CONFIG = Path(__file__).parents[2] / 'config'
SHORT = {'things': 10, 'people': 1, 'tours': 1, 'period_s': 10.0, 'report': False}


class Audience:
    """Stands in for lifting and memory: hears everything, and acknowledges if it is to."""

    def __init__(self, acknowledges: bool = True, colour: bool = True) -> None:
        self.acknowledges = acknowledges
        self.heard: list[tuple[str, Any]] = []
        self.nodes = [rclpy.create_node(name) for name in ('spatial_memory', 'lifting')]
        memory, lifting = self.nodes
        self._changes = memory.create_publisher(ChangeArray, '~/changes', 200)
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        for node in self.nodes:
            self._hear(node, Clock, '/clock')
            self._hear(node, TFMessage, '/tf')
            self._hear(node, CameraInfo, f'{SENSOR}/camera_info')
            self._hear(node, Image, f'{SENSOR}/depth')
        self._hear(lifting, TFMessage, '/tf_static', latched)
        self._hear(lifting, String, f'{SENSOR}/semantic_labels')
        for name in ('truth', 'left'):
            self._hear(lifting, Detection3DArray, f'simulation/{name}')
        if colour:
            self._hear(lifting, Image, f'{SENSOR}/color')
        self._hear(lifting, Image, f'{SENSOR}/masks')
        self._executor = SingleThreadedExecutor()
        for node in self.nodes:
            self._executor.add_node(node)
        self._spinning = Spinning(self._executor, _spin_quietly)

    def of(self, topic: str) -> list[Any]:
        """What came on a topic, in order, for the lifting node."""
        return [message for name, message in list(self.heard) if name == topic]

    def acknowledge(self, stamp: Any) -> None:
        message = ChangeArray(sensor=SENSOR)
        message.header.stamp = stamp
        self._changes.publish(message)

    def close(self) -> None:
        self._spinning.stop()
        for node in self.nodes:
            node.destroy_node()

    def _hear(self, node: Any, kind: Any, topic: str, qos: Any = 200) -> None:
        def take(message: Any) -> None:
            if node is self.nodes[1]:
                self.heard.append((topic.rpartition('/')[2], message))
                if topic.endswith('masks') and self.acknowledges:
                    self.acknowledge(message.header.stamp)

        node.create_subscription(kind, topic, take, qos)


@pytest.fixture
def audience(cleanup):
    """Makes audiences."""

    def make(**more):
        made = Audience(**more)
        cleanup.callback(made.close)
        return made

    return make


@pytest.fixture
def robot_of(cleanup):
    """Makes simulated robots: robot_of(stop, parameter=value, …)."""

    def make(stop=None, **parameters):
        overrides = [Parameter(k, value=v) for k, v in {**SHORT, **parameters}.items()]
        node = SimulationNode(stop, parameter_overrides=overrides)
        cleanup.callback(node.close)
        return node

    return make


def stamps(messages):
    return [stamp_to_ns(m.header.stamp) for m in messages]


def test_all_topics_of_a_robot_come_with_one_stamp_for_each_image(audience, robot_of):
    heard = audience()
    robot = robot_of(first_tour=2)
    count = robot.run()
    expected = robot.world.stamps(2)
    assert count == len(expected)
    topics = ('depth', 'masks', 'color', 'truth', 'left')
    for topic in topics:
        wait_for(lambda t=topic: len(heard.of(t)) >= count, what=f'all of {topic}')
        assert stamps(heard.of(topic)) == expected, topic
    for read in (
        lambda: stamps(heard.of('camera_info')),
        lambda: [stamp_to_ns(m.clock) for m in heard.of('clock')],
    ):  # both begin before the first image
        wait_for(lambda r=read: expected[-1] in r(), what='the last stamp')
        assert [one for one in read() if one >= expected[0]] == expected
    wait_for(lambda: heard.of('semantic_labels'), what='the names')
    (names,) = {m.data for m in heard.of('semantic_labels')}
    labels = {int(k): v['class'] for k, v in json.loads(names).items()}
    for depth, masks, color, truth in zip(
        *(heard.of(topic) for topic in ('depth', 'masks', 'color', 'truth'))
    ):
        assert (depth.encoding, masks.encoding, color.encoding) == ('16UC1', '16UC1', 'rgb8')
        assert depth.header.frame_id == masks.header.frame_id == f'{SENSOR}_optical'
        shown = set(np.unique(np.frombuffer(masks.data, np.uint16)).tolist()) - {0}
        said = sorted(labels[body] for body in shown)
        real = [d.results[0].hypothesis for d in truth.detections]
        assert said == sorted(h.class_id for h in real if h.score == 1.0)
        assert len(truth.detections) >= 10 + 9 + 1


def test_frames_lead_from_the_map_to_the_camera(audience, robot_of):
    heard = audience(colour=False)
    robot = robot_of()
    robot.run()
    last_ns = robot.world.stamps(1)[-1]
    wait_for(lambda: last_ns in stamps(heard.of('masks')), what='the last mask')
    assert heard.of('color') == [], 'nobody listened'

    def told():
        return {
            (one.child_frame_id, stamp_to_ns(one.header.stamp)): one
            for message in heard.of('tf') + heard.of('tf_static')
            for one in message.transforms
        }

    first_ns = robot.world.begins_ns(1)
    needed = {('odom', first_ns), ('base_link', last_ns), (f'{SENSOR}_optical', last_ns)}
    wait_for(lambda: needed <= told().keys(), what='the last frames')
    frames = told()
    assert frames['odom', first_ns].header.frame_id == 'map'
    place, turn = np.zeros(3), Rotation.identity()
    for child, parent in (('base_link', 'odom'), (f'{SENSOR}_optical', 'base_link')):
        one = frames[child, last_ns]
        assert one.header.frame_id == parent
        t, q = one.transform.translation, one.transform.rotation
        place = place + turn.apply((t.x, t.y, t.z))
        turn = turn * Rotation.from_quat((q.x, q.y, q.z, q.w))
    stand = robot.world.stand_at(last_ns)
    assert place == pytest.approx(np.array(stand.eye_m), abs=1e-9)
    assert turn.as_matrix() == pytest.approx(stand.rotation, abs=1e-9)


def test_in_lock_step_an_image_waits_for_the_acknowledgement_of_the_one_before(
    audience, robot_of, monkeypatch
):
    monkeypatch.setattr(simulation_node, 'AGAIN_S', 0.4)
    heard = audience(acknowledges=False)
    stop = threading.Event()
    robot = robot_of(stop)
    stamps_ns = robot.world.stamps(1)
    thread = threading.Thread(target=_run_until_stopped, args=(robot,))
    thread.start()
    try:
        wait_for(lambda: len(heard.of('masks')) >= 3, what='the first image, again and again')
        assert set(stamps(heard.of('masks'))) == {stamps_ns[0]}
        wait_for(lambda: heard.of('truth'), what='the truth')
        assert len(heard.of('truth')) == 1, 'the truth is said once'
        heard.acknowledge(heard.of('masks')[0].header.stamp)
        wait_for(lambda: stamps_ns[1] in stamps(heard.of('masks')), what='the second image')
        assert stamps_ns[2] not in stamps(heard.of('masks'))
    finally:
        stop.set()
        thread.join(30)
    assert not thread.is_alive()


def _run_until_stopped(robot):
    with pytest.raises(StoppedError):
        robot.run()


def test_who_does_not_acknowledge_is_named(audience, robot_of, monkeypatch):
    monkeypatch.setattr(simulation_node, 'AGAIN_S', 0.2)
    audience(acknowledges=False)
    with pytest.raises(SimulationError, match='image 1 of tour 1 was not acknowledged on '
                       'spatial_memory/changes within 2 s'):  # fmt: skip
        robot_of(deadline_s=2.0).run()


def test_in_lock_step_somebody_must_listen(robot_of, ros):
    with pytest.raises(SimulationError, match=r'too few listen to /tf, /head_camera/camera_info'):
        robot_of(deadline_s=1.0).run()


def test_without_lock_step_it_goes_by_the_clock(robot_of, ros):
    robot = robot_of(lock_step=False, speed=100.0)
    started = time.monotonic()
    count = robot.run()
    took_s = time.monotonic() - started
    simulated_s = (count - 1) * 10.0
    assert count == len(robot.world.stamps(1)) and took_s >= simulated_s / 100.0


def test_who_comes_late_still_gets_all_of_the_truth(robot_of, ros, cleanup):
    robot = robot_of(lock_step=False, speed=100.0)
    robot.run()
    node, heard = rclpy.create_node('late'), []
    cleanup.callback(node.destroy_node)
    node.create_subscription(Detection3DArray, 'simulation/truth', heard.append, qos.truth())
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    cleanup.callback(Spinning(executor, _spin_quietly).stop)
    wait_for(lambda: stamps(heard) == robot.world.stamps(1), what='the truth of all images')


@pytest.mark.parametrize(
    ('name', 'value', 'message'),
    [
        ('seed', -1, 'seed: got -1, expected a whole number from 0 to'),
        ('things', 0, 'things: got 0, expected a whole number from 1 to 45'),
        ('seed', 'abc', "seed: got 'abc', expected a whole number"),
        ('lock_step', 'maybe', "lock_step: got 'maybe', expected true or false"),
        ('speed', 0.0, 'speed: got 0.0, expected a number from 0.01 to 100'),
        ('sensor', '', "sensor: got '', expected the name of a camera"),
    ],
)
def test_bad_parameters_are_refused_by_name(name, value, message, ros):
    with pytest.raises(InvalidValueError, match=message):
        SimulationNode(parameter_overrides=[Parameter(name, value=value)])


def test_the_topics_are_those_of_the_readme(robot_of, ros):
    text = (CONFIG.parent / 'README.md').read_text().split('### A simulated robot')[1]
    rows = re.findall(r'^\| (`.+?) \(out\) \|', text.split('<!--')[0], flags=re.M)
    named = {cell.strip('`') for row in rows for cell in row.split(', ')}
    named = {n.replace('SENSOR', f'/{SENSOR}').replace('~', '/simulation') for n in named}
    ours = {p.topic_name for p in robot_of().publishers} - {'/rosout', '/parameter_events'}
    assert named == ours


def test_without_pybullet_it_says_what_is_missing(ros, monkeypatch):
    monkeypatch.setitem(sys.modules, 'pybullet', None)
    with pytest.raises(MissingExtraError, match=r'\[sim\]: pip install pybullet'):
        SimulationNode()


# -- whole runs, in processes of their own ---------------------------------------------------


@pytest.fixture
def start(ros_domain, tmp_path, monkeypatch):
    """Start an executable: start(module, arguments, folder)."""
    monkeypatch.setenv('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    started = []

    def run(module, arguments, folder):
        folder.mkdir(exist_ok=True)
        with (folder / f'{module}.log').open('wb') as log:
            started.append(subprocess.Popen(
                [sys.executable, '-m', f'memory_node.ros.{module}', *arguments],
                stdout=log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                env={**os.environ, 'ROS_LOG_DIR': str(folder), 'PYTHONUNBUFFERED': '1'},
            ))  # fmt: skip
        return started[-1]

    yield run
    for process in started:
        if process.poll() is None:
            process.kill()
            process.wait(30)


def one_run(start, folder, **parameters):
    """Let memory, lifting and the robot run as the launch file does; return the finished file."""
    settings = ['--ros-args', '--params-file', str(CONFIG / 'simulated_home.yaml'),
                '-p', 'use_sim_time:=true']  # fmt: skip
    lifting = [*settings, '-r', '__node:=lifting', '-p', 'regions:=masks']
    for ours, theirs in topics(SIMULATED_HOME, SENSOR).items():
        lifting += ['-r', f'{ours}:={theirs}']
    database = folder / 'memory.db'
    others = [
        start('memory_node', [*settings, '-p', f'database:={database}'], folder),
        start('lifting_node', lifting, folder),
    ]
    robot = start('simulation_node', ros_arguments(parameters), folder)
    text = (folder / 'simulation_node.log').read_text
    assert robot.wait(150) == 0, text()
    for process in others:
        process.send_signal(signal.SIGINT)
    assert [process.wait(60) for process in others] == [0, 0]
    return database


def test_a_run_can_be_repeated_exactly_and_is_faster_than_real_time(start, tmp_path):
    pytest.importorskip('open3d', reason='needs Open3D: scripts/env --with perception')
    parameters = {'seed': 2, 'first_tour': 2, 'tours': 1, 'things': 12, 'people': 3,
                  'period_s': 8.0}  # fmt: skip
    hashes = []
    for number in range(2):
        folder = tmp_path / str(number)
        database = one_run(start, folder, **parameters)
        said = (folder / 'simulation_node.log').read_text()
        simulated_s, took_s = said.split('is over: ')[1].split(' s simulated in ')
        assert float(simulated_s) > float(took_s.split(' s')[0]), said
        with SpatialMemory.open(database, readonly=True) as memory:
            assert memory.check() == []
            labels = {it.label for it in memory.objects()}
            assert PERSON not in labels and len(labels) > 5
            hashes.append(memory.snapshot_hash())
    assert hashes[0] == hashes[1]


def test_sigint_ends_it_with_code_0(start, tmp_path):
    process = start(
        'simulation_node', ros_arguments({'lock_step': False, 'tours': 0}), tmp_path / 'a'
    )
    log = tmp_path / 'a' / 'simulation_node.log'
    wait_for(lambda: 'tour 1 begins' in log.read_text(), what='the tour')
    process.send_signal(signal.SIGINT)
    assert process.wait(30) == 0
    assert 'Traceback' not in log.read_text()


def test_what_it_cannot_start_with_is_one_line(start, tmp_path):
    process = start('simulation_node', ros_arguments({'seed': -3}), tmp_path / 'a')
    assert process.wait(60) == 1
    text = (tmp_path / 'a' / 'simulation_node.log').read_text()
    assert 'seed: got -3, expected a whole number from 0 to 999999' in text
    assert 'Traceback' not in text
