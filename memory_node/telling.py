# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Everything that changes the memory: views, and what callers state."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping

import numpy as np

from memory_node import checks
from memory_node.config import Config, tunables
from memory_node.errors import InvalidValueError
from memory_node.fusion import motion
from memory_node.fusion.engine import Plan
from memory_node.fusion.intake import usable_view, view_faults, view_problem
from memory_node.fusion.tracks import is_mobile
from memory_node.fusion.verdicts import numbered_changes, relocated, verdicts_of
from memory_node.model import Change, Commit, Verdict, VerdictKind, View
from memory_node.opened import OpenStore
from memory_node.store import edits, identity, log
from memory_node.store.edits import Asked, Edit
from memory_node.store.rebuild import rebuild

CALLER = 'caller'


class Telling(OpenStore):
    """The half of SpatialMemory that writes. Each call is one transaction."""

    def observe(self, view: View, recorded_ns: int | None = None, wait: bool = True) -> Commit:
        """Judge a view and put it on disk, in one transaction.

        Args:
            view: what a sensor saw. A malformed detection in it is refused alone.
            recorded_ns: when the memory learned it; None: the stamp of the view. A view stamped
                more than `max_future_s` after it is refused as a whole.
            wait: up to `busy_wait_s` for a file that another program has locked; False: never.

        Returns:
            A verdict per detection in their order, and the changes.

        Raises:
            InvalidValueError: `recorded_ns` is no whole number from 0 on that a file can hold.
            StoreBusyError: another program held the file's lock for longer than `busy_wait_s`.
            StoreError: nothing of the view was written, and the memory is as it was before.
            ClosedError: the memory was closed.
        """
        checks.moment('recorded_ns', recorded_ns)
        return self._patiently(lambda: self._observe(view, recorded_ns), wait)

    def _observe(self, view: View, recorded_ns: int | None) -> Commit:
        session = self._session
        given = view.stamp_ns if recorded_ns is None else recorded_ns
        problem = view_problem(view, given, session.newest_ns, session.config)
        if problem:
            self.refusals[problem] += max(1, len(view.detections))
            refused = [Verdict(VerdictKind.REJECTED, None, problem)] * len(view.detections)
            return Commit(tuple(refused), (), session.seq + 1, session.seq, problem)
        faults = view_faults(view)
        self.refusals.update(faults)
        return self._commit_view(usable_view(view, faults), int(given))

    def _commit_view(self, view: View, recorded: int) -> Commit:
        """Judge a view that is fit for it, and put it on disk."""
        session = self._session
        begun = applied = False
        found: list[Change] = []
        try:
            with self._database.transaction() as connection:
                begun = True
                plan = session.engine.plan(
                    view, session.seq + 1, session.config, self._ignored, session.space_for(view)
                )
                changes = numbered_changes(plan, session.engine.world, recorded)
                session.write(plan, view, recorded, changes)
                restored = self._restorations(plan, len(changes), recorded)
                edits.write_all(connection, restored)
                if motion.may_reunite(plan.updates, session.engine.world, session.config):
                    applied = True
                    session.engine.apply(plan, view.sensor)
                    changes += edits.apply_all(restored)
                    asked = self._asked_by(plan, len(changes), recorded)
                    found = identity.reunite_all(connection, session, plan, asked, session.config)
                    changes += found
        except BaseException:
            if begun:
                session.undone(applied)
            raise
        if not applied:
            session.engine.apply(plan, view.sensor)
            changes += edits.apply_all(restored)
        session.done(plan, session.seq + 1 + len(changes), [c.object_id for c in found])
        self.refusals.update(plan.refused.values())
        self._follow(view, plan)
        verdicts = relocated(verdicts_of(len(view.detections), plan), found)
        return Commit(verdicts, tuple(changes), plan.look.seq, session.seq)

    def _follow(self, view: View, plan: Plan) -> None:
        """Take the mobile things of a view, which are refused, into their tracks."""
        if not self.config.track_mobile:
            self._tracks.clear()
            return
        mobile = [
            view.detections[k] for k, reason in sorted(plan.refused.items())
            if reason == 'ignored' and is_mobile(view.detections[k], self._mobile)
        ]  # fmt: skip
        shift = plan.shift.vector
        self._tracks.see(mobile, int(view.stamp_ns), view.map_id, shift, self.config.track_s)

    def _restorations(self, plan: Plan, changes: int, recorded_ns: int) -> list[Edit]:
        if not plan.cleared:
            return []
        first = self._asked_by(plan, changes, recorded_ns)
        return edits.restorations(self._session, plan.cleared, first)

    def _asked_by(self, plan: Plan, changes: int, recorded_ns: int) -> Asked:
        """What a view asks for by itself, after so many changes."""
        look = plan.look
        return Asked(look.seq + 1 + changes, look.stamp_ns, recorded_ns, log.PERCEPTION)

    def forget(
        self,
        object_id: int,
        reason: str = '',
        actor: str = CALLER,
        recorded_ns: int | None = None,
        until_ns: int | None = None,
    ) -> Commit:
        """End an object. The next sighting of the same thing there does not bring it back.

        Only new evidence does: `restore_looks` independent looks with a mean score above
        `restore_score`; or `restore`; or, where it was for a time, a view of a later time.

        Args:
            object_id: of a live object.
            reason, actor: why and by whom, for the log.
            recorded_ns: when the memory learned it; None: the newest stamp it has seen.
            until_ns: no view stamped at this time or later is kept from learning it anew, as
                another object; None: for ever.

        Raises:
            InvalidValueError: `until_ns` is no time after the newest stamp.
            UnknownObjectError: no object ever had this id.
            ObjectEndedError: it was forgotten before.
            StoreError: nothing was written.
        """

        def prepare(asked: Asked) -> Edit:
            said = {} if until_ns is None else {'until_ns': self._later(until_ns)}
            return edits.forget(self._session, self._live_row(object_id), asked, said)

        return self._edit(actor, reason, recorded_ns, prepare)

    def _later(self, until_ns: int) -> int:
        whole = isinstance(until_ns, (int, np.integer)) and not isinstance(until_ns, bool)
        if not whole or not self._session.newest_ns < until_ns < 2**63:
            raise InvalidValueError(
                f'until_ns: got {checks.short(until_ns)}, expected a time after the newest stamp, '
                f'{self._session.newest_ns}'
            )
        return int(until_ns)

    def restore(
        self,
        object_id: int,
        reason: str = '',
        actor: str = CALLER,
        recorded_ns: int | None = None,
    ) -> Commit:
        """Bring a forgotten object back, where it lay or has been seen since; see `forget`.

        Raises:
            UnknownObjectError: no object ever had this id.
            InvalidValueError: the object was not forgotten.
            StoreError: nothing was written.
        """

        def prepare(asked: Asked) -> Edit:
            stone = self._session.engine.tombstones.get(object_id)
            if stone is None:
                found = self._object(object_id)
                was = f'got state {found.state}' if found.label else 'was purged'
                raise InvalidValueError(
                    f'object {object_id}: {was}, expected one that was forgotten'
                )
            return edits.restore(self._session, object_id, stone.seen_center, asked)

        return self._edit(actor, reason, recorded_ns, prepare)

    def set_property(
        self,
        object_id: int,
        key: str,
        value: object,
        reason: str = '',
        actor: str = CALLER,
        recorded_ns: int | None = None,
    ) -> Commit:
        """State a fact about a live object; the latest value of a key counts (CH-12).

        Args:
            object_id: of a live object.
            key: not empty. value: None, bool, number, text, or lists and mappings of these.
            reason, actor: why and by whom, for the log.
            recorded_ns: when the memory learned it; None: the newest stamp it has seen.

        Raises:
            InvalidValueError: key or value is malformed.
            UnknownObjectError, ObjectEndedError, StoreError: as for `forget`.
        """
        checks.word('key', key)
        checks.plain('value', value)
        return self._edit_live(
            object_id, actor, reason, recorded_ns,
            lambda number, asked: edits.set_property(self._session, number, key, value, asked),
        )  # fmt: skip

    def state_relation(
        self,
        subject_id: int,
        relation: str,
        object_id: int,
        holds: bool = True,
        reason: str = '',
        actor: str = CALLER,
        recorded_ns: int | None = None,
    ) -> Commit:
        """State that a relation holds between two live objects, or no longer does (CH-11).

        Stating what was stated already changes nothing but the log.

        Args:
            subject_id, object_id: of live objects. relation: any word, for example `part_of`.
            holds: False takes an earlier statement back.
            reason, actor: why and by whom, for the log.
            recorded_ns: when the memory learned it; None: the newest stamp it has seen.

        Raises:
            InvalidValueError: the relation is malformed, or both ids are the same.
            UnknownObjectError, ObjectEndedError, StoreError: as for `forget`.
        """
        checks.word('relation', relation)
        if subject_id == object_id:
            raise InvalidValueError(f'relation: got object {object_id} twice, expected two objects')

        def prepare(asked: Asked) -> Edit:
            for number in (subject_id, object_id):
                self._live_row(number)
            return edits.state_relation(
                self._session, subject_id, relation, object_id, asked, holds
            )

        return self._edit(actor, reason, recorded_ns, prepare)

    def record_event(
        self,
        kind: str,
        payload: Mapping[str, object] | None = None,
        object_id: int | None = None,
        stamp_ns: int | None = None,
        actor: str = CALLER,
        recorded_ns: int | None = None,
        reason: str = '',
    ) -> Commit:
        """Record something that happened (CH-13).

        Args:
            kind: any word, for example `door_opened`. payload: plain values.
            object_id: where it happened; None: nowhere in particular.
            stamp_ns: when; None: the newest stamp the memory has seen.
            actor, reason: who says so, and why, for the log.
            recorded_ns: when the memory learned it; None: the newest stamp it has seen.

        Raises:
            InvalidValueError: kind or payload is malformed.
            UnknownObjectError, StoreError: as for `forget`.
        """
        checks.word('kind', kind)
        checks.plain('payload', dict(payload or {}))

        def prepare(asked: Asked) -> Edit:
            if object_id is not None:
                self._object(object_id)
            return edits.record_event(self._session, kind, object_id, payload or {}, asked)

        return self._edit(actor, reason, recorded_ns, prepare, stamp_ns)

    def _edit(
        self,
        actor: str,
        reason: str,
        recorded_ns: int | None,
        prepare: Callable[[Asked], Edit],
        stamp_ns: int | None = None,
    ) -> Commit:
        """Make one edit, in one transaction."""
        return self._edits(actor, reason, recorded_ns, lambda asked: [prepare(asked)], stamp_ns)

    def _edit_live(
        self,
        object_id: int,
        actor: str,
        reason: str,
        recorded_ns: int | None,
        prepare: Callable[[int, Asked], Edit],
        stamp_ns: int | None = None,
    ) -> Commit:
        """Make one edit of a live object, which is told its id, in one transaction."""

        def live(asked: Asked) -> Edit:
            self._live_row(object_id)
            return prepare(int(object_id), asked)

        return self._edit(actor, reason, recorded_ns, live, stamp_ns)

    def _edits(
        self,
        actor: str,
        reason: str,
        recorded_ns: int | None,
        prepare: Callable[[Asked], list[Edit]],
        stamp_ns: int | None = None,
    ) -> Commit:
        """Make some edits, in one transaction; none changes nothing."""
        checks.text('actor', actor)
        checks.text('reason', reason)
        if actor == log.PERCEPTION:
            raise InvalidValueError('actor: got perception, expected the name of whoever asks')
        checks.moment('recorded_ns', recorded_ns)
        checks.moment('stamp_ns', stamp_ns)

        def commit() -> Commit:
            session = self._session
            now = session.newest_ns
            recorded = now if recorded_ns is None else recorded_ns
            stamp = (now or recorded) if stamp_ns is None else stamp_ns  # before any view
            asked = Asked(session.seq + 1, stamp, recorded, actor, reason)
            session.finish()  # what is prepared may read the file
            try:
                prepared = prepare(asked)
                last = session.seq + len(prepared)
                if prepared:
                    with self._database.transaction() as connection:
                        edits.write_all(connection, prepared)
            except BaseException:
                session.forget_new_labels()
                raise
            changes = edits.apply_all(prepared)
            session.advance(last)
            return Commit((), tuple(changes), asked.seq, last)

        return self._patiently(commit)

    def configure(self, config: Config, wait: bool = True) -> None:
        """Use other settings from the next call on; read-only ones stay as at opening.

        wait: see `observe`, also for what is raised.
        """

        def use() -> None:
            fixed = [row.name for row in tunables(Config) if row.read_only]
            kept = {name: getattr(self.config, name) for name in fixed}
            self._session.use(dataclasses.replace(config, **kept))
            self._use_labels()

        self._patiently(use, wait)

    def rebuild(self) -> None:
        """Write everything derived anew from the log.

        Raises:
            StoreError: the log contradicts itself; nothing was changed.
        """
        self._patiently(lambda: rebuild(self._session))
