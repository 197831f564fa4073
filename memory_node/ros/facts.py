# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Plain values (numbers, texts, lists, mappings) as Property messages and back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from spatial_memory.msg import Property


def text_of(value: Any) -> str:
    """Text as it is; anything else as JSON. A text that reads as JSON is quoted."""
    if isinstance(value, str) and isinstance(value_of(value), str):
        return value
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def value_of(text: str) -> Any:
    """What a text stands for: JSON where it is JSON, else itself."""
    try:
        return json.loads(text, parse_constant=_no_constant)
    except ValueError:
        return text


def to_msg(values: Mapping[str, Any]) -> list[Property]:
    """A mapping as messages, by key."""
    return [Property(key=str(k), value=text_of(values[k])) for k in sorted(values)]


def from_msg(messages: Iterable[Property]) -> dict[str, Any]:
    """Messages as a mapping."""
    return {m.key: value_of(m.value) for m in messages}


def _no_constant(name: str) -> Any:
    raise ValueError(f'{name} is no JSON')
