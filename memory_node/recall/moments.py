# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Times in words: «since yesterday», «in den letzten 2 Stunden», «ayer», «今天»."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

SECOND = 1_000_000_000
MINUTE, HOUR, DAY = 60 * SECOND, 3600 * SECOND, 86400 * SECOND
WEEK = 7 * DAY

LAST_VISIT = 'last visit'
"""Said instead of a time: since whoever asks was told last."""

_UNITS = {
    'second': SECOND, 'sekunde': SECOND, 'segundo': SECOND, '秒': SECOND,
    'minute': MINUTE, 'minuto': MINUTE, '分钟': MINUTE,
    'hour': HOUR, 'stunde': HOUR, 'hora': HOUR, '小时': HOUR, '个小时': HOUR,
    'day': DAY, 'tag': DAY, 'tagen': DAY, 'día': DAY, 'dia': DAY, '天': DAY,
    'week': WEEK, 'woche': WEEK, 'semana': WEEK, '周': WEEK, '星期': WEEK, '个星期': WEEK,
    'month': 30 * DAY, 'monat': 30 * DAY, 'mes': 30 * DAY, '个月': 30 * DAY,
}  # fmt: skip
_NUMBERS = {
    **dict.fromkeys(['a', 'an', 'one', 'ein', 'eine', 'einer', 'einem', 'einen', 'un', 'una', '一'], 1.0),
    **dict.fromkeys(['two', 'zwei', 'dos', 'couple', '两', '二', '几'], 2.0),
    **dict.fromkeys(['three', 'few', 'drei', 'tres', '三'], 3.0),
    **dict.fromkeys(['four', 'vier', 'cuatro', '四'], 4.0), **dict.fromkeys(['five', 'fünf', 'cinco', '五'], 5.0),
    **dict.fromkeys(['six', 'sechs', 'seis', '六'], 6.0), **dict.fromkeys(['ten', 'zehn', 'diez', '十'], 10.0),
    'half': 0.5,
}  # fmt: skip
_N = r'(?P<n>\d{1,6}(?:[.,]\d+)?|' + '|'.join(sorted(_NUMBERS, key=len, reverse=True)) + ')?'
_U = '(?P<u>' + '|'.join(sorted(_UNITS, key=len, reverse=True)) + ')'
_SINCE = r'(?:since|seit|desde|自从|从)'


@dataclass(frozen=True)
class Span:
    """A stretch of time.

    Attributes:
        since_ns, until_ns: both included; None: open. words: as it was said.
    """

    since_ns: int | None = None
    until_ns: int | None = None
    words: str = ''


NO_SPAN = Span()


def take_span(text: str, now_ns: int, utc_offset_s: float = 0.0) -> tuple[str, Span]:
    """Return the text without its first time, and that time.

    Args:
        text: in small letters. now_ns: when it is said.
        utc_offset_s: how far local time is ahead, for where a day begins.
    """
    for pattern, meaning in _FORMS:
        found = pattern.search(text)
        if found:
            span = meaning(found, now_ns, round(utc_offset_s * SECOND))
            if span is not None:
                left = f'{text[: found.start()]} {text[found.end() :]}'
                return ' '.join(left.split()), Span(*span, found.group().strip())
    return text, Span()


_Ends = tuple[int | None, int | None] | None
_Meaning = Callable[[re.Match[str], int, int], _Ends]


def _day(back: int) -> _Meaning:
    """A whole local day; `since` leaves its end open."""

    def meaning(found: re.Match[str], now_ns: int, ahead_ns: int) -> _Ends:
        start = (now_ns + ahead_ns) // DAY * DAY - ahead_ns - back * DAY
        opened = back == 0 or re.match(_SINCE, found.group().strip())
        return start, None if opened else start + DAY - 1

    return meaning


def _part(first_h: int, last_h: int, back: int = 0) -> _Meaning:
    """Some hours of a local day."""

    def meaning(found: re.Match[str], now_ns: int, ahead_ns: int) -> _Ends:
        day = (now_ns + ahead_ns) // DAY * DAY - ahead_ns - back * DAY
        opened = re.match(_SINCE, found.group().strip())
        return day + first_h * HOUR, None if opened else day + last_h * HOUR - 1

    return meaning


def _last(found: re.Match[str], now_ns: int, _: int) -> _Ends:
    """The last N units up to now."""
    return now_ns - _amount(found), None


def _ago(found: re.Match[str], now_ns: int, _: int) -> _Ends:
    """About N units ago: half to one and a half of them; `since` leaves the end open."""
    amount = _amount(found)
    if re.match(_SINCE, found.group().strip()):
        return now_ns - amount, None
    return now_ns - amount * 3 // 2, now_ns - amount // 2


def _clock(found: re.Match[str], now_ns: int, ahead_ns: int) -> _Ends:
    """Since an hour of the day: today, or yesterday if that is still to come."""
    hour, minute = int(found['h']), int(found['m'] or 0)
    half = (found['half'] or '').replace('.', '')
    if hour > 24 or minute > 59 or (half and hour > 12):
        return None
    hour = hour % 12 + (12 if half == 'pm' else 0) if half else hour
    day = (now_ns + ahead_ns) // DAY * DAY - ahead_ns
    at = day + hour * HOUR + minute * MINUTE
    return (at if at <= now_ns else at - DAY), None


def _amount(found: re.Match[str]) -> int:
    said = found['n']
    if not said:
        number = 1.0
    elif said in _NUMBERS:
        number = _NUMBERS[said]
    else:
        number = float(said.replace(',', '.'))
    return round(number * _UNITS[found['u']])


_BEFORE = rf'(?:{_SINCE}\s*)?(?:on|am|el|vom)?\s*'
_FORMS: tuple[tuple[re.Pattern[str], _Meaning], ...] = tuple(
    (re.compile(pattern), meaning)
    for pattern, meaning in (
        (rf'{_BEFORE}\b(?:the )?day before yesterday\b|{_BEFORE}\bvorgestern\b|'
         rf'{_BEFORE}\banteayer\b|{_BEFORE}前天', _day(2)),
        (rf'{_BEFORE}\b(?:yesterday morning|gestern (?:morgen|früh)|ayer por la mañana)\b', _part(5, 12, 1)),
        (rf'{_BEFORE}\b(?:yesterday afternoon|gestern nachmittag|ayer por la tarde)\b', _part(12, 18, 1)),
        (rf'{_BEFORE}\b(?:yesterday evening|last night|gestern abend|anoche)\b', _part(18, 24, 1)),
        (rf'{_BEFORE}\b(?:yesterday|gestern|ayer)\b|{_BEFORE}昨天(?:以来)?', _day(1)),
        (rf'{_BEFORE}\b(?:this morning|heute (?:morgen|früh)|esta mañana)\b|{_BEFORE}今天早上', _part(5, 12)),
        (rf'{_BEFORE}\b(?:this afternoon|heute nachmittag|esta tarde)\b|{_BEFORE}今天下午', _part(12, 18)),
        (rf'{_BEFORE}\b(?:this evening|tonight|heute abend|esta noche)\b|{_BEFORE}今天晚上', _part(18, 24)),
        (rf'{_BEFORE}\b(?:today|heute|hoy)\b|{_BEFORE}今天', _day(0)),
        (rf'(?:{_SINCE} )?\b(?:in|within|during|over|for)? ?(?:the )?(?:last|past)\s+{_N}\s*{_U}e?s?\b', _last),
        (rf'\b(?:in|während|seit) (?:den|der|dem) letzten\s+{_N}\s*{_U}e?n?\b', _last),
        (rf'\b(?:en|durante|desde) (?:las|los|la|el) últim[oa]s?\s+{_N}\s*{_U}(?:e?s)?\b', _last),
        (rf'(?:过去|最近)的?\s*{_N}\s*{_U}(?:里|内)?', _last),
        (rf'(?:{_SINCE} )?\b(?:about )?{_N}\s+{_U}s? ago\b', _ago),
        (rf'\b(?:seit |vor ){_N}\s+{_U}e?n?\b', _ago),
        (rf'\b(?:desde )?hace\s+{_N}\s+{_U}(?:e?s)?\b', _ago),
        (rf'{_N}\s*{_U}(?:之?前)', _ago),
        (rf"(?:{_SINCE}|after|nach|después de)\s*(?:las )?(?P<h>\d{{1,2}})(?::(?P<m>\d\d))?\s*"
         r"(?:uhr|o'clock|h\b|点)?\s*(?P<half>[ap]\.?m\.?)?(?!\w)", _clock),
    )
)  # fmt: skip
