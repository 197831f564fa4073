# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""~/markers over the middleware, into a small model of a viewer."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from node_kit import NS, Load, detection, wait_for
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.serialization import serialize_message
from viewer import Viewer
from visualization_msgs.msg import MarkerArray

from memory_node import Detection, SpatialMemory, View
from memory_node.ros.markers import BOXES, LABELS

LATCHED = QoSProfile(depth=100, durability=DurabilityPolicy.TRANSIENT_LOCAL)
TOPIC = '/spatial_memory/markers'
PLACES = [(float(k), 0.0, 0.5) for k in range(5)]


@pytest.fixture
def show(robot):
    """Open a viewer."""

    def make():
        viewer = Viewer()
        robot.node.create_subscription(MarkerArray, TOPIC, viewer.take, LATCHED)
        return viewer

    return make


def five(robot):
    robot.wait_acknowledged(robot.see(*(detection(f'cup {k}', p) for k, p in enumerate(PLACES))))


def count(viewer):
    return len(viewer.of(BOXES)), len(viewer.of(LABELS)), len(viewer.shown)


def test_c37_a_viewer_shows_exactly_what_there_is_also_after_a_restart(
    robot, start_process, show, tmp_path
):
    viewer = show()
    first = start_process()
    robot.wait_ready()
    five(robot)
    wait_for(lambda: count(viewer) == (5, 5, 10), what='five boxes')
    for number in (2, 4):
        assert robot.call('forget', object_id=number).success
    wait_for(lambda: count(viewer) == (3, 3, 6), what='three boxes')
    assert viewer.labels() == ['cup 0 #1', 'cup 2 #3', 'cup 4 #5']
    assert first.stop() == 0
    robot.feed.clear()
    start_process({'database': str(tmp_path / 'other.db')})
    robot.wait_ready()
    robot.wait_acknowledged(robot.see(detection('lamp')))
    wait_for(lambda: count(viewer) == (1, 1, 2), what='one box')
    assert viewer.labels() == ['lamp #1']


def test_c38_nothing_is_computed_without_a_subscriber(robot, run_node, show, monkeypatch):
    node = run_node()
    robot.wait_ready()
    asked = []
    page = SpatialMemory.page
    monkeypatch.setattr(
        SpatialMemory, 'page', lambda self, *a, **k: asked.append(k) or page(self, *a, **k)
    )
    five(robot)
    time.sleep(0.6)
    markers = [k for k in asked if 'states' not in k]  # the scene names states, markers do not
    assert markers == []
    viewer = show()
    wait_for(lambda: count(viewer) == (5, 5, 10), what='five boxes')
    other = show()
    wait_for(lambda: count(other) == (5, 5, 10), what='five boxes for who came later')
    assert robot.call('forget', object_id=1).success
    wait_for(lambda: count(viewer) == count(other) == (4, 4, 8), what='four boxes for both')
    assert node is not None


def test_differences_are_small_and_come_at_their_pace(robot, run_node, show):
    run_node()
    robot.wait_ready()
    five(robot)
    viewer = show()
    wait_for(lambda: count(viewer) == (5, 5, 10), what='five boxes')
    before, markers = viewer.messages, viewer.markers
    started = time.monotonic()
    for k in range(10):
        robot.wait_acknowledged(robot.see(detection('lamp', (float(k), 5.0, 0.0))))
    wait_for(lambda: len(viewer.of(BOXES)) == 15, what='ten more boxes')
    spent = time.monotonic() - started
    assert viewer.messages - before <= 2 + spent / 0.2
    assert viewer.markers - markers == 20, 'only what is new'


def test_relations_are_shown_where_asked_for(robot, run_node, show):
    run_node({'marker_relations': True})
    robot.wait_ready()
    viewer = show()
    table = detection('table', (2.0, 0.0, 0.375), size=(1.2, 0.8, 0.75))
    robot.wait_acknowledged(robot.see(table, detection('cup', (2.0, 0.1, 0.80))))
    wait_for(lambda: viewer.of('relations on'), what='the cup on the table')
    assert len(viewer.of('relations on')[0].points) == 2
    (cup,) = (h.object for h in robot.query(text='cup'))
    assert robot.call('forget', object_id=cup.id).success
    wait_for(lambda: count(viewer) == (1, 1, 2), what='the line to go')
    assert robot.set_parameter('marker_relations', False).successful


def test_no_more_is_shown_than_is_allowed_and_others_take_the_place(robot, run_node, show):
    run_node({'marker_max_objects': 3})
    robot.wait_ready()
    viewer = show()
    five(robot)
    wait_for(lambda: count(viewer) == (3, 3, 6), what='three of five')
    shown = {m.text for m in viewer.of(LABELS)}
    gone = shown.pop()
    assert robot.call('forget', object_id=int(gone.split('#')[1])).success
    wait_for(lambda: gone not in viewer.labels() and count(viewer) == (3, 3, 6), what='another')
    assert shown < set(viewer.labels())
    assert robot.set_parameter('marker_max_objects', 10).successful
    wait_for(lambda: count(viewer) == (4, 4, 8), what='all that are left')


def cpu_s(pid: int) -> float:
    """Seconds of CPU that a process has used."""
    fields = Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


def odd_things() -> list[Detection]:
    """What C14, C15 and C16 let into the store."""
    return [
        Detection('poster', 0.9, (-2, 1, 1), (1.0, 0.0, 0.6)),
        Detection('tag', 0.9, (-1, 2, 3), (0, 0, 0)),
        Detection('turned', 0.9, (-4, 2, 3), (1, 1, 1), (0, 0, 0, 2)),
        Detection('unturned', 0.9, (-6, 2, 3), (1, 1, 1), (0, 0, 0, 0)),
        Detection('blurred', 0.9, (-8, 2, 3), (1, 1, 1), position_cov=[[float('nan')] * 3] * 3),
        Detection('far away', 0.9, (1e200, 2, 3), (1, 1, 1)),
    ]


@pytest.mark.timeout(400)
def test_c38_many_objects_of_which_one_changes_a_second(
    robot, start_process, show, request, tmp_path
):
    seconds = 60.0 if request.config.getoption('--long') else 6.0
    sizes: list[int] = []
    with SpatialMemory.open(str(tmp_path / 'memory.db')) as memory:
        memory.observe(View(NS, detections=odd_things()))
        for row in range(50):
            memory.observe(View(2 * NS, str(row), detections=[
                Detection('thing', 0.9, (float(k), float(row), 0.0), (0.1, 0.1, 0.1))
                for k in range(100)
            ]))  # fmt: skip
    process = start_process({'max_age_s': 0})
    robot.wait_ready()
    viewer = show()
    robot.node.create_subscription(
        MarkerArray, TOPIC, lambda a: sizes.append(len(serialize_message(a))), LATCHED
    )
    wait_for(lambda: len(viewer.of(BOXES)) >= 1999, what='the cap')
    assert len(viewer.of(BOXES)) == 1999, 'the one that no viewer can show is left out'
    before, started = cpu_s(process.process.pid), time.monotonic()
    messages, markers = viewer.messages, viewer.markers

    def move(number: int) -> int:
        where = (float(number % 10), 0.0, 0.02 * (number // 10 + 1))
        return robot.see(detection('thing', where, size=(0.1, 0.1, 0.1)))

    load = Load(robot, 1.0, move)
    time.sleep(seconds)
    load.stop()
    robot.wait_acknowledged(*load.stamps_ns)
    # The second reader makes it show all once more; besides it shows what changed.
    spent = time.monotonic() - started
    share = (cpu_s(process.process.pid) - before) / spent
    assert share < 0.8, f'{share:.0%} of a core: it turns in circles'
    assert max(sizes) < 2_000_000, 'the whole picture'
    assert 0 <= viewer.messages - messages <= spent + 3
    assert viewer.markers - markers < 4000 + 100 * len(load.stamps_ns), 'all each time'
    assert process.alive
