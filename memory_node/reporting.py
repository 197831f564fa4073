# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What the robot did itself: its acts explain what is seen, and what is not."""

from __future__ import annotations

from collections.abc import Sequence

from memory_node import checks
from memory_node.correcting import Correcting
from memory_node.errors import InvalidValueError
from memory_node.model import Commit
from memory_node.store import acts
from memory_node.store.edits import Asked, Edit

ROBOT = 'robot'
AS_IT_WAS = (0.0, 0.0, 0.0, 0.0)


class Reporting(Correcting):
    """The part of SpatialMemory that is told what the robot did. Each call is one log line.

    An act is an event too, of the type that the call is called.
    """

    def picked(
        self,
        object_id: int,
        reason: str = '',
        actor: str = ROBOT,
        recorded_ns: int | None = None,
        stamp_ns: int | None = None,
    ) -> Commit:
        """The robot holds an object: it is not at its place, not found there, and not missed.

        Args:
            object_id: of a live object.
            reason, actor: why and by whom, for the log.
            recorded_ns: when the memory learned it; None: the newest stamp it has seen.
            stamp_ns: when it was done; None: the newest stamp the memory has seen.

        Returns:
            One change, HELD.

        Raises:
            InvalidValueError: a value is malformed.
            UnknownObjectError: no object ever had this id.
            ObjectEndedError: it was forgotten, or merged: says into which.
            StoreError: nothing was written.
        """
        return self._edit_live(
            object_id, actor, reason, recorded_ns,
            lambda number, asked: acts.picked(self._session, number, asked), _time(stamp_ns),
        )  # fmt: skip

    def placed(
        self,
        object_id: int,
        center_m: Sequence[float],
        orientation_xyzw: Sequence[float] | None = None,
        map_id: str | None = None,
        reason: str = '',
        actor: str = ROBOT,
        recorded_ns: int | None = None,
        stamp_ns: int | None = None,
    ) -> Commit:
        """An object lies where the robot put it. What a person said of its place ends with that.

        Args:
            object_id: of a live object, held or not.
            center_m, orientation_xyzw: of its box, in its map; None: turned as it was.
            map_id: in which the position holds; None: that of the newest view.
            reason, actor, recorded_ns, stamp_ns: as for `picked`, also for what is raised.

        Returns:
            MOVED, and MOVED for each thing that lay in it and goes along.
        """
        center = checks.point('center_m', center_m)
        turn = AS_IT_WAS
        if orientation_xyzw is not None:
            turn = checks.turn('orientation_xyzw', orientation_xyzw)

        def prepare(asked: Asked) -> list[Edit]:
            self._live_row(object_id)
            number = int(object_id)
            where = self._newest_map() if map_id is None else checks.text('map_id', map_id)
            return acts.placed(self._session, number, [*center, *turn], where, asked)

        return self._edits(actor, reason, recorded_ns, prepare, _time(stamp_ns))

    def put_inside(
        self,
        object_id: int,
        container_id: int,
        reason: str = '',
        actor: str = ROBOT,
        recorded_ns: int | None = None,
        stamp_ns: int | None = None,
    ) -> Commit:
        """An object is inside another: it is not missed while that is not open.

        The relation `inside` is stated, until the object is picked, placed or put elsewhere.

        Args:
            object_id, container_id: of live objects.
            reason, actor, recorded_ns, stamp_ns: as for `picked`, also for what is raised.

        Returns:
            MOVED, and MOVED for each thing that lay in it and goes along.

        Raises:
            InvalidValueError: both ids are the same, or the container is inside the object.
        """
        if object_id == container_id:
            raise InvalidValueError(
                f'container_id: got object {container_id} twice, expected two objects'
            )

        def prepare(asked: Asked) -> list[Edit]:
            for number in (object_id, container_id):
                self._live_row(number)
            return acts.put_inside(self._session, int(object_id), int(container_id), asked)

        return self._edits(actor, reason, recorded_ns, prepare, _time(stamp_ns))

    def opened(
        self,
        object_id: int,
        is_open: bool = True,
        reason: str = '',
        actor: str = ROBOT,
        recorded_ns: int | None = None,
        stamp_ns: int | None = None,
    ) -> Commit:
        """A door or a container is open from now on, or closed: its property `open`.

        What is inside of what is open is missed like everything else.

        Args:
            object_id: of a live object. is_open: False: it is closed.
            reason, actor, recorded_ns, stamp_ns: as for `picked`, also for what is raised.

        Returns:
            One change, EVENT.
        """
        return self._edit_live(
            object_id, actor, reason, recorded_ns,
            lambda number, asked: acts.opened(self._session, number, bool(is_open), asked),
            _time(stamp_ns),
        )  # fmt: skip

    def not_found(
        self,
        object_id: int,
        reason: str = '',
        actor: str = ROBOT,
        recorded_ns: int | None = None,
        stamp_ns: int | None = None,
    ) -> Commit:
        """The robot looked for an object at its place and did not find it (HY-16).

        That is a miss: the object is doubtful, and absent after another one, if that is a look of
        its own (`look_gap_s`).

        Args:
            object_id: of a live object that is not held.
            reason, actor, recorded_ns, stamp_ns: as for `picked`, also for what is raised.

        Returns:
            One change: DOUBTFUL, ABSENT, UPDATED, or EVENT where it says nothing new.
        """
        return self._edit_live(
            object_id, actor, reason, recorded_ns,
            lambda number, asked: acts.not_found(self._session, number, asked, self.config),
            _time(stamp_ns),
        )  # fmt: skip


def _time(stamp_ns: int | None) -> int | None:
    whole = isinstance(stamp_ns, int) and not isinstance(stamp_ns, bool)
    if stamp_ns is not None and not (whole and 0 <= stamp_ns < 2**63):
        raise InvalidValueError(
            f'stamp_ns: got {checks.short(stamp_ns)}, expected nanoseconds from 0 on, or None'
        )
    return stamp_ns
