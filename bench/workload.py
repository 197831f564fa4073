# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Deterministic workload shared with the peers' bench: a world of labelled objects, and frames.

Objects sit on a jittered grid (cell `cell` m, jitter 0.2 cell) at three heights. An object's
feature is normalize(sqrt(s) * class prototype + sqrt(1-s) * own noise), so two objects of one class
have cosine `s`; class prototypes share a common direction (cosine 0.5 between classes, as CLIP
image features do). A detection is the object plus gaussian position noise and feature noise (0.33
gives cosine 0.95 to its object).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

DIM = 512
FRAME = 20
BOX = 0.3
T0 = 1_790_000_000.0

_LABELS = (
    'mug bottle plate bowl fork spoon knife kettle toaster oven fridge sink chair table sofa bed '
    'lamp desk shelf drawer door window curtain rug pillow blanket towel soap brush mirror toilet '
    'bathtub laptop keyboard mouse monitor printer phone remote speaker camera clock book pen '
    'paper scissors box bag backpack shoe hat coat umbrella plant vase candle ball toy bicycle '
    'helmet'
)
LABELS = _LABELS.split()
assert len(LABELS) == 60 and len(set(LABELS)) == 60


def unit(a: np.ndarray) -> np.ndarray:
    return (a / np.linalg.norm(a, axis=-1, keepdims=True)).astype(np.float32)


@dataclass
class Det:
    tid: int  # true object id, never shown to the peer
    label: str
    feat: np.ndarray
    pos: tuple[float, float, float]
    lo: tuple[float, float, float]
    hi: tuple[float, float, float]
    ts: float
    conf: float = 0.9


class World:
    def __init__(
        self,
        n: int,
        seed: int = 7,
        cell: float = 1.4,
        same_cos: float = 0.8,
        pos_noise: float = 0.02,
        flip: float = 0.0,
        feat_noise: float = 0.33,
    ):
        r = self.r = np.random.default_rng(seed)
        self.n, self.pos_noise, self.flip, self.feat_noise = n, pos_noise, flip, feat_noise
        side = int(np.ceil(np.sqrt(n)))
        i = np.arange(n)
        row, col = i // side, i % side
        col = np.where(row % 2 == 0, col, side - 1 - col)
        xy = np.stack([col, row], 1) * cell + r.uniform(-0.2 * cell, 0.2 * cell, (n, 2))
        self.pos = np.column_stack([xy, r.choice([0.2, 0.8, 1.4], n)])
        common = unit(r.normal(size=DIM))
        proto = unit(np.sqrt(0.5) * common + np.sqrt(0.5) * unit(r.normal(size=(60, DIM))))
        self.lab = r.integers(0, 60, n)
        own = unit(r.normal(size=(n, DIM)))
        self.feat = unit(np.sqrt(same_cos) * proto[self.lab] + np.sqrt(1 - same_cos) * own)
        self.t = T0

    def det(self, k: int, pos=None) -> Det:
        r = self.r
        p = (self.pos[k] if pos is None else np.asarray(pos)) + r.normal(0, self.pos_noise, 3)
        f = unit(self.feat[k] + self.feat_noise * unit(r.normal(size=DIM)))
        lab = self.lab[k] if r.random() >= self.flip else r.integers(0, 60)
        h = BOX / 2
        return Det(
            int(k),
            LABELS[lab],
            f,
            tuple(map(float, p)),
            tuple(float(x - h) for x in p),
            tuple(float(x + h) for x in p),
            self.t,
        )

    def frame_at(self, start: int) -> list[Det]:
        self.t += 0.2
        return [self.det(k) for k in range(start, min(start + FRAME, self.n))]

    def sweep(self):
        for s in range(0, self.n, FRAME):
            yield self.frame_at(s)

    def reobserve(self, frames: int):
        for s in self.r.integers(0, max(1, self.n - FRAME), frames):
            yield self.frame_at(int(s))
