# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Regions as a YAML file lists them: for the map of a house that somebody has drawn."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from memory_node.checks import short
from memory_node.errors import InvalidValueError

_KEYS = frozenset({'name', 'kind', 'box_m', 'polygon_m', 'low_m', 'high_m', 'parent'})


def read_regions(path: str) -> list[dict[str, Any]]:
    """Return what a file says of each region, as arguments of `SpatialMemory.set_region`.

    Raises:
        InvalidValueError: it cannot be read, or is not of the form `regions: [{name: …}, …]`.
    """
    try:
        given = yaml.safe_load(Path(path).expanduser().read_text(encoding='utf-8'))
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidValueError(f'regions_file: cannot read {path!r}: {error}') from error
    except yaml.YAMLError as error:
        raise InvalidValueError(f'regions_file: {path} is no YAML: {error}') from error
    listed = given.get('regions') if isinstance(given, Mapping) and len(given) == 1 else None
    if not isinstance(listed, list):
        raise InvalidValueError(
            f'regions_file: {path}: got {short(given)}, expected the key regions with a list'
        )
    for number, region in enumerate(listed, 1):
        if not isinstance(region, Mapping) or 'name' not in region or not set(region) <= _KEYS:
            raise InvalidValueError(
                f'regions_file: {path}: region {number}: got {short(region)}, expected name and of '
                f'{", ".join(sorted(_KEYS - {"name"}))} what is known'
            )
    return [dict(region) for region in listed]
