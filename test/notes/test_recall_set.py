# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""A month of generated robot days, 171 labelled questions: precision and recall by kind (WM-10)."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator

import pytest
from notes_kit import DAY, T0, notebook, put

from memory_node.notes.lines import day_name
from memory_node.notes.notebook import Notebook

PEOPLE = ('Anna', 'Ben', 'Chloé', 'Dora', 'Emil')
THINGS = (
    'kettle', 'vacuum', 'ladder', 'printer', 'radio', 'blender', 'umbrella', 'backpack', 'drill',
    'lamp', 'guitar', 'scooter', 'suitcase', 'heater', 'projector', 'toaster',
)  # fmt: skip
PLACES = ('pantry', 'hallway', 'garage', 'balcony', 'cellar', 'attic', 'study', 'porch')
TASTES = ('jazz', 'porridge', 'chess', 'lemonade', 'gardening', 'silence', 'pasta', 'novels')
UNKNOWN = ('aquarium', 'trombone', 'parrot', 'canoe', 'helmet', 'microscope', 'tent', 'violin')
START = T0 - 30 * DAY

Asked = tuple[str, str, frozenset[str]]
"""Kind, question, and what the right answers say."""


@pytest.fixture(scope='module')
def month() -> tuple[Notebook, list[Asked]]:
    rng = random.Random(8)
    book, said = notebook(), defaultdict(list)
    asked: list[Asked] = []
    days: dict[int, list[str]] = defaultdict(list)
    by_thing: dict[str, list[str]] = defaultdict(list)
    for n in range(60):
        day, thing, place = n // 2, THINGS[n % len(THINGS)], PLACES[n % 7]
        who, act = rng.choice(PEOPLE), ('carried', 'repaired', 'cleaned', 'charged')[n % 4]
        text = f'{who} and I {act} the {thing} in the {place}, turn {n}.'
        said[day].append(f'- B @{who} @{thing}: {text}')
        days[day].append(text)
        by_thing[thing].append(text)
        asked.append(('lexical', f'when did we do turn {n} with the {thing}?', frozenset([text])))
    for thing in THINGS:
        text = f'The {thing} belongs on the upper shelf of the {rng.choice(PLACES)}.'
        said[0].append(f'- W @{thing}: {text}')
        days[0].append(text)
        by_thing[thing].append(text)
        asked.append(('entity', f'tell me about the {thing}', frozenset(by_thing[thing])))
    for k, person in enumerate(PEOPLE):
        for taste in TASTES[k : k + 4]:
            text = f'Prefers {taste} in the evening.'
            line = f'- O(c=0.{5 + k}) @{person}: {text}'
            said[29].append(line)
            days[29].append(text)
            asked.append(('opinion', f'does {person} prefer {taste}?', frozenset([text])))
        every = frozenset(f'Prefers {taste} in the evening.' for taste in TASTES[k : k + 4])
        asked.append(('opinion', f'what does {person} like?', every))
    for day in range(30):
        date = day_name(START + day * DAY)
        asked.append(('temporal', f'what happened on {date}?', frozenset(days[day])))
    for name in UNKNOWN:
        asked += [('none', question, frozenset()) for question in (
            f'tell me about the {name}', f'where did we put the {name}?',
            f'does Anna like the {name}?', f'who repaired the {name}?',
            f'what did we decide on the {name} last week?',
        )]  # fmt: skip
    for day, lines in said.items():
        name = f'memory/{day_name(START + day * DAY)}.md'
        put(book, name, '## Retain\n' + '\n'.join(lines) + '\n')
    book.sync()
    assert book.problems() == []
    return book, asked


def judged(month: tuple[Notebook, list[Asked]], kind: str) -> Iterator[tuple[int, int, int]]:
    """For each question of a kind: right answers given, answers given, right answers there are."""
    book, asked = month
    for of, question, expected in asked:
        if of == kind:
            found = {i.state.note.content for i in book.recall(question, T0, limit=50).items}
            yield len(found & expected), len(found), len(expected)


@pytest.mark.parametrize('kind', ['lexical', 'entity', 'temporal', 'opinion'])
def test_wm_10_precision_and_recall(month: tuple[Notebook, list[Asked]], kind: str) -> None:
    right, given, wanted = (sum(column) for column in zip(*judged(month, kind)))
    assert right / given >= 0.9, f'precision {right / given:.2f}'
    assert right / wanted >= 0.9, f'recall {right / wanted:.2f}'


def test_wm_10_what_has_no_answer_gets_none(month: tuple[Notebook, list[Asked]]) -> None:
    assert len(month[1]) == 171
    assert [given for _, given, _ in judged(month, 'none')] == [0] * 40
