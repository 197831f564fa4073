# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Whether one text speaks for or against another, by tables of words: no model is asked (WM-14).

This is not understanding. What the tables do not tell is left open, and a verdict moves an opinion
by little.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from memory_node.store.notes import text_words

NEEDED = 0.6
"""Share of what a statement is about that a text has to name."""
STRONG = 0.8
"""From this share on, a text that says so outright is strong evidence."""


def _table(words: str) -> frozenset[str]:
    return frozenset(text_words(words))


FRAME = _table(
    'a an the of to in on at by for from with about and or is are was were be been being am do '
    'does did have has had having what when where which who whom whose why how that this these '
    'those it its i me my we us our you your he she his her him they them their there then than '
    'so if as into over rather very much more most really quite just too also again s t'
)
"""Words that say nothing of what a text is about."""
_CIRCUMSTANCE = _table(
    'always often usually sometimes mostly generally today yesterday tomorrow now still morning '
    'noon afternoon evening night day week month year monday tuesday wednesday thursday friday '
    'saturday sunday'
)
_LIKE = _table(
    'like likes love loves prefer prefers preferred enjoy enjoys enjoyed want wants wanted adore '
    'favourite favorite fond pleased praised happy thanked'
)
_CHOICE = _table(
    'choose chose chosen pick picked order ordered request requested accept accepted took taken '
    'drink drank drunk eat ate eaten listen listened play played read wear wore worn use used '
    'bought buy'
)
_DISLIKE = _table(
    'dislike dislikes hate hates avoid avoids avoided refuse refused reject rejected decline '
    'declined complain complained annoyed annoy loathe detest allergic bothered'
)
_NOT = _table(
    'not no never none nor neither without hardly longer cannot stop stopped quit doesn don didn '
    'isn wasn aren weren won couldn wouldn hasn haven hadn shouldn'
)
_NO_TOPIC = FRAME | _CIRCUMSTANCE | _LIKE | _CHOICE | _DISLIKE | _NOT
_PAIRS = (
    'open closed', 'open shut', 'quiet loud', 'quiet noisy', 'hot cold', 'warm cold', 'warm cool',
    'clean dirty', 'tidy messy', 'full empty', 'light dark', 'bright dark', 'wet dry',
    'safe dangerous', 'easy hard', 'easy difficult', 'fast slow', 'locked unlocked',
    'working broken', 'early late', 'cheap expensive', 'busy quiet', 'good bad', 'right wrong',
    'present absent', 'reliable unreliable', 'strong weak', 'heavy light', 'charged flat',
)  # fmt: skip


def _opposites() -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for pair in _PAIRS:
        one, other = text_words(pair)
        found[one] = found.get(one, frozenset()) | {other}
        found[other] = found.get(other, frozenset()) | {one}
    return found


_OPPOSITE = _opposites()


@dataclass(frozen=True)
class Stance:
    """How a text stands to a statement.

    Attributes:
        sign: 1: speaks for it; -1: against it; 0: about it, but it cannot be told.
        share: of what the statement is about that the text names, 0 to 1.
        strong: it says so outright.
    """

    sign: int
    share: float
    strong: bool


def attitude(text: str) -> int:
    """1: somebody likes or chooses something; -1: dislikes or refuses; 0: it cannot be told."""
    return _attitude(frozenset(text_words(text)))


def topics(statement: str, names: Collection[str] = ()) -> tuple[str, ...]:
    """Words of what a statement is about, without the names that are known already.

    Where nothing else is left, the names are what it is about.
    """
    said = [
        word for word in text_words(statement)
        if word not in _NO_TOPIC
    ]  # fmt: skip
    known = {word for name in names for word in text_words(name)}
    return tuple([word for word in said if word not in known] or said)


def stance(statement: str, text: str, names: Collection[str] = ()) -> Stance | None:
    """How a text stands to a statement; None: it is about something else.

    Args:
        statement: what somebody thinks. text: what may speak for it or against it, with the names
            of what it is about. names: of whom or what both are about.
    """
    wanted, said = topics(statement, names), frozenset(text_words(text))
    turned = [w for w in wanted if w not in said and _OPPOSITE.get(w, frozenset()) & said]
    held = sum(word in said for word in wanted) + len(turned)
    if not wanted or round(held / len(wanted), 9) < NEEDED:
        return None
    share = round(held / len(wanted), 9)
    whole = frozenset(text_words(statement))
    if whole & (_LIKE | _CHOICE | _DISLIKE):
        sign = _attitude(whole) * _attitude(said)
        outright = bool(said & (_LIKE | _DISLIKE))
    else:
        sign = (-1) ** (len(turned) + bool(whole & _NOT) + bool(said & _NOT))
        outright = True
    if turned and whole & (_LIKE | _CHOICE | _DISLIKE):
        sign = 0  # liking what is loud says nothing of what is quiet
    return Stance(sign, share, bool(sign) and outright and share >= STRONG)


def _attitude(words: frozenset[str]) -> int:
    likes, dislikes = bool(words & (_LIKE | _CHOICE)), bool(words & _DISLIKE)
    if likes == dislikes:
        return 0
    return (1 if likes else -1) * (-1 if words & _NOT else 1)
