# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Show a stream to a memory, and see what it made of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from identity.score import Tally, score
from identity.stream import Stream
from identity.why import Why, explain
from memory_node import Config, SpatialMemory
from memory_node.model import MemoryObject, Verdict


@dataclass
class Outcome:
    """Of one row and one configuration.

    Attributes:
        tally: the figures. why: what led to its errors. reasons: reason → rejected detections.
    """

    tally: Tally = field(default_factory=Tally)
    why: Why = field(default_factory=Why)
    reasons: Counter[str] = field(default_factory=Counter)


def run(streams: Sequence[Stream], config: Config) -> Outcome:
    """Show each stream to a memory of its own."""
    outcome = Outcome()
    for stream in streams:
        verdicts, ids, objects = _show(stream, config)
        outcome.tally.add(score(stream, ids, objects))
        outcome.why.add(explain(stream, verdicts, ids))
        outcome.reasons.update(v.reason for view in verdicts for v in view if v.reason)
    return outcome


def _show(
    stream: Stream, config: Config
) -> tuple[list[Sequence[Verdict]], list[list[int | None]], dict[int, MemoryObject]]:
    """Verdicts and final object ids of each view, and the objects at the end."""
    memory = SpatialMemory.open(':memory:', config)
    try:
        verdicts: list[Sequence[Verdict]] = []
        for shown in stream.shown:
            commit = memory.observe(shown.view)
            if commit.refused:
                raise RuntimeError(f'a view of the bench was refused: {commit.refused}')
            verdicts.append(commit.verdicts)
        objects = {o.id: o for o in memory.objects()}
        lives_in = {
            v.object_id: v.object_id if v.object_id in objects else _survivor(memory, v.object_id)
            for view in verdicts
            for v in view
            if v.object_id is not None
        }
        ids = [[v.object_id and lives_in[v.object_id] for v in view] for view in verdicts]
        return verdicts, ids, objects
    finally:
        memory.close()


def _survivor(memory: Any, object_id: int) -> int:
    """Where an id that has ended lives now: an object merged into another resolves to it."""
    return int(memory.object(object_id).id)
