# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What a view says of boxes: compiled beside interpreted. What it means: test_visibility.py."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from interpreted import interpreted

from memory_node.fusion import looking, visibility
from memory_node.fusion.world import OBJECT
from memory_node.model import FieldOfView
from memory_node.scene import boxes

SOURCE = interpreted('fusion/looking')


LENS = np.array([50.0, 50.0, 31.5, 23.5])
LIMITS = np.array([0.6, 0.03, 0.01, 0.05, 0.5, 0.5, 0.8, 1.0, 0.3])
RANGES = np.array([0.3, 3.0])
NO_DEPTH = np.zeros((0, 0), np.float32)
NOTHING_SHOWN = np.zeros(0, np.int64), np.zeros((0, 3)), np.zeros((0, 3))
FOV = FieldOfView(1.5, 0.8, 0.3, 3.0)


def objects(random: np.random.Generator, n: int) -> np.ndarray:
    """Boxes before the sensor and beside what it sees, some of them without extent."""
    records = np.zeros(n, OBJECT)
    records['center'] = records['hull_center'] = random.uniform((-2, -2, 0), (2, 2, 4), (n, 3))
    records['size'] = random.uniform(0, 0.6, (n, 3)) * (random.random((n, 1)) > 0.2)
    records['orientation'] = boxes.normalized(random.normal(size=(n, 4)))
    records['half'] = boxes.hull_half(records['size'], records['orientation'])
    return records


def kinds(
    module: Any, records: np.ndarray, shown: tuple[np.ndarray, ...] = NOTHING_SHOWN,
    depth: np.ndarray = NO_DEPTH, fov: FieldOfView = FOV,
) -> list[int]:  # fmt: skip
    """What a sensor at the origin says of all of them."""
    kind = np.full(len(records), 255, np.uint8)
    module.kinds(
        records, np.arange(len(records)), *shown, np.zeros(3), np.eye(3),
        visibility.angles_of(fov), RANGES, visibility._PROBES, depth, LENS, LIMITS,
        visibility._CODES, kind,
    )  # fmt: skip
    return [int(code) for code in kind]


def beside(random: np.random.Generator, records: np.ndarray, n: int) -> tuple[np.ndarray, ...]:
    """Boxes that are shown near those of objects."""
    near = random.integers(0, len(records), n)
    center = records['hull_center'][near] + random.normal(0, 0.1, (n, 3))
    return center, records['half'][near] * random.choice([0.0, 0.7, 1.0, 1.5], (n, 1))


@given(st.integers(0, 2**32 - 1), st.booleans(), st.sampled_from([0.9, 1.5, 4.0]))
def test_compiled_and_interpreted_agree(seed: int, has_depth: bool, wide: float) -> None:
    random = np.random.default_rng(seed)
    records = objects(random, 12)
    depth = random.choice([0.0, np.nan, 1.0, 2.0, 3.0], (48, 64)).astype(np.float32)
    shown = random.permutation(12)[:2], *beside(random, records, 3)
    found = [
        kinds(m, records, shown, depth if has_depth else NO_DEPTH, FieldOfView(wide, 0.8, 0.3, 3.0))
        for m in (looking, SOURCE)
    ]
    assert found[0] == found[1]
    assert 255 not in found[0]


@given(st.integers(0, 2**32 - 1))
def test_what_has_something_else_in_its_place_is_missed(seed: int) -> None:
    random = np.random.default_rng(seed)
    records = objects(random, 12)
    center, half = beside(random, records, 5)
    alone = np.array(kinds(looking, records))
    found = np.array(kinds(looking, records, (NOTHING_SHOWN[0], center, half)))
    shared = np.array([
        boxes.iou(center, half, *(np.tile(row[name], (5, 1)) for name in ('hull_center', 'half')))
        for row in records
    ])  # fmt: skip
    taken = np.nan_to_num(shared).max(axis=1).round(9) >= 0.3
    unclear = alone == visibility.NOTHING
    assert (found == np.where(taken & unclear, visibility.MISSED, alone)).all()


def test_of_what_is_shown_nothing_is_said() -> None:
    records = objects(np.random.default_rng(3), 12)
    records['center'] = (0.0, 0.0, 2.0)
    alone = kinds(looking, records)
    assert visibility.NEVER not in alone
    found = kinds(looking, records, (np.array([7, 2]), *NOTHING_SHOWN[1:]))
    assert [k for k, code in enumerate(found) if code == visibility.NEVER] == [2, 7]
    assert all(code in (alone[k], visibility.NEVER) for k, code in enumerate(found))
