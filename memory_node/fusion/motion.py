# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Is this the thing that left over there? A thing that moved keeps its identity.

A short way, within the gate of the arbiter, shows in the mean of its new sightings beside that of
the earlier ones: `noted_shifts`. Farther off a second object has come to be. It is the first one
if that one's place was seen empty, and nothing speaks against it: `reunions`. All that is looked
for and all that was found are matched at once.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from memory_node import decay
from memory_node.config import CHRONOTOPE, Config
from memory_node.fusion import standing
from memory_node.fusion.arbiter import LABEL, TIE, Judgement
from memory_node.fusion.identity import Belief, merged
from memory_node.fusion.intake import Evidence
from memory_node.fusion.looks import Look, variance_of
from memory_node.fusion.presence import ABSENT
from memory_node.fusion.update import CONFIRMED, ChangeDraft, Update
from memory_node.fusion.world import IS_LOST, Records, Rows, World
from memory_node.model import Aspect, ChangeKind, Floats
from memory_node.scene import boxes

DIGITS = 9
_LOSSES = (ChangeKind.DOUBTFUL, ChangeKind.ABSENT)
VISIT_GAP_S = 60.0
"""A thing not seen for so long may have been moved meanwhile: its sightings are averaged anew."""
SPEED_MPS, REST_S = 0.2, 1.0
"""What is on its way, at that speed or more, has moved once it has rested for so long."""
SHIFT_SIGMAS, SURE_SIGMAS, SURE_COUNT = 4.64, 4.11, 3
"""What a mean must shift by in standard deviations, for something that surely was moved meanwhile.
It is asked at every look, so it must hold from the first one; less will do from the third on. See
`_least_shift` for what is moved less often."""
DAY_S = 86400.0
"""As far as is known, something may have been moved on the day before it is seen elsewhere."""
SELDOM_S, SELDOM_SIGMAS = 60 * 86400.0, 7.0
"""What seldom moves, by its half-life, must be farther off."""
PARTIAL = 0.1
"""A single sighting may be of a part of the thing only, so off by this share of its diagonal."""
SETTLED_COUNT = 9
"""The running mean knows a place as well as so many sightings: 1 / SETTLED of the arbiter."""
SIZE_SPREAD = 0.3
"""How much a side of the same thing may differ, as a share, from one mean to another."""
SIZE_RATIO = 1.6
"""Things whose diagonals differ more are not the same; sides do, where only a hull is seen."""
FALSE_WEIGHT = 12.0
"""Chance that what was seen once is a false alarm, beside that it is what left, for each share of
false alarms among what is known."""
NO_FEATURE = 0.95
"""Likeness of two things of a label that have no features: less than of one thing to itself."""
SIGHTINGS = 2
"""Without a feature, what was seen but once may be a false alarm, and is nothing that was lost."""


def sigma_of(cov: Floats, noise_m: float, localization_cov: Any) -> Floats:
    """(n,) position noise of detections, from what is stored with the view.

    Args:
        cov: (n, 9), NaN where unknown. noise_m: of the sensor. localization_cov: (6, 6) or None.
    """
    more = 0.0 if localization_cov is None else max(0.0, variance_of(localization_cov))
    sigma = np.empty(len(cov))
    standing.sigmas(cov, noise_m**2, more, sigma)
    return sigma


def noted_shifts(
    update: Update, evidence: Evidence, judgement: Judgement, sigma: Floats, look: Look,
    world: World, c: Config,
) -> Update:  # fmt: skip
    """The update with a MOVED line for each object that is seen beside where it lay.

    Args:
        update: of the view; its records are changed in place.
        evidence, judgement, look: of the view. sigma: (n,) noise of its detections.
        world: as before it. c: settings.
    """
    count = len(update.rows)
    after = update.after
    if c.profile == CHRONOTOPE:
        return update
    new, old = after[count:], after[:count]
    new['rest'], new['rest_count'] = new['center'], 1
    if not count or not c.motion:
        return update
    away = np.empty(count)
    found = standing.follow(
        after, world.records, update.rows, update.place, evidence.center, sigma,
        judgement.terms[:, LABEL], evidence.score, c.create_score,
        world.pinned(old['id'], Aspect.POSE).view(np.uint8), look.stamp_ns,
        (SHIFT_SIGMAS, SURE_SIGMAS, SPEED_MPS, c.moved_distance_m, VISIT_GAP_S, REST_S),
        (SETTLED_COUNT, SIGHTINGS, SURE_COUNT), away,
    )  # fmt: skip
    if not found:
        return update
    before, noise = world.take(update.rows), sigma[update.place[:count]]
    places = np.flatnonzero(away >= _least_shift(old, before, noise, world))
    rest, fresh = old['rest'].copy(), old['fresh'].copy()
    old['rest'][places], old['rest_count'][places] = fresh[places], old['fresh_count'][places]
    old['fresh'][places], old['fresh_count'][places] = 0.0, 0
    return _with_moves(update, places, rest, fresh)


def _least_shift(old: Records, before: Records, noise: Floats, world: World) -> Floats:
    """(R,) what noise, and a thing seen in part, may shift; infinite for what never moves.

    The log-likelihood ratio of a shift of s standard deviations is s²/2, and is set against the
    odds of being moved: what a class is moved by in a day (or since it was first seen, which makes
    a first sighting that was off unlikely to be a move) is asked for beside the constants.
    """
    names = world.labels.names
    half_life_s = world.columns.half_life_s(old['label'], names)
    seldom = half_life_s > SELDOM_S
    rest_count, fresh_count = np.maximum(old['rest_count'], 1), np.maximum(old['fresh_count'], 1)
    sigmas = np.where(fresh_count >= SURE_COUNT, SURE_SIGMAS, SHIFT_SIGMAS)
    time_s = np.clip((old['fresh_ns'] - before['first_seen_ns']) / 1e9, REST_S, DAY_S)
    moved = 1.0 - decay.exp2(-time_s / half_life_s)
    sigmas = np.sqrt(sigmas**2 - 2.0 * np.log(moved))
    sigmas = np.where(seldom, SELDOM_SIGMAS, sigmas)
    least = sigmas * noise * np.sqrt(1.0 / rest_count + 1.0 / fresh_count)
    diagonal = 2.0 * np.sqrt(boxes.tree_sum(before['half'] ** 2))
    least += np.where(fresh_count < SIGHTINGS, PARTIAL * diagonal, 0.0)
    fixed = world.columns.is_fixed(old['label'], names)
    result: Floats = np.where(fixed, np.inf, least).round(DIGITS)
    return result


def _with_moves(update: Update, places: np.ndarray, start: Floats, end: Floats) -> Update:
    if not len(places):
        return update
    after, some = update.after, set(places.tolist())
    for name in ('center', 'hull_center', 'version_center'):
        after[name][places] = end[places]
    after['version_size'][places] = after['size'][places]
    changes = [
        draft for draft in update.changes
        if draft.place not in some or draft.kind is not ChangeKind.UPDATED
    ]  # fmt: skip
    changes += [
        ChangeDraft(
            ChangeKind.MOVED, k, {'center_m': start[k].tolist()}, 'it is seen beside where it lay',
            {'center_m': end[k].tolist()},
        )
        for k in places.tolist()
    ]  # fmt: skip
    ids = after['id'].tolist()
    changes.sort(key=lambda draft: ids[draft.place])
    return dataclasses.replace(update, changes=changes)


# -- farther off -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Reunion:
    """An object that was lost, and the one that it turned out to be.

    Attributes:
        old_id, new_id: the first goes on. probability: that it is so.
    """

    old_id: int
    new_id: int
    probability: float


def may_reunite(updates: Sequence[Update], world: World, c: Config) -> bool:
    """Whether a view that was planned may bring something lost together with something found."""
    if not c.motion or c.profile == CHRONOTOPE:
        return False
    if any(draft.kind in _LOSSES for update in updates for draft in update.changes):
        return True
    return bool(world.lost) and any(
        not world.lost.keys().isdisjoint(update.after['label'].tolist()) for update in updates[:1]
    )


def reunions(world: World, updates: Sequence[Update], now_ns: int, c: Config) -> list[Reunion]:
    """Which lost objects have been found, after a view was applied.

    Args:
        world: with the view applied. updates: what it changed. now_ns: its stamp. c: settings.
    """
    r = world.records
    seen = world.rows_of(updates[0].after['id'])
    newly = {
        int(update.after['label'][draft.place])
        for update in updates for draft in update.changes if draft.kind in _LOSSES
    }  # fmt: skip
    since = world.lost_since
    young_labels = {
        label
        for label, first in zip(r['label'][seen].tolist(), r['first_seen_ns'][seen].tolist())
        if label in since and first > since[label]
    }
    found = []
    for label in sorted((young_labels | newly) & world.lost.keys()):
        old = np.array(sorted(world.lost[label]), dtype=np.int64)
        if not len(old):
            continue
        last_ns = int(r['last_seen_ns'][old].min())
        young = world.rows_of_label(label, last_ns) if label in newly else np.sort(seen)
        young = young[(r['label'][young] == label) & (r['first_seen_ns'][young] > last_ns)]
        young = young[~IS_LOST[r['state'][young]]]
        if not len(young):
            continue
        old = old[r['last_seen_ns'][old] < r['first_seen_ns'][young].max()]
        if world.columns.is_fixed(r['label'][old[:1]], world.labels.names)[0]:
            continue
        found += _matched(world, old, young, now_ns, c, settled=True)
    return found


def hypotheses(
    world: World, now_ns: int, c: Config, rows: Rows | None = None, most: int | None = None
) -> list[Reunion]:
    """What may be the same although its place was not looked at since; jointly the likeliest.

    Args:
        world: the live objects. now_ns: stamp of now. c: settings.
        rows: only about the labels of these objects; None: about all.
        most: labels of more objects than that are left out; None: none is.
    """
    if not c.motion or c.profile == CHRONOTOPE:
        return []
    r = world.records
    some = world.live_rows() if rows is None else rows
    labels = np.unique(r['label'][some])
    labels = labels[~world.columns.is_fixed(labels, world.labels.names)]
    false: float | None = None
    found = []
    for label in labels.tolist():
        alike = world.rows_of_label(label)
        if len(alike) < 2 or (most is not None and len(alike) > most):
            continue
        if false is None and (r['observations'][alike] < SIGHTINGS).any():
            false = _false_alarms(world)
        young = alike[r['state'][alike] != ABSENT]
        found += _matched(world, alike, young, now_ns, c, settled=False, false=false or 0.0)
    return found


def _false_alarms(world: World) -> float:
    """How likely what was seen once is a false alarm, by how many of such were not there again."""
    rows = world.live_rows()
    once = world.records['observations'][rows] < SIGHTINGS
    count = int(IS_LOST[world.records['state'][rows[once]]].sum())
    return FALSE_WEIGHT * count / max(1, count + int((~once).sum()))


def _matched(
    world: World,
    old: Rows,
    young: Rows,
    now_ns: int,
    c: Config,
    settled: bool,
    false: float = 0.0,
) -> list[Reunion]:
    """The assignment of old to young objects that is likeliest as a whole."""
    if not len(old) or not len(young):
        return []
    chance = _chances(world, old, young, now_ns, c, settled, false)
    least = c.same_probability if settled else 0.5
    likely = chance >= least
    if not likely.any():
        return []
    gain = np.where(likely, chance * _likeness_of_size(world, old, young), 0.0)
    ids = world.records['id']
    order = np.argsort(np.argsort(ids[young]))[None] + np.argsort(np.argsort(ids[old]))[:, None]
    a, b = linear_sum_assignment(gain - order * (TIE / gain.size), maximize=True)
    return [
        Reunion(int(ids[old[i]]), int(ids[young[j]]), float(chance[i, j]))
        for i, j in zip(a.tolist(), b.tolist()) if gain[i, j] > 0
    ]  # fmt: skip


def _chances(
    world: World, old: Rows, young: Rows, now_ns: int, c: Config, settled: bool, false: float
) -> Floats:
    """(O, Y) how likely each young object is the old one; 0 where it cannot be."""
    r, nothing = world.records, np.zeros((len(old), len(young)))
    possible = r['first_seen_ns'][young][None] > r['last_seen_ns'][old][:, None]
    possible &= r['map'][old][:, None] == r['map'][young][None]
    if not possible.any():
        return nothing
    alike = _likeness(world, old, young)
    possible &= ~(alike < c.same_cosine)
    if not possible.any():  # as a rule
        return nothing
    a, b = world.take(old), world.take(young)
    size_a, size_b = (np.sqrt(boxes.tree_sum(s['size'] ** 2)) for s in (a, b))
    known = (size_a[:, None] > 0) & (size_b[None] > 0)
    ratio = np.where(known, size_a[:, None] / np.where(size_b > 0, size_b, 1.0)[None], 1.0)
    possible &= (ratio.round(DIGITS) <= SIZE_RATIO) & ((1.0 / ratio).round(DIGITS) <= SIZE_RATIO)
    if settled:
        possible &= (b['observations'] >= SIGHTINGS)[None] | (alike >= c.same_cosine)
    went = _went(world, a, b, now_ns)
    alarm = np.where(b['observations'] < SIGHTINGS, false, 0.0)[None]
    chance = went / np.maximum(went + (1.0 - went) * c.novelty + alarm, 1e-12)
    chance = chance * np.where(np.isnan(alike), NO_FEATURE, alike)
    result: Floats = np.where(possible, chance, 0.0).round(DIGITS)
    return result


def _likeness_of_size(world: World, old: Rows, young: Rows) -> Floats:
    """(O, Y) 1 for boxes of the same sides, however turned, less for others; 1 where unknown."""
    sides = [np.sort(world.records['size'][rows], axis=1) for rows in (old, young)]
    a, b = sides[0][:, None], sides[1][None]
    largest = np.maximum(a, b)
    apart = np.abs(a - b) / np.where(largest > 0, largest, 1.0) / SIZE_SPREAD
    known = (sides[0][:, None, 2] > 0) & (sides[1][None, :, 2] > 0)
    result: Floats = np.where(known, 1.0 / (1.0 + boxes.tree_sum(apart * apart)), 1.0)
    return result.round(DIGITS)


def _went(world: World, old: Records, young: Records, now_ns: int) -> Floats:
    """(O, Y) how likely each old one left before the young one was first seen, by class and misses.

    It may also have left later, to where nobody saw it, or be there still. What was seen a moment
    before the young one has hardly been carried off in between, whatever happened afterwards.
    Unlike `odds` this is not bounded.
    """
    half_life_s = world.columns.half_life_s(old['label'], world.labels.names)[:, None]
    last_ns = old['last_seen_ns'][:, None]
    until_s = np.maximum((young['first_seen_ns'][None] - last_ns) / 1e9, 0.0)
    age_s = np.maximum((now_ns - last_ns) / 1e9, until_s)
    stayed, stays = decay.exp2(-until_s / half_life_s), decay.exp2(-age_s / half_life_s)
    left, later = 1.0 - stayed, stayed - stays
    result: Floats = left / np.maximum(left + later + stays * old['doubt'][:, None], 1e-300)
    return result


def _likeness(world: World, old: Rows, young: Rows) -> Floats:
    """(O, Y) cosine of the features; NaN where either has none."""
    alike = np.full((len(old), len(young)), np.nan)
    held = np.flatnonzero(world.records['has_feature'][old])
    others = np.flatnonzero(world.records['has_feature'][young])
    if len(held) and len(others):
        one = world.features.take(old[held]).astype(np.float64)
        other = world.features.take(young[others]).astype(np.float64)
        for k, feature in zip(held.tolist(), one):
            alike[k, others] = boxes.tree_sum(other * feature)
    return alike


def reunited(old: Belief, new: Belief, world: World) -> Belief:
    """What a lost object is once it was found: its identity, at the place of the new one."""
    together = merged(old, new, world)
    record = new.record.copy()
    for name in ('id', 'observations', 'looks', 'confidence', 'first_seen_ns', 'last_seen_ns',
                 'labels', 'label', 'masses', 'has_feature'):  # fmt: skip
        record[name] = together.record[name]
    if CONFIRMED in (old.record['state'][0], new.record['state'][0]) or old.count >= SIGHTINGS:
        record['state'] = CONFIRMED
    record['version_center'], record['version_size'] = record['center'], record['size']
    return Belief(record, together.more, together.feature)
