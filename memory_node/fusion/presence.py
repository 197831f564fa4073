# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Is it still there? A persistence filter for each object, fed by hits and by misses.

After Rosen, Mason and Leonard, "Towards lifelong feature-based mapping in semi-static environments"
(ICRA 2016): a thing leaves once, after a time with a prior of its own, and each look is a noisy
sign of whether it has left yet. With departures that know no age the two evidences of that paper
come down to their ratio, the odds kept here. They are bounded, as no evidence is surer than the
model; so a few independent misses outweigh any number of hits.

States change here and nowhere else, on evidence only. What time does is computed when asked for.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np

from memory_node import decay
from memory_node.config import Config
from memory_node.fusion import standing
from memory_node.fusion.arbiter import LABEL, Judgement, Pairs
from memory_node.fusion.containers import shut_in
from memory_node.fusion.intake import Evidence
from memory_node.fusion.labels import Ints
from memory_node.fusion.looks import Look, independent
from memory_node.fusion.pins import Pins
from memory_node.fusion.update import CONFIRMED, TENTATIVE, ChangeDraft, Update, plan_update
from memory_node.fusion.visibility import (
    EVIDENCE,
    NO_SIGHTS,
    SEEN,
    THROUGH,
    Sights,
    rates_of,
)
from memory_node.fusion.world import CHECKS, STATE_CODE, STATE_WORDS, Records, World
from memory_node.model import Aspect, ChangeKind, Floats, State
from memory_node.scene.boxes import Bools

DOUBTFUL, ABSENT = STATE_CODE[State.DOUBTFUL], STATE_CODE[State.ABSENT]
HELD = STATE_CODE[State.HELD]
PRESENCE_KINDS = (ChangeKind.DOUBTFUL, ChangeKind.ABSENT, ChangeKind.RETURNED)
BIRTH_ODDS = 32.0
"""Of what was seen for the first time."""
MOST_ODDS, LEAST_ODDS = 128.0, 1.0 / 1024.0
LEAST_DOUBT = 1e-9
DIGITS = 9
NOTED_AGAIN_S = 10.0
"""A look without evidence that says the same as the last one is noted after so long."""


def supported(
    evidence: Evidence, label: Ints, judgement: Judgement, look: Look, world: World, next_id: int,
    sensor: str, c: Config, kept: Bools | None = None,
) -> Update:  # fmt: skip
    """`plan_update`, with what being seen says of the presence of the objects; see there.

    sensor: that took the view.
    """
    update = plan_update(evidence, label, judgement, look, world, next_id, c, kept)
    return _noted_hits(update, evidence, judgement, look, world, sensor, c)


@dataclass(frozen=True)
class Missing:
    """What the looks of a view do to what it does not show.

    Attributes:
        update: of the objects that a look says something about; None: there is none.
        sights: the looks that count, and of those without evidence the ones that are noted.
    """

    update: Update | None = None
    sights: Sights = NO_SIGHTS


def _noted_hits(
    update: Update, evidence: Evidence, judgement: Judgement, look: Look, world: World,
    sensor: str, c: Config,
) -> Update:  # fmt: skip
    """Note in the records of an update that their objects were seen."""
    detect, false = rates_of(sensor, c)
    label = update.after['label'][: len(update.rows)]
    returned = standing.see(
        update.after, world.records, update.rows, update.place, judgement.terms[:, LABEL],
        evidence.score, c.create_score, look.stamp_ns,
        world.columns.half_life_s(label, world.labels.names),
        (detect / false, MOST_ODDS, BIRTH_ODDS), c.confirm_looks,
        (DOUBTFUL, ABSENT, TENTATIVE, CONFIRMED, SEEN), decay.SERIES,
    )  # fmt: skip
    return _with_returns(update, returned, world) if returned else update


def _with_returns(update: Update, places: list[int], world: World) -> Update:
    """The update with a RETURNED line for each object that was missed and is seen again."""
    changes, after = list(update.changes), update.after
    states = world.records['state'][update.rows[places]].tolist()
    for k, state in zip(places, states):
        was = {'state': STATE_WORDS[state]}
        changes.append(ChangeDraft(ChangeKind.RETURNED, k, was, 'it was seen again'))
    after['version_center'][places] = after['center'][places]
    after['version_size'][places] = after['size'][places]
    ids = after['id'].tolist()
    changes.sort(key=lambda draft: ids[draft.place])
    return dataclasses.replace(update, changes=changes)


def missing(sights: Sights, look: Look, world: World, c: Config) -> Missing:
    """What looks at objects that were not seen do to them.

    Args:
        sights: of the view, without the objects that it shows. look: of the view.
        world: as before it. c: settings.
    """
    if not len(sights.rows):
        return Missing()
    tells, noted = _that_count(sights, look, world, c)
    counting, telling = np.flatnonzero(tells | noted), np.flatnonzero(tells)
    if not len(counting):
        return Missing()
    update = _missed(sights.only(telling), look, world, c) if len(telling) else None
    return Missing(update, sights.only(counting))


def _that_count(sights: Sights, look: Look, world: World, c: Config) -> tuple[Bools, Bools]:
    """Which looks say something about presence, and which others are noted."""
    rows, held = sights.rows, world.records
    tells, noted = np.empty((2, len(rows)), bool)
    if standing.that_count(
        held, rows, sights.kind, shut_in(rows, world).view(np.uint8), look.stamp_ns, EVIDENCE, HELD,
        (c.look_gap_s * 1e9, NOTED_AGAIN_S * 1e9), tells.view(np.uint8), noted.view(np.uint8),
    ):  # fmt: skip
        places = np.flatnonzero(tells)
        some = rows[places]
        tells[places] = independent(
            held['look_ns'][some], held['look_position'][some], held['look_axis'][some], look, c
        )
    return tells, noted


def _missed(sights: Sights, look: Look, world: World, c: Config) -> Update:
    """What misses do to their objects."""
    before, after = world.take(sights.rows), world.take(sights.rows)
    after['checked_ns'], after['check'] = look.stamp_ns, sights.kind
    half_life_s = world.columns.half_life_s(before['label'], world.labels.names)
    odds = _aged(before, look, half_life_s) * sights.likelihood
    after['odds'] = np.clip(odds, LEAST_ODDS, MOST_ODDS).round(DIGITS)
    after['odds_ns'] = look.stamp_ns
    after['misses'] += 1
    after['doubt'] = np.maximum(before['doubt'] * sights.likelihood, LEAST_DOUBT)
    _count_looks(after, look)
    stated = world.pinned(before['id'], Aspect.PRESENCE)  # no look changes their state (CH-V5)
    changes = _judge(before, after, sights.kind, stated, c)
    update = _as_update(after, sights, changes, world)
    if stated.any():
        update = dataclasses.replace(update, pins=_contradicted(after, stated, world))
    return update


def _contradicted(after: Records, missed: Bools, world: World) -> dict[int, Pins]:
    """The pins of stated objects that were not seen, which may conflict with that."""
    found: dict[int, Pins] = {}
    presence = decay.probability(after['odds']).round(DIGITS)
    for k in np.flatnonzero(missed).tolist():
        number = int(after['id'][k])
        pins = dict(world.pins[number])
        conflict = bool(presence[k] < 0.5)
        pins[Aspect.PRESENCE] = dataclasses.replace(pins[Aspect.PRESENCE], conflict=conflict)
        found[number] = pins
    return found


def _aged(before: Records, look: Look, half_life_s: Floats) -> Floats:
    age_s = (look.stamp_ns - before['odds_ns']) / 1e9
    return decay.aged(before['odds'], age_s, half_life_s)


def _count_looks(after: Records, look: Look) -> None:
    """A miss that counts is an independent look, as a hit is."""
    after['look_seq'], after['look_ns'] = look.seq, look.stamp_ns
    after['look_position'], after['look_axis'] = look.position, look.axis


def _judge(
    before: Records, after: Records, kind: np.ndarray, stated: Bools, c: Config
) -> list[ChangeDraft]:
    """Set the states that misses lead to, and say so, in order of the object ids."""
    presence = decay.probability(after['odds']).round(DIGITS)
    there = (before['state'] == TENTATIVE) | (before['state'] == CONFIRMED)
    there &= ~stated
    doubtful = there & ((kind == THROUGH) | (presence < 0.5))
    absent = (before['state'] == DOUBTFUL) & (after['misses'] >= c.absent_misses)
    absent &= presence < c.absent_presence
    after['state'] = np.where(doubtful, DOUBTFUL, np.where(absent, ABSENT, before['state']))
    drafts = []
    for k in np.flatnonzero(doubtful | absent).tolist():
        word = ChangeKind.DOUBTFUL if doubtful[k] else ChangeKind.ABSENT
        reason = (
            f'{CHECKS[kind[k]].value.replace("_", " ")}, independent looks that missed it: '
            f'{after["misses"][k]}, presence {presence[k]:.2f}'
        )
        drafts.append(ChangeDraft(word, k, {'state': STATE_WORDS[before['state'][k]]}, reason))
    changed = np.flatnonzero(doubtful | absent)
    after['version_center'][changed] = after['center'][changed]
    after['version_size'][changed] = after['size'][changed]
    ids = after['id'].tolist()
    return sorted(drafts, key=lambda draft: ids[draft.place])


def _as_update(after: Records, sights: Sights, changes: list[ChangeDraft], world: World) -> Update:
    """Records that no detection went to, as an update."""
    spilled = world.more_labels
    more = {}
    if spilled:
        more = {k: dict(spilled[r]) for k, r in enumerate(sights.rows.tolist()) if r in spilled}
    nothing = np.zeros(0, np.int64)
    features = np.zeros((0, world.features.dim or 0), np.float32)
    return Update(
        sights.rows, nothing, after, nothing, features, features, np.zeros(0, bool), more, changes
    )


def keep_apart(pairs: Pairs, label: Ints, world: World, c: Config) -> None:
    """Where a thing of another label lies, none is found again that left, or that lies elsewhere.

    Other labels are errors of the detector as a rule, so place decides. Not so where the object is
    absent, where a thing of the detection's label is being looked for, and where things of a view
    lie in each other's places.
    """
    label_term = pairs.terms[:, LABEL]
    if np.count_nonzero(label_term) == len(label_term):  # most views
        return
    other, r = label_term == 0, world.records
    pairs.total[other & (r['state'][pairs.row] == ABSENT)] = 0.0
    strong = np.flatnonzero(other & (pairs.total >= c.merge_score))
    if not len(strong) or not c.motion:
        return
    seen, held = label[pairs.place[strong]], r['label'][pairs.row[strong]]
    apart = np.isin(seen, held) & np.isin(held, seen)
    if world.lost:
        apart |= np.isin(seen, [n for n, rows in world.lost.items() if rows])
    pairs.total[strong[apart]] = 0.0
