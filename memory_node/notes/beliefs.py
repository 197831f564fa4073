# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Beliefs about people (OM-4 … OM-7, OM-15): from what they said, and from what they keep doing.

Everything here is arithmetic over events and beliefs that are given; nothing is stored.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from memory_node import checks
from memory_node.errors import InvalidValueError
from memory_node.notes.items import slug

EVENT_KINDS = ('search', 'discover', 'visit', 'ask', 'remember', 'state')
PREDICATES = (
    'likes', 'avoids', 'prefers', 'lives_near', 'works_near', 'frequents', 'visited', 'pursues',
    'wants_to_go',
)  # fmt: skip
STATED, INFERRED = 'stated', 'inferred'
HALF_LIFE_NS = 60 * 86_400 * 10**9
GAIN, PER_EVENT = 0.6, 0.5
KEPT, LIKELY = 0.3, 0.4
GOAL_EVENTS, FREQUENT_VISITS = 2, 3
NOTICED = 0.05
"""A belief whose confidence moves by less than this is not written anew."""
NOTED_KEYS = ('belief:', 'calibration:', 'anchor:')
"""Keys of notes begin so that hold what was learned of a person."""
_OPPOSITE = {'likes': 'avoids', 'avoids': 'likes', 'prefers': 'avoids'}


@dataclass(frozen=True)
class Event:
    """Something that a person asked, did or said.

    Attributes:
        kind: of EVENT_KINDS. text: in words. at_ns: when. ref: `FILE:LINE`.
        place: a region or object, or empty. concepts, intents: what it is about, what for.
        stated: (predicate, object) of what was stated.
    """

    kind: str
    text: str
    at_ns: int
    ref: str = ''
    place: str = ''
    concepts: Sequence[str] = ()
    intents: Sequence[str] = ()
    stated: tuple[str, str] | None = None

    def __post_init__(self) -> None:
        if self.kind not in EVENT_KINDS:
            raise InvalidValueError(
                f'event: got {checks.short(self.kind)}, expected {", ".join(EVENT_KINDS)}'
            )
        checks.said('text', self.text)
        checks.whole('at_ns', self.at_ns, 0)
        if self.stated is not None:
            require_predicate(self.stated[0])
            checks.word('object', self.stated[1])


def event_of(said: Mapping[str, Any], at_ns: int, ref: str) -> Event:
    """An event as the journal has it.

    Raises:
        InvalidValueError: it is none.
    """
    try:
        given = dict(said)
        pair = given.pop('stated', None)
        return Event(at_ns=at_ns, ref=ref, stated=None if pair is None else tuple(pair), **given)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidValueError(f'event: {error}') from error


def plain_event(event: Event) -> dict[str, Any]:
    """What `event_of` reads."""
    plain = {
        'kind': event.kind, 'text': event.text, 'place': event.place,
        'concepts': list(event.concepts), 'intents': list(event.intents),
        'stated': event.stated and list(event.stated),
    }  # fmt: skip
    return {name: value for name, value in plain.items() if value}


@dataclass(frozen=True)
class Belief:
    """(subject, predicate, object), how sure, and why.

    Attributes:
        source: stated or inferred. signal: sum of what its events add, as of at_ns.
        refs: (event, place, turn or stated; where), to drill to evidence (OM-6).
        support: the same in a few words.
    """

    subject: str
    predicate: str
    object: str
    confidence: float
    source: str
    at_ns: int
    signal: float = 0.0
    refs: Sequence[tuple[str, str]] = ()
    support: Sequence[str] = field(default_factory=tuple)

    def at(self, now_ns: int) -> float:
        """How sure it is by now: what was stated does not fade."""
        if self.source == STATED:
            return self.confidence
        return saturating(self.signal * _faded(now_ns - self.at_ns))

    @property
    def key(self) -> str:
        """Its identity among notes."""
        return f'belief:{slug(self.subject)}|{self.predicate}|{slug(self.object)}'


class Reconciled(str, Enum):
    """What becomes of a belief beside what is believed already."""

    ADD = 'ADD'
    UPDATE = 'UPDATE'
    NOOP = 'NOOP'


def require_predicate(word: str) -> str:
    """Return a predicate.

    Raises:
        InvalidValueError: it is none of PREDICATES.
    """
    if word not in PREDICATES:
        raise InvalidValueError(
            f'predicate: got {checks.short(word)}, expected {", ".join(PREDICATES)}'
        )
    return word


def saturating(signal: float) -> float:
    """Confidence of a sum of signals: 1 − e^(−0.6·signal)."""
    return round(1.0 - math.exp(-GAIN * signal), 9)


def infer(subject: str, events: Iterable[Event], now_ns: int) -> list[Belief]:
    """What a person's events say of them: stated beliefs, and inferred ones of at least KEPT.

    Args:
        subject: who. events: of that person. now_ns: later events do not count.
    """
    stated: dict[tuple[str, str], Event] = {}
    found: dict[tuple[str, str], list[Event]] = {}
    for event in sorted(events, key=lambda event: (event.at_ns, event.ref)):
        if event.at_ns > now_ns:
            continue
        if event.stated is not None:
            stated[event.stated] = event
        for pair in _said_by(event):
            found.setdefault(pair, []).append(event)
    beliefs = [
        Belief(subject, predicate, name, 1.0, STATED, event.at_ns, refs=(('stated', event.ref),),
               support=(event.text,))
        for (predicate, name), event in stated.items()
    ]  # fmt: skip
    for (predicate, name), of in found.items():
        if len(of) < {'pursues': GOAL_EVENTS, 'frequents': FREQUENT_VISITS}.get(predicate, 1):
            continue
        signal = sum(PER_EVENT * _faded(now_ns - event.at_ns) for event in of)
        belief = Belief(
            subject, predicate, name, saturating(signal), INFERRED, now_ns, signal,
            tuple(('event', event.ref) for event in of), tuple(event.text for event in of[-3:]),
        )  # fmt: skip
        if belief.confidence >= KEPT and (predicate, name) not in stated:
            beliefs.append(belief)
    return sorted(beliefs, key=lambda b: (b.predicate, b.object))


def _said_by(event: Event) -> Iterable[tuple[str, str]]:
    """(predicate, object) that an event is a signal of."""
    if event.kind != 'state':
        for concept in event.concepts:
            yield 'likes', concept
    for intent in event.intents:
        yield 'pursues', intent
    if event.kind == 'visit' and event.place:
        yield 'visited', event.place
        yield 'frequents', event.place


def reconcile(old: Belief | None, new: Belief, now_ns: int) -> Reconciled:
    """Whether a belief is new, says more than the old one, or the same (OM-5).

    What was stated is never replaced by what is inferred.
    """
    if old is None:
        return Reconciled.ADD
    if old.source == STATED and new.source == INFERRED:
        return Reconciled.NOOP
    changed = old.source != new.source or (
        abs(round(old.at(now_ns) - new.at(now_ns), 9)) >= NOTICED
        or abs(round(old.confidence - new.confidence, 9)) >= NOTICED
    )
    return Reconciled.UPDATE if changed else Reconciled.NOOP


def repair(
    beliefs: Sequence[Belief], now_ns: int
) -> tuple[list[Belief], list[tuple[Belief, Belief]]]:  # fmt: skip
    """Leave out what is contradicted (OM-15).

    Returns:
        The beliefs that stand: stated before inferred, else the surer one; and pairs of stated ones
        that contradict each other, which both stand, for a person to settle.
    """
    standing, conflicts = [], []
    by_key = {(b.predicate, slug(b.object)): b for b in beliefs}
    for belief in beliefs:
        other = by_key.get((_OPPOSITE.get(belief.predicate, ''), slug(belief.object)))
        if other is None:
            standing.append(belief)
        elif belief.source == other.source == STATED:
            standing.append(belief)
            if belief.predicate < other.predicate:
                conflicts.append((belief, other))
        elif _rank(belief, now_ns) >= _rank(other, now_ns):
            standing.append(belief)
    return standing, conflicts


def _rank(belief: Belief, now_ns: int) -> tuple[bool, float, str]:
    return belief.source == STATED, belief.at(now_ns), belief.predicate


def persona(beliefs: Sequence[Belief], now_ns: int, most: int = 10) -> list[Belief]:
    """What to know of a person: stated first, then what is likely, surest first (OM-7)."""
    likely = [b for b in beliefs if b.source == STATED or b.at(now_ns) >= LIKELY]
    likely.sort(key=lambda b: (b.source != STATED, -b.at(now_ns), b.predicate, b.object))
    return likely[:most]


def taste(beliefs: Sequence[Belief], concepts: Iterable[str], now_ns: int) -> float:
    """How much somebody likes what has these concepts: −1 to 1; avoiding counts against (OM-16)."""
    wanted = {slug(concept) for concept in concepts}
    signs: Mapping[str, float] = {'likes': 1.0, 'prefers': 1.0, 'pursues': 0.5, 'avoids': -1.0}
    total = sum(
        signs.get(b.predicate, 0.0) * b.at(now_ns) for b in beliefs if slug(b.object) in wanted
    )
    return round(max(-1.0, min(1.0, total)), 9)


def _faded(age_ns: int) -> float:
    return math.pow(0.5, max(0, age_ns) / HALF_LIFE_NS)
