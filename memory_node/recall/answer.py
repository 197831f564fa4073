# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Answers in words from what is remembered, by templates, without any model.

An answer is certain only if what is asked for is named for certain and its confidence is at least
`assert_confidence` (CH-39); any other says so. What is not known is said to be not known.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memory_node.config import MAX_LIMIT
from memory_node.model import IDENTITY, Check, Hit, MemoryObject, Pose, State
from memory_node.notes.reach import NOBODY, Speaker
from memory_node.recall import attributes, phrases
from memory_node.recall.finding import NEAR_ME_M, Found, find, is_certain, relations_of
from memory_node.recall.intent import PARITY, Reading
from memory_node.recall.news import news
from memory_node.recall.wording import (
    ago,
    cited,
    counted,
    harmless,
    point,
    relation_words,
    side_words,
    way_to,
    whereabouts,
)

if TYPE_CHECKING:
    from memory_node.answering import Answering

ASIDE = {'near': 'near you', 'front': 'in front of you', 'behind': 'behind you'}
SEEN_ONCE = 0.5
"""How sure it is that what was seen in one look only is a thing."""


@dataclass(frozen=True)
class Answer:
    """An answer.

    Attributes:
        text: in words; objects are cited as [#id].
        kind: what was asked, one of phrases.KINDS. reading: how the text was read, in words.
        certain: whether it may be relied on. confidence: that it is right, 0 to 1.
        refusal: why there is no answer; empty: there is one.
        hits: what it rests on, best first. citations: ids in the text.
        by_model: whether a language model wrote it.
        sources: `FILE:LINE` of the notes that it quotes.
        radius_m: how far «near me» was taken to reach, and radius_why: why so; 0: not asked.
    """

    text: str
    kind: str
    reading: str
    certain: bool = False
    confidence: float = 0.0
    refusal: str = ''
    hits: tuple[Hit, ...] = ()
    citations: tuple[int, ...] = ()
    by_model: bool = False
    sources: tuple[str, ...] = ()
    radius_m: float = 0.0
    radius_why: str = ''


@dataclass(frozen=True)
class _Said:
    """Words, how sure they are, and what they rest on."""

    text: str
    confidence: float
    named: bool
    hits: tuple[Hit, ...]
    refusal: str = ''


class Answerer:
    """Answers one question."""

    def __init__(
        self, memory: Answering, reading: Reading, pose: Pose | None, now_ns: int, limit: int,
        since_seq: int, speaker: Speaker = NOBODY,
    ) -> None:  # fmt: skip
        """Call `answer`.

        Args:
            pose: of whoever asks (x forward, y left); None: not known.
            limit: things that are named at most. since_seq: last log line that the asker knows.
            speaker: who asks, and what «near» means to them.
        """
        self._near = speaker.meanings[reading.term] if reading.side == 'near' else None
        self._near_why = self._near.why if self._near is not None else ''
        if self._near is not None and pose is None and speaker.place_m is not None:
            pose = Pose(speaker.place_m, IDENTITY)
            self._near_why += ', around where you mostly are'
        self._memory, self._reading, self._pose = memory, reading, pose
        self._now_ns, self._limit, self._since_seq = now_ns, limit, since_seq

    def answer(self) -> Answer:
        """The answer; where there is none, why."""
        reading = self._reading
        said = self._refused(reading.refusal) if reading.refusal else self._say()
        least = self._memory.config.assert_confidence
        certain = said.named and not said.refusal and said.confidence >= least
        text = said.text if certain or said.refusal else _hedged(said)
        return Answer(
            text, reading.kind, harmless(str(reading), 400), certain, round(said.confidence, 6),
            said.refusal, said.hits[: self._limit], cited_in(text),
            radius_m=self._radius_m if self._near is not None else 0.0, radius_why=self._near_why,
        )  # fmt: skip

    def _say(self) -> _Said:
        reading = self._reading
        if reading.kind == phrases.CHANGED:
            return _Said(*news(self._memory, reading, self._now_ns, self._since_seq, self._limit))
        needs_pose = reading.side or reading.kind == phrases.DIRECTION or (
            reading.kind == phrases.DISTANCE
        )  # fmt: skip
        if needs_pose and self._pose is None:
            return self._refused('it depends on where you stand and look: no pose was given')
        found = self._find(reading)
        if found.missing:
            return self._unknown(found.missing, found.anchors)
        tell = {
            phrases.WHERE: self._where, phrases.EXISTS: self._exists, phrases.COUNT: self._count,
            phrases.STILL: self._still, phrases.WHEN: self._when, phrases.LIST: self._list,
            phrases.DIRECTION: self._where, phrases.DISTANCE: self._distance,
            phrases.ATTRIBUTE: self._attribute, phrases.STATE: self._attribute,
        }[reading.kind]  # fmt: skip
        return tell(found)

    @property
    def _radius_m(self) -> float:
        near = self._near
        return NEAR_ME_M if near is None or near.value is None else near.value

    def _find(self, reading: Reading) -> Found:
        return find(self._memory, reading, self._pose, self._now_ns, self._radius_m)

    def _refused(self, reason: str) -> _Said:
        return _Said(f'I cannot answer that: {reason}.', 0.0, False, (), reason)

    # -- one form each ---------------------------------------------------------------------------

    def _where(self, found: Found) -> _Said:
        if not found.certain:
            return self._unknown(self._reading.thing, found.hits)
        if not found.there:
            return self._not_in_place(found.certain)
        best = found.there[0]
        if self._reading.span.until_ns is not None:
            return self._where_then(best, self._reading.span.until_ns)
        shown = found.there[: self._limit]
        places = [f'{cited(h.object)} is {self._place(h.object)}' for h in shown]
        more = f' and {len(found.there) - len(shown)} more' if len(found.there) > len(shown) else ''
        if len(shown) == 1:
            seen = ago(best.object.last_seen_ns, self._now_ns)
            text = f'The {places[0]}; seen {seen}{more}.'
        else:
            text = f'I know {len(found.there)}: {"; ".join(places)}{more}.'
        return _Said(text, self._sure(best), True, found.hits)

    def _where_then(self, hit: Hit, until_ns: int) -> _Said:
        """Where it was at the end of a stretch of time."""
        past = [v for v in self._memory.versions(hit.object.id) if v.stamp_ns <= until_ns]
        if not past:
            return self._unknown(self._reading.thing, ())
        text = f'The {cited(hit.object)} was at {point(past[-1].center_m)} then.'
        return _Said(text, self._share(hit), True, (hit,))

    def _exists(self, found: Found) -> _Said:
        there = found.there
        if not there:
            return self._none(found)
        best = there[0]
        number = 'Yes' if len(there) == 1 else f'Yes, {len(there)}'
        text = f'{number}: the {cited(best.object)} is {self._place(best.object)}.'
        return _Said(text, self._sure(best), True, found.hits)

    def _count(self, found: Found) -> _Said:
        there = found.there
        if not there:
            return self._none(found)
        once = sum(h.object.state is State.TENTATIVE for h in there)
        ids = ', '.join(f'[#{h.object.id}]' for h in there[: self._limit])
        less = f' ({once} of them seen in one look only)' if once else ''
        whole = len(found.hits) < MAX_LIMIT
        number = f'{"" if whole else "at least "}{len(there)}'
        odd = ''
        if whole and self._reading.attribute == PARITY:
            odd = f', an {"odd" if len(there) % 2 else "even"} number'
        what = harmless(self._reading.thing) or 'things'
        text = f"I count {number} of '{what}'{less}{odd}: {ids}."
        sure = min(self._sure(hit) for hit in there)
        return _Said(text, sure, True, found.hits)

    def _still(self, found: Found) -> _Said:
        plain = dataclasses.replace(self._reading, relation='', anchor='', place='', side='')
        named = self._find(plain)
        if not named.certain:
            return self._unknown(self._reading.thing, named.hits)
        if not named.there:
            return self._not_in_place(named.certain, 'No')
        best = found.there[0] if found.there else named.there[0]
        obj, presence = best.object, best.presence
        where = f'the {cited(obj)} is {self._place(obj)}'
        if not found.there:
            return _Said(f'No: {where}.', self._sure(best), True, named.hits)
        seen = f'seen {ago(obj.last_seen_ns, self._now_ns)}, {_checked(obj, self._now_ns)}'
        if obj.state is State.DOUBTFUL or presence < 0.5:
            text = f'I doubt it: the {cited(obj)} was {self._place(obj)}; {seen}.'
            return _Said(text, min(1.0 - presence, 0.69), True, found.hits)
        text = f'Yes, with probability {presence:.2f}: {where}; {seen}.'
        return _Said(text, self._sure(best), True, found.hits)

    def _when(self, found: Found) -> _Said:
        if not found.certain:
            return self._unknown(self._reading.thing, found.hits)
        best = max(found.certain, key=lambda h: (h.object.last_seen_ns, -h.object.id))
        obj = best.object
        if not obj.observations:
            return _Said(
                f'Nobody has seen the {cited(obj)} yet: it was stated.', 1.0, True, (best,)
            )
        text = (
            f'I last saw the {cited(obj)} {ago(obj.last_seen_ns, self._now_ns)}, at '
            f'{point(obj.center_m)}; {_checked(obj, self._now_ns)}.'
        )
        return _Said(text, self._share(best), True, found.hits)

    def _list(self, found: Found) -> _Said:
        reading = self._reading
        there = [h for h in found.there if h.object.id not in {a.object.id for a in found.anchors}]
        if not there:
            return self._none(found)
        by_label: dict[str, list[int]] = {}
        for hit in there:
            by_label.setdefault(hit.object.label, []).append(hit.object.id)
        shown = list(by_label.items())[: self._limit]
        parts = [
            f'{counted(len(ids), label)} {" ".join(f"[#{i}]" for i in ids[: self._limit])}'
            for label, ids in shown
        ]
        more = f', and {len(by_label) - len(shown)} more kinds of things' if by_label.keys() - dict(
            shown).keys() else ''  # fmt: skip
        text = f'{self._scope(reading)}: {", ".join(parts)}{more}.'
        sure = sum(self._sure(hit) for hit in there) / len(there)
        return _Said(text, sure, True, tuple(there))

    def _distance(self, found: Found) -> _Said:
        reading = self._reading
        if not reading.other or self._pose is None:
            return self._where(found)
        named = [(reading.thing, found)]
        swapped = dataclasses.replace(reading, thing=reading.other, other='')
        named.append((reading.other, self._find(swapped)))
        best = []
        for thing, one in named:
            if not one.there:
                return self._unknown(thing, one.hits)
            best.append(min(one.there, key=lambda h: self._way(h)[0]))
        ordered = sorted(best, key=lambda h: self._way(h)[0])
        if reading.attribute == 'farther':
            ordered.reverse()
        first, second = (f'{cited(h.object)} at {self._way(h)[0]:.1f} m' for h in ordered)
        word = 'farther' if reading.attribute == 'farther' else 'closer'
        text = f'The {first} is {word} than the {second}.'
        return _Said(text, min(self._sure(h) for h in best), True, tuple(ordered))

    def _attribute(self, found: Found) -> _Said:
        if not found.certain:
            return self._unknown(self._reading.thing, found.hits)
        best = found.certain[0]
        text, why = attributes.told(
            self._reading, best.object, self._memory.properties(best.object.id)
        )
        if why:
            return dataclasses.replace(self._refused(why), text=text, hits=found.hits)
        return _Said(text, self._share(best), True, found.hits)

    # -- what is not known -----------------------------------------------------------------------

    def _unknown(self, thing: str, hits: Sequence[Hit]) -> _Said:
        """Nothing is named so for certain; what is alike is told as such."""
        name = harmless(thing) or 'such a thing'
        if not hits:
            return _Said(f"I do not know: I know of no '{name}'.", 0.0, False, ())
        alike = [f'{cited(h.object)} {self._place(h.object)}' for h in hits[:3]]
        text = f"I do not know a '{name}' for certain. Similar, not certain: {'; '.join(alike)}."
        sure = 0.5 * max(h.score for h in hits)
        return _Said(text, sure, False, tuple(hits))

    def _none(self, found: Found) -> _Said:
        """Nothing of the kind is where it was asked for."""
        alike = [h for h in found.hits if not is_certain(h)]
        if alike and self._reading.thing:
            return self._unknown(self._reading.thing, alike)
        if self._reading.thing and found.certain:
            return self._not_in_place(found.certain)
        name, scope = harmless(self._reading.thing), self._scope(self._reading)
        which = f' {name}' if name else 'thing'
        text = f'I do not know of any{which} {scope[0].lower()}{scope[1:]}.'
        return _Said(' '.join(text.split()), 0.0, False, found.hits)

    def _not_in_place(self, hits: Sequence[Hit], lead: str = 'I do not know where it is') -> _Said:
        """It is known, but not where it was, or in the robot's hand."""
        best = hits[0]
        obj = best.object
        if obj.state is State.HELD:
            return _Said(f'The robot holds the {cited(obj)}.', self._share(best), True, tuple(hits))
        text = (
            f'{lead}: the {cited(obj)} was at {point(obj.center_m)}, seen '
            f'{ago(obj.last_seen_ns, self._now_ns)}; {_checked(obj, self._now_ns)}.'
        )
        sure = (1.0 - best.presence) * self._share(best) if lead == 'No' else 0.0
        return _Said(text, sure, lead == 'No', tuple(hits))

    # -- how sure it is --------------------------------------------------------------------------

    def _sure(self, hit: Hit) -> float:
        """That a hit is the thing, and there."""
        return hit.presence * self._share(hit)

    def _share(self, hit: Hit) -> float:
        """That a hit is the thing: the share of its label, less if it was seen in one look."""
        obj = hit.object
        whole = sum(obj.labels.values())
        share = obj.labels.get(obj.label, 0.0) / whole if whole > 0 and not obj.stated else 1.0
        return share * (SEEN_ONCE if obj.state is State.TENTATIVE else 1.0)

    def _place(self, obj: MemoryObject) -> str:
        related = relations_of(self._memory, [obj])
        others = {r.object_id for r in related}
        labels = {o.id: o.label for o in self._memory.page(ids=others, limit=len(others))}
        return whereabouts(obj, related, labels, self._pose)

    def _way(self, hit: Hit) -> tuple[float, float]:
        assert self._pose is not None
        return way_to(self._pose, hit.object.center_m)

    def _scope(self, reading: Reading) -> str:
        """Where was asked about, as the beginning of a sentence."""
        parts = []
        if reading.relation:
            parts.append(f'{relation_words(reading.relation)} the {harmless(reading.anchor)}')
        if reading.place:
            parts.append(f'in {harmless(reading.place)}')
        if reading.side == 'bearing':
            parts.append(side_words(reading.bearing_deg))
        elif reading.side:
            parts.append(ASIDE.get(reading.side, f'on your {reading.side}'))
        if reading.span.words:
            parts.append(f'({harmless(reading.span.words)})')
        scope = ' '.join(parts) or 'in what I remember'
        return scope[0].upper() + scope[1:]


def _checked(obj: MemoryObject, now_ns: int) -> str:
    """What the last look at its place said."""
    when = ago(obj.last_checked_ns, now_ns)
    told = {
        Check.SEEN: f'it was there when I looked {when}',
        Check.SEEN_THROUGH: f'its place was empty when I looked {when}',
        Check.MISSED: f'I did not find it when I looked {when}',
        Check.OCCLUDED: f'something hid its place when I looked {when}',
        Check.OUT_OF_RANGE: f'its place was too far off when I looked {when}',
        Check.NO_EVIDENCE: f'I could not tell when I looked {when}',
    }
    return told.get(obj.last_check, 'its place was not looked at since')


def _hedged(said: _Said) -> str:
    """The words, so that nobody takes them for certain."""
    if not said.named or said.text.startswith(('I do not know', 'I doubt')):
        return said.text
    return f'I am not sure ({said.confidence:.2f}): {said.text}'


def cited_in(text: str) -> tuple[int, ...]:
    """The ids that a text cites, each once, in their order."""
    found = Counter[int]()
    for piece in text.split('[#')[1:]:
        number = piece.split(']', 1)[0]
        if number.isascii() and number.isdigit() and len(number) < 20:
            found[int(number)] += 1
    return tuple(found)
