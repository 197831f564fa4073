# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Regions that somebody defines, changes or removes: each is one line REGION of the log."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from memory_node.errors import InvalidValueError
from memory_node.model import Change, ChangeKind, Region
from memory_node.scene.regions import MAX_REGIONS, key_of
from memory_node.store.edits import Asked, Edit
from memory_node.store.regions import apply_line, plain
from memory_node.store.session import Session


def setting(session: Session, region: Region, asked: Asked) -> list[Edit]:
    """The edits that make a region so; none if it is so already.

    Raises:
        InvalidValueError: its parent is unknown, or is part of it.
    """
    here = {
        key_of(r.name): r for r in session.engine.world.regions.regions if r.map_id == region.map_id
    }  # fmt: skip
    was = here.get(key_of(region.name))
    if was is not None and dataclasses.replace(was, seq=0) == dataclasses.replace(region, seq=0):
        return []
    if was is None and len(session.engine.world.regions) >= MAX_REGIONS:
        raise InvalidValueError(f'region: there are {MAX_REGIONS} already, expected fewer')
    above, chain = region.parent, [region.name]
    while above:
        if key_of(above) not in here and key_of(above) != key_of(region.name):
            known = ', '.join(r.name for r in here.values()) or 'none, as there is no other'
            raise InvalidValueError(f'parent: got {above!r}, expected one of {known}')
        chain.append(above)
        if key_of(above) == key_of(region.name):
            raise InvalidValueError(f'parent: {" in ".join(chain)} would lie in itself')
        above = here[key_of(above)].parent
    return [_edit(session, was, plain(region), asked)]


def removing(session: Session, region: Region, asked: Asked) -> list[Edit]:
    """The edits that remove a region; what is part of it goes to what it is part of (CH-31)."""
    book = session.engine.world.regions.regions
    children = [
        r for r in book
        if r.parent and key_of(r.parent) == key_of(region.name) and r.map_id == region.map_id
    ]  # fmt: skip
    gone = {**plain(region), 'polygon_m': None, 'low_m': None, 'high_m': None}
    edits = [_edit(session, region, gone, asked)]
    for k, child in enumerate(sorted(children, key=lambda r: key_of(r.name)), 1):
        said = {**plain(child), 'parent': region.parent}
        edits.append(_edit(session, child, said, dataclasses.replace(asked, seq=asked.seq + k)))
    return edits


def replayed(session: Session, line: Change) -> Edit:
    """The edit of a line of the log."""
    return Edit(line, lambda connection: apply_line(connection, line), session.renew_regions)


def _edit(session: Session, was: Region | None, said: Mapping[str, Any], asked: Asked) -> Edit:
    before = {} if was is None else plain(was)
    line = asked.change(ChangeKind.REGION, None, before, said)
    return replayed(session, line)
