# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What is on or in what, against `parentReceptacles` of the 120 rooms of iTHOR.

    PYTHONPATH=. python bench/relations.py [--shared /work/shared] [--seeds 1 2 3] [--json FILE]
    PYTHONPATH=. python bench/relations.py --flicker

Each room is shown in its default state in three all-round looks, as `bench/roomr` does: with the
boxes given exactly, or with a noise of `sigma` on each axis of each centre and 5 % on each side.
`score_relations` of `bench/roomr` judges. The rule and the class lists were tuned on rooms 1 to 20
of each kind; rooms 21 to 30 are held out, and were measured only once these stood.

With --flicker, the first FLICKER_ROOMS rooms of each kind are looked at FLICKER_LOOKS times with
noise while nothing moves; counted is what came or went from one look to the next, once
FLICKER_AFTER looks are over, as relations are found and as they would be from the running means.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
import types
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from bench.roomr_memory import RoomrMemory
from memory_node.model import RelationKind

KINDS = {'kitchens': 0, 'living rooms': 200, 'bedrooms': 300, 'bathrooms': 400}
TUNING = range(1, 21)
HELD_OUT = range(21, 31)
SIDE_NOISE = 0.05
FLICKER_ROOMS, FLICKER_LOOKS, FLICKER_AFTER = 5, 60, 10
FIGURES = ('F1', 'precision', 'recall', 'exact')


class Asked(RoomrMemory):
    """The memory that is measured, with its relations in the words of the benchmark."""

    def relations(self) -> list[Any]:
        from roomr.protocol import Relation

        word = {RelationKind.ON: 'on', RelationKind.INSIDE: 'in'}
        ids = [o.id for o in self._memory.objects()]
        return [
            Relation(r.subject_id, word[RelationKind(r.kind)], r.object_id)
            for r in self._memory.relate(ids) if not r.stated and r.kind in word
        ]  # fmt: skip

    def found(self) -> set[Any]:
        """All relations that follow from geometry."""
        return {(r.subject_id, str(r.kind), r.object_id) for r in self._memory.relate()}

    def found_by_means(self) -> set[Any]:
        """The same, if they followed from the running means instead of the last versions."""
        records = self._memory._session.engine.world.records
        kept = records[['version_center', 'version_size']].copy()
        records['version_center'], records['version_size'] = records['center'], records['size']
        try:
            return self.found()
        finally:
            for name in kept.dtype.names:
                records[name] = kept[name]


def measure(room: str, metadata: Any, sigma_m: float, seed: int) -> Counter[str]:
    """Show one room and judge what is said of it."""
    from roomr import world
    from roomr.score import Given, score_relations
    from roomr.streams import survey

    inventory = world.inventory(metadata, room)
    shell = world.stack([world.default_box(item) for item in inventory])
    views, items = survey(types.SimpleNamespace(inventory=inventory, shell=shell))
    random = np.random.default_rng([seed, int(room.removeprefix('FloorPlan'))])
    memory, given = Asked(), []
    for view in views:
        shown = dataclasses.replace(
            view, detections=tuple(_noisy(d, sigma_m, random) for d in view.detections)
        )
        given += [Given(1, k, i) for k, i in enumerate(memory.observe(shown)) if i is not None]
    given = [Given(g.visit, g.thing, memory.resolve(g.object_id)) for g in given]
    counts = score_relations(items, given, memory.relations())
    memory.close()
    return counts


def _noisy(detection: Any, sigma_m: float, random: np.random.Generator) -> Any:
    if not sigma_m:
        return detection
    center = np.array(detection.center_m) + random.normal(0, sigma_m, 3)
    size = np.array(detection.size_m) * np.maximum(1 + random.normal(0, SIDE_NOISE, 3), 0.1)
    return dataclasses.replace(
        detection, center_m=tuple(center.tolist()), size_m=tuple(size.tolist()),
        position_sigma_m=sigma_m,
    )  # fmt: skip


def flicker(metadata: Any, sigma_m: float, seed: int) -> None:
    """Print how many relations come and go while nothing moves."""
    from roomr import world
    from roomr.streams import survey

    total: Counter[str] = Counter()
    for number in (base + k for base in KINDS.values() for k in range(1, FLICKER_ROOMS + 1)):
        inventory = world.inventory(metadata, f'FloorPlan{number}')
        shell = world.stack([world.default_box(item) for item in inventory])
        first = survey(types.SimpleNamespace(inventory=inventory, shell=shell))[0][0]
        random, memory = np.random.default_rng([seed, number]), Asked()
        before: dict[str, set[Any]] = {}
        toggles: dict[str, Counter[Any]] = {'versions': Counter(), 'means': Counter()}
        for look in range(FLICKER_LOOKS):
            memory.observe(dataclasses.replace(
                first, stamp_ns=first.stamp_ns + look * 2 * 10**9,
                detections=tuple(_noisy(d, sigma_m, random) for d in first.detections),
            ))  # fmt: skip
            for name, said in (('versions', memory.found()), ('means', memory.found_by_means())):
                if look > FLICKER_AFTER:
                    toggles[name].update(said ^ before[name])
                    total[f'{name}: relations'] += len(said)
                before[name] = said
        for name, counts in toggles.items():
            total[f'{name}: came or went'] += sum(counts.values())
            total[f'{name}: went to and fro'] += sum(count > 1 for count in counts.values())
        memory.close()
    for name, count in sorted(total.items()):
        print(f'{name}: {count}')


def figures(c: Counter[str]) -> dict[str, float]:
    """F1, precision and recall of pairs, and the share of things whose holders are all right."""
    right, claims, pairs = c['relation right'], c['relation claims'], c['relation pairs']
    return {
        'F1': 2 * right / (claims + pairs), 'precision': right / claims, 'recall': right / pairs,
        'exact': c['relation exact'] / c['relation children'],
    }  # fmt: skip


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--shared', type=Path, default=Path('/work/shared'))
    parser.add_argument('--seeds', type=int, nargs='+', default=[1, 2, 3])
    parser.add_argument('--tuning-only', action='store_true')
    parser.add_argument('--json', type=Path)
    parser.add_argument('--flicker', action='store_true')
    asked = parser.parse_args()
    sys.path.insert(0, str(asked.shared / 'bench'))
    from roomr import world

    metadata = world.load_metadata()
    if asked.flicker:
        flicker(metadata, 0.02, asked.seeds[0])
        return
    parts = {'tuned on (1-20)': TUNING} if asked.tuning_only else {
        'tuned on (1-20)': TUNING, 'held out (21-30)': HELD_OUT,
    }  # fmt: skip
    found = {}
    print('| rooms | noise of a look | things | ' + ' | '.join(FIGURES) + ' |')
    print('|---|---|---|' + '---|' * len(FIGURES))
    for sigma_m in (0.0, 0.02):
        whole: Counter[str] = Counter()
        for part, numbers in parts.items():
            total: Counter[str] = Counter()
            for seed in asked.seeds if sigma_m else [1]:
                for base in KINDS.values():
                    for number in numbers:
                        total += measure(f'FloorPlan{base + number}', metadata, sigma_m, seed)
            whole += total
            found[f'{part}, {sigma_m:g} m'] = _shown(part, sigma_m, total)
        found[f'all, {sigma_m:g} m'] = _shown('all', sigma_m, whole)
    if asked.json:
        asked.json.write_text(json.dumps(found, indent=1) + '\n')


def _shown(part: str, sigma_m: float, counts: Counter[str]) -> dict[str, float]:
    row = figures(counts)
    cells = [f'{row[name]:.3f}' for name in FIGURES]
    print(f'| {part} | {sigma_m * 100:g} cm | {counts["relation children"]} | '
          + ' | '.join(cells) + ' |', flush=True)  # fmt: skip
    return row


if __name__ == '__main__':
    main()
