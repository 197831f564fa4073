# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Arguments of tools: what each may be, as a check and as JSON schema, from one declaration.

A model fills them, and whoever wrote what the model read may have chosen them: nothing is trusted,
and nothing that was given comes back in an error (CH-44).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memory_node.errors import SpatialMemoryError

MAX_ID = 2**63 - 1
MAX_TEXT = 200
MAX_K = 1000
MAX_TOKENS = 100_000
MAX_COORDINATE_M = 1e6


class ToolError(SpatialMemoryError):
    """A tool could not do what was asked. Its text is written by this package, for the model."""


@dataclass(frozen=True)
class Argument:
    """One argument of a tool.

    Attributes:
        kind: 'integer', 'number', 'text', 'texts' (a list), 'point' or 'boolean'.
        about: what it means, for the model.
        default: what it is when it is left out; None: then it is None, if not required.
        low, high: of a number, both included; above: more than `low`.
        choices: what a text may be; empty: any printable text.
        longest: characters of a text. most: texts of a list.
    """

    kind: str
    about: str
    required: bool = False
    default: Any = None
    low: float = 0
    high: float = MAX_ID
    above: bool = False
    choices: Sequence[str] = ()
    longest: int = MAX_TEXT
    most: int = 20

    def schema(self) -> dict[str, Any]:
        """As JSON schema."""
        found: dict[str, Any] = {'description': self.about}
        if self.kind == 'point':
            number = {'type': 'number', 'minimum': -MAX_COORDINATE_M, 'maximum': MAX_COORDINATE_M}
            found.update(type='array', items=number, minItems=3, maxItems=3)
        elif self.kind == 'texts':
            text = {'type': 'string', 'minLength': 1, 'maxLength': self.longest}
            found.update(type='array', items=text, maxItems=self.most)
        elif self.kind == 'text':
            found.update(type='string', minLength=1, maxLength=self.longest)
            if self.choices:
                found['enum'] = list(self.choices)
        elif self.kind == 'boolean':
            found['type'] = 'boolean'
        else:
            found.update({
                'type': self.kind, 'exclusiveMinimum' if self.above else 'minimum': self.low,
                'maximum': self.high,
            })  # fmt: skip
        if self.default is not None:
            found['default'] = self.default
        return found

    def check(self, name: str, value: object) -> Any:
        """The value, if it is one of those expected.

        Raises:
            ToolError: it is not; says what was expected, and nothing of what was given.
        """
        fits = {
            'integer': self._is_integer, 'number': self._is_number, 'text': self._is_text,
            'texts': self._are_texts,
            'point': self._is_point, 'boolean': lambda given: isinstance(given, bool),
        }[self.kind](value)  # fmt: skip
        if not fits:
            raise ToolError(f'argument {name}: expected {self._expected()}')
        if self.kind == 'point':
            return tuple(float(v) for v in value)  # type: ignore[attr-defined]
        return float(value) if self.kind == 'number' else value  # type: ignore[arg-type]

    def _is_integer(self, value: object) -> bool:
        return _whole(value) and self.low <= value <= self.high  # type: ignore[operator]

    def _is_number(self, value: object) -> bool:
        if not _finite(value) or not self.low <= value <= self.high:  # type: ignore[operator]
            return False
        return not (self.above and value == self.low)

    def _is_text(self, value: object) -> bool:
        if not isinstance(value, str) or not 0 < len(value) <= self.longest or not value.strip():
            return False
        return value in self.choices if self.choices else value.isprintable()

    def _are_texts(self, value: object) -> bool:
        return isinstance(value, list) and len(value) <= self.most and all(
            self._is_text(one) for one in value
        )  # fmt: skip

    @staticmethod
    def _is_point(value: object) -> bool:
        return isinstance(value, (list, tuple)) and len(value) == 3 and all(
            _finite(v) and abs(v) <= MAX_COORDINATE_M for v in value
        )  # fmt: skip

    def _expected(self) -> str:
        if self.choices:
            return f'one of {", ".join(self.choices)}'
        if self.kind == 'text':
            return f'1 to {self.longest} printable characters'
        if self.kind == 'texts':
            return f'a list of at most {self.most} texts of 1 to {self.longest} characters'
        if self.kind == 'point':
            return f'three finite numbers up to {MAX_COORDINATE_M:g} m'
        if self.kind == 'boolean':
            return 'true or false'
        between = f'above {self.low:g}, at most' if self.above else f'{self.low:g} to'
        word = 'a whole number,' if self.kind == 'integer' else 'a finite number,'
        return f'{word} {between} {int(self.high) if self.high == MAX_ID else f"{self.high:g}"}'


def schema_of(arguments: Mapping[str, Argument]) -> dict[str, Any]:
    """Arguments as JSON schema of one object; nothing else may be in it."""
    return {
        'type': 'object',
        'properties': {name: argument.schema() for name, argument in arguments.items()},
        'required': [name for name, argument in arguments.items() if argument.required],
        'additionalProperties': False,
    }


def checked(arguments: Mapping[str, Argument], given: object) -> dict[str, Any]:
    """All arguments, with the defaults of those left out.

    Raises:
        ToolError: one is not as expected, is missing, or is not known.
    """
    if given is None:
        given = {}
    if not isinstance(given, Mapping):
        raise ToolError('arguments: expected an object')
    if not set(given) <= set(arguments):
        raise ToolError(f'arguments: expected none but {", ".join(arguments) or "none"}')
    found = {}
    for name, argument in arguments.items():
        if name in given and not (given[name] is None and not argument.required):
            found[name] = argument.check(name, given[name])
        elif argument.required:
            raise ToolError(f'argument {name}: expected it to be given')
        else:
            found[name] = argument.default
    return found


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _finite(value: object) -> bool:
    if _whole(value):
        return abs(value) <= MAX_ID  # type: ignore[arg-type]
    return isinstance(value, float) and math.isfinite(value)
