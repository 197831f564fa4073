# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The pages of the bank (WM-5): what is so, what was done, what somebody thinks, what to propose.

Each page is a bounded list of what holds, newest first, with where it stands in the journal.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memory_node.notes.evidence import citations
from memory_node.notes.items import Network, NoteKind, NoteQuery, NoteState
from memory_node.notes.lines import is_core
from memory_node.notes.notebook import Notebook
from memory_node.recall.wording import harmless
from memory_node.store import notes as rows

Pages = list[tuple[str, str, list[str]]]
"""Name, title and lines of pages."""
MOST = 200
"""Lines of a page of the bank."""
MOST_OF_ENTITY = 20
PROPOSALS = 'bank/proposals.md'
USEFUL = 2
"""So many useful verdicts make a note worth proposing for the core file."""
SURE, SUPPORTED = 0.8, 3
"""So sure and so often supported an opinion is proposed."""
DOUBTED = 0.3
"""An opinion in the core file that is less sure than this is proposed to be thought over."""
_LONGEST = 400
_SHOWN = 5


def entity_page(book: Notebook, folder: str, key: str, name: str, owner: str) -> Pages:
    """The page of whom or what notes are about."""
    query = NoteQuery(entities=[name], scope={'user': owner} if owner else {}, limit=MOST_OF_ENTITY)
    page = f'{folder}bank/entities/{key.replace(":", "-").replace(".", "-")}.md'
    states = [hit.state for hit in book.query(query)]
    lines = [line(s) for s in states if s.note.scope.get('user', '') == owner and s.file != page]
    return [(page, f'# {harmless(name)}', lines)]


def bank_pages(book: Notebook, folder: str, owner: str) -> Pages:
    """world.md, experience.md and opinions.md."""
    found: Pages = []
    for network, name, title in (
        (Network.WORLD, 'world', '# World: what is so'),
        (Network.EXPERIENCE, 'experience', '# Experience: what I did'),
        (Network.OPINION, 'opinions', '# Opinions: what somebody thinks, how sure, and why'),
    ):
        page = f'{folder}bank/{name}.md'
        states = [
            state for state in book.newest(owner, MOST + 1, network)
            if state.note.kind is not NoteKind.SKILL and state.file != page
        ]  # fmt: skip
        told = _opinion if network is Network.OPINION else _plain
        lines = [told(book, state) for state in states[:MOST]]
        if len(states) > MOST:
            lines.append(f'- and more: only the newest {MOST} stand here')
        found.append((page, title, lines))
    return found


def proposals(
    book: Notebook, folder: str, recent: Iterable[NoteState], owner: str
) -> tuple[Pages, tuple[str, ...]]:
    """What to add to the core file, and what there to think over; and the ids of these notes."""
    added = [
        state for state in recent if rows.of_id(book.database, state.note.id)
        and not is_core(state.file) and state.note.network is not Network.OBSERVATION
        and (state.verdicts.get('useful', 0) >= USEFUL or _is_settled(state))
    ]  # fmt: skip
    doubted = [
        state for state in book.newest(owner, MOST, Network.OPINION)
        if is_core(state.file) and state.note.confidence < DOUBTED
    ]  # fmt: skip
    lines = [line(state) for state in added[:MOST_OF_ENTITY]]
    lines += [f'- think over: {line(state)[2:]}' for state in doubted[:MOST_OF_ENTITY]]
    page = folder + PROPOSALS
    ids = tuple(state.note.id for state in (*added, *doubted))
    return [(page, '# Proposed for memory.md', lines)], ids


def line(state: NoteState) -> str:
    """A note as it stands on a page: content, how sure, and where it is from."""
    note = state.note
    sure = f' ({note.confidence:.2f})' if note.network is Network.OPINION else ''
    return f'- {harmless(note.content, _LONGEST)}{sure} [{state.citation}]'


def _plain(book: Notebook, state: NoteState) -> str:
    return line(state)


def _opinion(book: Notebook, state: NoteState) -> str:
    supporting, contradicting = citations(book, state)
    return (
        line(state) + _listed('supported by', supporting)
        + _listed('contradicted by', contradicting)
    )  # fmt: skip


def _listed(words: str, places: Sequence[str]) -> str:
    if not places:
        return ''
    shown = ', '.join(f'[{harmless(place)}]' for place in places[-_SHOWN:])
    more = f' and {len(places) - _SHOWN} more' if len(places) > _SHOWN else ''
    return f'; {words} {shown}{more}'


def _is_settled(state: NoteState) -> bool:
    """Whether an opinion is sure and was supported again and again."""
    said = [relation for relation, _ in state.note.links]
    return (
        state.note.network is Network.OPINION
        and state.note.confidence >= SURE
        and said.count('supported by') >= SUPPORTED
        and not said.count('contradicted by')
    )
