# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Random numbers that depend on a key, never on the order in which they are drawn."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from memory_node.model import Floats

Keys = npt.NDArray[np.uint64]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def stable_hash(*parts: object) -> int:
    """Return a 64-bit hash of the parts' text, equal on every machine and in every process."""
    text = '\x1f'.join(str(part) for part in parts)
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), 'little')


def object_keys(names: Sequence[str]) -> Keys:
    """Return (N,) uint64, one key per name."""
    return np.array([stable_hash(name) for name in names], dtype=np.uint64)


class Draws:
    """Draws for one context (seed, episode, visit, view); each purpose has a stream of its own."""

    def __init__(self, *context: object) -> None:
        self._context = context

    def uniform(self, purpose: str, keys: Keys, channels: int = 1) -> Floats:
        """Return (N, channels) in (0, 1): of context, purpose, key and channel only."""
        base = np.uint64(stable_hash(*self._context, purpose))
        counter = np.arange(1, channels + 1, dtype=np.uint64) * _GOLDEN
        bits = _mix(_mix(keys ^ base)[:, None] + counter)
        numbers: Floats = ((bits >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53
        return numbers

    def normal(self, purpose: str, keys: Keys, channels: int = 3) -> Floats:
        """Return (N, channels), standard normal (Box-Muller)."""
        u = self.uniform(purpose, keys, 2 * channels)
        numbers: Floats = np.sqrt(-2.0 * np.log(u[:, :channels])) * np.cos(
            2.0 * np.pi * u[:, channels:]
        )
        return numbers

    def poisson(self, purpose: str, mean: float) -> int:
        """Return one Poisson count (inverse of the cumulative distribution)."""
        u = float(self.uniform(purpose, np.zeros(1, dtype=np.uint64))[0, 0])
        count, term = 0, float(np.exp(-mean))
        total = term
        while u > total and count < 1000:
            count += 1
            term *= mean / count
            total += term
        return count


def _mix(x: Keys) -> Keys:
    """Finaliser of splitmix64 on uint64 arrays."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
