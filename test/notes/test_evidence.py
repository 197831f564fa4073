# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Opinions that reflecting moves by what was noted (WM-12 … WM-14), without a model."""

from __future__ import annotations

from notes_kit import DAY, T0, notebook, put

from memory_node.notes.beliefs import Event
from memory_node.notes.evidence import citations
from memory_node.notes.items import Network, Note, NoteKind
from memory_node.notes.learning import Learning
from memory_node.notes.notebook import Notebook
from memory_node.notes.reflect import reflect

TEA = Note('Anna prefers green tea', network=Network.OPINION, entities=['Anna'], confidence=0.8)


def done(book: Notebook, text: str, at_ns: int, **more: object) -> str:
    [event] = book.write([Note(text, NoteKind.EPISODIC, entities=['Anna'], **more)], at_ns)  # type: ignore[arg-type]
    return event.id


def test_wm_12_wm_14_reflect_moves_an_opinion_by_small_steps_and_counts_evidence_once() -> None:
    book = notebook()
    [opinion] = book.write([TEA], T0)
    done(book, 'Anna drank green tea', T0 + 1)
    done(book, 'Anna put the cup away', T0 + 2)
    first = reflect(book, 0, T0 + 3)
    assert first.revised == (opinion.id,)
    assert book.get(opinion.id).note.confidence == 0.81
    assert reflect(book, 0, T0 + 4).revised == ()
    put(book, 'memory/2025-11-30.md', b'# moved down\n\n' + book.journal.read(
        'memory/2025-11-30.md'
    ))  # fmt: skip
    assert reflect(book, 0, T0 + 5).revised == ()  # the same evidence, on another line
    assert book.get(opinion.id).note.confidence == 0.81


def test_wm_13_the_page_cites_what_supports_and_what_contradicts() -> None:
    book = notebook()
    [opinion] = book.write([TEA], T0)
    done(book, 'Anna drank green tea', T0 + 1)
    done(book, 'Anna refused green tea', T0 + 2)
    reflect(book, 0, T0 + 3)
    page = book.journal.read('bank/opinions.md').decode()
    assert (
        '- Anna prefers green tea (0.76) [memory/2025-11-30.md:4]; supported by '
        '[memory/2025-11-30.md:5]; contradicted by [memory/2025-11-30.md:6]\n' in page
    )
    assert citations(book, book.get(opinion.id)) == (
        ['memory/2025-11-30.md:5'], ['memory/2025-11-30.md:6'],
    )  # fmt: skip


def test_wm_14_a_large_step_takes_strong_and_repeated_contradiction() -> None:
    book = notebook()
    [opinion] = book.write([TEA], T0)
    for n, said in enumerate(('hates', 'refused', 'dislikes'), 1):
        done(book, f'Anna {said} green tea', T0 + n)
    reflect(book, 0, T0 + 9)
    assert book.get(opinion.id).note.confidence == 0.5  # 0.05, 0.05, then 0.2
    hints = notebook()
    [opinion] = hints.write([TEA], T0)
    for n in range(1, 4):
        done(hints, f"Anna didn't drink green tea, time {n}", T0 + n)
    reflect(hints, 0, T0 + 9)
    assert hints.get(opinion.id).note.confidence == 0.65  # never at once


def test_wm_14_what_was_before_belongs_to_others_or_to_another_is_no_evidence() -> None:
    book = notebook()
    done(book, 'Anna hates green tea', T0 - DAY)
    [opinion] = book.write([TEA], T0)
    done(book, 'Anna hates green tea!', T0 + 1, scope={'user': 'anna'})
    book.write([Note('Ben hates green tea', entities=['Ben']),
                Note('Anna hates coffee', entities=['Anna'])], T0 + 2)  # fmt: skip
    reflect(book, 0, T0 + 3)
    assert book.get(opinion.id).note.confidence == 0.8


def test_opinions_of_the_core_file_move_and_are_proposed_to_be_thought_over() -> None:
    book = notebook()
    put(book, 'memory.md', '- O(c=0.32) @Anna: Anna prefers green tea.\n')
    done(book, 'Anna hates green tea', T0)
    told = reflect(book, 0, T0 + 1)
    assert len(told.revised) == 1 and told.proposed == told.revised
    assert (
        '- think over: Anna prefers green tea. (0.27) [memory.md:1]'
        in book.journal.read('bank/proposals.md').decode()
    )
    assert book.journal.read('memory.md') == b'- O(c=0.32) @Anna: Anna prefers green tea.\n'


def test_a_sure_opinion_that_was_supported_again_and_again_is_proposed() -> None:
    book = notebook()
    [opinion] = book.write([TEA], T0)
    for n in range(1, 4):
        done(book, f'Anna drank green tea, cup {n}', T0 + n)
    assert reflect(book, 0, T0 + 9).proposed == (opinion.id,)


def test_a_judge_is_asked_only_where_words_do_not_tell_and_never_makes_a_large_step() -> None:
    asked = []

    class Against:
        def judge(self, opinion: str, said: str) -> int:
            asked.append(said)
            return -1

    book = notebook()
    [opinion] = book.write([TEA], T0)
    for n in range(1, 5):
        done(book, f'Anna poured the green tea away, cup {n}', T0 + n)
    done(book, 'Anna drank green tea', T0 + 6)
    reflect(book, 0, T0 + 9, judge=Against())
    assert len(asked) == 4 and all('poured' in said for said in asked)
    assert book.get(opinion.id).note.confidence == 0.62  # four times 0.05, then up


def test_beliefs_move_by_their_own_rule_only() -> None:
    book = notebook()
    learning = Learning(book)
    learning.state('anna', 'likes', 'tea', T0)
    book.add_event(Event('ask', 'tea', T0, concepts=['tea']), 'anna')
    book.write([Note('Anna hates tea', entities=['anna', 'tea'], scope={'user': 'anna'})], T0 + 1)
    assert reflect(book, 0, T0 + 2, {'user': 'anna'}).revised == ()
