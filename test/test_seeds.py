# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""docs/seeds.md is what the tests say, and no line of the four seeds goes untested."""

from __future__ import annotations

import seeds


def test_the_page_is_made_from_the_tests() -> None:
    assert seeds.PAGE.read_text(encoding='utf-8') == seeds.page(), 'python test/support/seeds.py'


def test_every_line_that_states_a_behaviour_is_named_by_a_test() -> None:
    wanted = {f'{seed}-{n}' for seed, last in seeds.LAST.items() for n in range(1, last + 1)}
    assert wanted - seeds.STATE_NOTHING - {*seeds.named()} == set()
