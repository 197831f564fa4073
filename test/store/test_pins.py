# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""A person's word as rows and in log lines: both read back exactly."""

from __future__ import annotations

import json

import pytest

from memory_node import SpatialMemory
from memory_node.model import Aspect, Pin
from memory_node.store import pins

PINS = [
    Pin(1, Aspect.LABEL, 'Adas Töpfe "1"', 2, 3, 'mug', True),
    Pin(1, Aspect.POSE, (0.1, 1 / 3, -2.5, 0.0, 0.0, 0.6, 0.8), 3),
    Pin(1, Aspect.SIZE, (0.1, 0.2, 0.3), 4, 1, (0.1, 0.2, 1e-9), False),
    Pin(1, Aspect.PRESENCE, True, 5, 7),
]


@pytest.mark.parametrize('pin', PINS, ids=lambda pin: pin.aspect.value)
def test_a_pin_in_a_log_line_reads_back(pin: Pin) -> None:
    assert pins.from_plain(json.loads(json.dumps(pins.as_plain(pin)))) == pin


def test_rows_read_back_and_one_replaces_that_of_its_aspect() -> None:
    with SpatialMemory.open(':memory:') as memory:
        memory.state_object('mug', (0.0, 0.0, 0.0))
        database = memory._database
        for _ in range(4):
            memory.confirm(1)
        with database.transaction() as connection:
            pins.put(connection, PINS)
        assert pins.held(database, [1]) == sorted(PINS, key=lambda pin: pin.aspect.value)
        assert list(pins.of(database, 1).values()) == PINS
        with database.transaction() as connection:
            pins.remove(connection, PINS[1:])
        assert pins.held(database, [1]) == PINS[:1]
        assert pins.held(database, [2]) == []
