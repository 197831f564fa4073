# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What has to go for good: privacy is stronger than the log (X-5)."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from memory_node import checks
from memory_node.errors import InvalidValueError
from memory_node.model import Commit, Purge
from memory_node.reporting import Reporting
from memory_node.store import log, purge
from memory_node.store.edits import Asked
from memory_node.store.wanted import Wanted
from memory_node.telling import CALLER


class Purging(Reporting):
    """The part of SpatialMemory that removes content, and keeps the line that it did."""

    def purge(
        self,
        *,
        object_id: int | None = None,
        label: str = '',
        region_m: tuple[Sequence[float], Sequence[float]] | None = None,
        map_id: str | None = None,
        person: str = '',
        reason: str = '',
        actor: str = CALLER,
        recorded_ns: int | None = None,
    ) -> Purge:
        """Remove what is known of an object, a label, a region or a person, for good.

        Their objects, sightings, features, versions, facts and log lines lose their content; rows
        and lines stay where they are and keep their numbers, ids resolve to an object without a
        label. A line PURGED says by whom, why, and how many. The file is written anew, so that the
        old bytes are neither in it nor in the write-ahead log, nor in any later copy of it; copies
        made before are not touched. What is seen later is learned again: `forget` prevents that.
        Nothing that came before a purge can be replayed, so a copy of what follows from it is kept.

        Args:
            object_id: of any object, also one that has ended; whatever was merged with it goes too.
            label: whatever its case. Sightings as that of other things go too, and facts, events
                and reasons that name it.
            region_m: two opposite corners. What lies in it goes, and every sighting in it.
            map_id: in which the region lies; None: that of the newest view.
            person: as a value of the scope of views, and as an actor. Everything their views
                showed goes; objects that other views showed stay, without these sightings. What
                they stated goes, their pins, and what names them, as for a label.
            reason, actor: why and by whom, for the log; do not name what has to go.
            recorded_ns: when the memory learned it; None: the newest stamp it has seen.

        Raises:
            InvalidValueError: not exactly one of the four is given, or it is malformed.
            UnknownObjectError: no object ever had this id.
            StoreError: nothing was removed.
        """
        wanted = self._wanted(object_id, label, region_m, person)
        checks.text('map_id', map_id or '')
        _require_discreet(wanted, actor, reason)
        checks.moment('recorded_ns', recorded_ns)

        def run() -> Purge:
            session = self._session
            now = session.newest_ns
            asked = Asked(
                session.seq + 1, now, now if recorded_ns is None else recorded_ns, actor, reason
            )
            placed = dataclasses.replace(
                wanted, map_id=self._newest_map() if map_id is None else map_id
            )
            return self._purge(placed, asked)

        return self._patiently(run)

    def _purge(self, wanted: Wanted, asked: Asked) -> Purge:
        session = self._session
        found, changes = purge.purge(session, wanted, asked)
        last = session.seq + len(changes)
        if changes:
            session.load(session.space)
            session.advance(last)
            self._past = None
        erased = purge.erase(session)
        commit = Commit((), tuple(changes), asked.seq, last)
        return Purge(commit, len(found.objects), len(found.sightings), len(found.lines), erased)

    def _wanted(
        self,
        object_id: int | None,
        label: str,
        region_m: tuple[Sequence[float], Sequence[float]] | None,
        person: str,
    ) -> Wanted:
        given = {
            'object': object_id is not None, 'label': bool(label),
            'region': region_m is not None, 'person': bool(person),
        }  # fmt: skip
        named = [name for name, is_given in given.items() if is_given]
        if len(named) != 1:
            raise InvalidValueError(
                f'purge: got {" and ".join(named) or "nothing"}, expected one of {", ".join(given)}'
            )
        if object_id is not None:
            with self._opened():
                return Wanted('object', object_id=self._object(object_id).id)
        if label:
            return Wanted('label', label=checks.word('label', label))
        if person:
            return Wanted('person', person=checks.word('person', person))
        assert region_m is not None
        corners = [checks.point(f'region_m[{k}]', corner) for k, corner in enumerate(region_m)]
        if len(corners) != 2:
            raise InvalidValueError(f'region_m: got {len(corners)} corners, expected two')
        (low_x, high_x), (low_y, high_y), (low_z, high_z) = map(sorted, zip(*corners))
        return Wanted('region', low_m=(low_x, low_y, low_z), high_m=(high_x, high_y, high_z))


def _require_discreet(wanted: Wanted, actor: str, reason: str) -> None:
    """Refuse to write into the log what has to go from it."""
    checks.text('actor', actor)
    checks.text('reason', reason)
    if actor == log.PERCEPTION:
        raise InvalidValueError('actor: got perception, expected the name of whoever asks')
    secret = (wanted.label or wanted.person).casefold()
    for name, text in (('reason', reason), ('actor', actor)):
        if secret and secret in text.casefold():
            raise InvalidValueError(f'{name}: names the {wanted.by} that has to go')
