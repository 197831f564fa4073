# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What a thing is like: its size, and what somebody stated of it. Nothing else is known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memory_node.model import MemoryObject
from memory_node.recall import phrases
from memory_node.recall.intent import Reading
from memory_node.recall.wording import cited, harmless
from memory_node.recall.words import words

_SIZES = frozenset(
    ('size', 'big', 'large', 'small', 'tall', 'wide', 'long', 'high', 'deep', 'größe', 'groß',
     'hoch', 'breit', 'lang', 'tamaño', '多大', '多高')
)  # fmt: skip
_KEYS = {
    'colour': ('color', 'colour'), 'color': ('color', 'colour'), 'farbe': ('color', 'colour'),
    '颜色': ('color', 'colour'), 'made': ('material',), '材料': ('material',), 'form': ('shape',),
    '形状': ('shape',), 'kind': ('kind', 'type'), 'type': ('type', 'kind'),
    'sort': ('type', 'kind'),
}  # fmt: skip
_CLOSED = frozenset(('closed', 'shut', 'geschlossen', 'zu', 'cerrad'))
_OPEN = frozenset(('open', 'opened', 'offen', 'auf', 'abiert'))
_ON = frozenset(('on', 'lit', 'turned on', 'switched on', 'running', 'an', 'encendid'))
_OFF = frozenset(('off', 'turned off', 'switched off', 'aus', 'apagad'))


def told(reading: Reading, obj: MemoryObject, properties: Mapping[str, Any]) -> tuple[str, str]:
    """The answer, and why there is none (empty: there is)."""
    asked = reading.attribute
    if reading.kind == phrases.ATTRIBUTE and asked in _SIZES:
        return _size(obj)
    folded = {key.casefold(): value for key, value in properties.items()}
    keys = _keys_of(asked) if reading.kind == phrases.ATTRIBUTE else (_state_of(asked)[0], asked)
    for key in keys:
        if key in folded:
            value = folded[key]
            if reading.kind == phrases.STATE and isinstance(value, bool):
                return _yes(obj, key, value, _state_of(asked)[1]), ''
            return f'Somebody stated of the {cited(obj)}: {key} {harmless(str(value))}.', ''
    why = f'nobody stated whether it is {asked}' if reading.kind == phrases.STATE else (
        f'nobody stated its {"material" if asked == "made" else asked}'
    )  # fmt: skip
    return f'I do not know: I know the {cited(obj)}, but {why}.', why


def _keys_of(asked: str) -> tuple[str, ...]:
    singular = words(asked)[0] if words(asked) else asked
    return _KEYS.get(singular, (singular,))


def _state_of(asked: str) -> tuple[str, bool]:
    """The property that holds a state, and its value there."""
    stem = asked.rstrip('s').removesuffix('o').removesuffix('a')
    for names, key, value in (
        (_CLOSED, 'open', False), (_OPEN, 'open', True), (_ON, 'on', True), (_OFF, 'on', False),
    ):  # fmt: skip
        if asked in names or stem in names:
            return key, value
    return asked, True


def _yes(obj: MemoryObject, key: str, value: bool, wanted: bool) -> str:
    words_of = {('open', True): 'open', ('open', False): 'closed', ('on', True): 'on',
                ('on', False): 'off'}  # fmt: skip
    now = words_of.get((key, value), key if value else f'not {key}')
    return (
        f'{"Yes" if value == wanted else "No"}: the {cited(obj)} is {harmless(now)}, as was stated.'
    )


def _size(obj: MemoryObject) -> tuple[str, str]:
    if not any(obj.size_m):
        return f'I do not know: I know the {cited(obj)}, but not its size.', 'its size is unknown'
    sides = ' × '.join(f'{side:.2f}' for side in obj.size_m)
    return f'The {cited(obj)} is about {sides} m (along its own axes, the last one up).', ''
