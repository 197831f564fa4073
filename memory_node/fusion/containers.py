# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What is inside something that is not open cannot be seen, so it is not missed either."""

from __future__ import annotations

import numpy as np

from memory_node.fusion.world import Rows, World
from memory_node.scene.boxes import Bools

DIGITS = 9


def shut_in(rows: Rows, world: World) -> Bools:
    """(R,) which objects were put into something that is not open, and still lie in its hull.

    What was seen elsewhere since does not, and what has ended holds nothing.
    """
    found = np.zeros(len(rows), bool)
    if not world.inside:
        return found
    records = world.records
    for k, number in enumerate(records['id'][rows].tolist()):
        holder = world.row_of(world.inside.get(number, 0))
        if holder is not None:
            away = np.abs(records['center'][rows[k]] - records['hull_center'][holder])
            within = (away - records['half'][holder]).round(DIGITS) <= 0
            found[k] = bool(within.all()) and records['map'][rows[k]] == records['map'][holder]
    return found
