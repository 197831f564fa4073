# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""One object put anew, in the file and in the working set."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import apsw
import numpy as np

from memory_node.fusion.identity import Belief, finished
from memory_node.fusion.pins import Pins, put
from memory_node.fusion.world import World
from memory_node.model import Aspect, MemoryObject
from memory_node.store import features, objects
from memory_node.store.edits import Edit
from memory_node.store.session import Session


def read(session: Session, object_id: int) -> Belief:
    """Read an object, ended ones too."""
    record, more, feature = objects.read_record(
        session.database, session.engine.world, object_id, session.space.id
    )
    return finished(Belief(record, more, feature))


def again(belief: Belief) -> Belief:
    """A belief of the past as of now."""
    return finished(dataclasses.replace(belief, record=belief.record.copy()))


def putting(session: Session, row: int, belief: Belief, change: Any) -> Edit:
    """Put a live object anew, as a change leaves it."""
    world, index = session.engine.world, session.engine.index

    def write(connection: apsw.Connection) -> None:
        objects.write_record(connection, belief.record, belief.more, world, change)
        _put_feature(connection, session, belief)

    def apply() -> None:
        world.put(np.array([row]), belief.record)
        world.more_labels.pop(row, None)
        if belief.more:
            world.more_labels[row] = belief.more
        if belief.feature is not None:
            world.features.put(np.array([row]), belief.feature[None])
        index.update(np.array([row]))
        world.note_lost(np.array([row]))

    return Edit(change, write, apply)


def put_new(connection: apsw.Connection, session: Session, belief: Belief, change: Any) -> None:
    """Write a new object."""
    world = session.engine.world
    objects.write_record(connection, belief.record, belief.more, world, change, new=True)
    _put_feature(connection, session, belief)


def append(session: Session, belief: Belief) -> None:
    """Put an object into the working set."""
    world = session.engine.world
    rows = world.append(belief.record)
    world.note_lost(rows)
    if belief.more:
        world.more_labels[int(rows[0])] = belief.more
    if belief.feature is not None:
        world.features.put(rows, belief.feature[None])
    session.engine.index.add(rows)


def _put_feature(connection: apsw.Connection, session: Session, belief: Belief) -> None:
    if belief.feature is not None:
        value = belief.feature.astype('<f4').tobytes()
        connection.execute(
            features.PUT_FEATURE, (belief.id, session.space.id, value, session.observation_id)
        )
    else:
        connection.execute(
            'DELETE FROM object_feature WHERE object_id = ? AND space = ?',
            (belief.id, session.space.id),
        )


def pinned(world: World, belief: Belief, pins: Pins) -> Belief:
    """A belief as a person's word has it."""
    for aspect, pin in pins.items():
        belief = having(world, belief, aspect, pin.value)
    return belief


def having(world: World, belief: Belief, aspect: Aspect, value: Any) -> Belief:
    """A belief with one aspect set, ready to be written as a version."""
    record = belief.record.copy()
    more = put(record, dict(belief.more), aspect, value, world)
    return finished(dataclasses.replace(belief, record=record, more=more))


def value_of(world: World, belief: Belief, aspect: Aspect) -> Any:
    """One aspect of a belief, as the value of a pin."""
    record = belief.record[0]
    if aspect is Aspect.LABEL:
        return world.labels.names[int(record['label'])]
    if aspect is Aspect.POSE:
        return (*record['center'].tolist(), *record['orientation'].tolist())
    return tuple(record['size'].tolist()) if aspect is Aspect.SIZE else True


def taken_from(world: World, belief: Belief, aspects: Mapping[Aspect, Belief]) -> Belief:
    """A belief with some of its aspects as another has them."""
    for aspect, other in aspects.items():
        belief = having(world, belief, aspect, value_of(world, other, aspect))
    return belief


def said_of(world: World, belief: Belief) -> dict[str, Any]:
    """An object in a log line, as plain values."""
    record = belief.record[0]
    names = world.labels.names
    return {
        'label': names[int(record['label'])],
        'labels': {names[n]: mass for n, mass in belief.masses.items()},
        'center_m': record['center'].tolist(),
        'size_m': record['size'].tolist(),
        'confidence': float(record['confidence']),
        'observations': belief.count,
    }


def state_of(world: World, belief: Belief) -> str:
    """The word for its state."""
    return str(shown(world, belief).state)


def shown(world: World, belief: Belief, pins: Pins | None = None) -> MemoryObject:
    """It in the words of the model; pins: what will be pinned, where that changes too."""
    found = world.as_objects(belief.record, {0: belief.more})[0]
    return found if pins is None else dataclasses.replace(found, pins=pins)
