# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Promise 3 in a process of its own: a seeded stream, and what a memory makes of it.

    python replay_hash.py [VIEWS]

Prints one line for the arithmetic that this process has (for people), one for the stream itself,
one for the verdicts of each view, and the snapshot hash, for both profiles. Two processes that
disagree are compared line by line: the first difference tells where it comes from.
"""

from __future__ import annotations

import ctypes
import hashlib
import sys
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from streams import mixed_views

from memory_node import Commit, Config, Query, SpatialMemory, View
from memory_node.model import State

SEED = 2024
DIM = 512
PROFILES = ('default', 'chronotope')


def digest(parts: Iterable[object]) -> str:
    return hashlib.sha256(repr(list(parts)).encode()).hexdigest()[:16]


def stream_digest(views: Iterable[View]) -> str:
    """Of the input: where this differs, the memory is not to blame."""
    return digest(
        (v.stamp_ns, v.sensor_pose, [
            (d.label, d.score, d.center_m, d.size_m, d.orientation_xyzw,
             None if d.feature is None else np.asarray(d.feature).tobytes())
            for d in v.detections
        ])
        for v in views
    )  # fmt: skip


def verdict_digest(commit: Commit) -> str:
    """Of all that was decided, to the last bit."""
    return digest(
        [(v.kind.value, v.object_id, v.reason, sorted(v.terms.items()), v.candidate_id)
         for v in commit.verdicts]
        + [(c.seq, c.kind.value, c.object_id) for c in commit.changes]
    )  # fmt: skip


def lines_of(profile: str, count: int) -> Iterable[str]:
    views = list(mixed_views(SEED, count, features=profile != 'default', dim=DIM))
    yield f'stream {stream_digest(views)}'
    with SpatialMemory.open(':memory:', Config(profile=profile)) as memory:
        gone: list[int] = []
        for number, view in enumerate(views):
            commit = memory.observe(view)
            yield f'view {number} {verdict_digest(commit)}'
            if number % 10 == 9:
                gone.append(memory.objects()[number % 7].id)
                memory.forget(gone[-1], f'view {number}')
            if number % 20 == 15 and memory.object(gone[0]).state is State.FORGOTTEN:
                memory.restore(gone.pop(0))
        hits = memory.query(Query(near_m=(0, 0, 0), radius_m=2.0, limit=50))
        yield f'query {digest((hit.object.id, round(hit.score, 9)) for hit in hits)}'
        yield f'objects {len(memory.objects())}, log lines {memory.seq}'
        yield f'hash {memory.snapshot_hash()}'


def arithmetic() -> str:
    """The instruction sets that numpy uses, and the kernels of each OpenBLAS that is loaded."""
    try:
        from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__
    except ImportError:  # numpy 1
        from numpy.core._multiarray_umath import __cpu_dispatch__, __cpu_features__
    used = [name for name in __cpu_dispatch__ if __cpu_features__[name]]
    return f'numpy {np.__version__} with {",".join(used) or "nothing"}; BLAS {",".join(kernels())}'


def kernels() -> list[str]:
    maps = Path('/proc/self/maps')
    if not maps.exists():
        return []
    libraries = {line.split()[-1] for line in maps.read_text().splitlines() if 'openblas' in line}
    found = []
    for path in sorted(libraries):
        library = ctypes.CDLL(path)
        for name in ('scipy_openblas_get_corename64_', 'scipy_openblas_get_corename',
                     'openblas_get_corename64_', 'openblas_get_corename'):  # fmt: skip
            if hasattr(library, name):
                function = getattr(library, name)
                function.restype = ctypes.c_char_p
                found.append(function().decode())
                break
    return found


if __name__ == '__main__':
    views = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    print(f'# {arithmetic()}')
    for profile in PROFILES:
        for line in lines_of(profile, views):
            print(f'{profile} {line}')
