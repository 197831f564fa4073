# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""One thing boxed twice in one view: the weaker box is no second thing, and no second evidence."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from memory_node.fusion import scoring
from memory_node.fusion.intake import Evidence
from memory_node.fusion.labels import Ints
from memory_node.scene import boxes

Places = npt.NDArray[np.int64]

SAME_COSINE = 0.6
"""Two boxes whose features are less alike show two things."""


def doubles(evidence: Evidence, label: Ints, fold_iou: float) -> Places:
    """For each detection the place of a stronger one that boxes the same thing; -1: there is none.

    The same thing has the same label, and boxes that share `fold_iou` of their union; boxes without
    a volume must have the same centre and size.

    Args:
        evidence: n detections. label: (n,) numbers. fold_iou: 0 to 1.
    """
    n = len(evidence)
    twin = np.full(n, -1, np.int64)
    close = scoring.close_boxes(evidence.center, evidence.half, label)
    if not close:
        return twin
    a, b = np.array(close).T
    center, half = evidence.center, evidence.half
    shared = boxes.iou(center[a], half[a], center[b], half[b])
    equal = (center[a] == center[b]).all(axis=1) & (half[a] == half[b]).all(axis=1)
    same = np.where(np.isnan(shared), equal, np.round(shared, 9) >= fold_iou)
    both = evidence.has_feature[a] & evidence.has_feature[b]
    products = evidence.feature[a].astype(np.float64) * evidence.feature[b]
    same &= ~(both & (np.round(boxes.tree_sum(products), 9) < SAME_COSINE))
    rank = np.lexsort([np.arange(n), -evidence.score])
    order = np.empty(n, np.int64)
    order[rank] = np.arange(n)  # 0: the strongest
    found = sorted((int(order[x]), int(order[y])) for x, y in zip(a[same], b[same]))
    for weak, strong in sorted((max(pair), min(pair)) for pair in found):
        if twin[rank[strong]] < 0 and twin[rank[weak]] < 0:
            twin[rank[weak]] = rank[strong]
    return twin
