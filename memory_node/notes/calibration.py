# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What vague words mean to whom (OM-9, OM-14): near, soon. A new word is one entry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from memory_node import checks
from memory_node.errors import InvalidValueError
from memory_node.notes.items import slug

KEEP = 0.7
"""Share of the old value that stays where the typical one is learned."""
MAX_MEASURE = 1e6
"""Nothing that is offered is farther, longer or dearer; a tolerance never shrinks by itself."""
MAX, TYPICAL = 'max', 'typical'


@dataclass(frozen=True)
class Term:
    """A vague word. rule: `max` of what was accepted for a tolerance, or what is `typical`."""

    name: str
    unit: str
    prior: float | None
    rule: str
    measure: str


TERMS: Mapping[str, Term] = {
    term.name: term
    for term in (
        Term('near', 'm', 2.0, MAX, 'distance'),
        Term('reach', 'm', 0.8, MAX, 'reach'),
        Term('walk_time', 'min', 10.0, MAX, 'walk_time'),
        Term('soon', 'min', 10.0, MAX, 'wait'),
        Term('budget', '', None, TYPICAL, 'price'),
        Term('noise', '0 to 1', 0.35, TYPICAL, 'noise'),
        Term('quiet', '0 to 1', 0.35, MAX, 'loudness'),
    )
}


@dataclass(frozen=True)
class Learned:
    """A value of a term: samples: how many accepted options it is from; 0: it is the prior."""

    term: str
    value: float | None
    samples: int = 0
    context: str = ''


@dataclass(frozen=True)
class Option:
    """Something that was offered, with its measures: distance (m), price, … (OM-14)."""

    name: str
    measures: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        checks.word('option', self.name)
        for name, value in self.measures.items():
            checks.word('option measure', name)
            if checks.finite(f'option.{name}', value) > MAX_MEASURE:
                raise InvalidValueError(
                    f'option.{name}: got {value:g}, expected at most {MAX_MEASURE:g}'
                )


def term_of(name: str) -> Term:
    """Return a term.

    Raises:
        InvalidValueError: it is not in the registry.
    """
    if name not in TERMS:
        raise InvalidValueError(
            f'term: got {checks.short(name)}, expected {", ".join(sorted(TERMS))}'
        )
    return TERMS[name]


def learn(old: Learned, accepted: float) -> Learned:
    """What a term means after an option was accepted."""
    term = term_of(old.term)
    checks.finite(term.name, accepted)
    if old.samples == 0 and term.rule == TYPICAL or old.value is None:
        value = accepted
    elif term.rule == MAX:
        value = max(old.value, accepted)
    else:
        value = KEEP * old.value + (1.0 - KEEP) * accepted
    return Learned(term.name, round(value, 9), old.samples + 1, old.context)


def accepted(options: Sequence[Option], name: str) -> dict[str, float]:
    """Term → what the accepted option says of it; what was rejected says nothing (OM-14).

    Raises:
        InvalidValueError: no option has this name.
    """
    chosen = [option for option in options if slug(option.name) == slug(name)]
    if not chosen:
        listed = ', '.join(option.name for option in options) or 'none'
        raise InvalidValueError(f'accepted: got {checks.short(name)}, expected one of {listed}')
    measures = chosen[0].measures
    return {
        term.name: measures[term.measure] for term in TERMS.values() if term.measure in measures
    }


def resolve(term: str, known: Mapping[str, Learned], context: str = '') -> Learned:
    """What a term means in a context: what was learned there, else anywhere, else the prior.

    Args:
        term: its name. known: context → what was learned; empty: in any. context: for example work.
    """
    prior = term_of(term).prior
    return known.get(context) or known.get('') or Learned(term, prior)
