# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The scene as text for a language model: budgeted, harmless, with ids to cite (CH-41, CH-45)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memory_node.errors import InvalidValueError
from memory_node.model import MemoryObject, Relation
from memory_node.recall.wording import ago, harmless, point

CHARACTERS_A_TOKEN = 4
MAX_TOKENS = 100_000
_UNTOLD = ('near', 'under')
_TOLD = 3
"""Relations that are told of one object."""


@dataclass(frozen=True)
class SceneText:
    """A scene in words.

    Attributes:
        text: a header, then a line for each object, under its region.
        ids: the objects that have a line, in their order; what may be cited.
        omitted: objects that did not fit. seq: log line that it is as of.
    """

    text: str
    ids: tuple[int, ...]
    omitted: int
    seq: int


def checked_tokens(max_tokens: int) -> int:
    """Return a budget of 1 to MAX_TOKENS.

    Raises:
        InvalidValueError: it is another value.
    """
    whole = isinstance(max_tokens, int) and not isinstance(max_tokens, bool)
    if not whole or not 1 <= max_tokens <= MAX_TOKENS:
        raise InvalidValueError(f'max_tokens: got {max_tokens!r}, expected 1 to {MAX_TOKENS}')
    return max_tokens


def scene_text(
    objects: Sequence[MemoryObject],
    relations: Sequence[Relation],
    total: int,
    seq: int,
    now_ns: int,
    max_tokens: int,
) -> SceneText:
    """Write a scene.

    Args:
        objects: the first come first; those of one region stand together.
        relations: of these objects. total: objects there are, whether or not they are given.
        seq: log line that it is as of. now_ns: what ages count to.
        max_tokens: budget, at about four characters a token, for all of the text.
    """
    budget = checked_tokens(max_tokens) * CHARACTERS_A_TOKEN
    head = f'scene as of log line {seq}; {total} objects; positions in map metres'
    labels = {obj.id: obj.label for obj in objects}
    about: dict[int, list[Relation]] = {}
    for relation in relations:
        about.setdefault(relation.subject_id, []).append(relation)
    regions: dict[str, list[MemoryObject]] = {}
    for obj in objects:
        regions.setdefault(obj.region, []).append(obj)
    last = f'… {total} more objects are left out'
    left = budget - len(head) - len(last) - 2
    lines, ids = [head], []
    for region, members in regions.items():
        title = f'region "{harmless(region)}"' if region else ''
        indent = '  ' if region else ''
        for obj in members:
            line = indent + _line(obj, about.get(obj.id, ()), labels, now_ns)
            cost = len(line) + 1 + (len(title) + 1 if title else 0)
            if cost > left:
                continue
            if title:
                lines.append(title)
                title = ''
            lines.append(line)
            ids.append(obj.id)
            left -= cost
    omitted = total - len(ids)
    if omitted > 0:
        lines.append(f'… {omitted} more objects are left out')
    text = '\n'.join(lines)
    return SceneText(text[:budget], tuple(ids), omitted, seq)


def _line(
    obj: MemoryObject, relations: Sequence[Relation], labels: Mapping[int, str], now_ns: int
) -> str:
    parts = [
        f'[#{obj.id}] "{harmless(obj.label)}" {obj.state} @ {point(obj.center_m)}',
        f'seen {ago(obj.last_seen_ns, now_ns)}',
        f'there with {obj.presence(now_ns):.2f}',
    ]
    told = [r for r in relations if r.object_id in labels and r.kind not in ('near', 'under')][
        :_TOLD
    ]
    parts += [f'{harmless(r.kind)} [#{r.object_id}]' for r in told]
    return ', '.join(parts)
