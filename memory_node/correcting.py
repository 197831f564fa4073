# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What a person knows better: corrections, pins, and objects that nobody has seen.

A person's word is pinned: it is never outvoted by later sightings (CH-V5). These go on counting
beside it, and where they say something else the object shows the conflict (CH-W3).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from memory_node import checks
from memory_node.errors import InvalidValueError
from memory_node.fusion.identity import belief_of
from memory_node.fusion.presence import LEAST_ODDS, MOST_ODDS
from memory_node.model import IDENTITY, Aspect, ChangeKind, Commit, State
from memory_node.reconciling import Reconciling
from memory_node.store import beliefs, corrections, edits, identity
from memory_node.store.edits import Asked, Edit
from memory_node.telling import CALLER

PINNABLE = (Aspect.LABEL, Aspect.POSE, Aspect.SIZE)


class Correcting(Reconciling):
    """The part of SpatialMemory in which a person has the last word. Each call is one log line."""

    def correct_label(
        self,
        object_id: int,
        label: str,
        reason: str = '',
        actor: str = CALLER,
        recorded_ns: int | None = None,
    ) -> Commit:
        """Call an object something else, and pin that; the evidence for other labels stays.

        Args:
            object_id: of a live object.
            label: what it is called from now on.
            reason, actor: why and by whom, for the log.
            recorded_ns: when the memory learned it; None: the newest stamp it has seen.

        Raises:
            InvalidValueError: the label is malformed.
            UnknownObjectError: no object ever had this id.
            ObjectEndedError: it was forgotten, or merged: says into which.
            StoreError: nothing was written.
        """
        checks.word('label', label)
        return self._correct(object_id, 'relabel', {Aspect.LABEL: label}, reason, actor,
                             recorded_ns)  # fmt: skip

    def correct_pose(
        self,
        object_id: int,
        center_m: Sequence[float],
        orientation_xyzw: Sequence[float] | None = None,
        reason: str = '',
        actor: str = CALLER,
        recorded_ns: int | None = None,
    ) -> Commit:
        """Put an object somewhere else, and pin that; its extent stays (CH-30).

        Args:
            object_id: of a live object.
            center_m: of its box, in its map.
            orientation_xyzw: of its box; None: as it was.
            reason, actor, recorded_ns: as for `correct_label`, also for what is raised.
        """
        center = checks.point('center_m', center_m)
        turn = None if orientation_xyzw is None else checks.turn(
            'orientation_xyzw', orientation_xyzw
        )  # fmt: skip

        def prepare(asked: Asked) -> Edit:
            world = self._session.engine.world
            now = belief_of(world, self._live_row(object_id))
            pose = beliefs.value_of(world, now, Aspect.POSE)
            said = _said('move', {Aspect.POSE: (*center, *(turn or pose[3:]))})
            return corrections.correct(self._session, int(object_id), said, asked)

        return self._edit(actor, reason, recorded_ns, prepare)

    def correct_size(
        self,
        object_id: int,
        size_m: Sequence[float],
        reason: str = '',
        actor: str = CALLER,
        recorded_ns: int | None = None,
    ) -> Commit:
        """Give an object other side lengths, and pin these.

        Args:
            object_id: of a live object.
            size_m: along the axes of its box, each more than 0.
            reason, actor, recorded_ns: as for `correct_label`, also for what is raised.
        """
        size = checks.size('size_m', size_m)
        return self._correct(object_id, 'resize', {Aspect.SIZE: size}, reason, actor, recorded_ns)

    def confirm(
        self,
        object_id: int,
        confidence: float | None = None,
        reason: str = '',
        actor: str = CALLER,
        recorded_ns: int | None = None,
    ) -> Commit:
        """Say that an object is one, and there: it is confirmed, however seldom it was seen.

        Args:
            object_id: of a live object.
            confidence: what it is from now on, 0 to 1; None: as it was.
            reason, actor, recorded_ns: as for `correct_label`, also for what is raised.
        """
        more: dict[str, Any] = {}
        if confidence is not None:
            more['confidence'] = checks.share('confidence', confidence)
        more |= {'state': State.CONFIRMED.value, 'odds': MOST_ODDS}
        return self._correct(object_id, 'confirm', {}, reason, actor, recorded_ns, more)

    def declare_absent(
        self,
        object_id: int,
        reason: str = '',
        actor: str = CALLER,
        recorded_ns: int | None = None,
    ) -> Commit:
        """Say that an object is not there any more. Its next sighting brings it back.

        Where a person stated it, that is taken back.

        Args:
            object_id: of a live object.
            reason, actor, recorded_ns: as for `correct_label`, also for what is raised.
        """

        def prepare(number: int, asked: Asked) -> Edit:
            said = _said('absent', {}) | {'state': State.ABSENT.value, 'odds': LEAST_ODDS}
            if Aspect.PRESENCE in self._session.engine.world.pins.get(number, ()):
                said['unpin'] = [Aspect.PRESENCE.value]
            return corrections.correct(self._session, number, said, asked)

        return self._edit_live(object_id, actor, reason, recorded_ns, prepare)

    def state_object(
        self,
        label: str,
        center_m: Sequence[float],
        size_m: Sequence[float] = (0.0, 0.0, 0.0),
        orientation_xyzw: Sequence[float] = IDENTITY,
        confidence: float = 1.0,
        map_id: str | None = None,
        reason: str = '',
        actor: str = CALLER,
        recorded_ns: int | None = None,
        stamp_ns: int | None = None,
    ) -> Commit:
        """State that there is an object, without anything seen: «a fire extinguisher is here».

        It is confirmed, its label, pose and size are pinned, and it never ages. A sighting of it is
        joined to it like to any other object.

        Args:
            label, center_m, size_m, orientation_xyzw: of the object; size zeros: unknown.
            confidence: 0 to 1.
            map_id: in which the position holds; None: that of the newest view.
            reason, actor: why and by whom, for the log.
            recorded_ns: when the memory learned it; None: the newest stamp it has seen.
            stamp_ns: since when it is so; None: the newest stamp the memory has seen.

        Returns:
            One change, CREATED, with the id of the object.

        Raises:
            InvalidValueError: a value is malformed.
            StoreError: nothing was written.
        """
        told: dict[str, Any] = {
            'label': checks.word('label', label),
            'pose': [
                *checks.point('center_m', center_m),
                *checks.turn('orientation_xyzw', orientation_xyzw),
            ],
            'size_m': list(checks.size('size_m', size_m, unknown=True)),
            'confidence': checks.share('confidence', confidence),
        }

        def prepare(asked: Asked) -> Edit:
            told['map_id'] = self._newest_map() if map_id is None else checks.text('map_id', map_id)
            return corrections.state_object(self._session, {corrections.STATED: told}, asked)

        return self._edit(actor, reason, recorded_ns, prepare, stamp_ns)

    def pin(
        self,
        object_id: int,
        aspects: Iterable[str],
        reason: str = '',
        actor: str = CALLER,
        recorded_ns: int | None = None,
    ) -> Commit:
        """Pin what is believed of an object: from now on sightings do not change it.

        Args:
            object_id: of a live object.
            aspects: some of `label`, `pose`, `size`.
            reason, actor, recorded_ns: as for `correct_label`, also for what is raised.
        """
        wanted = _aspects(aspects, PINNABLE)

        def prepare(number: int, asked: Asked) -> Edit:
            said = corrections.pinning(self._session, number, wanted)
            return corrections.correct(self._session, number, said, asked)

        return self._edit_live(object_id, actor, reason, recorded_ns, prepare)

    def unpin(
        self,
        object_id: int,
        aspects: Iterable[str],
        reason: str = '',
        actor: str = CALLER,
        recorded_ns: int | None = None,
    ) -> Commit:
        """Let the evidence count again: what was seen beside the pin holds from now on.

        Args:
            object_id: of a live object.
            aspects: some of `label`, `pose`, `size`, and of a stated object `presence`.
            reason, actor, recorded_ns: as for `correct_label`, also for what is raised.

        Raises:
            InvalidValueError: one of them is unknown or not pinned.
        """
        wanted = _aspects(aspects, tuple(Aspect))

        def prepare(number: int, asked: Asked) -> Edit:
            said = corrections.unpinning(self._session, number, wanted)
            return corrections.correct(self._session, number, said, asked)

        return self._edit_live(object_id, actor, reason, recorded_ns, prepare)

    def undo(
        self, seq: int, reason: str = '', actor: str = CALLER, recorded_ns: int | None = None
    ) -> Commit:
        """Take a correction, a stated object, a merge, a split or a forgetting back.

        What has been seen since counts: of a pose and size that were pinned only by what is taken
        back, the evidence beside the pin holds. Of merges and splits see `Reconciling.undo`.

        Args:
            seq: log line of what is taken back (CORRECTED, CREATED, MERGED, SPLIT or FORGOTTEN).
            reason, actor: why and by whom, for the log.
            recorded_ns: when the memory learned it; None: the newest stamp it has seen.

        Raises:
            InvalidValueError: the line cannot be undone, was undone, or was followed by a
                correction of the same, which has to be undone first.
            ObjectEndedError: the object has ended since.
            StoreError: nothing was written.
        """

        def prepare(asked: Asked) -> list[Edit]:
            line = corrections.line_of(self._session, int(seq))
            if line is not None and corrections.is_one(line):
                if line.kind is ChangeKind.CREATED:
                    return [corrections.unsaid(self._session, line, asked)]
                said = corrections.undoing(self._session, line)
                return [corrections.correct(self._session, line.object_id or 0, said, asked)]
            stone = self._session.engine.tombstones.get(line.object_id or 0) if line else None
            if line is not None and line.kind is ChangeKind.FORGOTTEN and stone is not None:
                return [edits.restore(self._session, stone.object_id, stone.seen_center, asked)]
            return identity.undo(self._session, int(seq), asked)

        checks.line('seq', seq)
        return self._edits(actor, reason, recorded_ns, prepare)

    def _correct(
        self,
        object_id: int,
        word: str,
        values: dict[Aspect, Any],
        reason: str,
        actor: str,
        recorded_ns: int | None,
        more: dict[str, Any] | None = None,
    ) -> Commit:
        said = _said(word, values) | (more or {})
        return self._edit_live(
            object_id, actor, reason, recorded_ns,
            lambda number, asked: corrections.correct(self._session, number, said, asked),
        )  # fmt: skip

    def _newest_map(self) -> str:
        shift = self._session.engine.shift
        return '' if shift is None else self._session.engine.world.maps[shift.map_number]


def _said(word: str, values: dict[Aspect, Any]) -> dict[str, Any]:
    said: dict[str, Any] = {corrections.WORD: word}
    if values:
        said['pins'] = {
            aspect.value: list(value) if isinstance(value, tuple) else value
            for aspect, value in values.items()
        }
    return said


def _aspects(given: Iterable[str], known: tuple[Aspect, ...]) -> tuple[Aspect, ...]:
    words = [given] if isinstance(given, str) else list(given)
    wrong = [word for word in words if word not in {aspect.value for aspect in known}]
    if wrong or not words:
        raise InvalidValueError(
            f'aspects: got {checks.short(words)}, expected some of {", ".join(map(str, known))}'
        )
    return tuple(aspect for aspect in known if aspect.value in words)
