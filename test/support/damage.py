# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Files as a kill leaves them, and damage to their bytes, of every sort, seeded."""

from __future__ import annotations

import random
from pathlib import Path

from memory_node import SpatialMemory

PAGE = 4096


def damage(content: bytearray, draw: random.Random) -> bytes:
    """Turn bits, overwrite, zero or exchange pages and parts of them, or cut off the end."""
    kind = draw.choice(['noise', 'zero', 'bit', 'page', 'cut'])
    for _ in range(draw.choice([1, 1, 3, 20])):
        at = draw.randrange(max(1, len(content) - PAGE))
        length = draw.choice([1, 8, 100, 512, PAGE])
        if kind == 'noise':
            content[at : at + length] = draw.randbytes(length)
        elif kind == 'zero':
            content[at : at + length] = bytes(length)
        elif kind == 'bit':
            content[at] ^= 1 << draw.randrange(8)
        elif kind == 'page':
            a, b = (draw.randrange(len(content) // PAGE) * PAGE for _ in range(2))
            content[a : a + PAGE], content[b : b + PAGE] = (
                content[b : b + PAGE], content[a : a + PAGE],
            )  # fmt: skip
        else:
            del content[at + PAGE :]
    return bytes(content)


def copied(memory: SpatialMemory, path: Path) -> str:
    """The file as a kill would leave it now."""
    for end in ('', '-wal'):
        Path(f'{path}{end}').write_bytes(Path(f'{memory.path}{end}').read_bytes())
    return str(path)
