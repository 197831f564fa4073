# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Presence is calibrated where departures follow the half-lives of the classes."""

from __future__ import annotations

from calibration import run


def test_presence_is_calibrated_before_any_look_after_one_and_after_three() -> None:
    answers = run(3000)
    assert {looks: answer.error <= 0.03 for looks, answer in answers.items()} == {
        0: True, 1: True, 3: True,
    }  # fmt: skip
    assert all(len(answer.presence) == 3000 for answer in answers.values())


def test_it_shows_when_half_lives_are_wrong() -> None:
    answers = run(600, stretch=3.0)
    assert answers[0].error > 0.1 > answers[3].error, 'looks put right what the prior got wrong'
