# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Plain values (numbers, texts, lists, mappings) as Property messages and back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from spatial_memory.msg import Property

from memory_node.errors import InvalidValueError

MAX_DEPTH = 64
"""Lists in lists beyond this are kept as text: programs that read JSON give up at some depth."""


def text_of(value: Any) -> str:
    """Text as it is; anything else as JSON. A text that reads as JSON is quoted."""
    if isinstance(value, str) and isinstance(value_of(value), str):
        return value
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def value_of(text: str) -> Any:
    """What a text stands for: JSON where it is JSON that is not nested too deeply, else itself."""
    try:
        value = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return text
    return value if _depth(value) <= MAX_DEPTH else text


def to_msg(values: Mapping[str, Any]) -> list[Property]:
    """A mapping as messages, by key."""
    return [Property(key=str(k), value=text_of(values[k])) for k in sorted(values)]


def from_msg(messages: Iterable[Property]) -> dict[str, Any]:
    """Messages as a mapping."""
    return {m.key: value_of(m.value) for m in messages}


def given(messages: Sequence[Property]) -> dict[str, Any]:
    """What a caller states, as a mapping.

    Raises:
        InvalidValueError: a key is empty, or there twice.
    """
    keys = [m.key for m in messages]
    for key in keys:
        if not key.strip() or keys.count(key) > 1:
            raise InvalidValueError(
                f'key: got {key!r}, expected names that are not empty, each once'
            )
    return from_msg(messages)


def _depth(value: Any) -> int:
    """How many lists and mappings are within each other."""
    depth, level = 0, [value]
    while level := [v for v in level if isinstance(v, (list, dict))]:
        depth += 1
        level = [v for box in level for v in (box.values() if isinstance(box, dict) else box)]
    return depth


def _no_constant(name: str) -> Any:
    raise ValueError(f'{name} is no JSON')
