# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Recall in words (WM-10, 11): by what is said, of whom, when, and what somebody thinks.

No model: the words of a question are compared with those of notes, each weighed by how rare it is.
A note is an answer only if it has most of that weight, so what nobody ever wrote of has no answer.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memory_node import checks
from memory_node.notes.dates import take_dates
from memory_node.notes.items import Network, NoteQuery, NoteState, scope_of, slug
from memory_node.recall.context import CHARACTERS_A_TOKEN, checked_tokens
from memory_node.recall.moments import DAY, Span
from memory_node.recall.rank import likeness
from memory_node.recall.wording import harmless
from memory_node.store import notes as rows
from memory_node.store.database import Database

NEEDED = 0.6
"""Share of the weight of a question's words that an answer has to have."""
CANDIDATES = 100
MEANING = 0.2
"""What likeness in meaning adds to a score at most."""
RERANKED = 25
"""So many of the best are compared in meaning."""
LONGEST = 1000
"""Characters of one note that are shown."""
COMMON = 2000
"""A word of more notes than this does not choose candidates by itself."""
_FRAME = frozenset(rows.text_words(
    'a an the of to in on at by for from with about and or is are was were be been am do does did '
    'have has had what when where which who whom whose why how much many that this these those it '
    'its i me my we us our you your he she his her him they them their there tell know say said '
    'remember anything something everything please can could would should will shall any some all '
    'last time happen happened ever again if as into than then so not no yes'
))  # fmt: skip
_OPINION = frozenset(rows.text_words(
    'prefer preference like dislike think opinion favourite favorite love hate avoid want enjoy '
    'feel believe view mind'
))  # fmt: skip


LONG_NS = 31 * DAY
"""What took longer than this has an index of its own (0006_notes.sql says so too)."""
_DURING = f"""n.clock = 'wall' AND n.row IN (
    SELECT row FROM note WHERE start_ns BETWEEN ? AND ? AND coalesce(end_ns, start_ns) >= ?
    UNION SELECT row FROM note INDEXED BY note_long
    WHERE end_ns - start_ns > {LONG_NS} AND start_ns <= ? AND end_ns >= ?
    UNION SELECT row FROM note INDEXED BY note_since
    WHERE key <> '' AND from_ns <= ? AND coalesce(to_ns, ?) > ?
)"""
_VOCABULARY = (
    'CREATE VIRTUAL TABLE IF NOT EXISTS temp.note_word USING fts5vocab(main, note_text, row)'
)
_SEEN = (
    'SELECT 1 FROM note_entity e JOIN note n ON n.row = e.row WHERE e.slug = ? '
    "AND n.user IN ('', ?) AND n.robot IN ('', ?) LIMIT 1"
)
_Row = tuple[Any, ...]
_FROM, _ROW = 3, 8
"""Places in rows.COLUMNS."""


@dataclass(frozen=True)
class Recalled:
    """One thing that is recalled (WM-11), with where it stands and what its score is made of.

    Attributes:
        network: world, experience, opinion or observation.
        time_ns: beginning and end of when it happened; None: unknown, or open.
    """

    state: NoteState
    network: Network
    time_ns: tuple[int | None, int | None]
    score: float
    details: Mapping[str, float]

    @property
    def citation(self) -> str:
        """`FILE:LINE`."""
        return self.state.citation


@dataclass(frozen=True)
class Recollection:
    """The answer to a question.

    Attributes:
        items: best first. text: the same as lines with citations, within the budget.
        omitted: answers that the budget or the limit left out.
        kind: lexical, entity, temporal or opinion: how the question was read. span: of time.
    """

    items: tuple[Recalled, ...]
    text: str
    omitted: int
    kind: str
    span: Span


@dataclass(frozen=True)
class _Question:
    words: tuple[str, ...]
    entities: tuple[str, ...]
    opinion: bool
    span: Span

    @property
    def kind(self) -> str:
        if self.opinion:
            return 'opinion'
        if self.span.words:
            return 'temporal'
        return 'entity' if self.entities else 'lexical'


def recall(
    database: Database, text: str, now_ns: int, scope: Mapping[str, str] | None = None,
    limit: int = 25, since_ns: int | None = None, max_tokens: int = 2000,
    utc_offset_s: float = 0.0,
) -> Recollection:  # fmt: skip
    """Answer a question from notes.

    Args:
        database: of the store. text: the question. now_ns: when it is asked.
        scope: who asks; see `Note.scope`. limit: most answers. since_ns: none older than this.
        max_tokens: of the text. utc_offset_s: how far local time is ahead.

    Raises:
        InvalidValueError: a value is malformed.
        StoreError: the index cannot be read.
    """
    checks.said('text', text)
    checks.whole('now_ns', now_ns, 0)
    checks.limit(limit)
    budget = checked_tokens(max_tokens) * CHARACTERS_A_TOKEN
    query = NoteQuery(scope=scope_of(scope or {}), include_invalidated=True)
    question = _read(database, text, now_ns, utc_offset_s, query.scope)
    if not (question.words or question.entities or question.span.words):
        return Recollection((), '', 0, question.kind, question.span)
    where, bound = _conditions(query, question, since_ns)
    counts = _counts(database, question.words)
    total = int(database.rows('SELECT coalesce(max(row), 0) FROM note')[0][0])
    weights = {word: math.log((total + 1.5) / (n + 0.5)) for word, n in counts.items()}
    found = _candidates(database, question, counts, where, bound)
    judged = [_judged(row, question, weights, now_ns) for row in found]
    ranked = sorted((item for item in judged if item is not None), key=_order)
    ranked[:RERANKED] = _by_meaning(text, ranked[:RERANKED])
    items, lines, spent = [], [], 0
    for found_one in ranked[:limit]:
        item = found_one.shown()
        line = _line(item)
        if spent + len(line) + 1 <= budget:
            items.append(item)
            lines.append(line)
            spent += len(line) + 1
    omitted = len(ranked) - len(items)
    return Recollection(tuple(items), '\n'.join(lines), omitted, question.kind, question.span)


def has_words(text: str) -> bool:
    """Whether a question has words to look for, beside those of which questions are made."""
    return any(word not in _FRAME and word not in _OPINION for word in rows.text_words(text))


def _read(
    database: Database, text: str, now_ns: int, ahead_s: float, scope: Mapping[str, str]
) -> _Question:  # fmt: skip
    left, span = take_dates(text, now_ns, ahead_s)
    said = rows.text_words(left)
    opinion = any(word in _OPINION for word in said)
    words = [word for word in said if word not in _FRAME and word not in _OPINION]
    return _Question(tuple(words), named(database, left, scope), opinion, span)


def named(database: Database, text: str, scope: Mapping[str, str]) -> tuple[str, ...]:
    """Entities that a text names and that notes are about which who asks may see, longest first."""
    parts = slug(text).split('-')
    tried = {
        '-'.join(parts[k : k + n]).strip('.:'): None
        for n in (3, 2, 1)
        for k in range(len(parts) - n + 1)
    }
    for name in [name for name in tried if name.endswith('s')]:
        tried[name[:-2] if name.endswith('-s') else name[:-1]] = None
    names = [name for name in tried if name and name not in _FRAME]
    marks = ', '.join('?' * len(names))
    known = database.rows(f'SELECT DISTINCT slug FROM note_entity WHERE slug IN ({marks})', names)
    bound = (scope.get('user', ''), scope.get('robot_id', ''))
    seen = [name for (name,) in known if database.rows(_SEEN, (name, *bound))]
    return tuple(sorted(seen, key=lambda name: (-len(name), name)))


def _conditions(
    query: NoteQuery, question: _Question, since_ns: int | None
) -> tuple[list[str], list[Any]]:  # fmt: skip
    where, bound = rows.conditions(query)
    where.append("n.forgotten_ns IS NULL AND n.kind <> 'skill'")
    if question.opinion:
        where.append("n.network = 'opinion'")
    first, last = question.span.since_ns, question.span.until_ns
    if question.span.words:
        low = 0 if first is None else max(0, first)
        high = 2**63 - 1 if last is None else last
        where.append(_DURING)
        bound += [low - LONG_NS, high, low, high, low, high, 2**63 - 1, low]
    else:
        where.append('n.to_ns IS NULL')
    if since_ns is not None:
        where.append('n.start_ns >= ?')
        bound.append(checks.whole('since_ns', since_ns, 0))
    return where, bound


def _candidates(
    database: Database, question: _Question, counts: Mapping[str, int], where: Sequence[str],
    bound: Sequence[Any],
) -> list[_Row]:  # fmt: skip
    if not question.words:
        source = 'note n'
        if question.entities:
            source = 'note_entity e JOIN note n ON n.row = e.row'
            where, bound = [*where, 'e.slug = ?'], [*bound, question.entities[0]]
        return _fetched(database, source, where, bound, 'coalesce(n.start_ns, 0) DESC, n.row DESC')
    known = [word for word in question.words if counts[word]]
    if not known:
        return []
    few = min(counts[word] for word in known) <= COMMON
    found = _matching(database, ' '.join(f'"{w}"' for w in known), few, where, bound)
    if len(found) < CANDIDATES and len(known) > 1:
        some = [w for w in known if counts[w] <= COMMON] or [min(known, key=lambda w: counts[w])]
        few = counts[some[0]] <= COMMON
        more = _matching(database, ' OR '.join(f'"{w}"' for w in some), few, where, bound)
        seen = {row[_ROW] for row in found}
        found += [row for row in more if row[_ROW] not in seen]
    return found


def _matching(
    database: Database, match: str, few: bool, where: Sequence[str], bound: Sequence[Any]
) -> list[_Row]:  # fmt: skip
    """Notes with words: best first where there are few, else the newest."""
    return _fetched(
        database, 'note_text JOIN note n ON n.row = note_text.rowid',
        ['note_text MATCH ?', *where], [match, *bound],
        'rank' if few else 'note_text.rowid DESC',
    )  # fmt: skip


def _fetched(
    database: Database, source: str, where: Sequence[str], bound: Sequence[Any], order: str
) -> list[_Row]:  # fmt: skip
    return database.rows(
        f'SELECT {rows.COLUMNS} FROM {source} WHERE {" AND ".join(where)} '
        f'ORDER BY {order} LIMIT {CANDIDATES}', bound,
    )  # fmt: skip


def _counts(database: Database, words: Sequence[str]) -> dict[str, int]:
    """How many notes have each word."""
    if words:
        database.rows(_VOCABULARY)
    counts = {}
    for word in words:
        found = database.rows('SELECT doc FROM temp.note_word WHERE term = ?', (word,))
        counts[word] = int(found[0][0]) if found else 0
    return counts


@dataclass(frozen=True)
class _Judged:
    """A row that answers a question; the note itself is only read if it is shown."""

    row: _Row
    start_ns: int | None
    end_ns: int | None
    score: float
    details: Mapping[str, float]

    def shown(self) -> Recalled:
        state = rows.state_of(self.row)
        assert state.note.network is not None
        span = (self.start_ns, self.end_ns)
        return Recalled(state, state.note.network, span, self.score, self.details)


def _order(item: _Judged) -> tuple[Any, ...]:
    return -item.score, -(item.start_ns or 0), item.row[1], item.row[2]


def _by_meaning(text: str, ranked: Sequence[_Judged]) -> list[_Judged]:
    """The same answers, those alike in meaning first, where something is installed that can tell.

    It only ranks what words have found (step 2 of WM-17): what is merely alike is no answer.
    """
    cosines = likeness(text, [json.loads(item.row[0])['content'] for item in ranked])
    if cosines is None:
        return list(ranked)
    return sorted((
        dataclasses.replace(
            item, score=round(item.score + MEANING * cosine, 9),
            details={**item.details, 'meaning': cosine},
        )
        for item, cosine in zip(ranked, cosines.tolist())
    ), key=_order)  # fmt: skip


def _judged(
    row: _Row, question: _Question, weights: Mapping[str, float], now_ns: int
) -> _Judged | None:  # fmt: skip
    plain = json.loads(row[0])
    entities = plain.get('entities', [])
    texts = (plain['content'], plain.get('key', ''), *entities)
    held = {word for text in texts for word in rows.text_words(text)}
    heaviest = sum(weights.values())
    share = sum(w for word, w in weights.items() if word in held) / heaviest if heaviest else 1.0
    if question.words and round(share, 9) < NEEDED:
        return None
    entity = 1.0 if {slug(name) for name in entities} & set(question.entities) else 0.0
    if question.opinion and question.entities and not entity:
        return None
    start, end, _ = plain.get('event_time', (row[_FROM] or None, None, ''))
    age_days = max(0, now_ns - (start or 0)) / (86400 * 1e9)
    confidence = plain['confidence']
    details = {
        'words': share, 'entity': entity, 'recent': 1.0 / (1.0 + age_days / 30.0),
        'confidence': confidence,
    }  # fmt: skip
    score = share + 0.3 * entity + 0.1 * details['recent'] + 0.1 * confidence
    return _Judged(row, start, end if end is not None else start, round(score, 9), details)


def _line(item: Recalled) -> str:
    note = item.state.note
    sure = f' {note.confidence:.2f}' if item.network is Network.OPINION else ''
    return f'[{item.citation}] ({item.network.value}{sure}) {harmless(note.content, LONGEST)}'
