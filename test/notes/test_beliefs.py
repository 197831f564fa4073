# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Beliefs (OM-2 … OM-7, OM-15, OM-16): checked by hand from the formulae."""

from __future__ import annotations

import math

import pytest
from notes_kit import DAY, T0

from memory_node.errors import InvalidValueError
from memory_node.notes.beliefs import (
    INFERRED,
    STATED,
    Belief,
    Event,
    Reconciled,
    infer,
    persona,
    reconcile,
    repair,
    taste,
)


def asked(concept: str, days_ago: float = 0.0, kind: str = 'ask', **more: object) -> Event:
    at = T0 - round(days_ago * DAY)
    return Event(kind, f'about {concept}', at, f'f:{days_ago}', concepts=[concept], **more)  # type: ignore[arg-type]


def stated(predicate: str, name: str) -> Event:
    return Event('state', f'I say {predicate} {name}', T0, 'f:1', stated=(predicate, name))


def belief(predicate: str, name: str, source: str = STATED, sure: float = 1.0) -> Belief:
    signal = -math.log(1 - sure) / 0.6 if sure < 1 else 0.0
    return Belief('anna', predicate, name, sure, source, T0, signal)


def test_om_5_confidence_saturates_and_one_event_is_not_enough() -> None:
    assert infer('anna', [asked('tea')], T0) == []  # 1 − e^−0.3 = 0.26
    [found] = infer('anna', [asked('tea'), asked('tea', 1e-9)], T0)
    assert found.confidence == pytest.approx(1 - math.exp(-0.6), abs=1e-6)
    [many] = infer('anna', [asked('tea', n / 100) for n in range(40)], T0)
    assert 0.99 < many.confidence < 1.0


def test_om_5_inferred_beliefs_fade_by_half_in_60_days_and_stated_ones_never() -> None:
    [found] = infer('anna', [asked('tea'), asked('tea')], T0)
    assert found.at(T0 + 60 * DAY) == pytest.approx(1 - math.exp(-0.3), abs=1e-6)
    [said] = infer('anna', [stated('likes', 'tea')], T0)
    assert said.at(T0 + 10_000 * DAY) == 1.0
    [old] = infer('anna', [asked('tea', 60) for _ in range(4)], T0)
    assert old.confidence == pytest.approx(1 - math.exp(-0.6), abs=1e-6)


def test_om_2_om_3_events_of_every_kind_become_beliefs() -> None:
    events = [
        *(Event('visit', 'went', T0 - n, f'v:{n}', place='library') for n in range(3)),
        *(Event('search', 'find', T0 - n, f's:{n}', intents=['cook']) for n in range(2)),
        Event('discover', 'look', T0, 'd:1', intents=['paint']), stated('avoids', 'noise'),
    ]  # fmt: skip
    found = {(b.predicate, b.object) for b in infer('anna', events, T0)}
    assert found == {
        ('frequents', 'library'), ('visited', 'library'), ('pursues', 'cook'), ('avoids', 'noise'),
    }  # fmt: skip


def test_om_4_om_6_a_belief_says_from_what_it_is() -> None:
    [found] = infer('anna', [asked('tea', 1), asked('tea', 2)], T0)
    assert (found.subject, found.predicate, found.object) == ('anna', 'likes', 'tea')
    assert found.source == INFERRED and found.support == ('about tea', 'about tea')
    assert found.refs == (('event', 'f:2'), ('event', 'f:1'))


def test_om_4_unknown_words_are_refused() -> None:
    with pytest.raises(InvalidValueError, match='predicate'):
        stated('adores', 'tea')
    with pytest.raises(InvalidValueError, match='event'):
        Event('dream', 'x', T0)


def test_om_5_add_update_noop_and_stated_outranks_inferred() -> None:
    new = belief('likes', 'tea', INFERRED, 0.5)
    assert reconcile(None, new, T0) is Reconciled.ADD
    assert reconcile(new, new, T0) is Reconciled.NOOP
    assert reconcile(new, belief('likes', 'tea', INFERRED, 0.6), T0) is Reconciled.UPDATE
    assert reconcile(new, belief('likes', 'tea'), T0) is Reconciled.UPDATE
    assert reconcile(belief('likes', 'tea'), new, T0) is Reconciled.NOOP
    both = infer('anna', [stated('likes', 'tea'), asked('tea'), asked('tea', 1)], T0)
    assert [b.source for b in both] == [STATED]


def test_om_7_persona_is_what_was_stated_and_what_is_likely() -> None:
    known = [
        belief('likes', 'jazz', INFERRED, 0.35), belief('likes', 'tea', INFERRED, 0.8),
        belief('likes', 'art', INFERRED, 0.9), belief('avoids', 'noise'),
    ]  # fmt: skip
    assert [b.object for b in persona(known, T0)] == ['noise', 'art', 'tea']
    assert [b.object for b in persona(known, T0, 2)] == ['noise', 'art']


def test_om_15_contradictions_stated_wins_else_the_surer_and_two_stated_are_shown() -> None:
    standing, conflicts = repair([belief('likes', 'x', INFERRED, 0.9), belief('avoids', 'x')], T0)
    assert [b.predicate for b in standing] == ['avoids'] and conflicts == []
    standing, _ = repair(
        [belief('likes', 'x', INFERRED, 0.9), belief('avoids', 'x', INFERRED, 0.5)], T0
    )
    assert [b.predicate for b in standing] == ['likes']
    standing, conflicts = repair([belief('likes', 'x'), belief('avoids', 'x')], T0)
    assert len(standing) == 2 and len(conflicts) == 1


def test_om_16_avoiding_counts_against() -> None:
    known = [belief('likes', 'quiet'), belief('avoids', 'loud')]
    assert taste(known, ['Quiet'], T0) == 1.0 and taste(known, ['loud'], T0) == -1.0
    assert taste(known, ['quiet', 'loud'], T0) == 0.0 and taste(known, ['blue'], T0) == 0.0
