# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What tools ask, and what a tool is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from memory_node.agent.arguments import Argument
from memory_node.knowing import Known
from memory_node.model import Change, Hits, MemoryObject, Observation, Query, Relation
from memory_node.notes.calibration import Option
from memory_node.notes.items import Note
from memory_node.notes.reach import Meaning
from memory_node.notes.recall import Recollection
from memory_node.notes.reflect import Reflection
from memory_node.noting import Kept, Rated
from memory_node.recall.answer import Answer as Spoken
from memory_node.recall.search_plan import SearchPlan
from memory_node.scene.approach import Approach

USER, ROBOT = 'user', 'robot_id'
"""What a toolbox adds to the arguments of each call."""


class Source(Protocol):
    """What tools ask: SpatialMemory, or a running node (`ros.tool_source`)."""

    @property
    def newest_stamp_ns(self) -> int:
        """Newest stamp of a view."""

    @property
    def seq(self) -> int:
        """Last log line."""

    def query(self, query: Query) -> Hits:
        """As SpatialMemory.query."""

    def named(self, text: str) -> list[int]:
        """As SpatialMemory.named."""

    def object(self, object_id: int) -> MemoryObject:
        """As SpatialMemory.object."""

    def objects(self) -> Sequence[MemoryObject]:
        """As SpatialMemory.objects."""

    def relate(
        self, subject_ids: Iterable[int] | None, kind: str | None, object_ids: Iterable[int] | None
    ) -> list[Relation]:
        """As SpatialMemory.relate."""

    def history(self, object_id: int, limit: int) -> list[Observation]:
        """As SpatialMemory.history."""

    def changes(self, since_seq: int, limit: int) -> list[Change]:
        """As SpatialMemory.changes."""

    def ask(self, text: str, *, limit: int, user: str = '', robot_id: str = '') -> Spoken:
        """As SpatialMemory.ask."""

    def remember_each(self, given: Sequence[Note]) -> list[Kept]:
        """As SpatialMemory.remember_each."""

    def recall_of(self, text: str, user: str, robot_id: str, *, limit: int) -> Recollection:
        """As SpatialMemory.recall_of."""

    def reflect(self, *, scope: Mapping[str, str]) -> Reflection:
        """As SpatialMemory.reflect."""

    def known_of(self, user: str) -> Known:
        """As SpatialMemory.known_of."""

    def judge_notes(
        self, note_ids: Sequence[str], verdict: str, evidence: str, user: str, robot_id: str
    ) -> list[Rated]:
        """As SpatialMemory.judge_notes."""

    def learn_accepted(
        self, user: str, options: Sequence[Option], chosen: str, *, context: str
    ) -> list[Meaning]:
        """As SpatialMemory.learn_accepted."""

    def state_belief(self, user: str, predicate: str, name: str) -> Any:
        """As SpatialMemory.state_belief."""

    def plan_search(self, text: str, object_id: int | None, *, limit: int) -> SearchPlan:
        """As SpatialMemory.plan_search."""

    def approach(
        self, object_id: int, distance_m: float, *, robot_radius_m: float, limit: int
    ) -> Approach:
        """As SpatialMemory.approach."""


Answer = dict[str, Any]


@dataclass(frozen=True)
class Tool:
    """One function.

    Attributes:
        about: what it does, for the model. arguments: by name.
        run: answers with plain values. writes: whether it changes anything.
    """

    about: str
    arguments: Mapping[str, Argument]
    run: Callable[[Source, Mapping[str, Any]], Answer]
    writes: bool = False
