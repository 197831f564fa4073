# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""SpatialMemory: the one door to everything that is remembered."""

from __future__ import annotations

from memory_node.noting import Noting
from memory_node.planning import Planning


class SpatialMemory(Noting, Planning):
    """A durable memory of the things around a robot, in one file.

    Open it with `SpatialMemory.open(path)` and use it as a context manager, or call `close()`. What
    can be told it stands in `Telling`, what is one thing and what two in `Reconciling`, what a
    person knows better in `Correcting`, what has to go in `Purging`, regions in `Placing`, notes in
    `Remembering` and `Noting`, what follows from them in `Reflecting`, what people mean and like in
    `Knowing`, what can be asked of it in `Asking`, in words in `Answering`, what a planner asks in
    `Planning`. Safe to call from several threads; calls take turns in the order in which they came.
    """
