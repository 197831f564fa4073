# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip('rclpy')
pytest.importorskip('spatial_memory.msg')

from builtin_interfaces.msg import Time
from rclpy.serialization import deserialize_message, serialize_message

from memory_node import model
from memory_node.ros import conversions
from memory_node.ros.blank import blank

NS = 10**9


def unset(message: Any) -> list[str]:
    """The fields of a message, and of those in it, that nobody set."""
    found = []
    for name in message.get_fields_and_field_types():
        try:
            value = getattr(message, name)
        except AttributeError:
            found.append(f'{type(message).__name__}.{name}')
            continue
        for one in value if isinstance(value, (list, tuple)) else [value]:
            if hasattr(one, 'get_fields_and_field_types'):
                found += unset(one)
    return found


def known() -> model.MemoryObject:
    pin = model.Pin(7, model.Aspect.LABEL, 'cup', 3)
    return model.MemoryObject(
        7, 'cup', {'cup': 1.0, 'mug': 0.5}, model.State.CONFIRMED, (1.0, 2.0, 3.0), (0, 0, 0, 1.0),
        (0.1, 0.1, 0.1), 0.9, 3, NS, 2 * NS, pins={model.Aspect.LABEL: pin},
    )  # fmt: skip


def line(obj: model.MemoryObject | None) -> model.Change:
    return model.Change(3, model.ChangeKind.CREATED, 7, NS, NS, 'Ann', '', {}, {'a': 1}, obj)


def test_nothing_is_set_at_first() -> None:
    assert unset(blank(Time)) == ['Time.sec', 'Time.nanosec']


@pytest.mark.parametrize('checked', [True, False])
@pytest.mark.parametrize(
    'made',
    [
        lambda: conversions.stamp_from_ns(5),
        lambda: conversions.pose_to_msg((1, 2, 3), (0, 0, 0, 1)),
        lambda: conversions.object_to_msg(known()),
        lambda: conversions.hit_to_msg(model.Hit(known(), 0.5, {'distance_m': 1.0}, 0.9)),
        lambda: conversions.change_to_msg(line(known())),
        lambda: conversions.change_to_msg(line(None)),
    ],
)  # fmt: skip
def test_all_that_is_made_of_blanks_is_whole(
    made: Any, checked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr('memory_node.ros.blank._CHECKED', checked)
    message = made()
    assert unset(message) == []
    assert message == deserialize_message(serialize_message(message), type(message))
