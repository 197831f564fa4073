# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Objects, places and times in plain words. Whatever came from outside is made harmless here."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Mapping, Sequence

from memory_node.model import MemoryObject, Pose, Relation, State, Triple

MAX_NAME = 120
"""Characters of a label or name that are shown (CH-45)."""
_STRUCTURE = str.maketrans({
    '<': '(', '>': ')', '[': '(', ']': ')', '{': '(', '}': ')', '"': "'", '`': "'", '«': "'",
    '»': "'", '#': '.', '\\': '/', '|': '/',
})  # fmt: skip
"""Characters by which a name could pass for citations, quotes or the end of a block."""
_TOLD_FIRST = ('inside', 'on', 'part_of', 'against', 'beside', 'near')
SECOND_NS = 1_000_000_000


def harmless(text: str, longest: int = MAX_NAME) -> str:
    """A name on one line, without control and format characters, at most so long.

    It cannot close a block, quote or cite: what is written on a sticky note stays a name.
    """
    shown = ''.join(
        ' ' if unicodedata.category(c)[0] in 'CZ' else c
        for c in unicodedata.normalize('NFC', text[: 4 * longest])
    )
    shown = ' '.join(shown.translate(_STRUCTURE).split())
    return shown if len(shown) <= longest else f'{shown[: longest - 1]}…'


def cited(obj: MemoryObject) -> str:
    """The label with the id behind it."""
    return f'{harmless(obj.label) or "unnamed thing"} [#{obj.id}]'


def ago(stamp_ns: int, now_ns: int) -> str:
    """How long ago it was."""
    seconds = (now_ns - stamp_ns) / SECOND_NS
    if seconds < -1:
        return f'{_span(-seconds)} later'
    return 'just now' if seconds < 5 else f'{_span(seconds)} ago'


def _span(seconds: float) -> str:
    for size, name in ((86400.0, 'days'), (3600.0, 'h'), (60.0, 'min')):
        if seconds >= 2 * size or (seconds >= size and name != 'days'):
            return f'{seconds / size:.0f} {name}'
    return f'{seconds:.0f} s'


def point(center_m: Triple) -> str:
    """A point in map metres."""
    return '({:.2f}, {:.2f}, {:.2f}) m'.format(*(value + 0.0 for value in center_m))


def relation_words(kind: str) -> str:
    """A relation as it is said."""
    return kind.replace('_', ' ')


def whereabouts(
    obj: MemoryObject, relations: Sequence[Relation], labels: Mapping[int, str], pose: Pose | None
) -> str:
    """Where an object is: what it is in or on, its region, its position, its way from the asker."""
    if obj.state is State.HELD:
        return 'held by the robot'
    parts = []
    mine = [r for r in relations if r.subject_id == obj.id and r.object_id in labels]
    for kind in _TOLD_FIRST:
        other = next((r for r in mine if r.kind == kind), None)
        if other is not None:
            name = harmless(labels[other.object_id])
            parts.append(f'{relation_words(kind)} the {name} [#{other.object_id}]')
            break
    if region := obj.region:
        parts.append(f'in {harmless(region)}')
    parts.append(f'at {point(obj.center_m)}')
    if pose is not None:
        distance, bearing = way_to(pose, obj.center_m)
        parts.append(f'{distance:.1f} m {side_words(bearing)}')
    return ', '.join(parts)


def way_to(pose: Pose, to_m: Triple) -> tuple[float, float]:
    """Metres, and degrees anticlockwise from where the pose looks (x forward, y left)."""
    dx, dy, dz = (b - a for a, b in zip(pose.position_m, to_m))
    x, y, z, w = pose.orientation_xyzw
    heading = math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
    bearing = math.degrees(math.atan2(dy, dx) - heading)
    return math.sqrt(dx * dx + dy * dy + dz * dz), (bearing + 180.0) % 360.0 - 180.0


def side_words(bearing_deg: float) -> str:
    """A bearing in words."""
    names = (
        'ahead of you', 'ahead of you to the left', 'to your left', 'behind you to the left',
        'behind you', 'behind you to the right', 'to your right', 'ahead of you to the right',
    )  # fmt: skip
    return names[round(bearing_deg / 45.0) % 8]


def counted(number: int, label: str) -> str:
    """A number of things."""
    name = harmless(label)
    return f'1 {name}' if number == 1 else f'{number} × {name}'
