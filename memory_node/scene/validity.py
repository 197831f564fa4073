# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Since when a relation holds, from the versions of both objects.

Relations follow from versions, and versions are log lines with a stamp: so the times in which one
held need not be stored, cannot disagree with what is, and hold for a time before relations were
asked for. Only the two objects are looked at: what else could have held the subject meanwhile is
not, so `on` may be said to have begun before something better came and went.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from memory_node.config import Config
from memory_node.fusion.classes import Classes
from memory_node.model import ObjectVersion, RelationSpan
from memory_node.scene.relations import among
from memory_node.scene.things import Things

Versions = Mapping[int, Sequence[ObjectVersion]]


def spans(
    pairs: Sequence[tuple[int, int]], versions: Versions, config: Config, classes: Classes
) -> list[list[RelationSpan]]:
    """The times in which relations held of each subject to each object; oldest first, then by kind.

    Args:
        pairs: ids of subject and object.
        versions: of all these objects, oldest first each.
        config, classes: say what is near, and what holds what.
    """
    states: list[ObjectVersion] = []
    stamps: list[int] = []
    first: list[int] = []
    for subject, other in pairs:
        times, both = _together(versions[subject], versions[other])
        first.append(len(stamps))
        stamps += times
        states += [version for pair in both for version in pair]
    if not stamps:
        return [[] for _ in pairs]
    things = Things.of_versions(states)
    one = np.arange(0, len(states), 2)
    found = among(
        things, np.concatenate([one, one + 1]), np.concatenate([one + 1, one]), config, classes
    )
    result: list[list[RelationSpan]] = []
    for begin, end in zip(first, [*first[1:], len(stamps)]):
        held: list[RelationSpan] = []
        for kind in dict.fromkeys(kind for kind, _, _ in found):
            subjects = [a for k, a, _ in found if k == kind]
            at = np.isin(one[begin:end], np.concatenate(subjects))
            held += _runs(str(kind), at.tolist(), stamps[begin:end])
        result.append(sorted(held, key=lambda span: (span.since_ns, span.kind)))
    return result


def _together(
    one: Sequence[ObjectVersion], other: Sequence[ObjectVersion]
) -> tuple[list[int], list[tuple[ObjectVersion, ObjectVersion]]]:
    """The stamps at which either became another, once both were there, and both from there on."""
    stamps: list[int] = []
    both: list[tuple[ObjectVersion, ObjectVersion]] = []
    held: dict[int, ObjectVersion] = {}
    newest = 0
    for version in sorted([*one, *other], key=lambda v: v.seq):
        newest = max(newest, version.stamp_ns)  # what was learned late holds from then on
        held[version.object_id] = version
        if len(held) == 2:
            pair = held[one[0].object_id], held[other[0].object_id]
            if stamps and stamps[-1] == newest:
                both[-1] = pair
            else:
                stamps.append(newest)
                both.append(pair)
    return stamps, both


def _runs(kind: str, holds: Sequence[bool], stamps: Sequence[int]) -> list[RelationSpan]:
    found: list[RelationSpan] = []
    since: int | None = None
    for here, stamp in zip(holds, stamps):
        if here and since is None:
            since = stamp
        elif not here and since is not None:
            found.append(RelationSpan(kind, since, stamp))
            since = None
    return found if since is None else [*found, RelationSpan(kind, since, None)]
