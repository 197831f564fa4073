# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The figures of bench/quality.py on cases so small that their values are worked by hand."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
import pytest

NEEDED = 'pip install -r requirements/bench.txt'
pytest.importorskip('motmetrics', reason=NEEDED)

from identity import drift, shelf  # noqa: E402
from identity.arbiters import arbiters, rules  # noqa: E402
from identity.run import run  # noqa: E402
from identity.score import Tally, score  # noqa: E402
from identity.stream import Given, Shown, Stream  # noqa: E402
from identity.why import explain  # noqa: E402
from memory_node import Config, View  # noqa: E402
from memory_node.model import MemoryObject, State, Verdict, VerdictKind  # noqa: E402

A, B, FALSE = 0, 1, -1


def held(object_id: int, state: State = State.CONFIRMED, label: str = 'mug') -> MemoryObject:
    """An object 3 cm beside thing A, whose sides are all 10 % too large."""
    center, size = (0.03, 0.0, 0.0), (0.11, 0.22, 0.33)
    turn = (0.0, 0.0, 0.0, 1.0)
    return MemoryObject(object_id, label, {}, state, center, turn, size, 1.0, 1, 1, 1)


def stream(views: Sequence[Sequence[int]], counted: Sequence[bool] = (True, True)) -> Stream:
    """Things A and B at the origin, seen in these views."""
    shown = [Shown(View(k + 1), np.array(v, dtype=np.int64)) for k, v in enumerate(views)]
    size = np.tile([0.1, 0.2, 0.3], (2, 1))
    return Stream(shown, ['mug', 'cup'], np.zeros((2, 3)), size, np.array(counted))


def figures(
    views: Sequence[Sequence[int]],
    ids: Sequence[list[int | None]],
    states: dict[int, State] | None = None,
    counted: Sequence[bool] = (True, True),
) -> dict[str, float]:
    """Figures of things seen in these views that went to these objects."""
    known = {i for view in ids for i in view if i is not None}
    objects = {i: held(i, (states or {}).get(i, State.CONFIRMED)) for i in known}
    return score(stream(views, counted), ids, objects).figures()


def test_all_right():
    found = figures([[A, B], [B, A]], [[1, 2], [2, 1]])
    assert found['idf1'] == 1.0 and found['switches'] == 0 and found['detections'] == 4
    assert found['objects_per_thing'] == 1.0 and found['lost'] == 0.0 and found['purity'] == 1.0
    assert found['duplicates'] == 0.0 and found['ghosts'] == 0 and found['exact'] == 1.0
    assert found['center_median_m'] == pytest.approx(0.03)
    assert found['size_error'] == pytest.approx(0.1)
    assert found['right_label'] == 0.5  # both objects say mug, B is a cup


def test_an_id_switch():
    """A: 1, 1, 2. B: 2, 2, 1. Best one to one: A-1 and B-2, two of three detections each."""
    found = figures([[A, B], [A, B], [A, B]], [[1, 2], [1, 2], [2, 1]])
    assert found['switches'] == 2
    assert found['idf1'] == pytest.approx(4 / 6)
    assert found['purity'] == pytest.approx(4 / 6)
    assert found['objects_per_thing'] == 1.0 and found['exact'] == 1.0


def test_a_split():
    """A: 1, 1, 1, 2, 2: three right, two wrong twice (missed by 1, claimed by 2)."""
    found = figures([[A]] * 5, [[1], [1], [1], [2], [2]], counted=(True, False))
    assert found['switches'] == 1
    assert found['idf1'] == pytest.approx(3 / 5)
    assert found['objects_per_thing'] == 2.0 and found['duplicates'] == 1.0
    assert found['purity'] == 1.0 and found['lost'] == 0.0


def test_a_merge_within_the_views():
    """Both in object 1: it stands for A (a tie goes to the lower thing), B is lost."""
    found = figures([[A, B], [A, B]], [[1, 1], [1, 1]])
    assert found['switches'] == 0
    assert found['idf1'] == pytest.approx(2 / 4)
    assert found['objects_per_thing'] == 1.0 and found['lost'] == 0.5
    assert found['purity'] == 0.5 and found['exact'] == 0.0


def test_a_rejected_detection_is_a_miss():
    found = figures([[A], [A], [A]], [[1], [None], [1]], counted=(True, False))
    assert found['refused'] == 1
    assert found['idf1'] == pytest.approx(2 * 2 / (2 * 2 + 1))
    assert found['purity'] == 1.0


@pytest.mark.parametrize(
    'state, idf1, ghosts', [(State.CONFIRMED, 4 / 5, 1), (State.TENTATIVE, 1.0, 0)]
)
def test_a_false_alarm_counts_where_it_is_confirmed(state: State, idf1: float, ghosts: int):
    found = figures([[A, FALSE], [A]], [[1, 2], [1]], {2: state}, (True, False))
    assert found['idf1'] == pytest.approx(idf1)
    assert found['ghosts'] == ghosts and found['exact'] == 1 - ghosts
    assert found['objects_per_thing'] == 1.0


def test_a_false_alarm_in_an_object_of_a_thing_makes_it_impure_and_no_ghost():
    found = figures([[A], [A, FALSE]], [[1], [1, 1]], counted=(True, False))
    assert found['ghosts'] == 0 and found['purity'] == pytest.approx(2 / 3)
    assert found['idf1'] == pytest.approx(4 / 5)


def test_what_moves_is_not_counted_but_spoils_the_purity_of_what_stays():
    found = figures([[A, B], [A, B]], [[1, 2], [1, 1]], counted=(True, False))
    assert found['detections'] == 2 and found['idf1'] == 1.0
    assert found['purity'] == pytest.approx(2 / 3)
    assert found['exact'] == 1.0


def test_a_thing_seen_once_need_not_be_confirmed():
    found = figures([[A, B], [A]], [[1, 2], [1]], {2: State.TENTATIVE})
    assert found['lost'] == 0.0 and found['idf1'] == 1.0


def test_a_thing_seen_twice_is_lost_if_it_is_not_confirmed():
    found = figures([[A, B], [A, B]], [[1, 2], [1, 2]], {2: State.TENTATIVE})
    assert found['lost'] == 0.5 and found['objects_per_thing'] == 1.0


def test_pooled_figures_are_those_of_the_sums():
    pooled = Tally()
    pooled.add(score(stream([[A]], (True, False)), [[1]], {1: held(1)}))
    pooled.add(score(stream([[A], [A]], (True, False)), [[None], [None]], {}))
    assert pooled.figures()['idf1'] == pytest.approx(2 / (2 + 2))
    assert pooled.figures()['lost'] == 1.0  # only the second shows it in two views


def test_errors_are_explained():
    created, merged = VerdictKind.CREATED, VerdictKind.MERGED
    terms = {'total': 0.6}
    verdicts = [
        [Verdict(created, 1), Verdict(created, 2)],
        [Verdict(created, 3, '', terms, 1), Verdict(merged, 1, '', terms, 1)],
        [Verdict(merged, 1), Verdict(created, 4, '', terms, 1)],
        [Verdict(merged, 1), Verdict(merged, 2)],
        [Verdict(created, 5, '', terms, 1), Verdict(created, 6)],
    ]
    ids = [[v.object_id for v in view] for view in verdicts]
    why = explain(stream([[A, B]] * 5), verdicts, ids)
    assert why.count == {'taken': 1, 'mixed': 1, 'other': 1, 'too low': 1, 'none': 1}
    assert why.terms['too low'] == {'total': [0.6]}


@pytest.mark.parametrize(
    'make', [lambda: shelf.shelf(0.35, 0.01, 0.9, True, 1, 6), lambda: drift.shifted(0.1, True, 1)]
)
def test_equal_seeds_give_equal_streams_and_figures(make):
    """CH-46: a synthetic stream and its figures."""
    one, other = (run([make()], Config()).tally.figures() for _ in range(2))
    assert one == other


def test_an_easy_shelf_is_told_apart_by_default_and_refused_by_chronotope_without_features():
    streams = [shelf.shelf(0.35, 0.01, 1.0, False, 1, 8)]
    ours, theirs = (run(streams, Config(profile=name)) for name in ('default', 'chronotope'))
    assert ours.tally.figures()['exact'] == 1.0 and ours.tally.figures()['idf1'] == 1.0
    assert theirs.tally.figures()['idf1'] == 0.0
    assert set(theirs.reasons) == {'no_feature'}


def test_the_rules_that_can_be_switched_off_are_found(monkeypatch: pytest.MonkeyPatch):
    found = arbiters(each_rule=True)
    assert list(found) == ['default', *(f'- {name}' for name in rules())]
    for name in rules():
        assert getattr(found[f'- {name}'], name) is False
    monkeypatch.setattr('memory_node.config.RULES', ('some_rule',), raising=False)
    assert rules() == ('some_rule',)


def test_the_command_writes_every_row(tmp_path, capsys):
    quality = pytest.importorskip('quality', reason=NEEDED)
    out = tmp_path / 'rows.json'
    arguments = ['--quick', '--only', 'c', 'f', 'g', '--shared', str(tmp_path), '--json', str(out)]
    rows = quality.main(arguments)
    written = json.loads(out.read_text())
    assert len(written) == len(rows) == 4  # two rows of c, two profiles
    assert [row['arbiter'] for row in written[:2]] == ['chronotope', 'default']
    assert written[1]['idf1'] == rows[1].outcome.tally.figures()['idf1']
    text = capsys.readouterr().out
    assert text.count('not measured, as') == 2 and 'no_feature' in text


def test_given_seeds():
    assert Given(False, 3, None).seeds(4) == [3, 4, 5, 6]
    assert Given(True, 3, None).seeds(4) == [3, 4]
