# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Where things are, by name: the regions of a map."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from memory_node import checks
from memory_node.errors import InvalidValueError
from memory_node.model import Commit, Region
from memory_node.purging import Purging
from memory_node.scene import regions
from memory_node.scene.region_file import read_regions
from memory_node.scene.regions import key_of
from memory_node.store import defining
from memory_node.store.edits import Asked, Edit
from memory_node.telling import CALLER


class Placing(Purging):
    """The part of SpatialMemory that is told of regions."""

    def set_region(
        self,
        name: str,
        kind: str = 'place',
        box_m: tuple[Sequence[float], Sequence[float]] | None = None,
        polygon_m: Sequence[Sequence[float]] | None = None,
        low_m: float | None = None,
        high_m: float | None = None,
        parent: str = '',
        map_id: str | None = None,
        reason: str = '',
        actor: str = CALLER,
        recorded_ns: int | None = None,
    ) -> Commit:
        """Make a region, or make the one of this name another (CH-32).

        Objects belong to it by geometry from then on. Saying what is so already writes nothing.

        Args:
            name: known by this in its map, whatever its case. kind: any word, for example `room`.
            box_m: two opposite corners, map frame; or polygon_m: corners (x, y) of an outline that
                does not cross itself, with low_m and high_m, its range of z.
            parent: name of the region that it is part of; what is in it is in that one too. Empty:
                none.
            map_id: identity of the map in which it lies; None: that of the newest view.
            reason, actor: why and by whom, for the log.
            recorded_ns: when the memory learned it; None: the newest stamp it has seen.

        Raises:
            InvalidValueError: a value is malformed, the parent unknown, or part of the region.
            StoreError: nothing was written.
        """
        if (box_m is None) == (polygon_m is None):
            raise InvalidValueError('region: expected either box_m or polygon_m')
        if box_m is not None and (low_m is not None or high_m is not None):
            raise InvalidValueError('low_m: got one together with box_m, which says the range of z')
        corners, low, high = (
            regions.outline(polygon_m, low_m, high_m) if box_m is None
            else regions.box_outline(box_m)
        )  # fmt: skip
        region = Region(
            checks.word('name', name).strip(), checks.word('kind', kind), corners, low, high,
            checks.word('parent', parent).strip() if parent else '',
            '' if map_id is None else checks.text('map_id', map_id),
        )  # fmt: skip
        return self._edits(
            actor, reason, recorded_ns,
            lambda asked: defining.setting(self._session, self._placed(region, map_id), asked),
        )  # fmt: skip

    def remove_region(
        self,
        name: str,
        map_id: str | None = None,
        reason: str = '',
        actor: str = CALLER,
        recorded_ns: int | None = None,
    ) -> Commit:
        """Remove a region. What was part of it is part of what it was part of (CH-31).

        Args:
            name, map_id, reason, actor, recorded_ns: see `set_region`.

        Raises:
            InvalidValueError: there is none of this name.
            StoreError: nothing was written.
        """
        checks.word('name', name)

        def prepare(asked: Asked) -> list[Edit]:
            book = self._session.engine.world.regions
            placed = self._newest_map() if map_id is None else map_id
            for place in book.named(name):
                if book.regions[place].map_id == placed:
                    return defining.removing(self._session, book.regions[place], asked)
            known = ', '.join(sorted(r.name for r in book.regions if r.map_id == placed)) or 'none'
            raise InvalidValueError(f'region: got {name!r}, expected one of {known}')

        return self._edits(actor, reason, recorded_ns, prepare)

    def load_regions(
        self, path: str, map_id: str | None = None, actor: str = CALLER,
        recorded_ns: int | None = None,
    ) -> list[Commit]:  # fmt: skip
        """Make the regions that a YAML file lists so; those that it does not list stay.

        Returns:
            A commit for each region that was not so already.

        Raises:
            InvalidValueError: the file cannot be read, or says what cannot be; nothing was written
                for what comes after that in it.
            StoreError: as for `set_region`.
        """
        commits = []
        for number, given in enumerate(read_regions(path), 1):
            try:
                commit = self.set_region(
                    **given, map_id=map_id, reason='listed in the file of regions', actor=actor,
                    recorded_ns=recorded_ns,
                )  # fmt: skip
            except InvalidValueError as error:
                raise InvalidValueError(
                    f'regions_file: {path}: region {number}: {error}'
                ) from error
            if commit.changes:
                commits.append(commit)
        return commits

    def regions(self) -> list[Region]:
        """All regions, by name."""
        with self._opened() as session:
            found = session.engine.world.regions.regions
            return sorted(found, key=lambda r: (key_of(r.name), r.map_id))

    def region_of(self, point_m: Sequence[float], map_id: str | None = None) -> Region | None:
        """The smallest region that holds a point; None: none does.

        Args:
            point_m: map frame, metres. map_id: identity of the map; None: that of the newest view.

        Raises:
            InvalidValueError: it is no point.
        """
        point = checks.point('point_m', point_m)
        with self._opened() as session:
            world = session.engine.world
            number = world.map_number(self._newest_map() if map_id is None else map_id)
            return world.regions.at(point, number)

    def _placed(self, region: Region, map_id: str | None) -> Region:
        """The region in the map that it was said to be in, or in that of the newest view."""
        if map_id is not None:
            return region
        return dataclasses.replace(region, map_id=self._newest_map())
