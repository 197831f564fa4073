# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Cut the rooms of the demo out of the RoomR data set.

`python bench/cut_roomr_subset.py` writes `memory_node/demo/data/` anew from the data set in
`../shared/data/ai2thor_roomr` and the tours in `../shared/bench/roomr`. It selects: no value is
changed, converted or rounded. The same input gives the same bytes.
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
import pickle
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parents[1]
SHARED = PROJECT.parent / 'shared'
METADATA = 'ai2thor-object-metadata.json.gz'
SPLIT = 'roomr_2022_val.pkl.gz'
LICENCES = ('LICENSE.ai2thor-rearrangement', 'LICENSE.procthor')

ROOMS = {
    'FloorPlan23': ('kitchen', 'kitchens'),
    'FloorPlan224': ('living room', 'living_rooms'),
    'FloorPlan322': ('bedroom', 'bedrooms'),
    'FloorPlan422': ('bathroom', 'bathrooms'),
}
"""Scene → kind of room, and where the metadata have it."""
EPISODES = range(5)
ITEM_FIELDS = (
    'name', 'objectId', 'objectType', 'pickupable', 'receptacle', 'isOpen', 'openness',
    'parentReceptacles',
)  # fmt: skip


class _BuiltinsOnly(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        raise pickle.UnpicklingError(f'no classes expected in the data, found {module}.{name}')


def cut_item(item: dict[str, Any]) -> dict[str, Any]:
    """Return what the streams use of an object; corners only of what can be carried."""
    box = item['axisAlignedBoundingBox']
    cut = {field: item[field] for field in ITEM_FIELDS}
    cut['axisAlignedBoundingBox'] = {'center': box['center'], 'size': box['size']}
    if item['pickupable']:
        oriented = item['objectOrientedBoundingBox']
        cut['position'], cut['rotation'] = item['position'], item['rotation']
        cut['objectOrientedBoundingBox'] = oriented and {'cornerPoints': oriented['cornerPoints']}
        if not oriented:
            cut['axisAlignedBoundingBox']['cornerPoints'] = box['cornerPoints']
    return cut


def cut_episode(episode: dict[str, Any]) -> dict[str, Any]:
    """Return the poses and what is open on both visits."""
    poses = {
        key: [{field: p[field] for field in ('name', 'position', 'rotation')} for p in episode[key]]
        for key in ('target_poses', 'starting_poses')
    }
    openable = [
        {field: o[field] for field in ('name', 'target_openness', 'start_openness')}
        for o in episode['openable_data']
    ]
    return {**poses, 'openable_data': openable}


def cut_agents(episodes: Sequence[dict[str, Any]]) -> list[dict[str, float]]:
    """Return the distinct x, z at which an agent stood, of all episodes of the room."""
    places = {(e['agent_position']['x'], e['agent_position']['z']) for e in episodes}
    return [{'x': x, 'z': z} for x, z in sorted(places)]


def cut(data: Path) -> dict[str, Any]:
    """Return the chosen rooms of the data set in a folder."""
    with gzip.open(data / METADATA, 'rt', encoding='utf-8') as stream:
        metadata = json.load(stream)
    split = _BuiltinsOnly(io.BytesIO(gzip.decompress((data / SPLIT).read_bytes()))).load()
    rooms = {}
    for name, (kind, group) in ROOMS.items():
        number = int(name.removeprefix('FloorPlan'))
        episodes = split[name]
        rooms[name] = {
            'kind': kind,
            'inventory': [cut_item(o) for o in metadata[group][number % 100 - 1]],
            'agent_positions': cut_agents(episodes),
            'episodes': {str(k): cut_episode(episodes[k]) for k in EPISODES},
        }
    return rooms


def write(data: Path, tours: Path, target: Path) -> int:
    """Write the subset with its licences; return the number of bytes of all files."""
    target.mkdir(parents=True, exist_ok=True)
    text = json.dumps(cut(data), separators=(',', ':'))
    packed = gzip.compress(text.encode(), compresslevel=9, mtime=0)
    (target / 'rooms.json.gz').write_bytes(packed)
    stored = json.loads(tours.read_text())
    lines = [f'"{name}": {json.dumps(stored[name])}' for name in ROOMS]
    (target / 'tours.json').write_text('{\n' + ',\n'.join(lines) + '\n}\n')
    for licence in LICENCES:
        shutil.copyfile(data / licence, target / licence)
    return sum(f.stat().st_size for f in target.iterdir())


def main() -> None:
    """Read the arguments and write the subset."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--data', type=Path, default=SHARED / 'data' / 'ai2thor_roomr')
    parser.add_argument('--tours', type=Path, default=SHARED / 'bench' / 'roomr' / 'tours.json')
    parser.add_argument('--target', type=Path, default=PROJECT / 'memory_node' / 'demo' / 'data')
    arguments = parser.parse_args()
    size = write(arguments.data, arguments.tours, arguments.target)
    print(f'{arguments.target}: {size / 1000:.0f} kB')


if __name__ == '__main__':
    main()
