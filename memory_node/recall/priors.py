# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Where things of a class lie in homes: `data/receptacles.json`, whose README says where from."""

from __future__ import annotations

import functools
import importlib.resources
import json
from collections.abc import Mapping

from memory_node.fusion.classes import Classes, key_of


class Priors:
    """How many things of a label lie on or in one receptacle of another label, on average."""

    def __init__(self, classes: Classes) -> None:
        """Read the table; classes: knows other names of labels."""
        self._class_of = {key_of(alias): key_of(name) for alias, name in classes.aliases.items()}
        self._exact = _table()
        sums: dict[str, dict[str, list[float]]] = {}
        for thing, rates in self._exact.items():
            row = sums.setdefault(self.class_of(thing), {})
            for holder, rate in rates.items():
                row.setdefault(self.class_of(holder), []).append(rate)
        self._of_class = {
            thing: {holder: sum(rates) / len(rates) for holder, rates in row.items()}
            for thing, row in sums.items()
        }

    def class_of(self, key: str) -> str:
        """Key of the class that a label's key belongs to; of an unlisted one itself."""
        return self._class_of.get(key, key)

    def rate(self, label: str, holder: str) -> float:
        """Things of a label on or in one such holder: of these types, else of their classes."""
        thing, where = key_of(label), key_of(holder)
        if thing in self._exact and where in self._types:
            return self._exact[thing].get(where, 0.0)
        return self._of_class.get(self.class_of(thing), {}).get(self.class_of(where), 0.0)

    @functools.cached_property
    def _types(self) -> frozenset[str]:
        return frozenset(holder for rates in self._exact.values() for holder in rates)


@functools.cache
def _table() -> Mapping[str, Mapping[str, float]]:
    file = importlib.resources.files('memory_node') / 'data' / 'receptacles.json'
    read = json.loads(file.read_text(encoding='utf-8'))
    return {
        key_of(thing): {key_of(holder): float(rate) for holder, rate in rates.items()}
        for thing, rates in read.items()
    }
