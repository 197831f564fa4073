# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Where things lie in homes, whatever they are called."""

from __future__ import annotations

import pytest

from memory_node.fusion.classes import load_classes
from memory_node.recall.priors import Priors

PRIORS = Priors(load_classes())


@pytest.mark.parametrize(
    ('thing', 'holder', 'rate'),
    [
        ('AlarmClock', 'SideTable', 0.2263), ('alarm clock', 'side_table', 0.2263),
        ('clock', 'dresser', 0.12), ('alarm clock', 'chest of drawers', 0.12),
        ('alarm clock', 'couch', 0.0132), ('alarm clock', 'fridge', 0.0), ('gizmo', 'table', 0.0),
        ('alarm clock', 'gizmo', 0.0),
    ],
)  # fmt: skip
def test_rates(thing: str, holder: str, rate: float) -> None:
    assert PRIORS.rate(thing, holder) == pytest.approx(rate)


def test_a_class_of_several_types_has_their_mean() -> None:
    tables = ('SideTable', 'DiningTable', 'CoffeeTable')
    mean = sum(PRIORS.rate('AlarmClock', name) for name in tables) / len(tables)
    assert PRIORS.rate('AlarmClock', 'table') == pytest.approx(mean)
