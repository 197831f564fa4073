# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""How many places must be looked at until a thing that was carried elsewhere is found?

    PYTHONPATH=. python bench/search_plan.py [--shared /work/shared] [--every 5]

Rooms and tours of the shared bench `roomr`: the memory sees the first visit only. A day later it is
asked where to look for each thing that it saw and that lies more than AWAY_M from there by now. The
last place is left out, as it was looked at in vain. A place is right if the thing lies on or in the
receptacle that it names, or within NEAR_M of it. Beside it: the same places, nearest first, and at
random. The priors that come with the package were counted in rooms of the same kind, these among
them, in their default state.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from bench.roomr_memory import RoomrMemory
from memory_node.config import MAX_LIMIT

AWAY_M, NEAR_M, SLACK_M, ABOVE_M = 0.5, 0.5, 0.05, 0.5
TRIES = (1, 2, 3, 5, 10)


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--shared', type=Path, default=Path('/work/shared'))
    parser.add_argument('--every', type=int, default=5, help='only every n-th episode')
    asked = parser.parse_args()
    sys.path.insert(0, str(asked.shared / 'bench'))
    from roomr import world

    metadata = world.load_metadata()
    ranks: dict[str, list[int]] = {'planned': [], 'nearest first': [], 'at random': []}
    split = world.load_split(world.DATA / world.VAL_SPLIT)
    for name, raw in sorted(split.items()):
        scene = world.build_scene(name, world.inventory(metadata, name), raw)
        for index in range(0, len(raw), asked.every):
            for kind, found in _episode(scene, index, raw[index]).items():
                ranks[kind] += found
    print('| order | ' + ' | '.join(f'found in {n}' for n in TRIES) + ' | things |')
    print('|---|' + '---|' * (len(TRIES) + 1))
    for kind, found in ranks.items():
        share = [np.mean([0 < rank <= n for rank in found]) for n in TRIES]
        print(f'| {kind} | ' + ' | '.join(f'{s:.3f}' for s in share) + f' | {len(found)} |')


def _episode(scene: Any, index: int, raw: Any) -> dict[str, list[int]]:
    from roomr import world
    from roomr.sensor import SensorModel
    from roomr.streams import EpisodeStream
    from roomr.tour import load_tour

    stream = EpisodeStream(
        scene, world.build_episode(scene, index, raw), load_tour(scene), SensorModel(), 1
    )
    memory, votes, at_ns = RoomrMemory(), {}, 0
    for shown in stream:
        if shown.visit == 2:
            at_ns = shown.view.stamp_ns
            break
        for thing, number in zip(shown.things.tolist(), memory.observe(shown.view)):
            if number is not None and thing >= 0:
                votes.setdefault(thing, Counter())[number] += 1
    ranks: dict[str, list[int]] = {'planned': [], 'nearest first': [], 'at random': []}
    random = np.random.default_rng(index)
    held = {o.id: o for o in memory._memory.objects()}
    for thing, count in sorted(votes.items()):
        number = memory._memory.object(count.most_common(1)[0][0]).id
        truth = stream.truth
        if truth.removed[thing] or truth.displacement_m[thing] <= AWAY_M or number not in held:
            continue
        plan = memory._memory.plan_search(object_id=number, at_ns=at_ns, limit=MAX_LIMIT)
        target = truth.center_2[thing]
        places = [p for p in plan.places if p.source != 'last']
        right = [_is_right(p, held, target) for p in places]
        apart = [float(np.linalg.norm(np.subtract(p.position_m, held[number].center_m)))
                 for p in places]  # fmt: skip
        ranks['planned'].append(_rank(right))
        ranks['nearest first'].append(_rank([right[k] for k in np.argsort(apart)]))
        ranks['at random'].append(_rank([right[k] for k in random.permutation(len(right))]))
    memory.close()
    return ranks


def _is_right(place: Any, held: dict[int, Any], target: np.ndarray) -> bool:
    if np.linalg.norm(np.subtract(place.position_m, target)) <= NEAR_M:
        return True
    holder = held.get(place.receptacle_id)
    if holder is None:
        return False
    out = np.abs(np.subtract(target, holder.center_m)) - np.array(holder.size_m) / 2
    return bool((out[:2] <= SLACK_M).all() and out[2] <= ABOVE_M)


def _rank(right: list[bool]) -> int:
    return right.index(True) + 1 if True in right else 0


if __name__ == '__main__':
    main()
