# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What a text has to do with objects: named for certain, or only alike.

Names decide (`recall.names`). Only where nothing carries all words of the text are objects ranked
that are merely alike: by words in common (BM25 over labels) and what was stated of them, by
`wordllama` where it is installed, and by how things look where the memory was given an encoder of
its feature space. The rankings are fused by reciprocal rank, and never make certain.

Everything is held in memory and made from labels, which are few however many objects there are:
so there is no index on disk that could differ from what it is of, or keep what was purged.
"""

from __future__ import annotations

import functools
import importlib.util
import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from memory_node.fusion.world import Features, Rows, World
from memory_node.model import Floats
from memory_node.recall.names import PART, Names, Naming
from memory_node.recall.words import words
from memory_node.scene import boxes
from memory_node.store.database import Database

CERTAIN = 'certain'
"""Term of a hit: 1 where label evidence, a listed name or a stated fact says so; 0: similar."""
SEARCHABLE_SHARE = 0.2
"""A label is found while it holds this share of the evidence mass (C19)."""
CERTAIN_SHARE = 0.5
"""A label that is not the object's own makes certain from this share of its evidence on."""
ALIKE = 0.4
"""What is merely alike scores up to this."""
LLAMA_LEAST = 0.35
"""Cosine of two words from which `wordllama` takes them for alike."""
LOOKS_LEAST = 0.2
"""Cosine of text and feature from which a thing may look like what is asked for."""
FUSED_K = 60
"""Of reciprocal rank fusion: 1 / (K + rank), Cormack, Clarke and Büttcher, SIGIR 2009."""
MOST_STATED = 100_000
"""Stated facts that are looked through for one text."""
_BM25_K, _BM25_B = 1.2, 0.75


class TextEncoder(Protocol):
    """Puts texts into the feature space of the memory; see `perception.encoder`.

    Attributes:
        name: of that space; another one than the memory's is not used.
    """

    name: str

    def texts(self, texts: Sequence[str]) -> Any:
        """(N, D) a direction for each text."""
        ...


@dataclass(frozen=True)
class Aids:
    """What ranking stands on besides the working set.

    Attributes:
        names: what people call things. database: for what was stated.
        feature: (D,) unit direction of the text in the feature space; None: there is no encoder.
    """

    names: Names
    database: Database
    feature: Features | None = None


def prepare() -> None:
    """Load what takes a second to load, before the memory is held."""
    _llama()


def text_terms(text: str, world: World, rows: Rows, aids: Aids) -> dict[str, Floats]:
    """Terms `label` (0 to 1) and `certain` (0 or 1) of each row; (R,) each.

    Where nothing carries the words of the text, `label` is 0 throughout, and a term `similar` (0 to
    1, fused) says what is alike.
    """
    names = world.labels.names
    found = [aids.names.naming(text, name) for name in names]
    label, certain = named(world, rows, found)
    if lacking := aids.names.lacking(text):
        _by_stated_qualities(text, lacking, world, rows, aids, label, certain)
    terms = {'label': label, CERTAIN: certain}
    if not label.any():
        terms['similar'] = alike(text, world, rows, aids)
    return terms


def score_of(terms: Mapping[str, Floats]) -> Floats:
    """(R,) how well each row answers the text: what is certain comes before what is not."""
    label, certain = terms['label'], terms[CERTAIN]
    part = np.minimum(label, PART)
    score: Floats = np.where(certain > 0, label, part)
    similar = terms.get('similar')
    return score if similar is None else ALIKE * similar


def named(world: World, rows: Rows, found: Sequence[Naming]) -> tuple[Floats, Floats]:
    """(R,) best score among the searchable labels of each object, and whether it is certain."""
    value = np.array([*(n.score for n in found), 0.0])
    sure = np.array([*(n.certain for n in found), False])
    best, certain = np.zeros(len(rows)), np.zeros(len(rows))
    if not value.any():
        return best, certain
    held = (value > 0)[world.records['labels'][rows]].any(axis=1)
    spilled = world.more_labels
    if spilled:
        held |= np.isin(rows, list(spilled))
    some = np.flatnonzero(held)  # most objects have none of these labels
    best[some], certain[some] = _highest(world, rows[some], value, sure)
    return best, certain


def _highest(world: World, rows: Rows, value: Floats, sure: boxes.Bools) -> tuple[Floats, Floats]:
    """`named` of the objects that may have one of the labels."""
    labels, masses = world.records['labels'][rows], world.records['masses'][rows]
    label = world.records['label'][rows]
    whole = masses.sum(axis=1)
    spilled = world.more_labels
    more = [k for k, row in enumerate(rows.tolist()) if row in spilled] if spilled else []
    for k in more:
        whole[k] += sum(spilled[int(rows[k])].values())
    named = np.where(sure[labels] & (labels >= 0), masses, 0.0).sum(axis=1)
    enough = SEARCHABLE_SHARE * whole
    counts = np.round(masses - enough[:, None], 9) >= 0
    counts |= labels == label[:, None]
    best: Floats = np.where(counts, value[labels], 0.0).max(axis=1, initial=0.0)
    for k in more:
        for number, mass in spilled[int(rows[k])].items():
            named[k] += mass if sure[number] else 0.0
            if round(mass - enough[k], 9) >= 0 or number == label[k]:
                best[k] = max(best[k], value[number])
    certain = sure[label] | ((whole > 0) & (np.round(named - CERTAIN_SHARE * whole, 9) >= 0))
    return best, certain.astype(np.float64)


def _by_stated_qualities(
    text: str, lacking: frozenset[str], world: World, rows: Rows, aids: Aids, label: Floats,
    certain: Floats,
) -> None:  # fmt: skip
    """A mug of which somebody stated that it is red is certainly a red mug."""
    thing = aids.names.thing(text)
    found = [aids.names.naming(thing, name) for name in world.labels.names]
    value, sure = named(world, rows, found)
    places = np.flatnonzero((sure > 0) & (certain == 0))
    if not len(places):
        return
    said = stated_words(aids.database, world.records['id'][rows[places]].tolist())
    for place, number in zip(places.tolist(), world.records['id'][rows[places]].tolist()):
        if lacking <= said.get(number, frozenset()):
            label[place], certain[place] = value[place], 1.0


def stated_words(database: Database, ids: Sequence[int] | None = None) -> dict[int, frozenset[str]]:
    """Words of the texts that were stated of some or all objects; of a true property, its key."""
    found: dict[int, frozenset[str]] = {}
    rows = database.rows(
        'SELECT object_id, key, value FROM property '
        'WHERE ?1 IS NULL OR object_id IN (SELECT value FROM json_each(?1)) LIMIT ?2',
        (None if ids is None else json.dumps(list(ids)), MOST_STATED),
    )
    for number, name, value in rows:
        plain = json.loads(value)
        if plain is True or isinstance(plain, str):
            said = words(name if plain is True else plain)
            found[number] = found.get(number, frozenset()) | frozenset(said)
    return found


def unit(direction: Any) -> Features | None:
    """(D,) of length 1; None where there is no direction in it."""
    wide = np.asarray(direction, dtype=np.float64).ravel()
    largest = float(np.abs(wide).max(initial=0.0))
    if not 0.0 < largest < np.inf:
        return None
    result: Features = boxes.normalized(wide[None] / largest)[0].astype(np.float32)
    return result


# -- what is merely alike ----------------------------------------------------------------------


def alike(text: str, world: World, rows: Rows, aids: Aids) -> Floats:
    """(R,) 0 to 1: rankings of what is alike, fused by reciprocal rank."""
    names = world.labels.names
    of_label = world.records['label'][rows]
    rankings = [bm25(text, names)[of_label] if names else np.zeros(len(rows))]
    if (stated := _stated(text, world, rows, aids.database)).any():
        rankings.append(stated)
    if (llama := _llama()) is not None and names:
        rankings.append(llama.alike(text, names)[of_label])
    if aids.feature is not None and aids.feature.shape == (world.features.dim,):
        rankings.append(_looks(world, rows, aids.feature))
    return fused(rankings)


def fused(rankings: Sequence[Floats]) -> Floats:
    """(R,) reciprocal rank fusion of some rankings, 1 for what is first in all; 0: in none.

    What ties has the same rank; what a ranking gives 0 is not in it.
    """
    total = np.zeros(len(rankings[0]))
    for scores in rankings:
        scores = np.round(scores, 9)
        found = np.flatnonzero(scores > 0)
        if not len(found):
            continue
        levels = np.unique(scores[found])[::-1]
        rank = np.searchsorted(-levels, -scores[found])
        total[found] += (FUSED_K + 1) / (FUSED_K + 1 + rank)
    return total / len(rankings)


def bm25(text: str, documents: Sequence[str]) -> Floats:
    """(N,) Okapi BM25 of each document for the words of a text (Robertson and Walker, 1994)."""
    wanted = set(words(text))
    bags = [_bag(document) for document in documents]
    lengths = np.array([max(sum(bag.values()), 1) for bag in bags], dtype=np.float64)
    mean = float(lengths.mean()) if len(lengths) else 1.0
    scores = np.zeros(len(documents))
    for word in sorted(wanted):
        counts = np.array([bag.get(word, 0) for bag in bags], dtype=np.float64)
        having = int(np.count_nonzero(counts))
        if not having:
            continue
        rarity = math.log(1 + (len(bags) - having + 0.5) / (having + 0.5))
        norm = _BM25_K * (1 - _BM25_B + _BM25_B * lengths / mean)
        scores += rarity * counts * (_BM25_K + 1) / (counts + norm)
    return scores


@functools.lru_cache(maxsize=8192)
def _bag(document: str) -> Mapping[str, int]:
    return Counter(words(document))


def _stated(text: str, world: World, rows: Rows, database: Database) -> Floats:
    """(R,) share of the words of a text that were stated of each object."""
    wanted, share = frozenset(words(text)), np.zeros(len(rows))
    said = {n: len(wanted & found) for n, found in stated_words(database).items()}
    some = np.array(sorted(n for n, count in said.items() if count), dtype=np.int64)
    at = np.flatnonzero(np.isin(world.records['id'][rows], some)) if len(some) else some
    for place in at.tolist():
        share[place] = said[int(world.records['id'][rows[place]])] / len(wanted)
    return share


def _looks(world: World, rows: Rows, feature: Features) -> Floats:
    """(R,) cosine of each object's feature with a direction; 0 of what has none or is unlike."""
    held = world.records['has_feature'][rows]
    cosine = np.zeros(len(rows))
    cosine[held] = world.features.dot(rows[held], feature)
    cosine[cosine < LOOKS_LEAST] = 0.0
    return cosine


class _Llama:
    """Similarity of words by `wordllama`, from the model in its package: nothing is downloaded."""

    def __init__(self) -> None:
        from wordllama import WordLlama

        found = importlib.util.find_spec('wordllama')
        folder = Path(found.origin or '').parent if found else Path()
        self._model = WordLlama.load(cache_dir=folder, disable_download=True)
        self._known: dict[str, Floats] = {}

    def alike(self, text: str, names: Sequence[str]) -> Floats:
        """(N,) cosine of a text with each name; 0 where it is small."""
        matrix = np.stack([self._vector(' '.join(words(name)) or name) for name in names])
        cosine: Floats = (matrix * self._vector(text)).sum(axis=1)
        cosine[cosine < LLAMA_LEAST] = 0.0
        cosine[[_shares_a_part(text, name) for name in names]] = 0.0
        return cosine

    def cosines(self, text: str, others: Sequence[str]) -> Floats:
        """(N,) cosine of a text with others; 0 where it is small."""
        cosine: Floats = np.stack([self._vector(other) for other in others]) @ self._vector(text)
        cosine[cosine < LLAMA_LEAST] = 0.0
        return cosine

    def _vector(self, text: str) -> Floats:
        if text not in self._known:
            if len(self._known) > 8192:
                self._known.clear()
            vector = np.asarray(self._model.embed([text])[0], dtype=np.float64)
            self._known[text] = vector / max(float(np.sqrt((vector * vector).sum())), 1e-12)
        return self._known[text]


def _shares_a_part(text: str, name: str) -> bool:
    """Whether a word of one is only a part of a word of the other: `able` is no table."""
    pairs = ((a, b) for a in words(text) for b in words(name) if a != b)
    return any(a in b or b in a for a, b in pairs)


def likeness(text: str, others: Sequence[str]) -> Floats | None:
    """(N,) how alike a text is to others, 0 to 1; None: nothing that could tell is installed."""
    llama = _llama()
    return None if llama is None or not others else llama.cosines(text, others).round(6)


@functools.cache
def _llama() -> _Llama | None:
    """`wordllama`, if it is installed and has its model with it."""
    try:
        return _Llama()
    except Exception:  # whatever it lacks: it only ranks
        return None
