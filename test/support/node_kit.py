# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The memory node in a process or in a thread, and the rest of the robot around it, for tests.

Everything is waited for with a deadline; nothing sleeps for a fixed time and hopes.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import rclpy
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import TransformStamped
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState, GetState
from rcl_interfaces.srv import SetParameters
from rclpy.executors import MultiThreadedExecutor, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rosgraph_msgs.msg import Clock
from spatial_memory import srv
from spatial_memory.msg import ChangeArray, Detection, DetectionArray
from tf2_msgs.msg import TFMessage
from waiting import DEADLINE_S, wait_for

NS = 1_000_000_000
OTHERS = {
    'change_state': ChangeState, 'get_state': GetState, 'set_parameters': SetParameters,
}  # fmt: skip
"""Services of the node that are not ours."""


def detection(
    label: str = 'cup',
    at: Sequence[float] = (1.0, 0.0, 0.5),
    score: float = 0.8,
    size: Sequence[float] = (0.1, 0.1, 0.2),
    turn: Sequence[float] = (0.0, 0.0, 0.0, 1.0),
    feature: Sequence[float] = (),
) -> Detection:
    """One detection, by default that of the cases' base fixture."""
    message = Detection(label=label, score=float(score), feature=[float(v) for v in feature])
    p, q, s = message.pose.position, message.pose.orientation, message.size
    p.x, p.y, p.z = map(float, at)
    q.x, q.y, q.z, q.w = map(float, turn)
    s.x, s.y, s.z = map(float, size)
    return message


def view(
    *detections: Detection, stamp_ns: int, frame: str = 'map', sensor: str = 'camera', **more: Any
) -> DetectionArray:
    """One view."""
    message = DetectionArray(sensor=sensor, detections=list(detections), **more)
    message.header.frame_id = frame
    message.header.stamp.sec, message.header.stamp.nanosec = divmod(int(stamp_ns), NS)
    return message


def transform(
    parent: str,
    child: str,
    stamp_ns: int,
    at: Sequence[float] = (0.0, 0.0, 0.0),
    yaw: float = 0.0,
) -> TransformStamped:
    """One transform."""
    message = TransformStamped(child_frame_id=child)
    message.header.frame_id = parent
    message.header.stamp.sec, message.header.stamp.nanosec = divmod(int(stamp_ns), NS)
    t, q = message.transform.translation, message.transform.rotation
    t.x, t.y, t.z = map(float, at)
    q.z, q.w = math.sin(yaw / 2), math.cos(yaw / 2)
    return message


class LogFile:
    """What this process has written to stderr, to be read again and again.

    Not capfd: what is written while that one empties its file is lost. It must begin while the test
    runs: between a test and its fixtures pytest sets stderr anew.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stderr: int | None = None

    def begin(self) -> None:
        """Write to the file from now on; may be called twice."""
        if self._stderr is None:
            self._stderr = os.dup(2)
            with self._path.open('ab') as file:
                os.dup2(file.fileno(), 2)

    def end(self) -> None:
        """Write where it was written to before, also what was written meanwhile."""
        if self._stderr is not None:
            os.dup2(self._stderr, 2)
            os.close(self._stderr)
            self._stderr = None
            sys.stderr.write(self._path.read_text(errors='replace'))

    def lines(self, words: str) -> list[str]:
        """Return the lines with these words in them."""
        return [x for x in self._path.read_text(errors='replace').splitlines() if words in x]

    def wait(self, words: str, timeout_s: float = DEADLINE_S) -> list[str]:
        """Wait for such a line, and return all."""
        wait_for(lambda: self.lines(words), timeout_s, f'{words!r} in the log')
        return self.lines(words)


class Spinning:
    """Spins nodes in a thread of its own until it is stopped."""

    def __init__(self, executor: Any, spin_once: Callable[[Any], None]) -> None:
        self.executor = executor
        self._spin_once = spin_once
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._stop.is_set() and rclpy.ok():
            self._spin_once(self.executor)

    def stop(self) -> None:
        """Stop and join; a thread that is left would end the process with code 134."""
        self._stop.set()
        self._thread.join(DEADLINE_S)
        assert not self._thread.is_alive(), 'the executor hangs in a callback'
        self.executor.shutdown()


class Robot:
    """The rest of the robot: publishes views, transforms and the clock, listens, asks.

    Attributes:
        feed: every ChangeArray received.
        diagnostics: task (as in 'spatial_memory: intake') → newest status.
    """

    def __init__(
        self,
        namespace: str = '',
        *,
        tf_topic: str = '/tf',
        reliable: bool = True,
        node_name: str = 'spatial_memory',
    ) -> None:
        self.feed: list[ChangeArray] = []
        self.diagnostics: dict[str, DiagnosticStatus] = {}
        self.node = Node('robot', namespace=namespace)
        self._memory = f'{self.node.get_namespace().rstrip("/")}/{node_name}'
        reliability = ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT
        self._views = self.node.create_publisher(
            DetectionArray, 'detections', QoSProfile(depth=50, reliability=reliability)
        )
        latched = QoSProfile(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self._tf = self.node.create_publisher(TFMessage, tf_topic, 100)
        self._tf_static = self.node.create_publisher(TFMessage, f'{tf_topic}_static', latched)
        self._clock = self.node.create_publisher(Clock, '/clock', latched)
        self._doors: dict[str, Any] = {}
        self.loads: list[Load] = []
        self.node.create_subscription(
            ChangeArray, f'{self._memory}/changes', self.feed.append, QoSProfile(depth=1000)
        )
        self.node.create_subscription(DiagnosticArray, '/diagnostics', self._diagnosed, 10)
        executor = SingleThreadedExecutor()
        executor.add_node(self.node)
        self._spinning = Spinning(executor, _spin_quietly)

    # -- out ---------------------------------------------------------------------------------

    def now_ns(self) -> int:
        """Wall time."""
        return time.time_ns()

    def publish(self, message: DetectionArray) -> None:
        """Publish a view."""
        self._views.publish(message)

    def see(self, *detections: Detection, stamp_ns: int | None = None, **more: Any) -> int:
        """Publish a view of these (one cup when none is given); return its stamp."""
        stamp_ns = self.now_ns() if stamp_ns is None else stamp_ns
        self.publish(view(*(detections or (detection(),)), stamp_ns=stamp_ns, **more))
        return stamp_ns

    def tf(self, *transforms: TransformStamped, static: bool = False) -> None:
        """Publish transforms."""
        (self._tf_static if static else self._tf).publish(TFMessage(transforms=list(transforms)))

    def clock(self, seconds: float) -> None:
        """Publish the simulated time."""
        message = Clock()
        message.clock.sec, message.clock.nanosec = divmod(round(seconds * NS), NS)
        self._clock.publish(message)

    # -- in ----------------------------------------------------------------------------------

    def wait_ready(self, timeout_s: float = DEADLINE_S) -> None:
        """Wait until the node is active, and hears and is heard."""
        self.wait_answer(timeout_s)
        self.wait_heard()

    def wait_answer(self, timeout_s: float = DEADLINE_S) -> None:
        """Wait until ~/query succeeds."""
        deadline = time.monotonic() + timeout_s
        while True:
            reply = self.call('query', timeout_s=timeout_s, retry_s=0.3)
            if reply.success:
                return
            assert time.monotonic() < deadline, f'never active: {reply.message}'
            time.sleep(0.01)

    def wait_heard(self) -> None:
        """Wait until the node has matched what is published here, and its feed is matched."""
        wait_for(lambda: self._views.get_subscription_count(), what='a subscription')
        wait_for(lambda: self._tf.get_subscription_count(), what='a subscription to tf')
        feed = f'{self._memory}/changes'
        wait_for(lambda: self.node.count_publishers(feed), what='the feed')

    @property
    def subscribers(self) -> int:
        """How many subscribe to the views that are published here."""
        return int(self._views.get_subscription_count())

    @property
    def transform_subscribers(self) -> int:
        """How many subscribe to the transforms that are published here."""
        return int(self._tf.get_subscription_count())

    def door(self, name: str) -> Any:
        """Return the client of a service of the node."""
        if name not in self._doors:
            ours = ''.join(word.capitalize() for word in name.split('_'))
            kind = OTHERS.get(name) or getattr(srv, ours)
            self._doors[name] = self.node.create_client(kind, f'{self._memory}/{name}')
        return self._doors[name]

    def call(
        self, name: str, /, timeout_s: float = DEADLINE_S, retry_s: float = 0.0, **fields: Any
    ) -> Any:
        """Call a service of the node and return the reply.

        retry_s: ask again after so long; the first request may be lost while endpoints match.
        """
        client = self.door(name)
        deadline = time.monotonic() + timeout_s
        assert client.wait_for_service(timeout_s), f'no service {client.srv_name}'
        while True:
            future = self.call_async(name, **fields)
            patience = min(retry_s or timeout_s, deadline - time.monotonic())
            end = time.monotonic() + patience
            while not future.done() and time.monotonic() < end:
                time.sleep(0.001)
            if future.done():
                return future.result()
            client.remove_pending_request(future)
            assert time.monotonic() < deadline, f'{client.srv_name} did not answer'

    def call_async(self, name: str, /, **fields: Any) -> Any:
        """Send a request and return its future."""
        client = self.door(name)
        return client.call_async(client.srv_type.Request(**fields))

    def query(self, **fields: Any) -> Any:
        """Call ~/query, which must succeed, and return the hits."""
        reply = self.call('query', **fields)
        assert reply.success, reply.message
        return reply.hits

    def change_state(self, transition: int, timeout_s: float = DEADLINE_S) -> bool:
        """Ask for a transition of the lifecycle; return whether it was made."""
        request = Transition(id=transition)
        return bool(self.call('change_state', timeout_s, transition=request).success)

    def set_parameter(self, name: str, value: Any) -> Any:
        """Set a parameter of the node; return the result."""
        message = Parameter(name, value=value).to_parameter_msg()
        return self.call('set_parameters', parameters=[message]).results[0]

    def acknowledged(self, stamp_ns: int) -> bool:
        """Whether the view of this stamp came on the feed."""
        sec, nanosec = divmod(stamp_ns, NS)
        return any(
            a.header.stamp.sec == sec and a.header.stamp.nanosec == nanosec for a in list(self.feed)
        )

    def wait_acknowledged(self, *stamps_ns: int, timeout_s: float = DEADLINE_S) -> None:
        """Wait until the views of these stamps came on the feed."""
        wait_for(
            lambda: all(self.acknowledged(s) for s in stamps_ns), timeout_s, 'acknowledgements'
        )

    def status(self, task: str) -> DiagnosticStatus:
        """Return the newest status of a task of the node; an empty one when there is none."""
        name = f'{self._memory.lstrip("/")}: {task}'
        return self.diagnostics.get(name) or DiagnosticStatus()

    def status_value(self, task: str, key: str) -> str:
        """Return one value of the newest status; empty: there is none."""
        return str({v.key: v.value for v in self.status(task).values}.get(key, ''))

    def _diagnosed(self, message: DiagnosticArray) -> None:
        for status in message.status:
            self.diagnostics[status.name] = status

    def close(self) -> None:
        """End it, and what it is made to publish."""
        for load in self.loads:
            load.stop()
        self._spinning.stop()
        self.node.destroy_node()


def _spin_quietly(executor: Any) -> None:
    with contextlib.suppress(rclpy.executors.ExternalShutdownException):
        executor.spin_once(timeout_sec=0.02)


def ros_arguments(
    parameters: Mapping[str, Any], namespace: str = '', remaps: Mapping[str, str] | None = None
) -> list[str]:
    """Return the command line arguments that give a node these."""
    arguments = ['--ros-args']
    if namespace:
        arguments += ['-r', f'__ns:=/{namespace.strip("/")}']
    for old, new in (remaps or {}).items():
        arguments += ['-r', f'{old}:={new}']
    for name, value in parameters.items():
        text = str(value).lower() if isinstance(value, bool) else str(value)
        arguments += ['-p', f'{name}:={text}']
    return arguments


SHARED_MEMORY = Path('/dev/shm')
left_behind: set[str] = set()
"""Shared memory that killed processes had mapped: Fast DDS does not remove it."""


def shared_memory_of(pid: int | str) -> set[str]:
    """Names of the shared memory that a process has mapped."""
    try:
        lines = Path(f'/proc/{pid}/maps').read_text().splitlines()
    except OSError:
        return set()
    paths = [line.split(maxsplit=5)[5] for line in lines if f'{SHARED_MEMORY}/' in line]
    return {Path(path).name for path in paths if not path.endswith('(deleted)')}


def remove_what_was_left_behind() -> None:
    """Remove what is in `left_behind` and no living process has mapped."""
    names = left_behind.copy()
    for folder in Path('/proc').iterdir():
        if folder.name.isdigit() and names:
            names -= shared_memory_of(folder.name)
    for name in names:
        (SHARED_MEMORY / name).unlink(missing_ok=True)


class NodeProcess:
    """The real node in a process of its own; killed when the test is over."""

    def __init__(self, log: Path, arguments: Sequence[str]) -> None:
        self.log = log
        environment = {
            **os.environ,
            'PYTHONUNBUFFERED': '1',
            'ROS_LOG_DIR': str(log.parent),
            'ROS_PYTHON_CHECK_FIELDS': '1',
        }
        with log.open('wb') as output:
            self.process = subprocess.Popen(
                [sys.executable, '-m', 'memory_node.ros.memory_node', *arguments],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=environment,
                start_new_session=True,
            )

    @property
    def text(self) -> str:
        """What it has printed so far."""
        return self.log.read_text(errors='replace')

    @property
    def alive(self) -> bool:
        """Whether it runs."""
        return self.process.poll() is None

    def handles(self, number: int) -> bool:
        """Whether it has a handler for a signal by now."""
        try:
            lines = Path(f'/proc/{self.process.pid}/status').read_text().splitlines()
        except OSError:
            return False
        caught = next((line.split()[1] for line in lines if line.startswith('SigCgt')), '0')
        return bool(int(caught, 16) >> (number - 1) & 1)

    def send(self, number: int) -> None:
        """Send a signal."""
        self.process.send_signal(number)

    def wait(self, timeout_s: float = DEADLINE_S) -> int:
        """Wait until it has ended, and return its code."""
        return self.process.wait(timeout_s)

    def stop(self, number: int = signal.SIGINT, timeout_s: float = DEADLINE_S) -> int:
        """Ask it to end, and return its code."""
        self.send(number)
        return self.wait(timeout_s)

    def kill(self) -> None:
        """Kill it (SIGKILL) if it is still there."""
        if self.alive:
            left_behind.update(shared_memory_of(self.process.pid))
            self.process.kill()
            self.process.wait(DEADLINE_S)


@contextlib.contextmanager
def local_node(
    parameters: Mapping[str, Any],
    namespace: str = '',
    remaps: Mapping[str, str] | None = None,
    *,
    start: bool = True,
    single_threaded: bool = False,
) -> Iterator[Any]:
    """Run the node in a thread of this process; yields it, and closes it afterwards."""
    from memory_node.ros import memory_node as executable
    from memory_node.ros.node import SpatialMemoryNode

    node = SpatialMemoryNode(cli_args=ros_arguments(parameters, namespace, remaps))
    executor = SingleThreadedExecutor() if single_threaded else MultiThreadedExecutor(4)
    executor.add_node(node)
    spinning: Spinning | None = None
    try:
        if start:
            assert node.start()
        spinning = Spinning(executor, lambda e: executable.spin_once(e, node, 0.02))
        yield node
    finally:
        try:
            if spinning is not None:
                spinning.stop()
        finally:  # a node that hangs must not go on working in the next test
            node.close()
        node.destroy_node()


class Load:
    """Publishes views at a rate, from a thread, until it is stopped.

    Attributes:
        stamps_ns: of the views published so far.
    """

    def __init__(
        self, robot: Robot, hz: float, publish: Callable[[int], int] | None = None
    ) -> None:
        """Start; publish is given the number of the view, and returns its stamp."""
        self.stamps_ns: list[int] = []
        self._publish = publish or (lambda _: robot.see())
        self._period_s = 1.0 / hz
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        robot.loads.append(self)  # ends with it, when a test fails before it stops this

    def _run(self) -> None:
        due = time.monotonic()
        while not self._stop.is_set():
            self.stamps_ns.append(self._publish(len(self.stamps_ns)))
            due += self._period_s
            self._stop.wait(max(0.0, due - time.monotonic()))

    def stop(self) -> None:
        """Stop; may be called twice."""
        self._stop.set()
        self._thread.join(DEADLINE_S)


def gapless(feed: Sequence[ChangeArray]) -> bool:
    """Whether the log numbers of a feed follow one another."""
    return all(b.first_seq == a.last_seq + 1 for a, b in itertools.pairwise(feed))


def stored_stamps(database: Path) -> list[int]:
    """Return the stamps of all views in a file, in order of storing; the file must be closed."""
    import apsw

    connection = apsw.Connection(str(database), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        rows = connection.execute('SELECT stamp_ns FROM view ORDER BY seq').fetchall()
    finally:
        connection.close()
    return [stamp for (stamp,) in rows]


@contextlib.contextmanager
def locked(database: Path) -> Iterator[None]:
    """Let another process hold the write lock of a file meanwhile."""
    program = (
        'import sys, apsw\n'
        'c = apsw.Connection(sys.argv[1])\n'
        'c.set_busy_timeout(60_000)\n'
        "c.execute('BEGIN IMMEDIATE')\n"
        "print('locked', flush=True)\n"
        'sys.stdin.readline()\n'
        "c.execute('ROLLBACK')\n"
    )
    holder = subprocess.Popen(
        [sys.executable, '-c', program, str(database)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == 'locked\n'
        yield
        holder.communicate('go\n', DEADLINE_S)
        assert holder.returncode == 0
    finally:
        if holder.poll() is None:
            holder.kill()
        holder.communicate()
