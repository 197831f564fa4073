# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""HY-17: how many steps does a robot need to find things, with a memory and without?

    scripts/env python bench/search_episodes.py [--seeds 1 2 3] [--searches 60]

A robot looks for six of twenty things, one after the other, in the simulated home
(`memory_node/sim/searching.py`), each search with its memory and once more without. It sees what
lies within 0.25 m of it. Between two searches eight hours pass, and each thing is carried elsewhere
with a chance of 0.2, mostly to the piece of furniture where it belongs. Searches are later ones if
the same thing was looked for before.
"""

from __future__ import annotations

import argparse
from statistics import mean, median

from scipy.stats import wilcoxon

from memory_node import SpatialMemory
from memory_node.sim.searching import SearchEpisode, searches


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--seeds', type=int, nargs='+', default=[1, 2, 3])
    parser.add_argument('--searches', type=int, default=60)
    asked = parser.parse_args()
    print('| seed | searches | steps, median (mean) | without a memory | Wilcoxon, one-sided p |')
    print('|---|---|---|---|---|')
    for seed in asked.seeds:
        with SpatialMemory.open(':memory:') as memory:
            episodes = searches(memory, seed, asked.searches)
        first = [e for e in episodes if not e.times_before]
        later = [e for e in episodes if e.times_before]
        print(_row(f'{seed}, first', first))
        print(_row(f'{seed}, later', later))


def _row(name: str, episodes: list[SearchEpisode]) -> str:
    steps, without = [e.steps for e in episodes], [e.steps_without for e in episodes]
    p = wilcoxon(steps, without, alternative='less').pvalue if len(episodes) > 1 else float('nan')
    return (
        f'| {name} | {len(episodes)} | {median(steps):.0f} ({mean(steps):.0f}) | '
        f'{median(without):.0f} ({mean(without):.0f}) | {p:.1g} |'
    )


if __name__ == '__main__':
    main()
