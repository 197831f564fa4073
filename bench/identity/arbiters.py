# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The configurations that are compared."""

from __future__ import annotations

from memory_node import Config, config
from memory_node.config import CHRONOTOPE, tunables

DEFAULT = 'default'


def rules() -> tuple[str, ...]:
    """Names of the rules that can be switched off: `config.RULES`, or what is on and boolean."""
    named = getattr(config, 'RULES', None)
    if named is not None:
        return tuple(named)
    return tuple(row.name for row in tunables(Config) if row.default is True)


def arbiters(each_rule: bool) -> dict[str, Config]:
    """Name → configuration: both profiles, or `default` as it is and without each of its rules."""
    if not each_rule:
        return {name: Config(profile=name) for name in (CHRONOTOPE, DEFAULT)}
    found = {DEFAULT: Config(profile=DEFAULT)}
    for name in rules():
        found[f'- {name}'] = Config.of({'profile': DEFAULT, name: False})
    return found
