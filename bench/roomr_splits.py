# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Cut the validation split of RoomR in two: rooms to tune on, and rooms that are held out.

    python bench/roomr_splits.py /work/shared/data/ai2thor_roomr/roomr_2022_val.pkl.gz FOLDER

writes FOLDER/tuning.pkl.gz and FOLDER/held_out.pkl.gz.
"""

from __future__ import annotations

import argparse
import gzip
import pickle
from pathlib import Path

TUNING = tuple(f'FloorPlan{kind}{k}' for kind in (2, 22, 32, 42) for k in (1, 2, 3))


def main() -> None:
    """Write both files."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('split', type=Path)
    parser.add_argument('folder', type=Path)
    given = parser.parse_args()
    rooms = pickle.loads(gzip.decompress(given.split.read_bytes()))
    given.folder.mkdir(parents=True, exist_ok=True)
    for name, wanted in (('tuning', True), ('held_out', False)):
        part = {room: rooms[room] for room in rooms if (room in TUNING) == wanted}
        file = given.folder / f'{name}.pkl.gz'
        file.write_bytes(gzip.compress(pickle.dumps(part, protocol=2)))
        print(f'{file}: {len(part)} rooms, {sum(map(len, part.values()))} episodes')


if __name__ == '__main__':
    main()
