# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""A simulated home: pixels through the lifting node into the memory, and what changed in it.

A robot tours three furnished rooms in which people walk about. Before and during its second tour
six things are moved, three taken away, two put into drawers, and one is hidden. What the memory
says of that is compared with what `simulation_node` publishes as the truth.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node

from memory_node.demo import comeback
from memory_node.demo.account import (
    Account,
    Departure,
    errors_m,
    median_m,
    wrongly_gone,
)
from memory_node.demo.camera import ANSWER_S, lifting_arguments, memory_arguments
from memory_node.demo.client import CONFIRMED, EVERY_STATE, center_of
from memory_node.demo.messages import NS_PER_S, nanoseconds
from memory_node.demo.rearranged import Verdict, losses, moves
from memory_node.demo.truth import Remembered
from memory_node.errors import SpatialMemoryError
from memory_node.model import Triple
from memory_node.ros import qos
from memory_node.ros.simulators import SIMULATED_HOME, topics
from memory_node.sim.home import ROOMS
from memory_node.sim.people import PERSON
from memory_node.sim.settings import SimulationConfig, SimulationNodeConfig
from memory_node.sim.world import Real, SimulatedWorld

if TYPE_CHECKING:
    from memory_node.demo.main import Stage

SENSOR, RANGE_M = SimulationNodeConfig.sensor, 6.0
SIM_TIME = ['-p', 'use_sim_time:=true']
TOUR_S = 240.0
AT_ONCE, SETTLE_S = 4, 0.2
COUNT_WITHIN, LEAST, NEAR_M = 1, 0.9, 0.05
"""By how much the count may be wrong; least precision and recall of what changed; largest median
error of the centres."""


class WitnessError(SpatialMemoryError):
    """The truth did not come, or not all of it."""


def show(stage: Stage, seed: int) -> bool:
    """Tour the home twice, ask what changed; return whether enough of it is right.

    Raises:
        MissingExtraError: pybullet is not installed.
        InvalidValueError: a bad seed.
    """
    config = SimulationConfig(seed=seed)
    SimulatedWorld(config).close()  # whether there can be one
    with _witness(stage) as witness:
        return _Visits(stage, config, witness).run()


class Witness(Node):
    """Knows what there is and what happened: subscribes simulation/truth and simulation/left.

    Attributes:
        account: of all that came so far.
    """

    def __init__(self, stage: Stage) -> None:
        super().__init__('witness', context=stage.client.context)
        from vision_msgs.msg import Detection3DArray

        self.account = Account()
        for topic, take in (('truth', self._take_truth), ('left', self._take_left)):
            self.create_subscription(
                Detection3DArray, f'simulation/{topic}', take, qos.truth()
            )  # fmt: skip
        self._executor = SingleThreadedExecutor(context=stage.client.context)
        self._executor.add_node(self)

    def spin(self) -> None:
        """Handle what has come: there are two messages for each image."""
        for _ in range(AT_ONCE):
            self._executor.spin_once(timeout_sec=0.0)

    def catch_up(self) -> None:
        """Handle all that is still to come of a simulation that has ended.

        Raises:
            WitnessError: something of it was lost.
        """
        account, until = self.account, time.monotonic() + ANSWER_S
        while True:
            before = len(account.stamps_ns) + len(account.left_stamps_ns)
            self._executor.spin_once(timeout_sec=SETTLE_S)
            nothing = len(account.stamps_ns) + len(account.left_stamps_ns) == before
            if nothing and account.stamps_ns and account.stamps_ns == account.left_stamps_ns:
                return
            if time.monotonic() > until:
                raise WitnessError(
                    f'got {len(account.stamps_ns)} messages on simulation/truth and '
                    f'{len(account.left_stamps_ns)} on simulation/left, expected one on each for '
                    'each image'
                )

    def close(self) -> None:
        """Free what it holds."""
        self._executor.shutdown()
        self.destroy_node()

    def _take_truth(self, message: Any) -> None:
        shown = [
            Real(one.id, *_words(one), _center(one), _size(one), _score(one, 0) > 0)
            for one in message.detections
        ]
        self.account.add(nanoseconds(message.header.stamp), shown)

    def _take_left(self, message: Any) -> None:
        left = [
            Departure(one.id, *_words(one), _score(one, 1) > 0, nanoseconds(one.header.stamp),
                      _center(one), _score(one, 0) > 0)
            for one in message.detections
        ]  # fmt: skip
        self.account.leave(nanoseconds(message.header.stamp), left)


class _Visits:
    """Two tours of a home, and what is asked after each."""

    def __init__(self, stage: Stage, config: SimulationConfig, witness: Witness) -> None:
        self._stage, self._config, self._witness = stage, config, witness
        self._report, self._account = stage.report, witness.account

    def run(self) -> bool:
        """Do all of it."""
        c = self._config
        self._stage.start_memory([*memory_arguments(SENSOR, RANGE_M), *SIM_TIME])
        lifting = [*lifting_arguments(SENSOR, RANGE_M, 'masks'), *SIM_TIME]
        for ours, theirs in topics(SIMULATED_HOME, SENSOR).items():
            lifting += ['-r', f'{ours}:={theirs}']
        self._stage.start('lifting', lifting)
        looks = self._tour(1)
        self._report.say(f'tour of {", ".join(ROOMS)}: {looks}')
        first = self._is_all_there()
        self._report.question(
            f'An hour later {c.moves} things are moved, {c.removals} taken away, {c.stowed} put '
            f'into drawers, one is hidden, some of it before the robot: the tour again.'
        )
        self._stage.client.moved.clear()
        since_ns = self._stage.client.last_stamp_ns + 1
        self._report.say(f'  {self._tour(2)}')
        again = self._is_all_there()
        changed = self._account.changed()
        seen = comeback.asked(self._stage.client, since_ns)
        comeback.told(self._report, seen, changed)
        both = moves(changed, seen.moved) + losses(changed, seen.gone)
        still = len(wrongly_gone(self._account, seen.gone))
        return self._verdict(max(first[0], again[0]), max(first[1], again[1]), both, still)

    def _tour(self, number: int) -> str:
        """Let the robot make a tour; return what the simulation says of it."""
        started, before = time.monotonic(), len(self._account.stamps_ns)
        simulation = self._stage.start('simulation', [
            '--ros-args', '-p', f'seed:={self._config.seed}', '-p', f'first_tour:={number}',
            '-p', 'tours:=1',
        ])  # fmt: skip
        client = self._stage.client
        while not simulation.ended and time.monotonic() < started + TOUR_S:
            client.spin()
            self._witness.spin()
        simulation.wait(0.1)
        self._witness.catch_up()
        stamps = self._account.stamps_ns[before:]
        until = time.monotonic() + ANSWER_S
        while client.last_stamp_ns < stamps[-1] and time.monotonic() < until:
            client.spin()  # what the feed said meanwhile
        simulated_s = (stamps[-1] - stamps[0]) / NS_PER_S
        took_s = time.monotonic() - started
        return f'{len(stamps)} images, {simulated_s:.0f} s in {took_s:.0f} s'

    def _is_all_there(self) -> tuple[int, float]:
        """By how much the number of objects is wrong, and the median error of the things."""
        hits, _ = self._stage.client.query(states=CONFIRMED)
        held = [Remembered(hit.object.label, center_of(hit.object)) for hit in hits]
        things, expected = self._account.things(), self._account.objects()
        error_m = median_m(errors_m(things, held))
        self._report.say(
            f'  {len(hits)} objects, {expected} there are to know; median error of {len(things)} '
            f'things {error_m * 100:.1f} cm'
        )
        return abs(len(hits) - expected), error_m

    def _verdict(self, counted: int, error_m: float, both: Verdict, still: int) -> bool:
        hits, _ = self._stage.client.query(states=EVERY_STATE)
        people = sum(hit.object.label == PERSON for hit in hits)
        precision, recall = both.right / max(both.said, 1), both.found / max(both.true, 1)
        right = counted <= COUNT_WITHIN and error_m <= NEAR_M and not still and not people
        right &= precision >= LEAST and recall >= LEAST
        self._report.say('')
        self._report.say(
            f'demo: {"" if right else "FAILED: "}{both.found} of {both.true} changes that could be '
            f'known, {both.right} of {both.said} that were told are so; {still} things still there '
            f'called gone, {people} people remembered; count off by {counted}, median error '
            f'{error_m * 100:.1f} cm'
        )
        return right


@contextlib.contextmanager
def _witness(stage: Stage) -> Iterator[Witness]:
    witness = Witness(stage)
    try:
        yield witness
    finally:
        witness.close()


def _words(one: Any) -> tuple[str, str]:
    label, state = (result.hypothesis.class_id for result in one.results)
    return str(label), str(state)


def _score(one: Any, number: int) -> float:
    return float(one.results[number].hypothesis.score)


def _center(one: Any) -> Triple:
    p = one.bbox.center.position
    return float(p.x), float(p.y), float(p.z)


def _size(one: Any) -> Triple:
    s = one.bbox.size
    return float(s.x), float(s.y), float(s.z)
