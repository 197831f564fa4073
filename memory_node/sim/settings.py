# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What the simulated robot is set by: the rows of `simulation_node`'s table of parameters."""

from __future__ import annotations

from dataclasses import dataclass

from memory_node.config import check, tunable
from memory_node.errors import InvalidValueError


@dataclass(frozen=True)
class SimulationConfig:
    """What there is and what happens. Raises InvalidValueError for what is out of range."""

    seed: int = tunable(
        1, 'Everything follows from it: what is where, what changes, who walks where, and noise.',
        low=0, high=999999, read_only=True,
    )  # fmt: skip
    things: int = tunable(30, 'Things on the furniture.', low=1, high=45, read_only=True)
    people: int = tunable(2, 'People who walk through the rooms.', low=0, high=6, read_only=True)
    moves: int = tunable(
        6, 'Things that are put elsewhere from one tour to the next: while the robot is away, in '
        'rooms that it is not in, and under its eyes.',
        low=0, high=12, read_only=True,
    )  # fmt: skip
    removals: int = tunable(
        3, 'Things that are taken away from one tour to the next. They come back for the tour '
        'after.',
        low=0, high=6, read_only=True,
    )  # fmt: skip
    stowed: int = tunable(
        2, 'Things that are put into a drawer, which is closed: the first one by the robot, the '
        'others by people. They come out for the tour after.',
        low=0, high=3, read_only=True,
    )  # fmt: skip
    hidden: int = tunable(
        1, 'Folding screens that are put in front of things; taken away for the tour after.',
        low=0, high=3, read_only=True,
    )  # fmt: skip
    first_tour: int = tunable(
        1, 'Where to begin: the same as if the tours before had been made.',
        low=1, high=10000, read_only=True,
    )  # fmt: skip
    tours: int = tunable(
        2, 'Tours to make; 0: until it is stopped.', low=0, high=10000, read_only=True
    )
    period_s: float = tunable(
        1.25,
        'From one image to the next. Beyond look_gap_s of the memory each is a look of its own.',
        unit='s',
        low=0.1,
        high=10.0,
        read_only=True,
    )
    away_s: float = tunable(
        3600.0, 'From one tour to the next.', unit='s', low=60.0, high=1e6, read_only=True
    )
    start_s: float = tunable(
        1000.0, 'What the clock says when the first tour begins.',
        unit='s', low=1.0, high=2e9, read_only=True,
    )  # fmt: skip

    def __post_init__(self) -> None:
        check(self)


@dataclass(frozen=True)
class SimulationNodeConfig:
    """What only the node needs. Raises InvalidValueError for a value out of its range."""

    sensor: str = tunable(
        'head_camera', 'Name of the camera: of its topics, its frame and its views.',
        read_only=True,
    )  # fmt: skip
    lock_step: bool = tunable(
        True,
        'Show the next image when the memory has acknowledged the one before: nothing is lost, a '
        'run can be repeated exactly, and it takes as long as it takes.',
        read_only=True,
    )
    speed: float = tunable(
        1.0, 'Without lock_step, seconds of the simulation in one second.',
        low=0.01, high=100.0, read_only=True,
    )  # fmt: skip
    report: bool = tunable(
        True, 'Tell the memory, by its service report, what the robot itself puts into a drawer.',
        read_only=True,
    )  # fmt: skip
    deadline_s: float = tunable(
        30.0, 'How long to wait for the memory, and for each of its acknowledgements.',
        unit='s', low=1.0, high=3600.0, read_only=True,
    )  # fmt: skip

    def __post_init__(self) -> None:
        check(self)
        if not self.sensor or not all(c.isalnum() or c == '_' for c in self.sensor):
            raise InvalidValueError(
                f'sensor: got {self.sensor!r}, expected the name of a camera, of letters, digits '
                'and _'
            )
