# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Another thing of the same label lies where a known one lay: the feature tells which one it is."""

from __future__ import annotations

import numpy as np

from memory_node.config import Config
from memory_node.fusion import standing
from memory_node.fusion.arbiter import FEATURE, TERMS, Pairs
from memory_node.fusion.intake import Evidence
from memory_node.fusion.labels import Ints
from memory_node.fusion.looks import Look
from memory_node.fusion.motion import VISIT_GAP_S
from memory_node.fusion.world import World

MARGIN = 0.1
"""By how much more another object must be alike, as a cosine."""
MOST = 50
"""Of so many things of a label one looks like any: nothing is concluded."""


def keep_swapped_apart(
    evidence: Evidence, label: Ints, pairs: Pairs, look: Look, world: World, c: Config
) -> None:
    """Take from `pairs.total` those that another object of the label, elsewhere, explains better.

    The object whose place it is must not look like the detection (`same_cosine`) and the other one
    must; neither was seen a moment ago. The detection becomes an object of its own, which is found
    to be the other one once that is missed at its place (`motion.reunions`).

    Args:
        evidence, label: n detections. pairs: their candidates, changed in place.
        look: of the view. world: as before it. c: settings.
    """
    r = world.records
    before_ns = look.stamp_ns - int(VISIT_GAP_S * 1e9)
    unlike = standing.unlike(pairs.terms[:, FEATURE], pairs.total, c.same_cosine, c.merge_score)
    for k in unlike:  # most views have none
        place, row = int(pairs.place[k]), int(pairs.row[k])
        if r['label'][row] != label[place] or r['last_seen_ns'][row] >= before_ns:
            continue
        others = world.rows_of_label(int(label[place]))
        if len(others) > MOST:
            continue
        others = others[(r['map'][others] == look.map_number)]
        others = others[(r['last_seen_ns'][others] < before_ns)]
        others = np.setdiff1d(others, pairs.row[pairs.place == place])
        terms = np.empty((len(others), len(TERMS)))
        world.features.cosines(
            evidence.feature, evidence.has_feature, np.full(len(others), place), others, r, terms
        )  # fmt: skip
        least = max(c.same_cosine, float(pairs.terms[k, FEATURE]) + MARGIN)
        if (terms[:, FEATURE] >= least).any():
            pairs.total[k] = 0.0
