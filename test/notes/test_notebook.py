# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Notes (HY-1 … HY-17): what is written, found, replaced, forgotten and rated."""

from __future__ import annotations

import random
from typing import Any

import pytest
from notes_kit import DAY, SECOND, T0, TODAY, contents, landmark, notebook

from memory_node.errors import InvalidValueError
from memory_node.notes.doomed import Doomed
from memory_node.notes.items import (
    Network,
    Note,
    NoteKind,
    NoteOp,
    NotePose,
    NoteQuery,
    TimeSpan,
)


def ops(events: Any) -> list[str]:
    return [event.op.value for event in events]


def test_hy_1_all_five_kinds_are_kept_and_found_by_kind() -> None:
    book = notebook()
    skill = {'code': 'wipe()', 'api_surface': 'tools@v1', 'trigger': 'wipe table'}
    for kind in NoteKind:
        payload = skill if kind is NoteKind.SKILL else {}
        book.write([Note(f'one {kind.value} note', kind, key=kind.value, payload=payload)], T0)
    for kind in NoteKind:
        hits = book.query(NoteQuery(kinds=[kind]))
        expected = [] if kind is NoteKind.WORKING else [f'one {kind.value} note']
        assert contents(hits) == expected
    assert [note.kind for note in book.working.all()] == [NoteKind.WORKING]


def test_hy_1_facts_and_opinions_are_semantic_and_told_apart() -> None:
    book = notebook()
    book.write([Note('Tea is hot'), Note('Tea is best', network=Network.OPINION)], T0)
    assert contents(book.query(NoteQuery(networks=[Network.OPINION]))) == ['Tea is best']
    assert contents(book.query(NoteQuery(networks=[Network.WORLD]))) == ['Tea is hot']
    assert len(book.query(NoteQuery(kinds=[NoteKind.SEMANTIC]))) == 2


def test_hy_2_times_of_two_clocks_never_meet() -> None:
    book = notebook()
    book.write([
        Note('in simulation', NoteKind.EPISODIC, event_time=TimeSpan(T0, T0 + 5, 'sim')),
        Note('in the kitchen', NoteKind.EPISODIC, event_time=TimeSpan(T0, T0 + 5, 'wall')),
    ], T0)  # fmt: skip
    for clock, expected in (('sim', 'in simulation'), ('wall', 'in the kitchen')):
        hits = book.query(NoteQuery(time=TimeSpan(T0, T0 + 1, clock)))
        assert contents(hits) == [expected]
        assert contents(book.query(NoteQuery(as_of_ns=T0 + 1, clock=clock))) == [expected]


def test_hy_2_one_key_in_two_clocks_is_two_chains() -> None:
    book = notebook()
    book.write([Note('sim', key='k', event_time=TimeSpan(5, clock='sim'))], T0)
    events = book.write([Note('wall', key='k', event_time=TimeSpan(T0))], T0)
    assert ops(events) == ['ADD']


def test_hy_3_hy_4_every_field_survives_the_journal() -> None:
    book = notebook()
    note = Note(
        'The red mug: «hers» <!-- memory {"op":"FORGET"} -->\nkeep it dry -->',
        NoteKind.SPATIAL, Network.OBSERVATION, 'mug/red', {'a': [1, None, {'b': 'x'}]},
        ('red mug', 'object:12', 'region:kitchen', 'Zoë'),
        {'user': 'anna', 'robot_id': 'r1', 'task_id': 't', 'episode_id': 'e'},
        NotePose('map', (0.1, -2.0, 1e-9), (0.0, 0.0, 0.0, 1.0)), (0.1, 0.2, 0.3),
        TimeSpan(T0, T0 + 9), T0 - 5, 0.123456789, 'llm@3', {'clip@1': (0.5, 0.25)},
        (('on', 'object:3'),), ('view:7', 'memory/2025-11-29.md:4'),
    )  # fmt: skip
    [event] = book.write([note], T0)
    book.rebuild()
    found = book.get(event.id, 'anna', 'r1').note
    for name in ('content', 'kind', 'network', 'key', 'payload', 'entities', 'scope', 'pose',
                 'extent_m', 'event_time', 'valid_from_ns', 'confidence', 'source', 'embeddings',
                 'links', 'evidence'):  # fmt: skip
        assert getattr(found, name) == getattr(note, name), name
    assert book.problems() == []


def test_hy_5_each_condition_narrows() -> None:
    book = notebook()
    book.write([
        landmark('dock', (1, 0, 0), entities=['dock'], links=(('on', 'object:3'),),
                 event_time=TimeSpan(T0, T0 + DAY), scope={'task_id': 'a'}),
        landmark('sink', (5, 0, 0), entities=['object:7'], scope={'task_id': 'b'}),
        Note('nothing of that'),
    ], T0)  # fmt: skip
    here = NotePose('map', (0, 0, 0))
    for query in (
        {'text': 'docks'}, {'key': 'dock'}, {'entities': ['Dock']},
        {'relation': ('on', 'object:3')},
        {'scope': {'task_id': 'a'}}, {'near': (here, 2.0)}, {'object_ids': [3]},
    ):  # fmt: skip
        assert [h.note.key for h in book.query(NoteQuery(**query))] == ['dock'], query  # type: ignore[arg-type]
    assert [h.note.key for h in book.query(NoteQuery(object_ids=[7]))] == ['sink']
    assert len(book.query(NoteQuery())) == 3
    assert len(book.query(NoteQuery(limit=2))) == 2
    assert book.query(NoteQuery(time=TimeSpan(T0 + 2 * DAY))) == []


@pytest.mark.parametrize('bad', [
    {'limit': 0}, {'kinds': ['dream']}, {'scope': {'planet': 'x'}}, {'near': (None, 1.0)},
    {'near': (NotePose('map', (0, 0, 0)), -1.0)}, {'clock': 'moon'}, {'as_of_ns': -1},
    {'relation': ('on',)}, {'object_ids': [0]}, {'entities': 'dock'},
])  # fmt: skip
def test_hy_5_a_malformed_question_is_refused(bad: Any) -> None:
    with pytest.raises(InvalidValueError):
        NoteQuery(**bad)


@pytest.mark.parametrize('bad', [
    {'content': ' '}, {'confidence': 1.5}, {'confidence': float('nan')}, {'kind': 'dream'},
    {'payload': {'a': object()}}, {'entities': ['@']}, {'links': (('on',),)},
    {'embeddings': {'clip@1': (0.0, 0.0)}}, {'embeddings': {'clip': (1.0,)}},
    {'content': 'bell \x07'}, {'scope': {'user': '…'}}, {'valid_from_ns': -1},
])  # fmt: skip
def test_hy_3_a_malformed_note_is_refused(bad: Any) -> None:
    with pytest.raises(InvalidValueError):
        Note(**{'content': 'x', **bad})


def test_hy_6_a_hit_says_score_details_and_until_when() -> None:
    book = notebook()
    book.write([landmark('dock', (3, 4, 0), confidence=0.5)], T0)
    book.write([landmark('dock', (6, 8, 0))], T0 + SECOND)
    query = NoteQuery(near=(NotePose('map', (0, 0, 0)), 9.0), include_invalidated=True)
    [hit] = book.query(query)
    assert hit.details == {'distance_m': 5.0, 'confidence': 0.5}
    assert hit.valid_to_ns == T0 + SECOND
    assert hit.state.citation == f'{TODAY}:4'


def test_hy_7_write_adds_skips_merges_and_invalidates() -> None:
    book = notebook()
    assert ops(book.write([Note('Tea at ten', key='tea')], T0)) == ['ADD']
    assert ops(book.write([Note('tea  at Ten', key='tea')], T0)) == ['SKIP_DUP']
    assert ops(book.write([Note('Tea at ten', key='tea', entities=['Anna'])], T0)) == ['MERGE']
    assert ops(book.write([Note('Tea at ten', key='tea', entities=['Anna'])], T0)) == ['SKIP_DUP']
    [hit] = book.query(NoteQuery(entities=['anna']))
    events = book.write([Note('Tea at five', key='tea')], T0 + 1)
    assert ops(events) == ['INVALIDATE', 'ADD']
    assert events[0].id == hit.note.id and events[0].other_id == events[1].id


def test_hy_7_forget_is_soft_counted_and_can_be_audited() -> None:
    book = notebook()
    book.write([Note('one', key='a'), Note('two', key='b')], T0)
    assert book.forget(NoteQuery(key='a'), T0 + 5, 'not so') == 1
    assert contents(book.query(NoteQuery())) == ['two']
    [hit] = book.query(NoteQuery(key='a', include_invalidated=True))
    assert hit.state.forgotten_ns == T0 + 5
    assert 'not so' in book.journal.read(TODAY).decode()
    with pytest.raises(InvalidValueError, match='no condition'):
        book.forget(NoteQuery(scope={'user': 'anna'}), T0)


def test_hy_7_forgetting_goes_on_beyond_one_page() -> None:
    book = notebook()
    book.write([Note(f'crumb {n}') for n in range(15)], T0)
    assert book.forget(NoteQuery('crumb'), T0) == 15


def test_hy_7_what_was_replaced_does_not_come_back_when_its_heir_is_forgotten() -> None:
    book = notebook()
    book.write([landmark('mug', (0, 0, 0))], T0)
    book.write([landmark('mug', (1, 0, 0))], T0 + 1)
    book.forget(NoteQuery(key='mug'), T0 + 2)
    assert book.query(NoteQuery(key='mug')) == []


def test_hy_7_history_and_snapshot() -> None:
    book, other = notebook(), notebook()
    for n in range(3):
        for each in (book, other):
            each.write([Note(f'value {n}', key='k')], T0 + n)
    [hit] = book.query(NoteQuery(key='k'))
    assert [s.note.content for s in book.history(hit.note.id)] == ['value 0', 'value 1', 'value 2']
    assert book.snapshot() == other.snapshot()
    other.write([Note('more')], T0)
    assert book.snapshot() != other.snapshot()


def test_hy_7_consolidate_keeps_to_its_budget_and_to_its_scope() -> None:
    book = notebook()
    book.write([Note(f'thing {n} words', confidence=n / 10) for n in range(6)], T0)
    book.write([Note('Anna likes tea', scope={'user': 'anna'})], T0)
    [best] = book.query(NoteQuery('thing 0'))
    book.rate(best.note.id, 'useful', T0)
    report = book.consolidate({}, 3, T0 + 1)
    assert (report.looked_at, report.merged, report.forgotten, report.left) == (6, 0, 3, 3)
    left = sorted(contents(book.query(NoteQuery())))
    assert left == ['thing 0 words', 'thing 4 words', 'thing 5 words']
    assert len(book.query(NoteQuery('tea', scope={'user': 'anna'}))) == 1


def test_hy_7_consolidate_merges_what_says_the_same() -> None:
    book = notebook()
    book.write([Note('The mugs are dirty', entities=['mug'])], T0)
    book.write([Note('the mug are dirty', entities=['sink'])], T0)
    assert book.consolidate({}, 10, T0).merged == 1
    [hit] = book.query(NoteQuery('dirty'))
    assert hit.note.entities == ('mug', 'sink')


def test_hy_8_radius_is_true_distance_against_brute_force() -> None:
    book, rng = notebook(), random.Random(8)
    points = [tuple(rng.uniform(-3, 3) for _ in range(3)) for _ in range(200)]
    book.write([landmark(f'p{n}', p) for n, p in enumerate(points)], T0)  # type: ignore[arg-type]
    found = book.query(NoteQuery(near=(NotePose('map', (0, 0, 0)), 2.0), limit=1000))
    inside = {f'p{n}' for n, p in enumerate(points) if sum(v * v for v in p) <= 4.0}
    assert {h.note.key for h in found} == inside
    assert [h.details['distance_m'] for h in found] == sorted(
        h.details['distance_m'] for h in found
    )


def test_hy_8_frames_are_never_mixed() -> None:
    book = notebook()
    book.write([landmark('a', (0, 0, 0), 'map'), landmark('b', (0, 0, 0), 'odom')], T0)
    [hit] = book.query(NoteQuery(near=(NotePose('odom', (0, 0, 0)), 1.0)))
    assert hit.note.key == 'b'


def test_hy_8_what_is_replaced_stays_readable_as_of_then() -> None:
    book = notebook()
    book.write([landmark('mug', (0, 0, 0), content='shelf')], T0)
    book.write([landmark('mug', (1, 0, 0), content='table')], T0 + DAY)
    assert contents(book.query(NoteQuery(key='mug'))) == ['table']
    assert contents(book.query(NoteQuery(key='mug', as_of_ns=T0 + 5))) == ['shelf']
    assert contents(book.query(NoteQuery(key='mug', as_of_ns=T0 + DAY))) == ['table']
    assert book.query(NoteQuery(key='mug', as_of_ns=T0 - 1)) == []


def test_hy_8_a_late_note_goes_to_its_place_in_history() -> None:
    book = notebook()
    book.write([Note('now', key='k', valid_from_ns=T0)], T0)
    assert ops(book.write([Note('before', key='k', valid_from_ns=T0 - DAY)], T0 + 1)) == ['ADD']
    assert contents(book.query(NoteQuery(key='k'))) == ['now']
    assert contents(book.query(NoteQuery(key='k', as_of_ns=T0 - 1))) == ['before']


def test_hy_9_working_memory_is_bounded_read_by_key_and_in_no_file() -> None:
    book = notebook(working_capacity=2)
    for n in range(3):
        events = book.write([Note(f'step {n}', NoteKind.WORKING, key=f'k{n}')], T0)
    assert [e.op for e in events] == [NoteOp.ADD, NoteOp.FORGET]
    assert book.working.read('k0') is None
    found = book.working.read('k2')
    assert found is not None and found.content == 'step 2'
    assert book.journal.marks() == {}


def test_hy_10_episodes_are_found_by_scope_time_and_text() -> None:
    book = notebook()
    book.write([
        Note(f'Cleaned table {n}, outcome success', NoteKind.EPISODIC,
             scope={'episode_id': f'e{n}'}, event_time=TimeSpan(T0 + n * DAY, T0 + n * DAY + 5))
        for n in range(3)
    ], T0 + 3 * DAY)  # fmt: skip
    query = NoteQuery('cleaning tables', time=TimeSpan(T0 + DAY, T0 + 2 * DAY))
    assert {h.note.scope['episode_id'] for h in book.query(query)} == {'e1', 'e2'}
    [hit] = book.query(NoteQuery(scope={'episode_id': 'e0'}))
    assert hit.note.content == 'Cleaned table 0, outcome success'


def test_hy_10_the_same_done_twice_is_two_episodes() -> None:
    book = notebook()
    for n in range(2):
        events = book.write([Note('Docked', NoteKind.EPISODIC, event_time=TimeSpan(T0 + n))], T0)
        assert ops(events) == ['ADD']


def test_hy_11_landmarks_are_found_by_place_key_and_time() -> None:
    book = notebook()
    book.write([landmark('mug', (0, 0, 0)), landmark('cup', (0, 0, 1))], T0)
    book.write([landmark('mug', (9, 0, 0))], T0 + DAY)
    here = (NotePose('map', (0, 0, 0)), 0.5)
    assert book.query(NoteQuery(near=here, key='mug')) == []
    assert len(book.query(NoteQuery(near=here, key='mug', as_of_ns=T0))) == 1


def test_hy_14_every_retrieval_and_write_is_told() -> None:
    told: list[Any] = []
    book = notebook(on_event=told.append)
    [event] = book.write([landmark('dock', (1, 2, 3))], T0)
    book.query(NoteQuery('dock'))
    book.forget(NoteQuery(key='dock'), T0)
    assert told[0] == {'op': 'write', 'key': 'dock', 'at_ns': T0, 'events': [('ADD', event.id)]}
    assert told[1]['query'] == 'dock' and told[1]['n_hits'] == 1
    assert told[1]['hits'][0][:2] == (event.id, (1.0, 2.0, 3.0))
    assert told[-1]['op'] == 'forget' and told[-1]['events'] == [('FORGET', event.id)]
    assert list(book.events) == told


def test_hy_15_helpfulness_is_written_back_to_what_was_used() -> None:
    book = notebook()
    book.write([Note('Mugs are in the sink')], T0)
    hits = book.query(NoteQuery('mugs'))
    assert book.helpfulness(hits, True, T0 + 1, 'e1') == 1.0
    assert book.helpfulness(hits, False, T0 + 2, 'e2') == 0.5
    [hit] = book.query(NoteQuery('mugs'))
    assert hit.state.verdicts == {'useful': 1, 'misleading': 1}
    book.rebuild()
    assert book.query(NoteQuery('mugs'))[0].state.verdicts == {'useful': 1, 'misleading': 1}


def explore(target: tuple[float, float], start: int) -> int:
    """Steps of a walk over a grid of half metres until the target is within 0.25 m."""
    places = [(x / 2, y / 2) for x in range(8) for y in range(8)]
    for steps, (x, y) in enumerate(places[start:] + places[:start], 1):
        if max(abs(x - target[0]), abs(y - target[1])) <= 0.25:
            return steps
    raise AssertionError('no such place')


def episode(book: Any, target: tuple[float, float], at_ns: int) -> int:
    """Steps until the landmark is seen: straight to where it is remembered, or a search."""
    steps = 0
    for hit in book.query(NoteQuery(key='charger')):
        x, y, _ = hit.note.pose.position_m
        steps += 1
        if max(abs(x - target[0]), abs(y - target[1])) <= 0.25:
            return steps
        book.forget(NoteQuery(key='charger'), at_ns, 'not there')
    steps += explore(target, 0)
    book.write([landmark('charger', (*target, 0.0))], at_ns)
    return steps


def test_hy_16_a_wrong_landmark_ends_at_the_true_position() -> None:
    book = notebook()
    book.write([landmark('charger', (0.0, 3.5, 0.0))], T0)
    assert episode(book, (3.0, 2.0), T0 + 1) > 1
    [hit] = book.query(NoteQuery(key='charger'))
    assert hit.note.pose is not None and hit.note.pose.position_m == (3.0, 2.0, 0.0)
    assert episode(book, (3.0, 2.0), T0 + 2) == 1


def test_hy_17_later_episodes_go_straight() -> None:
    book = notebook()
    steps = [episode(book, (3.0, 2.0), T0 + n) for n in range(5)]
    assert steps[0] > 10 and steps[1:] == [1] * 4
    assert sum(steps[1:]) < 0.2 * 4 * explore((3.0, 2.0), 0)


def test_one_persons_notes_never_appear_in_anothers_answers() -> None:
    book = notebook()
    book.write([
        Note('Anna hides the key', key='k', scope={'user': 'Anna'}),
        Note('Ben hides the key', key='k', scope={'user': 'Ben'}), Note('A key is on the hook'),
        Note('r2 has a key', scope={'robot_id': 'r2'}),
    ], T0)  # fmt: skip
    shared = 'A key is on the hook'
    assert contents(book.query(NoteQuery('key'))) == [shared]
    assert sorted(contents(book.query(NoteQuery('key', scope={'user': 'ANNA'})))) == [
        shared, 'Anna hides the key',
    ]  # fmt: skip
    [bens] = book.query(NoteQuery(key='k', scope={'user': 'ben'}))
    with pytest.raises(InvalidValueError, match='expected the id of a note'):
        book.get(bens.note.id, 'anna')
    with pytest.raises(InvalidValueError, match='expected the id of a note'):
        book.rate(bens.note.id, 'wrong', T0, 'anna')
    assert [s.note.content for s in book.history(bens.note.id, 'ben')] == ['Ben hides the key']


def test_a_person_is_purged_from_files_rows_and_events() -> None:
    book = notebook()
    book.write([
        Note('Anna hides the key', scope={'user': 'anna'}), Note('Seen with @Anna\nin the hall'),
        Note('About tea', entities=['Anna']), Note('The bananas are ripe'),
    ], T0)  # fmt: skip
    assert book.purge(Doomed('Anna', 'anna')) > 0
    assert contents(book.query(NoteQuery(scope={'user': 'anna'}))) == ['The bananas are ripe']
    assert all('nna ' not in book.journal.read(n).decode() for n in book.journal.marks())
    assert list(book.events)[-1]['op'] == 'query' and len(book.events) == 1
