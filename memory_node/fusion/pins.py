# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""A person's word is never outvoted (CH-V5): it stands, and what is seen goes on beside it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from memory_node.config import CHRONOTOPE, Config
from memory_node.fusion.intake import Evidence
from memory_node.fusion.world import LABEL_SLOTS, Records, Rows, World
from memory_node.model import Aspect, Pin
from memory_node.scene import boxes

DIGITS = 9
"""Decimals to which a distance is rounded before it is compared."""

Pins = Mapping[Aspect, Pin]
_ASPECTS = tuple(Aspect)
_COLUMNS: Mapping[Aspect, tuple[str, ...]] = {
    Aspect.LABEL: ('label',),
    Aspect.POSE: ('center', 'orientation', 'oriented'),
    Aspect.SIZE: ('size',),
    Aspect.PRESENCE: (),
}

_BOX = ('center', 'size', 'orientation', 'oriented', 'hull_center', 'half')
"""Chronotope: a box is one thing, a centre and a hull that may lie elsewhere."""


def effective(pins: Iterable[Pin], object_id: int) -> dict[Aspect, Pin]:
    """What holds of an object, of all that was said of it and of what was merged into it.

    What was said of the object itself counts; of the rest, the newest.
    """
    by_weight = sorted(pins, key=lambda pin: (pin.object_id == object_id, pin.seq))
    last = {pin.aspect: pin for pin in by_weight}
    return {aspect: last[aspect] for aspect in _ASPECTS if aspect in last}


def hold(
    after: Records, before: Records, evidence: Evidence, matched: Rows, speaks: boxes.Bools,
    more: Mapping[int, dict[int, float]], world: World, c: Config,
) -> dict[int, Pins]:  # fmt: skip
    """Put back what is pinned in the records that a view has changed, and count the view beside it.

    Args:
        after, before: (R,) the records that the view supports; `after` is changed.
        evidence, matched: (R,) places in it.
        speaks: (R,) whether a sighting may rewrite. more: place → labels beyond the slots.
        world: as it was. c: settings.

    Returns:
        Object → its pins with this view counted.
    """
    fresh: dict[int, Pins] = {}
    for k, number in enumerate(before['id'].tolist()):
        pins = world.pins.get(number)
        if not pins:
            continue
        _put_back(after[k : k + 1], before[k : k + 1], pins, c)
        place = int(matched[k])
        fresh[number] = {
            aspect: _seen(
                pin, after[k], more.get(k, {}), evidence, place, bool(speaks[k]), world, c
            )
            for aspect, pin in pins.items()
        }
    return fresh


def pinned(record: Records, more: dict[int, float], pins: Pins, world: World) -> dict[int, float]:
    """Put a person's word into a record, (1,); returns its labels beyond the slots."""
    for aspect, pin in pins.items():
        more = put(record, more, aspect, pin.value, world)
    return more


def put(
    record: Records, more: dict[int, float], aspect: Aspect, value: Any, world: World
) -> dict[int, float]:
    """Set one aspect of a record, (1,); returns its labels beyond the slots."""
    if aspect is Aspect.LABEL:
        number = world.labels.intern(value)
        record['label'] = number
        return _among_labels(record, more, number)
    if aspect is Aspect.POSE:
        record['center'], record['orientation'] = value[:3], value[3:]
        record['oriented'] = True
    elif aspect is Aspect.SIZE:
        record['size'] = value
    boxed(record, world.off_center)
    return more


def boxed(record: Records, off_center: bool) -> None:
    """Make the hull of a record, (1,), that of its pose and size.

    Args:
        record: is changed. off_center: profile chronotope, whose boxes are hulls, turned nowhere.
    """
    if off_center:
        record['orientation'], record['oriented'] = (0.0, 0.0, 0.0, 1.0), False
    record['hull_center'] = record['center']
    record['half'] = boxes.hull_half(record['size'], record['orientation'])


def label_evidence(record: Any, more: dict[int, float], world: World) -> str | None:
    """The label that most of what was seen speaks for; None: nothing was seen."""
    for number, mass in world.masses_of(record, more).items():
        return world.labels.names[number] if mass > 0 else None
    return None


def _among_labels(record: Records, more: dict[int, float], number: int) -> dict[int, float]:
    """Give a label a slot, where the arbiter looks, with the mass seen of it, perhaps none.

    Where the slots are full, the lightest label goes among those beyond them. Labels that only a
    person ever gave it, and no longer does, go.
    """
    slots = zip(record['labels'][0].tolist(), record['masses'][0].tolist())
    held = [(n, m) for n, m in slots if n == number or (n >= 0 and m > 0)]
    beyond = {n: m for n, m in more.items() if n == number or m > 0}
    if number not in dict(held):
        new = (number, beyond.pop(number, 0.0))
        if len(held) == LABEL_SLOTS:
            place = min(range(LABEL_SLOTS), key=lambda k: held[k][1])
            beyond[held[place][0]], held[place] = held[place][1], new
        else:
            held.append(new)
    record['labels'], record['masses'] = -1, 0.0
    for slot, (label, mass) in enumerate(held):
        record['labels'][0, slot], record['masses'][0, slot] = label, mass
    return beyond


def _put_back(after: Records, before: Records, pins: Pins, c: Config) -> None:
    names = [name for aspect in pins for name in _COLUMNS[aspect]]
    if c.profile == CHRONOTOPE and (Aspect.POSE in pins or Aspect.SIZE in pins):
        names += _BOX
    for name in names:
        after[name] = before[name]
    if c.profile != CHRONOTOPE:
        boxed(after, off_center=False)


def _seen(
    pin: Pin, record: Any, more: dict[int, float], evidence: Evidence, place: int, speaks: bool,
    world: World, c: Config,
) -> Pin:  # fmt: skip
    """A pin with one more sighting of its object."""
    if pin.aspect is Aspect.LABEL:
        label = label_evidence(record, more, world)
        return dataclasses.replace(
            pin, sightings=pin.sightings + 1, evidence=label, conflict=label != pin.value
        )
    if pin.aspect is Aspect.PRESENCE:
        return dataclasses.replace(pin, sightings=pin.sightings + 1)
    if not speaks or (pin.aspect is Aspect.SIZE and not evidence.extent[place]):
        return pin
    if pin.aspect is Aspect.SIZE:
        newest = evidence.size[place]
    else:
        newest = np.concatenate([evidence.center[place], evidence.orientation[place]])
    mean = newest
    if pin.evidence is not None:
        weight = max(c.blend, 1.0 / (pin.sightings + 1.0))
        held = np.array(pin.evidence)
        mean = held + weight * (newest - held)
        mean[3:] = newest[3:]  # of orientations the last one
    away = np.abs(mean[:3] - np.array(pin.value)[:3]).max()
    return dataclasses.replace(
        pin, sightings=pin.sightings + 1, evidence=tuple(mean.tolist()),
        conflict=bool(round(float(away), DIGITS) >= c.version_distance_m),
    )  # fmt: skip
