# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What a text asks: a question in words becomes a reading that says how it was understood.

Tables of words (`phrases`) and of times (`moments`) do it, in a fixed order; there is no model. What
fits no form is unread, with the reason, and never answered by everything there is (CH-W12).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass, replace

from memory_node import checks
from memory_node.errors import InvalidValueError
from memory_node.recall import moments, phrases
from memory_node.recall.moments import NO_SPAN, Span
from memory_node.recall.wording import relation_words
from memory_node.recall.words import key, words

NOT_A_QUESTION = 'it is no form of question that is known here'
MAX_THING_WORDS = 8
PARITY = 'odd'

_ME = r'(?:me|myself|us|mir|mí|mi|my position|my location|where i am|the robot)'
_SIDES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), side)
    for pattern, side in (
        (r'\b(?:on|to|at|in|from|along|down)? ?my (?:immediate |direct |far |near |back |front |lower |upper )?left(?:[ -]hand)?'
         r"(?: side)?(?:'s side)?(?: of me)?\b|\b(?:(?:to|on|at) )?(?:the )?left of (?:me|myself)\b|\b(?:to|on) the left(?: side)?$|\blinks von mir\b|\ba mi izquierda\b|我(?:的)?左(?:边|侧|面)", 'left'),
        (r'\b(?:on|to|at|in|from|along|down)? ?my (?:immediate |direct |far |near |back |front |lower |upper )?right(?:[ -]hand)?'
         r"(?: side)?(?: of me)?\b|\b(?:(?:to|on|at) )?(?:the )?right of (?:me|myself)\b|\b(?:to|on) the right(?: side)?$|\brechts von mir\b|\ba mi derecha\b|我(?:的)?右(?:边|侧|面)", 'right'),
        (r'\b(?:directly |right |just |immediately )?(?:in front of|ahead of|before|across from|facing) '
         r'(?:me|us)\b|\bin my front\b|\bon my front\b|\b(?:straight |directly )ahead(?: of me)?\b|\bvor mir\b|\bdelante de mí\b|'
         r'\bi am facing\b|\bam i facing\b|我(?:的)?(?:前面|面前)', 'front'),
        (r'\b(?:directly |right |just |immediately )?behind (?:me|us)\b|\bbehind$|\b(?:to|on|at|in) my (?:back|behind|rear)\b|\bbehind my back\b|'
         r'\bhinter mir\b|\bdetrás de mí\b|我(?:的)?(?:后面|身后|背后)', 'behind'),
        (rf'\b(?:near|nearest|next|close|closest|nearby|close by|beside|around|by|adjacent)(?: to)? {_ME}(?=\s|$)|'
         r'\b(?:on )?(?:either|both) sides? of me\b|\baround here\b|\bnear here\b|\bnearby\b|\bnext me\b|\bin reach\b|'
         r'\bwithin (?:my )?(?:arm )?reach(?: of me)?\b|\bin meiner nähe\b|\bbei mir\b|\bin der nähe von mir\b|'
         r'\bneben mir\b|\bcerca de mí\b|\bjunto a mí\b|\bcerca\b(?! del?\b)|我(?:的)?(?:附近|旁边|身边)', 'near'),
    )
)  # fmt: skip
_REACH = re.compile(r'\bin reach\b|\bwithin (?:my )?(?:arm )?reach\b')
_HOURS = {
    word: k + 1
    for k, word in enumerate(
        [
            'one',
            'two',
            'three',
            'four',
            'five',
            'six',
            'seven',
            'eight',
            'nine',
            'ten',
            'eleven',
            'twelve',
        ]
    )
}
_HOUR = re.compile(
    r"(?:\b(?:at|on|to|in|from|towards?)\s+)?(?:my |the )?\b(?P<h>\d{1,2}|" + '|'.join(_HOURS) + r")\s*"
    r"o['’]?\s?clock(?:'s)?(?: direction| position| side)?(?: (?:to|from|of) me)?"
)  # fmt: skip
_POLITE = re.compile(
    r'^(?:(?:please|hey|hi|hello|ok|okay|so|and|well|now|robot|could you|can you|would you|will you|'
    r'tell me|say|do you know|i wonder|i want to know|i need to know|can you tell me|could you tell me|'
    r'bitte|sag mir|weißt du|kannst du mir sagen|por favor|dime|sabes|puedes decirme|请问|请告诉我|告诉我'
    r'|你知道)[,\s]*)+(?=(?:if|whether|ob|si|what|where|which|when|how|is|are|wo|was|wann|wie|gibt|ist|'
    r'd[óo]nde|qué|cuánt|cuándo|hay|está)|[\u4e00-\u9fff])(?:if |whether |ob |si )?'
)
_CONTRACTED = (
    (re.compile(r"\b(what|where|who|which|how|there|that|it|when)(?:'s|’s)\b"), r'\1 is'),
    (re.compile(r'\b(what|where)s\b'), r'\1 is'),
    (re.compile(r"\b(what|where|there|they|you|we)(?:'re|’re)\b"), r'\1 are'),
    (re.compile(r"\bi(?:'m|’m| m)\b"), 'i am'),
    (re.compile(r'\bwhere (i can|can be|could be|am i to) (find|found)\b'), 'where can i find'),
    (re.compile(r'\bwhere (is|are) (the |a |an )?(.+?) (can i|i can) find.*$'), r'where \1 \3'),
)


@dataclass(frozen=True)
class Reading:
    """How a text was understood.

    Attributes:
        kind: one of phrases.KINDS.
        thing: what it is about, without articles; empty: whatever there is.
        relation: a RelationKind or `in or on`; anchor: to which thing; empty: none.
        place: name of a region that it speaks of; empty: none.
        side: left, right, front, behind, near or a bearing, seen from whoever asks; empty: none.
        term: of `near`: which word says how far that is: near or reach.
        bearing_deg: of a clock direction, anticlockwise from ahead.
        span: the time it speaks of.
        attribute: of `attribute` and `state`: what is asked; of `distance`: closer or farther; of
            `count`: whether it is asked if the number is odd.
        other: of `distance`: the second thing.
        refusal: why it cannot be answered; empty: it can.
        unsure: what of it was understood only in part.
    """

    kind: str
    thing: str = ''
    relation: str = ''
    anchor: str = ''
    place: str = ''
    side: str = ''
    term: str = 'near'
    bearing_deg: float = 0.0
    span: Span = NO_SPAN
    attribute: str = ''
    other: str = ''
    refusal: str = ''
    unsure: str = ''

    def __str__(self) -> str:
        """In words, for the reply."""
        if self.kind == phrases.UNREAD:
            return 'not read as a question'
        said = [self.kind]
        if self.attribute:
            said.append(self.attribute)
        said.append(f'of «{self.thing}»' if self.thing else 'of anything')
        if self.other:
            said.append(f'and «{self.other}»')
        if self.relation:
            said.append(f'{relation_words(self.relation)} «{self.anchor}»')
        if self.place:
            said.append(f'in the region «{self.place}»')
        if self.side == 'bearing':
            said.append(f'at {self.bearing_deg:.0f}° from where you look')
        elif self.side:
            said.append({'near': 'near you', 'front': 'in front of you', 'behind': 'behind you'}.get(
                self.side, f'on your {self.side}'))  # fmt: skip
        if self.span.words:
            said.append(f'at the time «{self.span.words}»')
        return ' '.join(said)


def read(
    text: str, now_ns: int, places: Collection[str] = (), utc_offset_s: float = 0.0
) -> Reading:
    """Understand a text.

    Args:
        text: at most checks.MAX_TEXT characters; control characters are taken for spaces.
        now_ns: when it is asked. places: names of regions.
        utc_offset_s: how far local time is ahead of UTC.

    Raises:
        InvalidValueError: the text is empty or too long.
    """
    said = plain(text)
    if not said:
        raise InvalidValueError(f'text: got {checks.short(text)}, expected a question')
    best = Reading(phrases.UNREAD, refusal=NOT_A_QUESTION)
    for sentence in _sentences(said):
        found = _read_one(sentence, now_ns, places, utc_offset_s)
        if found.kind == phrases.COUNT and re.search(r'\b(?:odd|even)\b', sentence):
            found = replace(found, attribute=PARITY)
        if not found.refusal:
            return found
        if best.refusal == NOT_A_QUESTION:
            best = found
    return best


def plain(text: str) -> str:
    """The text in small letters on one line, without control and format characters.

    Raises:
        InvalidValueError: it is too long.
    """
    checks.text('text', text)
    visible = ''.join(
        ' ' if unicodedata.category(c)[0] in 'CZ' else c for c in unicodedata.normalize('NFC', text)
    )
    return ' '.join(visible.lower().replace('’', "'").replace('`', "'").split())


def _sentences(said: str) -> list[str]:
    """The sentences, questions first, the last one of them first."""
    parts = re.findall(r'[^.?!¿¡。？！;]+[.?!。？！;]*', said)
    found = [p.strip() for p in parts if re.search(r'\w', p)] or [said]
    asked = [p for p in found if re.search(r'[?？]', p)]
    return [*reversed(asked), *(p for p in reversed(found) if p not in asked)]


def _read_one(sentence: str, now_ns: int, places: Collection[str], ahead_s: float) -> Reading:
    text = sentence.strip(' \t.,?!¿¡。？！，;:"«»“”()')
    for pattern, instead in _CONTRACTED:
        text = pattern.sub(instead, text)
    text = _POLITE.sub('', text)
    text, span = moments.take_span(text, now_ns, ahead_s)
    if last_visit := re.search(
        r'\b(?:since|seit|desde) (?:my|your|our|the|meinem|mi) last (?:visit|time|look)\b|'
        r'\bseit meinem letzten besuch\b|\bdesde mi última visita\b|自上次(?:访问|来)?(?:以来)?', text
    ):  # fmt: skip
        text = f'{text[: last_visit.start()]} {text[last_visit.end() :]}'
        span = Span(words=moments.LAST_VISIT)
    text = ' '.join(text.split()).strip(' ,')
    rest, side, bearing = _take_side(text)
    term = 'reach' if side == 'near' and _REACH.search(text) else 'near'
    for pattern, reason in phrases.FIRST_REFUSALS:
        if pattern.search(text):
            return Reading(phrases.UNREAD, refusal=reason)
    for pattern, kind in (*phrases.FORMS, *(phrases.SIDED if side else ())):
        found = pattern.match(rest)
        if found is None:
            continue
        reading = Reading(kind, side=side, term=term, bearing_deg=bearing, span=span)
        understood = _understood(reading, {**found.groupdict(), '0': rest}, places)
        if understood is not None:
            return understood
    if (
        len(words(rest)) <= MAX_THING_WORDS // 2
        and not span.words
        and not phrases.FUNCTION.search(rest)
    ):
        bare = _understood(
            Reading(phrases.WHERE, side=side, term=term, bearing_deg=bearing), {'x': rest}, places
        )
        if bare is not None and not bare.refusal:
            return bare
    for pattern, reason in phrases.REFUSALS:
        if pattern.search(text):
            return Reading(phrases.UNREAD, refusal=reason)
    return Reading(phrases.UNREAD, refusal=NOT_A_QUESTION)


def _take_side(text: str) -> tuple[str, str, float]:
    """Cut out where it is from whoever asks: the text without, the side, the bearing."""
    hour = _HOUR.search(text)
    if hour and not re.search(r'\b(?:of|from) the\b', text[hour.end() : hour.end() + 9]):
        number = _HOURS.get(hour['h']) or int(hour['h'])
        if 1 <= number <= 12:
            bearing = -30.0 * (number % 12)
            rest = f'{text[: hour.start()]} {text[hour.end() :]}'
            return ' '.join(rest.split()), 'bearing', bearing + (360.0 if bearing < -180 else 0.0)
    for pattern, side in _SIDES:
        found = pattern.search(text)
        if found:
            rest = f'{text[: found.start()]} {text[found.end() :]}'
            return ' '.join(rest.split()), side, 0.0
    return text, '', 0.0


def _understood(
    reading: Reading, groups: dict[str, str | None], places: Collection[str]
) -> Reading | None:
    """The reading with what is said of the thing; None: this form does not fit after all."""
    said, more = (groups.get('x') or '').strip(), (groups.get('y') or '').strip()
    attribute = (groups.get('a') or '').strip()
    if reading.kind == phrases.DISTANCE and more:
        near = not re.search(r'\b(?:further|farther|furthest|farthest)\b', groups.get('0') or '')
        return replace(reading, thing=thing_of(said), other=thing_of(more),
                       attribute='closer' if near else 'farther')  # fmt: skip
    if re.search(r'[\u4e00-\u9fff]', said + more):
        return _chinese(replace(reading, attribute=attribute), said, more, places)
    whole = f'{said} {more}'.strip()
    if reading.kind == phrases.DIRECTION:
        whole = _goal(whole)
        if not whole:
            return None
    thing, relation, anchor, place, unsure = _split(whole, places)
    found = replace(reading, thing=thing, relation=relation, anchor=anchor, place=place,
                    attribute=attribute, unsure=unsure)  # fmt: skip
    return _fitting(found)


def _fitting(found: Reading) -> Reading | None:
    """The reading, with a refusal where it asks for what is not held; None: it does not fit."""
    anything = not found.thing
    placed = bool(found.relation or found.place or found.side)
    if found.unsure:
        why = phrases.NO_RELATION.format(f' («{found.unsure}»)')
        return replace(found, refusal=f'it asks for {why}')
    for name in (found.thing, found.anchor):
        if len(words(name)) > MAX_THING_WORDS or phrases.CLAUSE.search(name):
            return None
    needs_thing = (phrases.WHERE, phrases.STILL, phrases.WHEN, phrases.ATTRIBUTE, phrases.STATE,
                   phrases.DIRECTION, phrases.DISTANCE)  # fmt: skip
    if found.kind in needs_thing and anything and not placed:
        return None
    if anything and found.kind in (phrases.WHERE, phrases.EXISTS):
        return replace(found, kind=phrases.LIST) if placed else None
    return found


def _split(said: str, places: Collection[str]) -> tuple[str, str, str, str, str]:
    """What is said of a thing: the thing, its relation and anchor, the place, what is not held."""
    said = phrases.PLACED.sub('', f'{phrases.HERE.sub(" ", said)} ')
    said = ' '.join(phrases.FILLER.sub(' ', said).split())
    place = ''
    found = phrases.RELATION.search(said)
    other = phrases.NOT_HELD.search(said)
    if other:
        return thing_of(said[: other.start()]), '', '', '', other.group().strip()
    if found is None:
        return thing_of(said), '', '', '', ''
    relation = _relation_of(found)
    anchor = said[found.end() :].strip()
    known = {key(p): p for p in places}
    for more in reversed(list(phrases.RELATION.finditer(anchor))):
        last = thing_of(anchor[more.end() :])
        if key(last) in known:
            place = known[key(last)]
            anchor = anchor[: more.start()].strip()
            break
    thing = thing_of(said[: found.start()])
    anchor = thing_of(anchor)
    if relation in (phrases.INSIDE, phrases.IN_OR_ON) and key(anchor) in known:
        return thing, '', '', known[key(anchor)], ''
    return thing, relation if anchor else '', anchor, place, ''


def _relation_of(found: re.Match[str]) -> str:
    number = next(int(name[1:]) for name, value in found.groupdict().items() if value is not None)
    return phrases.RELATIONS[number][1]


def _chinese(reading: Reading, said: str, more: str, places: Collection[str]) -> Reading | None:
    """As `_split`, for a language that puts the place first and the relation behind it."""
    known = {key(p): p for p in places}
    thing, relation, anchor = said, '', ''
    for part in (said, more):
        found = phrases.CHINESE_RELATION.search(part)
        if found:
            relation = next(
                word for name, word in (
                    ('on', phrases.ON), ('in', phrases.INSIDE), ('under', phrases.UNDER),
                    ('near', phrases.NEAR), ('beside', phrases.BESIDE),
                    ('against', phrases.AGAINST), ('part', phrases.PART_OF),
                ) if found[name]
            )  # fmt: skip
            anchor = _chinese_thing(found['y'] or found['against'])
            left = part[: found.start()] + part[found.end() :]
            thing = left if part == said else said
            break
    thing = _chinese_thing(phrases.HERE.sub('', thing))
    place = ''
    if key(anchor) in known:
        relation, anchor, place = '', '', known[key(anchor)]
    return _fitting(replace(reading, thing=thing, relation=relation, anchor=anchor, place=place))


def _chinese_thing(said: str) -> str:
    text = re.sub(
        r'^(?:我的|那个|这个|一个|把|在|是|有|房间里的|的)+|(?:现在|了|呢|吗|的|在|是|都|还)+$',
        '',
        said.strip(),
    )
    return '' if text in phrases.THINGS else text


def _goal(said: str) -> str:
    """Of «should I turn to face the door»: the door."""
    found = re.search(
        r'(?:\bto|\bfor|\bat|\btowards?|\breach|\bfind|\bsee|\bface|\buse|\bis|\bare|\bopen|\bclose|\bget)\s+'
        r'((?:the|a|an|my|any)\s+[\w\s-]+)$', said
    )  # fmt: skip
    if found is None and re.match(r'\s*(?:the|my|a|an)\b', said):
        return said
    return found[1] if found else ''


def thing_of(said: str) -> str:
    """A thing as it is asked for, without articles; empty for «anything»."""
    text = said.strip(' ,.;:\'"()')
    while True:
        shorter = phrases.ARTICLES.sub('', f'{text} ').strip(' ,.;:\'"()-')
        shorter = phrases.TAIL.sub('', shorter).strip(' ,.;:\'"()-')
        if shorter == text:
            break
        text = shorter
    return '' if all(word in phrases.THINGS for word in text.split()) else text
