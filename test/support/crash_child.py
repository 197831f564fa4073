# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The process that test_crash.py kills: performs the steps, and says each one that was done."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from views import stream

from memory_node import SpatialMemory

FORGET_EVERY = 25


def steps(memory: SpatialMemory, seed: int, views: int) -> Iterator[int]:
    """Observe a stream, and forget something now and then; yields the log line of each step."""
    for number, given in enumerate(stream(seed, views), 1):
        yield memory.observe(given).seq
        if number % FORGET_EVERY == 0:
            ids = [one.id for one in memory.objects()]
            yield memory.forget(ids[number % len(ids)], f'step {number}').seq


if __name__ == '__main__':
    path, seed, views = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    for seq in steps(SpatialMemory.open(path), seed, views):
        print(seq, flush=True)
    sys.exit('it was not killed in time')
