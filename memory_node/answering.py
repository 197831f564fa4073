# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Questions in words, and the scene in words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

import numpy as np

from memory_node import checks
from memory_node.asking import Asking
from memory_node.errors import InvalidValueError
from memory_node.fusion.world import STATE_CODE
from memory_node.model import MemoryObject, Pose
from memory_node.notes.reach import NOBODY, Speaker
from memory_node.recall.answer import Answer, Answerer
from memory_node.recall.context import MAX_TOKENS, SceneText, checked_tokens, scene_text
from memory_node.recall.finding import named_by, relations_of
from memory_node.recall.intent import Reading, read
from memory_node.recall.moment import last_stamp
from memory_node.recall.query import THERE
from memory_node.recall.words import key

LEAST_LINE = 40
"""Characters that the line of an object takes at least."""
CONTEXT_TOKENS = 1000


class Model(Protocol):
    """Writes an answer from a scene; see `recall.endpoint`."""

    def answer(self, question: str, scene: SceneText) -> Answer:
        """An answer that cites objects of the scene, or why there is none."""
        ...


class Answering(Asking):
    """The part of SpatialMemory that reads words and writes them."""

    def ask(
        self,
        text: str,
        pose: Pose | None = None,
        at_ns: int | None = None,
        limit: int = 10,
        since_seq: int = 0,
        model: Model | None = None,
    ) -> Answer:
        """Answer a question in words, from what is remembered and nothing else.

        Args:
            text: the question; at most 1000 characters.
            pose: of whoever asks (x forward, y left), for «near me» and sides; None: not known.
            at_ns: when it is asked; None: at the newest committed stamp.
            limit: things that are named at most.
            since_seq: last log line that the asker knows, for «since my last visit».
            model: asked where no form of question fits; its answers are never certain.

        Raises:
            InvalidValueError: the text is empty or too long, or another value is malformed.
        """
        answer = self.answer_for(NOBODY, text, pose, at_ns, limit, since_seq)
        return self.or_model(answer, model, text, at_ns)

    def or_model(
        self, answer: Answer, model: Model | None, text: str, at_ns: int | None
    ) -> Answer:  # fmt: skip
        """What a model says where no form of question fits; else the answer that there is."""
        if model is None or not self._read(text, at_ns).refusal:
            return answer
        told = model.answer(text, self.context(at_ns=at_ns))
        return told if not told.refusal else answer

    def _read(self, text: str, at_ns: int | None) -> Reading:
        now_ns = self._now_ns() if at_ns is None else int(checks.finite('at_ns', at_ns))
        return read(text, now_ns, self._places(), 3600.0 * self.config.utc_offset_h)

    def answer_for(
        self, speaker: Speaker, text: str, pose: Pose | None, at_ns: int | None, limit: int,
        since_seq: int,
    ) -> Answer:  # fmt: skip
        """The answer that the map gives to somebody, by what «near» means to them; see `ask`."""
        checks.limit(limit)
        if pose is not None:
            pose = Pose(
                checks.point('pose', pose.position_m), checks.turn('pose', pose.orientation_xyzw)
            )
        if isinstance(since_seq, bool) or not isinstance(since_seq, int) or since_seq < 0:
            raise InvalidValueError(f'since_seq: got {since_seq!r}, expected 0 or more')
        now_ns = self._now_ns() if at_ns is None else int(checks.finite('at_ns', at_ns))
        reading = self._read(text, now_ns)
        return Answerer(self, reading, pose, now_ns, limit, since_seq, speaker).answer()

    def _now_ns(self) -> int:
        """The newest stamp of a view, or of what was said after it."""
        with self._opened() as session:
            return max(session.newest_ns, last_stamp(session))

    def context(
        self,
        ids: Iterable[int] | None = None,
        root: str = '',
        max_tokens: int = CONTEXT_TOKENS,
        at_ns: int | None = None,
    ) -> SceneText:
        """The scene in words for a language model, within a budget; newest first (CH-41).

        Args:
            ids: these objects, and what they stand in a relation to; None: all that are there.
            root: name of a region, or words for a thing: only what is in it, on it or near it.
            max_tokens: 1 to 100,000, at about four characters a token.
            at_ns: what ages count to; None: the newest committed stamp.

        Raises:
            InvalidValueError: the budget is out of its range, or root names nothing.
        """
        most = checked_tokens(max_tokens) * 4 // LEAST_LINE + 1
        now_ns = self._now_ns() if at_ns is None else at_ns
        if root:
            ids = self._under(checks.text('root', root), now_ns)
        if ids is None:
            objects, total = self._newest(most)
        else:
            objects = self._with_neighbours(ids, near=not root)
            total = len(objects)
        objects = sorted(objects, key=lambda o: (-o.last_seen_ns, o.id))[:most]
        relations = relations_of(self, objects)
        return scene_text(objects, relations, total, self.seq, now_ns, max_tokens)

    def line_at(self, stamp_ns: int) -> int:
        """Number of a log line before which there is none of a time or later.

        Stamps go on along the log, but for views that came late, by `max_age_s` at most.
        """
        wanted = int(stamp_ns) - round(self.config.max_age_s * 1e9)
        with self._opened() as session:
            low, high = 1, session.seq + 1
            while low < high:
                middle = (low + high) // 2
                rows = session.database.rows('SELECT stamp_ns FROM log WHERE seq = ?', (middle,))
                if rows and rows[0][0] < wanted:
                    low = middle + 1
                else:
                    high = middle
            return low

    def _places(self) -> tuple[str, ...]:
        """Names of the regions."""
        regions = getattr(self, 'regions', None)
        return tuple(str(region.name) for region in regions()) if regions is not None else ()

    def _newest(self, most: int) -> tuple[list[MemoryObject], int]:
        """The objects that are there and were seen last, and how many are there."""
        with self._opened() as session:
            world = session.engine.world
            rows = world.live_rows()
            codes = [STATE_CODE[state] for state in THERE]
            rows = rows[np.isin(world.records['state'][rows], codes)]
            order = np.lexsort([world.records['id'][rows], -world.records['last_seen_ns'][rows]])[
                :most
            ]
            return world.views(rows[order]), len(rows)

    def _under(self, root: str, now_ns: int) -> list[int]:
        """Ids of what is in a region, or stands in a relation to what words name."""
        place = next((p for p in self._places() if key(p) == key(root)), '')
        if place:
            every, _ = self._newest(MAX_TOKENS)
            return [o.id for o in every if key(o.region) == key(place)]
        anchors = [h.object.id for h in named_by(self, root, now_ns) if h.terms.get('certain')]
        if not anchors:
            raise InvalidValueError(
                f'root: got {checks.short(root)}, expected the name of a region or thing'
            )
        around = {r.subject_id for r in self.relate(None, None, anchors)}
        return sorted({*anchors, *around})

    def _with_neighbours(self, ids: Iterable[int], near: bool) -> list[MemoryObject]:
        wanted = {self.object(number).id for number in ids}
        if near and wanted:
            found = self.relate(sorted(wanted))
            wanted |= {r.object_id for r in found} | {r.subject_id for r in found}
        return [o for o in self.page(ids=wanted, limit=len(wanted)) if o.state in THERE]
