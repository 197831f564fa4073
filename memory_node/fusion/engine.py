# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Everything that decides, as one value: what a view means, and what that does to what is known.

`plan` looks and decides, `apply` makes it so. Between the two the caller writes the plan to disk,
so that memory and file never differ. Replaying a stored plan goes the same way.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from memory_node.config import CHRONOTOPE, Config
from memory_node.fusion.arbiter import Judgement, find_pairs, judge
from memory_node.fusion.candidates import CandidateIndex
from memory_node.fusion.intake import Evidence, Intake, take_in
from memory_node.fusion.labels import Ints
from memory_node.fusion.looks import Look, look_of
from memory_node.fusion.rejections import Rejection, Rejections
from memory_node.fusion.tombstones import Tombstone, Tombstones
from memory_node.fusion.update import Update, apply_update, plan_update
from memory_node.fusion.world import World
from memory_node.model import VerdictKind, View
from memory_node.scene.boxes import Bools


@dataclass(frozen=True)
class Plan:
    """What a view means; n detections were accepted.

    Attributes:
        look, evidence, judgement: as judged.
        object_ids: object each detection went to; None: rejected.
        candidate_ids: object that its terms are about; None: there was no candidate.
        kept: (n,) whether its feature is stored.
        barred: the tombstone that rejected it, as it will be; None: none did.
        rejections: the keyed rejection, as it will be; None: it was not rejected.
        updates: what happens to the objects, in order.
        cleared: tombstones that this view's evidence clears.
        refused: place in the view → reason, for what is malformed.
        applied: whether `apply` has happened already (profile chronotope).
    """

    look: Look
    evidence: Evidence
    judgement: Judgement
    object_ids: list[int | None]
    candidate_ids: list[int | None]
    kept: Bools
    barred: list[Tombstone | None]
    rejections: list[Rejection | None]
    updates: list[Update]
    cleared: list[Tombstone]
    refused: dict[int, str] = field(default_factory=dict)
    applied: bool = False

    @property
    def kinds(self) -> list[VerdictKind]:
        """The verdict of each accepted detection."""
        joined = (self.judgement.row >= 0).tolist()
        return [
            VerdictKind.MERGED if old else VerdictKind.CREATED if new else VerdictKind.REJECTED
            for old, new in zip(joined, self.judgement.created.tolist())
        ]


class Engine:
    """The working set and all that is decided from it.

    Attributes:
        world, index: the live objects. tombstones, rejections: what is kept out.
        last_object_id: the highest id ever given.
    """

    def __init__(
        self, world: World, tombstones: Tombstones, rejections: Rejections, last_object_id: int
    ) -> None:
        self.world, self.tombstones, self.rejections = world, tombstones, rejections
        self.index = CandidateIndex(world)
        self.last_object_id = last_object_id

    def plan(
        self, view: View, seq: int, config: Config, ignored: frozenset[str], space: str = ''
    ) -> Plan:
        """Judge a view. Nothing is changed, but for profile chronotope (see `Plan.applied`).

        Args:
            view: as given. seq: log line it will have.
            config: settings. ignored: case-folded labels to leave out.
            space: name of the feature space in use; empty: unnamed, so any will do.
        """
        intake = take_in(
            view.detections, self.world.features.dim, config.position_sigma_m, ignored,
            foreign=bool(space and view.feature_space and space != view.feature_space),
            in_turn=config.profile == CHRONOTOPE,
        )  # fmt: skip
        evidence = intake.evidence
        intern = self.world.labels.intern
        label = np.array([intern(text) for text in evidence.labels], dtype=np.int32)
        map_number = self.world.map_number(view.map_id)
        look = look_of(seq, int(view.stamp_ns), view.sensor_pose, map_number)
        if config.profile == CHRONOTOPE:
            return self._plan_in_turn(intake, label, look, config)
        judgement, stones = self._judge(evidence, label, look, config)
        update = plan_update(
            evidence, label, judgement, look, self.world, self.last_object_id + 1, config
        )
        return self._plan(intake, label, judgement, stones, [update], look, config)

    def apply(self, plan: Plan) -> None:
        """Make a plan so."""
        for stone in plan.barred:
            if stone is not None:
                self.tombstones.put(stone)
        self.rejections.apply(plan.rejections)
        if not plan.applied:
            for update in plan.updates:
                self.apply_update(update)
        self.index.maintain()

    def _judge(
        self, evidence: Evidence, label: Ints, look: Look, config: Config
    ) -> tuple[Judgement, list[Tombstone | None]]:
        number = look.map_number
        pairs = find_pairs(evidence, label, number, self.world, self.index, config)
        stones = self.tombstones.barring(evidence, label, number, config.dilation_m)
        barred = np.array([stone is not None for stone in stones], dtype=bool)
        return judge(evidence, pairs, barred, config), stones

    def _plan(
        self, intake: Intake, label: Ints, judgement: Judgement,
        stones: list[Tombstone | None], updates: list[Update], look: Look, config: Config,
        applied: bool = False,
    ) -> Plan:  # fmt: skip
        evidence = intake.evidence
        barred = barred_stones(evidence, judgement, stones, look, config)
        final = {stone.object_id: stone for stone in barred if stone is not None}
        reasons = [
            reason if stone is None else '' for reason, stone in zip(judgement.reason, barred)
        ]
        rejections = self.rejections.plan(
            evidence, label, reasons, look.map_number, config.dilation_m, look.seq
        )
        ids = self.world.records['id']
        candidates = judgement.candidate.tolist()
        return Plan(
            look=look,
            evidence=evidence,
            judgement=judgement,
            object_ids=object_ids_of(len(evidence), updates),
            candidate_ids=[int(ids[row]) if row >= 0 else None for row in candidates],
            kept=_kept(len(evidence), updates),
            barred=barred,
            rejections=rejections,
            updates=updates,
            cleared=[final[i] for i in sorted(final) if final[i].is_cleared(config)],
            refused=intake.refused,
            applied=applied,
        )

    def _plan_in_turn(self, intake: Intake, label: Ints, look: Look, config: Config) -> Plan:
        """Chronotope judges one detection after the other, in the order in which they came."""
        evidence = intake.evidence
        n = len(evidence)
        parts: list[Judgement | None] = [None] * n
        stones: list[Tombstone | None] = [None] * n
        updates = []
        for k in range(n):
            one = evidence.one(k)
            judgement, stone = self._judge(one, label[k : k + 1], look, config)
            update = plan_update(
                one, label[k : k + 1], judgement, look, self.world, self.last_object_id + 1, config
            )
            self.apply_update(update)
            updates.append(update.moved_to(k, n))
            parts[k], stones[k] = judgement, stone[0]
        judgement = Judgement.joined([p for p in parts if p is not None])
        return self._plan(intake, label, judgement, stones, updates, look, config, applied=True)

    def apply_update(self, update: Update) -> None:
        """Make the update of a plan so."""
        count = len(update.rows)
        rows = apply_update(update, self.world)
        self.index.update(rows[:count])
        self.index.add(rows[count:])
        self.last_object_id += len(rows) - count


def barred_stones(
    evidence: Evidence, judgement: Judgement, stones: list[Tombstone | None], look: Look,
    config: Config,
) -> list[Tombstone | None]:  # fmt: skip
    """The tombstones of the detections they rejected, with these sightings counted."""
    barred: list[Tombstone | None] = [None] * len(stones)
    fresh: dict[int, Tombstone] = {}
    for k, stone in enumerate(stones):
        if stone is None or judgement.row[k] >= 0 or not judgement.reason[k]:
            continue
        if evidence.score[k] < config.create_score:
            continue
        known = fresh.get(stone.object_id, stone)
        seen = known.seen(float(evidence.score[k]), evidence.center[k], look, config)
        fresh[stone.object_id] = barred[k] = seen
    return barred


def object_ids_of(count: int, updates: list[Update]) -> list[int | None]:
    """The object that each of `count` detections went to; None: it was rejected."""
    ids: list[int | None] = [None] * count
    for update in updates:
        for place, number in zip(update.place.tolist(), update.after['id'].tolist()):
            ids[place] = number
    return ids


def _kept(count: int, updates: list[Update]) -> Bools:
    kept = np.zeros(count, bool)
    for update in updates:
        kept |= update.kept
    return kept
