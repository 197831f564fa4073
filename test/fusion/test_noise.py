# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The noise of a sensor that does not say how noisy it is."""

from __future__ import annotations

import numpy as np
import pytest
from views import seen, view

from memory_node import Config, SpatialMemory


def learned(memory: SpatialMemory) -> float:
    return memory._session.engine.noise_m['camera']


def watch(memory, sigma_m: float, views: int, seed: int = 1, since_s: int = 1000, **more) -> None:
    random = np.random.default_rng(seed)
    for k in range(views):
        memory.observe(view(since_s + 2 * k, *[
            seen(f'thing {n}', (3.0 * n, *random.normal(0, sigma_m, 2)), size_m=(0.3,) * 3, **more)
            for n in range(8)
        ]))  # fmt: skip


@pytest.mark.parametrize('sigma_m', [0.04, 0.08, 0.15])
def test_it_is_learned_within_a_few_dozen_sightings(sigma_m: float) -> None:
    with SpatialMemory.open(':memory:') as memory:
        watch(memory, sigma_m, 40)
        # Two of three axes err.
        assert learned(memory) == pytest.approx(sigma_m * (2 / 3) ** 0.5, rel=0.3)
        early = {o.id for o in memory.objects()}
        watch(memory, sigma_m, 40, seed=2, since_s=2000)
        assert {o.id for o in memory.objects()} == early, 'once it is known nothing is doubled'


def test_it_is_never_believed_to_be_less_than_set() -> None:
    with SpatialMemory.open(':memory:', Config(position_sigma_m=0.03)) as memory:
        watch(memory, 0.0, 20)
        assert learned(memory) == 0.03


def test_a_sensor_that_says_so_is_believed() -> None:
    with SpatialMemory.open(':memory:') as memory:
        watch(memory, 0.1, 20, position_cov=np.eye(3) * 1e-4)
        assert learned(memory) == 0.02


def test_one_thing_that_moves_about_teaches_little() -> None:
    random = np.random.default_rng(2)
    with SpatialMemory.open(':memory:') as memory:
        for k in range(60):
            still = [seen(f'thing {n}', (3.0 * n, 0, 0)) for n in range(8)]
            cat = seen('cat', (0, 5 + random.uniform(-0.2, 0.2), 0))
            memory.observe(view(1000 + 2 * k, *still, cat))
        assert learned(memory) < 0.05


def test_it_is_kept_in_the_file(tmp_path) -> None:
    path = str(tmp_path / 'a.db')
    with SpatialMemory.open(path) as memory:
        watch(memory, 0.1, 20)
        before = learned(memory)
    with SpatialMemory.open(path) as memory:
        assert learned(memory) == before > 0.04


def test_it_can_be_switched_off() -> None:
    with SpatialMemory.open(':memory:', Config(learn_noise=False)) as memory:
        watch(memory, 0.1, 5)
        assert memory._session.engine.noise_m == {}


def test_c01_b_a_noisily_ranged_chair_stays_one() -> None:
    noise = np.random.default_rng(7).normal(0, 0.15, 60)
    with SpatialMemory.open(':memory:') as memory:
        for frame in range(60):
            x = 3.0 + float(noise[frame])
            memory.observe(view(1000 + frame, seen('chair', (x, 1, 0.5), 0.8, (0.5, 0.5, 1.0))))
            if frame == 19:
                early = len(memory.objects())
        objects = memory.objects()
        assert [o.label for o in objects if o.state == 'confirmed'] == ['chair']
        assert len(objects) <= early
