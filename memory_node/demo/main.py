# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The demo: a robot tours four public rooms, and the memory node is asked about them.

Starts the memory node and the replay of the tour as processes of their own, in a ROS domain of
their own, asks over the services, and compares the answers with the data set.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import os
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import rclpy
from rclpy.context import Context
from rclpy.signals import SignalHandlerOptions
from spatial_memory.msg import Hit, MemoryObject

from memory_node.demo import comeback, shelf, simulated
from memory_node.demo.client import CONFIRMED, MEMORY, MemoryClient, center_of
from memory_node.demo.flat import FlatRoom, Look, furnish, tour
from memory_node.demo.picks import Target, thing_to_find, thing_to_forget, thing_to_look_on
from memory_node.demo.processes import Child, reserved_domain
from memory_node.demo.report import Report, where
from memory_node.demo.truth import MATCH_M, Remembered, Score, Thing, score, things_of
from memory_node.errors import SpatialMemoryError

START_S = 20.0
TOUR_S = 40.0
DEADLINE_S = 20.0
AWAY_S = 24 * 3600.0
"""How long the robot was away before it comes back."""
TRANSFORM_WAIT_S = 5.0
"""Patience with a busy machine: a look whose transforms come later than this is lost."""
FOUND_SHARE = 0.9
"""The demo fails when a smaller share of the things is found."""
DATABASE = 'demo.db'


class DemoError(SpatialMemoryError):
    """The memory did not do what the demo shows."""


@dataclass
class Stage:
    """What is at work.

    Attributes:
        folder: of the database and the logs.
        domain: ROS_DOMAIN_ID of all processes.
        children: processes started, the newest last.
    """

    folder: Path
    domain: int
    client: MemoryClient
    report: Report
    children: list[Child] = field(default_factory=list)

    def start_memory(self, more: Sequence[str] = ()) -> Child:
        """Start the memory node on the database, with more parameters; return when it answers."""
        path = self.folder / DATABASE
        patience = f'transform_wait_s:={TRANSFORM_WAIT_S}'
        arguments = ['--ros-args', '-p', f'database:={path}', '-p', patience, *more]
        memory = self._child(MEMORY, 'memory_node.ros.memory_node', arguments)
        self.client.wait_ready(START_S, memory.check)
        return memory

    def stop_memory(self, memory: Child) -> None:
        """End the memory node and see that it ended well."""
        code = memory.stop()
        if code != 0:
            raise DemoError(f'the memory node ended with code {code} on SIGINT, expected 0')
        self.client.wait_gone()

    def replay(
        self, rooms: Sequence[FlatRoom], seed: int, looks: Sequence[int] = (), visit: int = 1
    ) -> None:
        """Show a tour to the memory, with stamps after all it has seen; return when it is over.

        The first visit ended `AWAY_S` ago, by its stamps; the second one ends now.
        """
        names = ', '.join(f"'{room.room.name}'" for room in rooms)
        arguments = [
            '--ros-args', '-p', f'rooms:=[{names}]', '-p', f'episode:={rooms[0].number}',
            '-p', f'seed:={seed}', '-p', f'after_ns:={self.client.last_stamp_ns}',
            '-p', f'deadline_s:={DEADLINE_S}', '-p', f'visit:={visit}',
            '-p', f'ago_s:={AWAY_S if visit == 1 else 0.0}',
        ]  # fmt: skip
        if looks:
            arguments += ['-p', f'looks:=[{", ".join(str(k) for k in looks)}]']
        replay = self._child('replay', 'memory_node.demo.replay', arguments)
        until = time.monotonic() + TOUR_S
        while not replay.ended and time.monotonic() < until:
            self.client.spin()
        replay.wait(0.1)

    def start(self, name: str, arguments: Sequence[str]) -> Child:
        """Start the node of that name of this package: lifting, simulation."""
        return self._child(name, f'memory_node.ros.{name}_node', arguments)

    def close(self) -> None:
        """End all processes, the newest first."""
        for child in reversed(self.children):
            child.stop()

    def _child(self, name: str, module: str, arguments: Sequence[str]) -> Child:
        child = Child(name, module, arguments, self.folder / f'{name}.log', self.domain)
        self.children.append(child)
        return child


class Demo:
    """The questions, one after the other. Raises SpatialMemoryError where an answer is wrong."""

    def __init__(self, stage: Stage, rooms: Sequence[FlatRoom], seed: int) -> None:
        self._stage, self._client, self._report = stage, stage.client, stage.report
        self._rooms, self._seed = rooms, seed
        self._looks = tour(rooms, seed=seed)
        self._things = {room.room.name: self._truth(room) for room in rooms}

    def run(self) -> Score:
        """Do all of it; return how well the memory holds what there is."""
        memory = self._stage.start_memory()
        self._look_around()
        self._what_is_here(self._rooms[0])
        found = self._where_is()
        self._what_is_on()
        self._history_of(found)
        total = self._against_truth()
        target = thing_to_forget(self._rooms, self._things, (self._seed + 1, self._seed + 2))
        self._forget(target, memory)
        self._come_back()
        return total

    def _truth(self, room: FlatRoom) -> list[Thing]:
        stream = room.stream(self._seed)
        stream.visit(1)
        return things_of(room, stream.truth)

    def _look_around(self) -> None:
        started = time.monotonic()
        self._stage.replay(self._rooms, self._seed)
        kinds = ', '.join(f'{n} {kind}' for kind, n in sorted(self._client.kinds.items()))
        rooms = ', '.join(f'{room.room.kind} {room.room.name}' for room in self._rooms)
        self._report.say(f'tour of {rooms}')
        self._report.say(
            f'{len(self._looks)} looks with {_count(self._looks)} detections on /tf and '
            f'/detections, each look acknowledged; {time.monotonic() - started:.1f} s'
        )
        self._report.say(f'/{MEMORY}/changes told of {kinds or "nothing"}')

    def _what_is_here(self, room: FlatRoom) -> None:
        x, y, z = room.center_m
        hits, total = self._client.query(near_m=room.center_m, radius_m=room.radius_m)
        self._report.question(
            f'What is in this room ({room.room.kind})?', 'query',
            f'{{near: {{point: {{x: {x:.1f}, y: {y:.1f}, z: {z:.1f}}}}}, '
            f'radius_m: {room.radius_m:.1f}}}',
        )  # fmt: skip
        self._report.hits(hits, total)
        if not hits:
            raise DemoError(f'the memory holds nothing in the {room.room.kind}')

    def _where_is(self) -> MemoryObject:
        room, thing = thing_to_find(self._things)
        hits, total = self._client.query(text=thing.label)
        self._report.question(f'Where is the {thing.label}?', 'query', f'{{text: {thing.label}}}')
        self._report.hits(hits, total)
        near = _near(hits, thing)
        if not near:
            raise DemoError(f'the {thing.label} in {room} is not where the data set has it')
        return near[0].object

    def _what_is_on(self) -> None:
        label = thing_to_look_on(self._things).label
        reply = self._client.relate('on', label)
        self._report.question(
            f'What is on the {label}?', 'relate', f'{{relation: on, object: {label}}}'
        )
        everything, _ = self._client.query()
        centers = {int(hit.object.id): where(hit.object) for hit in everything}
        self._report.relations(reply, centers)
        if not reply.relations:
            raise DemoError(f'the memory knows of nothing on the {label}')

    def _history_of(self, thing: MemoryObject) -> None:
        reply = self._client.history(thing.id)
        self._report.question(
            f'What was seen of object {thing.id}, the {thing.label}?', 'history',
            f'{{object_id: {thing.id}}}',
        )  # fmt: skip
        self._report.history(reply)
        if not reply.observations or not reply.changes:
            raise DemoError(f'object {thing.id} has no history')

    def _against_truth(self) -> Score:
        scores = {}
        for room in self._rooms:
            hits, _ = self._client.query(
                near_m=room.center_m, radius_m=room.radius_m, states=CONFIRMED
            )
            objects = [Remembered(h.object.label, center_of(h.object)) for h in hits]
            name = f'{room.room.kind} {room.room.name}'
            scores[name] = score(self._things[room.room.name], objects)
        self._report.question('Is that so? The confirmed objects against the data set:')
        return self._report.scores(scores)

    def _come_back(self) -> None:
        self._report.question('A day later small things were moved or taken away: the tour again.')
        self._client.moved.clear()
        since_ns = self._client.last_stamp_ns + 1
        self._stage.replay(self._rooms, self._seed, visit=2)
        looks = tour(self._rooms, seed=self._seed, visit=2)
        self._report.say(f'  {len(looks)} looks with {_count(looks)} detections')
        seen = comeback.asked(self._client, since_ns)
        comeback.told(self._report, seen, comeback.rearrangement(self._rooms, self._seed))

    # -- forgetting --------------------------------------------------------------------------

    def _forget(self, target: Target, memory: Child) -> None:
        room, thing = target.room, self._things[target.room.room.name][target.index]
        near = _near(self._client.query(text=thing.label)[0], thing)
        if not near:
            raise DemoError(f'the {thing.label} to be forgotten is not in the memory')
        object_id = int(near[0].object.id)
        self._report.question(
            f'Forget object {object_id}, the {thing.label} in the {room.room.kind}.', 'forget',
            f'{{object_id: {object_id}, actor: demo, reason: private}}',
        )  # fmt: skip
        self._client.forget(object_id, actor='demo', reason='private')
        self._require_forgotten(object_id, thing, 'at once')
        self._look_again(target, self._seed + 1)
        self._require_forgotten(object_id, thing, 'after the robot has looked again')
        self._stage.stop_memory(memory)
        self._stage.start_memory()
        self._require_forgotten(object_id, thing, 'after a restart on the same file')
        self._look_again(target, self._seed + 2)
        self._require_forgotten(object_id, thing, 'after the robot has looked again')

    def _look_again(self, target: Target, seed: int) -> None:
        room = target.room
        before = self._sightings(room)
        self._stage.replay([room], seed, target.looks)
        looks = tour([room], seed=seed, looks=target.looks)
        again = sum(int((look.shown.things == target.index).sum()) for look in looks)
        more = self._sightings(room) - before
        self._report.say(
            f'  {len(looks)} more looks: reported {again} more times by the detector; '
            f'{more} new sightings of other things'
        )
        if more <= 0:
            raise DemoError(f'the memory took nothing from {len(looks)} looks with detections')

    def _sightings(self, room: FlatRoom) -> int:
        hits, _ = self._client.query(near_m=room.center_m, radius_m=room.radius_m)
        return sum(int(hit.object.observations) for hit in hits)

    def _require_forgotten(self, object_id: int, thing: Thing, when: str) -> None:
        state = self._client.history(object_id).object.state
        back = _near(self._client.query(text=thing.label)[0], thing)
        if state != MemoryObject.STATE_FORGOTTEN or back:
            raise DemoError(
                f'the forgotten {thing.label} is back {when}: object {object_id} is {state}, '
                f'and {len(back)} objects are at its place'
            )
        self._report.say(f'  {when}: object {object_id} is {state}, no {thing.label} at its place')


def _near(hits: Sequence[Hit], thing: Thing) -> list[Hit]:
    """The hits with exactly the label of a thing and at its place."""
    return [
        hit for hit in hits
        if hit.object.label == thing.label
        and math.dist(center_of(hit.object), thing.center_m) <= MATCH_M
    ]  # fmt: skip


def _count(looks: Sequence[Look]) -> int:
    return sum(len(look.shown.view.detections) for look in looks)


@contextlib.contextmanager
def _stage(folder: Path, domain: int | None, report: Report) -> Iterator[Stage]:
    """Everything that must be ended, whatever happens; signals are ignored while it ends."""
    os.environ.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    with reserved_domain(domain) as number:
        context = Context()
        rclpy.init(
            args=[], context=context, domain_id=number,
            signal_handler_options=SignalHandlerOptions.NO,
        )  # fmt: skip
        client = MemoryClient(context)
        stage = Stage(folder, number, client, report)
        try:
            yield stage
        except SpatialMemoryError:
            for child in {child.log: child for child in stage.children}.values():
                report.say(child.last_words())
            raise
        finally:
            for signal_number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(signal_number, signal.SIG_IGN)
            stage.close()
            client.close()
            context.try_shutdown()


@contextlib.contextmanager
def _folder(keep: Path | None) -> Iterator[Path]:
    """The folder of the database: one that is kept, or one that is gone afterwards."""
    if keep is None:
        with tempfile.TemporaryDirectory(prefix='spatial_memory_demo_') as name:
            yield Path(name)
        return
    keep.mkdir(parents=True, exist_ok=True)
    if (keep / DATABASE).exists():
        raise DemoError(f'{keep / DATABASE} exists: the demo starts with an empty memory')
    yield keep.resolve()


def _arguments(args: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog='demo', description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument('--rooms', nargs='+', default=[], metavar='ROOM',
                        help="rooms or kinds of rooms, for example kitchen 'living room' "
                        '(default: all four)')  # fmt: skip
    parser.add_argument('--shelf', action='store_true',
                        help='instead: a real shelf, lifted from depth (Open3D)')  # fmt: skip
    parser.add_argument('--sim', action='store_true', help='instead: a robot in a simulated home '
                        '(Open3D, pybullet)')  # fmt: skip
    parser.add_argument('--episode', type=int, default=0, metavar='N',
                        help='episode of the data set, 0 to 4: where the small things are '
                        '(default: %(default)s)')  # fmt: skip
    parser.add_argument('--seed', type=int, default=1, metavar='N',
                        help="of the detector's noise (default: %(default)s)")  # fmt: skip
    parser.add_argument('--keep', type=Path, metavar='DIR',
                        help='keep the database and the logs in this folder')  # fmt: skip
    parser.add_argument('--domain', type=int, metavar='N',
                        help='ROS_DOMAIN_ID (default: a free one)')  # fmt: skip
    return parser.parse_args(args)


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def main(args: Sequence[str] | None = None) -> int:
    """Run the demo; return 0 when everything worked."""
    started = time.monotonic()
    arguments = _arguments(args)
    report = Report()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _interrupt)
    try:
        if arguments.shelf or arguments.sim:
            with (
                _folder(arguments.keep) as folder,
                _stage(folder, arguments.domain, report) as stage,
            ):
                right = (
                    shelf.show(stage) if arguments.shelf else simulated.show(stage, arguments.seed)
                )
                return 0 if right else 1
        rooms = furnish(arguments.rooms, arguments.episode)
        with _folder(arguments.keep) as folder, _stage(folder, arguments.domain, report) as stage:
            total = Demo(stage, rooms, arguments.seed).run()
    except SpatialMemoryError as error:
        report.say(f'\ndemo: FAILED: {error}')
        return 1
    except KeyboardInterrupt:
        report.say('\ndemo: interrupted')
        return 130
    report.say('')
    if arguments.keep:
        report.say(f'kept: {arguments.keep / DATABASE}')
    enough = total.found >= FOUND_SHARE * total.things
    report.say(
        f'demo: {"" if enough else "FAILED: only "}{total.found} of {total.things} things found, '
        f'{total.extra} extra, median error {total.median_error_m * 100:.1f} cm, '
        f'{time.monotonic() - started:.0f} s'
    )
    return 0 if enough else 1


if __name__ == '__main__':
    sys.exit(main())
