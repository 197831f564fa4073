# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""A plan in the words of the model: numbered changes, and a verdict for every detection."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from math import isnan
from typing import Any

from memory_node.fusion.arbiter import TERMS
from memory_node.fusion.engine import Plan
from memory_node.fusion.world import World
from memory_node.model import Change, ChangeKind, Verdict, VerdictKind

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
    terms, total = judgement.terms.tolist(), judgement.total.tolist()
    for k, (place, kind) in enumerate(zip(plan.evidence.index.tolist(), plan.kinds)):
        named = {}
        if total[k] == total[k]:
            named = dict(zip(TERMS, terms[k]))
            if isnan(sum(terms[k])):  # some do not exist
                named = {name: term for name, term in named.items() if not isnan(term)}
            named['total'] = total[k]
        rejection, stone = plan.rejections[k], plan.barred[k]
        repeats = rejection.count if rejection else stone.detections if stone else 0
        verdicts[place] = Verdict(
            kind, plan.object_ids[k], judgement.reason[k], named, plan.candidate_ids[k], repeats
        )
    return tuple(verdicts)


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
