# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""~/markers: boxes, labels and relations for RViz.

What is to be seen is a picture: a figure for each (namespace, id). A viewer gets a whole picture
first, and then what differs from one picture to the next. `figures_of`, `lines_of`, `difference`
and the messages are pure; `Markers` is the topic.
"""

from __future__ import annotations

import colorsys
import math
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import Point
from rclpy.lifecycle import LifecycleNode
from visualization_msgs.msg import Marker, MarkerArray

from memory_node.config import NodeConfig
from memory_node.memory import SpatialMemory
from memory_node.model import (
    IDENTITY,
    MemoryObject,
    Quaternion,
    Relation,
    RelationKind,
    State,
    Triple,
)
from memory_node.recall.query import THERE
from memory_node.ros import conversions, qos
from memory_node.ros.board import SMALL_BATCH, Board, OnProblem, gently
from memory_node.scene import boxes
from memory_node.scene.graph import RelationGraph

PERIOD_S = 0.2
BOTH_WAYS = (RelationKind.NEAR, RelationKind.BESIDE)
BOXES, LABELS, LINES = 'objects', 'labels', 'relations'
"""Namespaces; relations have one for each kind: `relations on`, …, `relations stated`."""
THIN_M = 0.01
"""A side is shown at least this thick: viewers refuse what has none (C15)."""
DOT_M = 0.06
"""Diameter of the ball that stands for a thing of unknown extent."""
TEXT_M, TEXT_GAP_M = 0.08, 0.04
"""Height of the letters, and how far above the box they are."""
LINE_M = 0.006
OPAQUE, FAINT = 0.7, 0.25
"""Alpha of what is confirmed, and of what is tentative."""
GREY = (0.5, 0.5, 0.5)
"""Of what is absent or held, where it was."""
GONE = (State.ABSENT, State.HELD)
FARTHEST_M = 1e6
"""Beyond, viewers that count in float32 lose all detail, or end: such a thing is not shown."""

Key = tuple[str, int]
Color = tuple[float, float, float, float]
Number = Callable[[int], int]


class Figure(NamedTuple):
    """What one marker shows; figures that are equal look the same.

    Attributes:
        kind: Marker.CUBE, SPHERE, TEXT_VIEW_FACING or LINE_LIST.
        center, turn: of the marker in the map, metres.
        scale: metres, as Marker.scale has it for this kind.
        color: red, green, blue, alpha, 0 to 1.
        text: of a label.
        points: ends of lines, two by two, metres.
    """

    kind: int
    center: Triple
    turn: Quaternion
    scale: Triple
    color: Color
    text: str = ''
    points: tuple[Triple, ...] = ()


Picture = dict[Key, Figure]


class Numbers:
    """An int32 for each object id, from 1 on, the same as long as this lives."""

    def __init__(self) -> None:
        self._known: dict[int, int] = {}

    def __call__(self, object_id: int) -> int:
        """Return the number of an object, a new one if it was never asked for."""
        return self._known.setdefault(object_id, len(self._known) + 1)


def figures_of(obj: MemoryObject, number: int) -> Picture:
    """Return the box and the label of an object; nothing where it cannot be shown."""
    if not _drawable((*obj.center_m, *obj.size_m)):
        return {}
    red, green, blue = GREY if obj.state in GONE else color_of(obj.label)
    alpha = OPAQUE if obj.state is State.CONFIRMED else FAINT
    turn = _unit(obj.orientation_xyzw)
    x, y, z = obj.center_m
    if any(obj.size_m):
        kind, (a, b, c) = Marker.CUBE, (max(float(side), THIN_M) for side in obj.size_m)
    else:
        kind, (a, b, c) = Marker.SPHERE, (DOT_M,) * 3
    half = boxes.hull_half(np.array([[a, b, c]]), np.array([turn]))[0].tolist()
    above = (x, y, z + half[2] + TEXT_GAP_M + TEXT_M / 2)
    return {
        (BOXES, number): Figure(kind, (x, y, z), turn, (a, b, c), (red, green, blue, alpha)),
        (LABELS, number): Figure(
            Marker.TEXT_VIEW_FACING, above, IDENTITY, (TEXT_M, TEXT_M, TEXT_M),
            (1.0, 1.0, 1.0, min(1.0, alpha + 0.3)), f'{obj.label} #{obj.id}',
        ),
    }  # fmt: skip


def lines_of(
    relations: Iterable[Relation], objects: Mapping[int, MemoryObject], number: Number
) -> Picture:
    """Return lines between the centres of objects that are related, a figure a subject and kind.

    `under` is the inverse of `on`, and `near` and `beside` hold both ways: each is drawn once.
    """
    ends: dict[Key, list[Triple]] = {}
    for r in relations:
        mirrored = r.kind == RelationKind.UNDER and not r.stated
        mirrored |= r.kind in BOTH_WAYS and r.subject_id > r.object_id
        one, other = objects.get(r.subject_id), objects.get(r.object_id)
        if mirrored or one is None or other is None:
            continue
        if _drawable((*one.center_m, *other.center_m)):
            name = f'{LINES} {"stated" if r.stated else r.kind}'
            points = ends.setdefault((name, number(r.subject_id)), [])
            points += [one.center_m, other.center_m]
    return {
        key: Figure(
            Marker.LINE_LIST, (0.0, 0.0, 0.0), IDENTITY, (LINE_M, 0.0, 0.0),
            (*color_of(key[0]), OPAQUE), points=tuple(points),
        )
        for key, points in ends.items()
    }  # fmt: skip


def difference(before: Picture, after: Picture) -> tuple[Picture, list[Key]]:
    """Return the figures that are new or other than before, and the keys of those that are gone."""
    changed = {key: figure for key, figure in after.items() if before.get(key) != figure}
    return changed, [key for key in before if key not in after]


def color_of(label: str) -> tuple[float, float, float]:
    """Red, green and blue of a label: always the same, whatever its case."""
    digest = zlib.crc32(label.casefold().encode('utf-8', 'replace'))
    hue, light = (digest & 0xFFFF) / 0x10000, (digest >> 16 & 0xFF) / 0x100
    return colorsys.hsv_to_rgb(hue, 0.65 + 0.35 * light, 0.95)


def marker(key: Key, figure: Figure, frame: str, stamp: Time) -> Marker:
    """Return the message that makes a viewer show a figure in place of what it had there."""
    message = _addressed(key, Marker.ADD, frame, stamp)
    message.type = int(figure.kind)
    message.frame_locked = True  # stays where it is in the map, however old the stamp grows
    pose, scale, color = message.pose, message.scale, message.color
    pose.position.x, pose.position.y, pose.position.z = map(float, figure.center)
    q = pose.orientation
    q.x, q.y, q.z, q.w = map(float, figure.turn)
    scale.x, scale.y, scale.z = map(float, figure.scale)
    color.r, color.g, color.b, color.a = map(float, figure.color)
    message.text = str(figure.text)
    message.points = [Point(x=float(x), y=float(y), z=float(z)) for x, y, z in figure.points]
    return message


def deletion(key: Key, frame: str, stamp: Time) -> Marker:
    """Return the message that makes a viewer remove what it has there."""
    return _addressed(key, Marker.DELETE, frame, stamp)


def delete_all(frame: str, stamp: Time) -> Marker:
    """Return the message that makes a viewer remove all it has from this topic."""
    return _addressed(('', 0), Marker.DELETEALL, frame, stamp)


class Markers(Board):
    """Publishes ~/markers; nothing, and nothing is computed, without a subscriber.

    A new subscriber makes everyone get the whole picture after a DELETEALL; then come differences,
    with a rest of `PERIOD_S` between them.
    """

    def __init__(
        self, node: LifecycleNode, settings: Callable[[], NodeConfig], on_problem: OnProblem
    ) -> None:
        """Create the publisher.

        Args:
            node: whose it is.
            settings: returns what the parameters say.
            on_problem: told of what could not be published.
        """
        self._settings = settings
        self._number = Numbers()
        self._objects: dict[int, MemoryObject] = {}
        self._picture: Picture = {}
        self._graph = RelationGraph()
        super().__init__(
            node, MarkerArray, '~/markers', qos.markers(), on_problem,
            period_s=PERIOD_S, sighting_period_s=None, lazy=True,
        )  # fmt: skip

    def _messages(self, memory: SpatialMemory, ids: set[int] | None) -> Iterator[Any]:
        settings = self._settings()
        frame, limit = settings.map_frame, settings.marker_max_objects
        stamp_ns = self._read(memory, limit, ids)
        before = {} if ids is None else self._picture
        after = self._paint(before, ids)
        if settings.marker_relations:
            page = memory.page(ids=self._objects, limit=limit, relations=True)
            for _ in gently(page.refresh(self._graph, memory.config), 1):
                pass
            related = gently(page.relations(memory.config, self._graph), SMALL_BATCH)
            after |= lines_of(related, self._objects, self._number)
        changed, gone = difference(before, after)
        self._picture = after
        stamp = conversions.stamp_from_ns(stamp_ns)
        first = [delete_all(frame, stamp)] if ids is None else []
        messages = chain(
            first,
            (deletion(key, frame, stamp) for key in gone),
            gently(marker(key, figure, frame, stamp) for key, figure in changed.items()),
        )
        array = MarkerArray(markers=list(messages))
        if array.markers:
            yield array

    def _read(self, memory: SpatialMemory, limit: int, ids: set[int] | None) -> int:
        """Bring `_objects` up to date; return the stamp of that."""
        if ids is None:
            page = memory.page(limit=limit, states=THERE)
            self._objects = {o.id: o for o in gently(page)}
            return page.stamp_ns
        page = memory.page(ids=ids, limit=len(ids), states=THERE)
        here = {o.id: o for o in gently(page)}
        left = (ids & self._objects.keys()) - here.keys()
        for number in left:
            del self._objects[number]
        self._objects |= {n: o for n, o in here.items() if n in self._objects}
        # Where there was no room for all, what is not shown may be any object, not a changed one.
        crowded = left and memory.object_count > len(self._objects)
        others = gently(memory.page(limit=limit, states=THERE)) if crowded else here.values()
        for obj in others:
            if len(self._objects) >= limit:
                break
            if obj.id not in self._objects:
                self._objects[obj.id] = obj
                ids.add(obj.id)
        return page.stamp_ns

    def _paint(self, before: Picture, ids: set[int] | None) -> Picture:
        """Return the picture of `_objects` without lines; those not in ids look as before."""
        if ids is None:
            shown: Sequence[MemoryObject] = list(self._objects.values())
            after: Picture = {}
        else:
            shown = [self._objects[i] for i in ids if i in self._objects]
            old = {self._number(i) for i in ids}
            after = {
                key: figure for key, figure in before.items()
                if key[0] in (BOXES, LABELS) and key[1] not in old
            }  # fmt: skip
        for obj in gently(shown):
            after |= figures_of(obj, self._number(obj.id))
        return after


def _addressed(key: Key, action: int, frame: str, stamp: Time) -> Marker:
    message = Marker(ns=str(key[0]), id=int(key[1]), action=int(action))
    message.header.frame_id = str(frame)
    message.header.stamp = stamp
    message.pose.orientation.w = 1.0
    return message


def _drawable(numbers: Iterable[float]) -> bool:
    return all(math.isfinite(n) and abs(n) <= FARTHEST_M for n in numbers)


def _unit(turn: Quaternion) -> Quaternion:
    norm = math.sqrt(sum(q * q for q in turn))
    if not math.isfinite(norm) or norm < 1e-6:
        return IDENTITY
    x, y, z, w = turn
    return x / norm, y / norm, z / norm, w / norm
