# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Everything that decides, as one value: what a view means, and what that does to what is known.

`plan` looks and decides, `apply` makes it so. Between the two the caller writes the plan to disk,
so that memory and file never differ. Replaying a stored plan goes the same way.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from memory_node.config import CHRONOTOPE, Config
from memory_node.fusion.arbiter import DOUBLE, Judgement, Pairs, find_pairs, judge
from memory_node.fusion.candidates import CandidateIndex
from memory_node.fusion.doubles import doubles
from memory_node.fusion.intake import Evidence, Intake, take_in
from memory_node.fusion.labels import Ints
from memory_node.fusion.looks import Look, look_of
from memory_node.fusion.motion import noted_shifts, sigma_of
from memory_node.fusion.noise import believed, learned
from memory_node.fusion.presence import PRESENCE_KINDS, Missing, keep_apart, missing, supported
from memory_node.fusion.rejections import Rejection, Rejections
from memory_node.fusion.shift import Shift, located_in, no_shift
from memory_node.fusion.swaps import keep_swapped_apart
from memory_node.fusion.tombstones import Tombstone, Tombstones
from memory_node.fusion.update import Update, apply_update
from memory_node.fusion.visibility import NO_SIGHTS, Sights, sights_of
from memory_node.fusion.world import World
from memory_node.model import VerdictKind, View
from memory_node.scene.boxes import Bools

NOISIER = 1.1
"""A view that shows its sensor to be noisier than believed, by this factor, is judged by that."""
_CREATED, _MERGED, _REJECTED = VerdictKind.CREATED, VerdictKind.MERGED, VerdictKind.REJECTED


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
        shift: what was taken away from the positions of the view.
        noise_m: position noise of its sensor from now on.
        cleared: tombstones that this view's evidence clears.
        refused: place in the view → reason, for what is malformed.
        applied: whether `apply` has happened already (profile chronotope).
        sights: what counts of what the view says of objects that it does not show.
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
    shift: Shift
    noise_m: float | None = None
    refused: dict[int, str] = field(default_factory=dict)
    applied: bool = False
    sights: Sights = NO_SIGHTS

    @property
    def featured(self) -> list[int]:
        """Objects whose feature it changes."""
        return [
            number
            for update in self.updates
            for number in update.after['id'][update.feature_place].tolist()
        ]

    @cached_property
    def kinds(self) -> list[VerdictKind]:
        """The verdict of each accepted detection."""
        told = self.judgement
        return [
            _MERGED if row >= 0 or twin >= 0 else _CREATED if new else _REJECTED
            for row, twin, new in zip(told.row.tolist(), told.twin.tolist(), told.created.tolist())
        ]


class Engine:
    """The working set and all that is decided from it.

    Attributes:
        world, index: the live objects. tombstones, rejections: what is kept out.
        last_object_id: the highest id ever given.
        shift: of the last view. noise_m: sensor → position noise, as learned so far.
    """

    def __init__(
        self, world: World, tombstones: Tombstones, rejections: Rejections, last_object_id: int
    ) -> None:
        self.world, self.tombstones, self.rejections = world, tombstones, rejections
        self.index = CandidateIndex(world)
        self.last_object_id = last_object_id
        self.shift: Shift | None = None
        self.noise_m: dict[str, float] = {}

    def plan(
        self, view: View, seq: int, config: Config, ignored: frozenset[str], space: str = ''
    ) -> Plan:
        """Judge a view. Nothing is changed, but for profile chronotope (see `Plan.applied`).

        Args:
            view: as given. seq: log line it will have.
            config: settings. ignored: case-folded labels to leave out.
            space: name of the feature space in use; empty: unnamed, so any will do.
        """
        sigma_m = believed(self.noise_m.get(view.sensor, 0.0), config)
        intake = take_in(
            view.detections, self.world.features.dim, sigma_m, ignored,
            foreign=bool(space and view.feature_space and space != view.feature_space),
            in_turn=config.profile == CHRONOTOPE,
        )  # fmt: skip
        evidence = intake.evidence
        intern = self.world.labels.intern
        label = np.array([intern(text) for text in evidence.labels], dtype=np.int32)
        map_number = self.world.map_number(view.map_id)
        look = look_of(seq, int(view.stamp_ns), view.sensor_pose, map_number)
        if config.profile == CHRONOTOPE:
            return self._plan_in_turn(intake, label, look, config, view.sensor)
        located = located_in(
            evidence.less_sure_by(view.localization_cov), label, look, self.world, self.index,
            self.shift, config,
        )  # fmt: skip
        evidence, pairs = located.evidence, located.pairs
        noise_m = None
        if config.learn_noise:
            noise_m = learned(sigma_m, evidence, pairs, self.world, config.position_sigma_m)
            if noise_m > NOISIER * sigma_m:
                evidence = evidence.noisier(sigma_m, noise_m)
                pairs = find_pairs(evidence, label, map_number, self.world, self.index, config)
        judgement, stones = self._judge(evidence, label, look, pairs, config)
        update = supported(
            evidence, label, judgement, look, self.world, self.last_object_id + 1, view.sensor,
            config,
        )  # fmt: skip
        update = noted_shifts(
            update, evidence, judgement,
            sigma_of(evidence.cov, noise_m or config.position_sigma_m, view.localization_cov),
            look, self.world, config,
        )  # fmt: skip
        updates, missed = [update], Missing()
        if config.presence and view.field_of_view is not None:
            found = sights_of(
                view, located.shift.vector, update.rows, (evidence.center, evidence.half),
                self.world, self.index, map_number, config,
            )  # fmt: skip
            missed = missing(found, look, self.world, config)
            if missed.update is not None:
                updates.append(missed.update)
        intake = Intake(evidence, intake.refused)
        return self._plan(
            intake, label, judgement, stones, updates, look, config, located.shift, noise_m,
            sights=missed.sights,
        )  # fmt: skip

    def apply(self, plan: Plan, sensor: str = '') -> None:
        """Make a plan so."""
        self.shift = plan.shift
        if plan.noise_m is not None:
            self.noise_m[sensor] = plan.noise_m
        for stone in plan.barred:
            if stone is not None:
                self.tombstones.put(stone)
        self.rejections.apply(plan.rejections)
        glances = plan.sights.glances
        self.world.note_checks(glances.rows, glances.kind, plan.look.stamp_ns)
        if not plan.applied:
            for update in plan.updates:
                self.apply_update(update)
        self.index.maintain()

    def _judge(
        self, evidence: Evidence, label: Ints, look: Look, pairs: Pairs, config: Config
    ) -> tuple[Judgement, list[Tombstone | None]]:
        stones = self.tombstones.barring(
            evidence, label, look.map_number, config.dilation_m, look.stamp_ns
        )
        barred = np.array([stone is not None for stone in stones], dtype=bool)
        twin = None
        if config.profile != CHRONOTOPE:
            keep_apart(pairs, label, self.world, config)
            if config.motion:
                keep_swapped_apart(evidence, label, pairs, look, self.world, config)
        if config.fold_duplicates and config.profile != CHRONOTOPE:
            twin = doubles(evidence, label, config.fold_iou)
        return judge(evidence, pairs, barred, config, twin), stones

    def _plan(
        self, intake: Intake, label: Ints, judgement: Judgement,
        stones: list[Tombstone | None], updates: list[Update], look: Look, config: Config,
        shift: Shift, noise_m: float | None = None, applied: bool = False,
        sights: Sights = NO_SIGHTS,
    ) -> Plan:  # fmt: skip
        evidence = intake.evidence
        barred = barred_stones(evidence, judgement, stones, look, config)
        final = {stone.object_id: stone for stone in barred if stone is not None}
        reasons = reasons_to_keep(judgement, barred)
        rejections = self.rejections.plan(
            evidence, label, reasons, look.map_number, config.dilation_m, look.seq
        )
        ids = self.world.records['id'][judgement.candidate].tolist()
        candidates = zip(judgement.candidate.tolist(), ids)
        return Plan(
            look=look,
            evidence=evidence,
            judgement=judgement,
            object_ids=object_ids_of(judgement, updates),
            candidate_ids=[number if row >= 0 else None for row, number in candidates],
            kept=_kept(len(evidence), updates),
            barred=barred,
            rejections=rejections,
            updates=updates,
            cleared=[final[i] for i in sorted(final) if final[i].is_cleared(config)],
            shift=shift,
            noise_m=noise_m,
            refused=intake.refused,
            applied=applied,
            sights=sights,
        )

    def _plan_in_turn(
        self, intake: Intake, label: Ints, look: Look, config: Config, sensor: str
    ) -> Plan:
        """Chronotope judges one detection after the other, in the order in which they came."""
        evidence = intake.evidence
        n = len(evidence)
        parts: list[Judgement | None] = [None] * n
        stones: list[Tombstone | None] = [None] * n
        updates = []
        for k in range(n):
            one = evidence.one(k)
            some = label[k : k + 1]
            pairs = find_pairs(one, some, look.map_number, self.world, self.index, config)
            judgement, stone = self._judge(one, some, look, pairs, config)
            update = supported(
                one, some, judgement, look, self.world, self.last_object_id + 1, sensor,
                config,
            )  # fmt: skip
            self.apply_update(update)
            updates.append(update.moved_to(k, n))
            parts[k], stones[k] = judgement, stone[0]
        judgement = Judgement.joined([p for p in parts if p is not None])
        return self._plan(
            intake, label, judgement, stones, updates, look, config, no_shift(look), applied=True
        )

    def apply_update(self, update: Update) -> None:
        """Make the update of a plan so."""
        count = len(update.rows)
        rows = apply_update(update, self.world)
        self.index.update(rows[:count])
        self.index.add(rows[count:])
        self.last_object_id += len(rows) - count
        turned = [draft.place for draft in update.changes if draft.kind in PRESENCE_KINDS]
        if turned:
            self.world.note_lost(rows[turned])


def barred_stones(
    evidence: Evidence, judgement: Judgement, stones: list[Tombstone | None], look: Look,
    config: Config,
) -> list[Tombstone | None]:  # fmt: skip
    """The tombstones of the detections they rejected, with these sightings counted."""
    barred: list[Tombstone | None] = [None] * len(stones)
    fresh: dict[int, Tombstone] = {}
    for k, stone in enumerate(stones):
        if stone is None or judgement.reason[k] in ('', DOUBLE):
            continue
        if evidence.score[k] < config.create_score:
            continue
        known = fresh.get(stone.object_id, stone)
        seen = known.seen(float(evidence.score[k]), evidence.center[k], look, config)
        fresh[stone.object_id] = barred[k] = seen
    return barred


def reasons_to_keep(judgement: Judgement, barred: list[Tombstone | None]) -> list[str]:
    """Why each detection makes a keyed rejection; empty: it makes none."""
    return [
        reason if stone is None and reason != DOUBLE else ''
        for reason, stone in zip(judgement.reason, barred)
    ]


def object_ids_of(judgement: Judgement, updates: list[Update]) -> list[int | None]:
    """The object that each detection went to; None: it was rejected."""
    ids: list[int | None] = [None] * len(judgement.row)
    for update in updates:
        for place, number in zip(update.place.tolist(), update.after['id'].tolist()):
            ids[place] = number
    for place, first in enumerate(judgement.twin.tolist()):
        if first >= 0:
            ids[place] = ids[first]
    return ids


def _kept(count: int, updates: list[Update]) -> Bools:
    kept = np.zeros(count, bool)
    for update in updates:
        if len(update.kept):
            kept |= update.kept
    return kept
