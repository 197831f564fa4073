# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What led to the errors: the terms of the verdicts that split a thing or mixed two."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from identity.score import stands_for
from identity.stream import FALSE_ALARM, Stream
from memory_node.model import Verdict, VerdictKind

SPLITS = {
    'too low': 'the best candidate was its own object, but it scored too low',
    'taken': 'its own object scored enough, and went to another detection of the view',
    'other': 'the best candidate was an object of another thing',
    'none': 'there was no candidate',
}
MIXED = 'mixed'


@dataclass
class Why:
    """Errors by kind, and the terms of their verdicts (total, geometry, iou, feature, label)."""

    count: Counter[str] = field(default_factory=Counter)
    terms: dict[str, dict[str, list[float]]] = field(default_factory=dict)

    def note(self, kind: str, verdict: Verdict) -> None:
        """Count one error."""
        self.count[kind] += 1
        for name, value in verdict.terms.items():
            self.terms.setdefault(kind, {}).setdefault(name, []).append(value)

    def add(self, other: Why) -> None:
        """Add the errors of another."""
        self.count.update(other.count)
        for kind, terms in other.terms.items():
            for name, values in terms.items():
                self.terms.setdefault(kind, {}).setdefault(name, []).extend(values)

    def lines(self) -> list[str]:
        """A line for each kind: how often, and the median of each term (how often it existed)."""
        lines = []
        for kind, count in self.count.most_common():
            terms = ', '.join(
                f'{name} {np.median(values):.2f} ({len(values)})'
                for name, values in self.terms.get(kind, {}).items()
            )
            lines.append(f'{count} × {kind}: {terms or "no terms"}')
        return lines


def explain(
    stream: Stream, verdicts: Sequence[Sequence[Verdict]], ids: Sequence[list[int | None]]
) -> Why:
    """Splits: a known counted thing makes a new object. Mixed: it joins that of another thing."""
    why = Why()
    pairs = [
        (thing, object_id)
        for shown, row in zip(stream.shown, ids)
        for thing, object_id in zip(shown.things.tolist(), row)
    ]
    stands = {object_id: thing for object_id, (thing, _) in stands_for(pairs).items()}
    known: set[int] = set()
    for shown, view in zip(stream.shown, verdicts):
        taken = {v.object_id for v in view if v.kind == VerdictKind.MERGED}
        for thing, verdict in zip(shown.things.tolist(), view):
            if thing == FALSE_ALARM or not stream.counted[thing]:
                continue
            if verdict.kind == VerdictKind.CREATED:
                if thing in known:
                    why.note(_split(thing, verdict, stands, taken), verdict)
            elif verdict.kind == VerdictKind.MERGED and stands.get(verdict.object_id) != thing:
                why.note(MIXED, verdict)
        known.update(shown.things.tolist())
    return why


def _split(thing: int, verdict: Verdict, stands: dict[int, int], taken: set[int | None]) -> str:
    """Which of SPLITS."""
    if verdict.candidate_id is None:
        return 'none'
    if stands.get(verdict.candidate_id) != thing:
        return 'other'
    return 'taken' if verdict.candidate_id in taken else 'too low'
