# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What a vague word means to whoever asks, with the reason: for queries and for answers (OM-9)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from memory_node.notes.calibration import TERMS, Learned, term_of

METRES = tuple(name for name, term in TERMS.items() if term.unit == 'm')
"""Words that are a distance."""


@dataclass(frozen=True)
class Meaning:
    """A vague word as it is meant.

    Attributes:
        value: None: nobody knows. unit: of it. why: where it is from, in words.
        samples: how many accepted options it is from; 0: it is the default.
    """

    term: str
    value: float | None
    unit: str
    why: str
    samples: int = 0
    context: str = ''


def meaning(found: Learned, user: str = '', context: str = '') -> Meaning:
    """Say where a value is from.

    Args:
        found: as `calibration.resolve` gives it. user: who asks, a slug; empty: nobody in
            particular. context: what they asked it for, a slug.
    """
    if not found.samples:
        why = f'the default: nothing is learned of {user} yet' if user else 'the default'
    else:
        options = 'option' if found.samples == 1 else 'options'
        where = f' at {found.context}' if found.context else ''
        why = f'learned from {found.samples} accepted {options} of {user}{where}'
        if context and not found.context:
            why += f', as none was accepted at {context}'
    unit = term_of(found.term).unit
    return Meaning(found.term, found.value, unit, why, found.samples, found.context)


DEFAULTS = {name: meaning(Learned(name, term.prior)) for name, term in TERMS.items()}
"""Term → what it means to nobody in particular."""


@dataclass(frozen=True)
class Speaker:
    """Whoever asks, and what their words mean.

    Attributes:
        user: slug; empty: nobody in particular. meanings: of every term.
        place_m: where they are when nothing else says so: home, dock, or where they mostly are.
    """

    user: str = ''
    meanings: Mapping[str, Meaning] = field(default_factory=lambda: DEFAULTS)
    place_m: tuple[float, float, float] | None = None


NOBODY = Speaker()
