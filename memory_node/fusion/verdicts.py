# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""A plan in the words of the model: numbered changes, and a verdict for every detection."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from math import isnan
from typing import Any

from memory_node.fusion.arbiter import TERMS
from memory_node.fusion.engine import Plan
from memory_node.fusion.world import World
from memory_node.model import Change, ChangeKind, Verdict, VerdictKind

_GEOMETRY, _IOU, _FEATURE, _LABEL = TERMS
_REFUSED = Verdict(VerdictKind.REJECTED, None)


def numbered_changes(plan: Plan, world: World, recorded_ns: int) -> list[Change]:
    """Give each change of a plan its log line, after that of the view."""
    changes: list[Change] = []
    for update in plan.updates:
        for draft in update.changes:
            record = update.after[draft.place : draft.place + 1]
            more = update.more_labels.get(draft.place, {})
            found = world.as_objects(record, {0: more})[0]
            if found.id in update.pins:
                found = dataclasses.replace(found, pins=update.pins[found.id])
            changes.append(Change(
                plan.look.seq + 1 + len(changes), draft.kind, found.id, plan.look.stamp_ns,
                recorded_ns, reason=draft.reason, before=draft.before, after=draft.after,
                object=found,
            ))  # fmt: skip
    return changes


def verdicts_of(count: int, plan: Plan) -> tuple[Verdict, ...]:
    """One verdict for each of the `count` detections, in the order in which they were given."""
    verdicts: list[Verdict] = [_REFUSED] * count
    for place, reason in plan.refused.items():
        verdicts[place] = Verdict(VerdictKind.REJECTED, None, reason)
    judgement = plan.judgement
    columns = zip(
        plan.evidence.index.tolist(), plan.kinds, plan.object_ids, judgement.reason,
        judgement.terms.tolist(), judgement.total.tolist(), plan.candidate_ids, plan.rejections,
        plan.barred,
    )  # fmt: skip
    for place, kind, object_id, reason, terms, total, candidate_id, rejection, stone in columns:
        repeats = rejection.count if rejection else stone.detections if stone else 0
        verdicts[place] = _made(
            kind, object_id, reason, _named(terms, total), candidate_id, repeats
        )
    return tuple(verdicts)


def _named(terms: list[float], total: float) -> dict[str, float]:
    """The terms that exist, and their total; nothing without a candidate."""
    if isnan(total):
        return {}
    geometry, iou, feature, label = terms
    named = {_GEOMETRY: geometry, _IOU: iou, _FEATURE: feature, _LABEL: label, 'total': total}
    if isnan(geometry + iou + feature + label):
        named = {name: term for name, term in named.items() if not isnan(term)}
    return named


def _made(
    kind: VerdictKind, object_id: int | None, reason: str, terms: Mapping[str, float],
    candidate_id: int | None, repeats: int,
) -> Verdict:  # fmt: skip
    """A verdict, in half the time that its constructor takes: see `world`; a view has twenty."""
    made = object.__new__(Verdict)
    fields = made.__dict__
    fields['kind'], fields['object_id'], fields['reason'] = kind, object_id, reason
    fields['terms'], fields['candidate_id'], fields['repeats'] = terms, candidate_id, repeats
    return made


def relocated(verdicts: tuple[Verdict, ...], changes: Sequence[Change]) -> tuple[Verdict, ...]:
    """The verdicts of a view by which something lost was found: that moved, and it is this.

    changes: the lines of these reunions, MERGED and MOVED by turns.
    """
    became: dict[int | None, Any] = {
        c.object_id: c.after['into'] for c in changes if c.kind is ChangeKind.MERGED
    }
    if not became:
        return verdicts
    return tuple(
        dataclasses.replace(v, kind=VerdictKind.RELOCATED, object_id=became[v.object_id])
        if v.object_id in became else v
        for v in verdicts
    )  # fmt: skip
