# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The objects that a question speaks of: by name, relation, region, time and side of the asker."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memory_node.config import MAX_LIMIT
from memory_node.model import Hit, MemoryObject, Order, Pose, Query, Relation, State
from memory_node.recall import phrases
from memory_node.recall.intent import Reading
from memory_node.recall.rank import CERTAIN
from memory_node.recall.wording import way_to
from memory_node.recall.words import key

if TYPE_CHECKING:
    from memory_node.asking import Asking

NEAR_ME_M = 2.0
"""How far «near me» reaches, where nothing else is known."""
SIDE_RANGE_M = 8.0
"""How far «on my left» reaches."""
_SIDES = {'front': 0.0, 'left': 90.0, 'behind': 180.0, 'right': -90.0}
"""Side → its bearing; it reaches _HALF_DEG to both sides."""
_HALF_DEG = 45.0
_HOUR_HALF_DEG = 20.0
LIVE = tuple(s.value for s in (State.TENTATIVE, State.CONFIRMED, State.DOUBTFUL, State.ABSENT,
                               State.HELD))  # fmt: skip


@dataclass(frozen=True)
class Found:
    """What a question speaks of, best first.

    Attributes:
        hits: with a term `certain`. anchors: what a relation is to.
        missing: words for what is not known, so that nothing could be found; empty: all is known.
    """

    hits: tuple[Hit, ...]
    anchors: tuple[Hit, ...] = ()
    missing: str = ''

    @property
    def certain(self) -> tuple[Hit, ...]:
        """The hits that are named for certain."""
        return tuple(hit for hit in self.hits if is_certain(hit))

    @property
    def there(self) -> tuple[Hit, ...]:
        """Of these, what has a place: neither absent nor in the robot's hand."""
        gone = (State.ABSENT, State.HELD)
        return tuple(hit for hit in self.certain if hit.object.state not in gone)


def is_certain(hit: Hit) -> bool:
    """Whether a hit is named for certain; one that was found without words is."""
    return hit.terms.get(CERTAIN, 1.0) >= 1.0


def find(
    memory: Asking, reading: Reading, pose: Pose | None, now_ns: int, near_m: float = NEAR_ME_M
) -> Found:  # fmt: skip
    """Find what a reading speaks of, whatever its state.

    Args:
        pose: of whoever asks (x forward, y left); None: not known.
        near_m: how far «near me» reaches.
    """
    anchors: tuple[Hit, ...] = ()
    related: set[int] | None = None
    if reading.relation:
        named = named_by(memory, reading.anchor, now_ns)
        anchors = tuple(hit for hit in named if is_certain(hit))
        if not anchors:
            return Found((), named, missing=reading.anchor)
        related = _related(memory, reading.relation, [hit.object.id for hit in anchors])
    hits = _candidates(memory, reading, related, pose, now_ns, near_m)
    if related is not None:
        hits = [hit for hit in hits if hit.object.id in related]
    if reading.place:
        hits = _in_place(memory, reading.place, hits)
    if reading.side and pose is not None:
        hits = _on_side(reading, pose, hits, near_m)
    if reading.span.since_ns is not None or reading.span.until_ns is not None:
        hits = _in_span(memory, reading, hits)
    return Found(_best_first(hits, reading, pose), anchors)


def named_by(memory: Asking, text: str, now_ns: int) -> tuple[Hit, ...]:
    """What a text names, whatever its state."""
    return tuple(memory.query(Query(text=text, states=LIVE, limit=MAX_LIMIT, at_ns=now_ns)))


def _candidates(
    memory: Asking, reading: Reading, related: set[int] | None, pose: Pose | None, now_ns: int,
    near_m: float,
) -> Iterable[Hit]:  # fmt: skip
    query = Query(text=reading.thing, states=LIVE, limit=MAX_LIMIT, at_ns=now_ns)
    if reading.side and pose is not None:
        reach = near_m if reading.side == 'near' else SIDE_RANGE_M
        query = dataclasses.replace(query, near_m=pose.position_m, radius_m=reach)
    if reading.thing or query.near_m is not None:
        return memory.query(query)
    if related is not None:
        return [
            Hit(obj, 1.0, {}, obj.presence(now_ns))
            for obj in memory.page(ids=related, limit=MAX_LIMIT)
        ]
    query = dataclasses.replace(query, order=Order.RECENT, **_place_filter(reading.place))
    return memory.query(query)


def _place_filter(place: str) -> dict[str, Any]:
    """The filter by region, where queries have one."""
    fields = {field.name for field in dataclasses.fields(Query)}
    return {'region': place} if place and 'region' in fields else {}


def _in_place(memory: Asking, place: str, hits: Iterable[Hit]) -> list[Hit]:
    """Those in a region, also in one that lies within it."""
    if narrowed := _place_filter(place):
        every = memory.query(Query(states=LIVE, limit=MAX_LIMIT, **narrowed))
        inside = {hit.object.id for hit in every}
        return [hit for hit in hits if hit.object.id in inside]
    return [hit for hit in hits if key(hit.object.region) == key(place)]


def _related(memory: Asking, relation: str, anchors: Sequence[int]) -> set[int]:
    """The subjects that stand in a relation to any of some objects."""
    kinds = (
        (phrases.ON, phrases.INSIDE) if relation == phrases.IN_OR_ON else (relation,)
    )  # fmt: skip
    found: set[int] = set()
    for kind in kinds:
        found |= {r.subject_id for r in memory.relate(None, kind, anchors)}
    return found - set(anchors)


def relations_of(memory: Asking, objects: Sequence[MemoryObject]) -> list[Relation]:
    """Relations in which some objects are the subject."""
    ids = [obj.id for obj in objects]
    return [r for r in memory.relate(ids) if r.subject_id in set(ids)] if ids else []


def _on_side(reading: Reading, pose: Pose, hits: Iterable[Hit], near_m: float) -> list[Hit]:
    if reading.side == 'near':
        return [h for h in hits if way_to(pose, h.object.center_m)[0] <= near_m]
    middle = _SIDES.get(reading.side, reading.bearing_deg)
    half = _HALF_DEG if reading.side in _SIDES else _HOUR_HALF_DEG
    found = []
    for hit in hits:
        distance, bearing = way_to(pose, hit.object.center_m)
        off = abs((bearing - middle + 180.0) % 360.0 - 180.0)
        if off <= half and distance <= SIDE_RANGE_M:
            found.append(hit)
    return found


def _in_span(memory: Asking, reading: Reading, hits: Iterable[Hit]) -> list[Hit]:
    """What was seen in a stretch of time."""
    since, until = reading.span.since_ns or 0, reading.span.until_ns
    found = []
    for hit in hits:
        obj = hit.object
        if obj.last_seen_ns < since or (until is not None and obj.first_seen_ns > until):
            continue
        if until is not None and obj.last_seen_ns > until:
            stamps = (o.stamp_ns for o in memory.history(obj.id))
            if not any(since <= stamp <= until for stamp in stamps):
                continue
        found.append(hit)
    return found


def _best_first(hits: Iterable[Hit], reading: Reading, pose: Pose | None) -> tuple[Hit, ...]:
    """Certain first, then what is there, then what is closest to the asker, then the surest."""

    def order(hit: Hit) -> tuple[object, ...]:
        obj = hit.object
        away = 0.0 if pose is None else round(way_to(pose, obj.center_m)[0], 3)
        return (
            not is_certain(hit), obj.state is State.ABSENT, away if reading.side else 0.0,
            -round(hit.score, 9), obj.state is State.TENTATIVE, away,
            -round(hit.presence * obj.confidence, 9), obj.id,
        )  # fmt: skip

    return tuple(sorted(hits, key=order))
