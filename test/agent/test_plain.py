# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What a model is shown is plain, short and printable (CH-45)."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from memory_node.agent import plain


@given(st.text())
def test_a_label_is_one_printable_line(text: str) -> None:
    """CH-45."""
    shown = plain.clean(text)
    assert len(shown) <= 120 and shown.isprintable() and shown == shown.strip()


def test_what_is_printable_and_short_stays_as_it_is() -> None:
    for text in ('mug', 'Über-Tasse 杯子', 'a' * 120):
        assert plain.clean(text) == text
    assert plain.clean('a' * 121) == 'a' * 119 + '…'
    assert plain.clean('red\n\x1b[31mmug\u202e') == 'red [31mmug'


def test_any_value_is_cut_where_it_is_deep_or_many() -> None:
    deep: dict[str, object] = {}
    for _ in range(50):
        deep = {'a': deep, 'b': list(range(1000))}
    text = json.dumps(plain.value(deep))
    assert len(text) < 2000
    assert plain.value({'x': 0.123456789, 'ok': True, 'n': None, 'big': 2**63}) == {
        'x': 0.123457, 'ok': True, 'n': None, 'big': 2**63,
    }  # fmt: skip
