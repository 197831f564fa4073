# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Dates in questions: «around Nov 27», «in November 2025», «between 2025-11-03 and 2025-11-05»."""

from __future__ import annotations

import calendar
import re

from memory_node.recall.moments import DAY, NO_SPAN, SECOND, Span, take_span

_MONTHS = {name.casefold(): n for n, name in enumerate(calendar.month_name) if n}
_MONTHS |= {name.casefold(): n for n, name in enumerate(calendar.month_abbr) if n}
_MONTHS['sept'] = 9
_NAMED = '|'.join(sorted(_MONTHS, key=len, reverse=True))
_DATE = (
    rf'(?:(?P<y{{0}}>\d{{{{4}}}})-(?P<m{{0}}>\d\d)-(?P<d{{0}}>\d\d)'
    rf'|(?P<n{{0}}>{_NAMED})\.?\s+(?P<a{{0}}>\d{{{{1,2}}}})(?:st|nd|rd|th)?(?:,?\s+(?P<b{{0}}>\d{{{{4}}}}))?)'
)
_ONE, _TWO = _DATE.format(1), _DATE.format(2)
_RANGE = re.compile(rf'\b(?:between|from)\s+{_ONE}\s+(?:and|to|until)\s+{_TWO}\b', re.I)
_DAY = re.compile(
    rf'\b(?P<how>around|about|circa|since|after|before|until|by|on|at)?\s*(?:the\s+)?{_ONE}\b', re.I
)
_MONTH = re.compile(
    rf'\b(?P<how>since|before|until|in|during|around)\s+(?P<n>{_NAMED})\.?(?:\s+(?P<y>\d{{4}}))?(?!\w)',
    re.I,
)
_AROUND_DAYS = 3


def take_dates(text: str, now_ns: int, utc_offset_s: float = 0.0) -> tuple[str, Span]:
    """Return the text without its first time, and that time.

    A day or month without a year is the last one that is not yet to come.

    Args:
        text: a question. now_ns: when it is asked. utc_offset_s: how far local time is ahead.
    """
    ahead = round(utc_offset_s * SECOND)
    for pattern, meaning in ((_RANGE, _range), (_DAY, _day), (_MONTH, _month)):
        found = pattern.search(text)
        if found is not None:
            span = meaning(found, now_ns, ahead)
            if span is not None:
                left = f'{text[: found.start()]} {text[found.end() :]}'
                return ' '.join(left.split()), Span(*span, found.group().strip())
    left, span_found = take_span(text.casefold(), now_ns, utc_offset_s)
    return (text, NO_SPAN) if span_found == NO_SPAN else (left, span_found)


_Ends = tuple[int | None, int | None] | None


def _range(found: re.Match[str], now_ns: int, ahead: int) -> _Ends:
    first, last = _date(found, 1, now_ns, ahead), _date(found, 2, now_ns, ahead)
    if first is None or last is None or last < first:
        return None
    return first, last + DAY - 1


def _day(found: re.Match[str], now_ns: int, ahead: int) -> _Ends:
    day = _date(found, 1, now_ns, ahead)
    if day is None:
        return None
    how = (found['how'] or 'on').casefold()
    if how in ('around', 'about', 'circa'):
        return day - _AROUND_DAYS * DAY, day + (_AROUND_DAYS + 1) * DAY - 1
    if how in ('since', 'after'):
        return day + (DAY if how == 'after' else 0), None
    if how in ('before', 'until', 'by'):
        return None, day - 1 + (0 if how == 'before' else DAY)
    return day, day + DAY - 1


def _month(found: re.Match[str], now_ns: int, ahead: int) -> _Ends:
    month, how = _MONTHS[found['n'].casefold()], found['how'].casefold()
    year = int(found['y']) if found['y'] else _year(now_ns + ahead)
    first = _start(year, month, 1, ahead)
    if first is None or (not found['y'] and first > now_ns):
        year -= 1
        first = _start(year, month, 1, ahead)
    if first is None:
        return None
    end = first + calendar.monthrange(year, month)[1] * DAY - 1
    if how == 'since':
        return first, None
    if how in ('before', 'until'):
        return None, first - 1 if how == 'before' else end
    return first, end


def _date(found: re.Match[str], n: int, now_ns: int, ahead: int) -> int | None:
    if found[f'y{n}']:
        return _start(*(int(found[f'{part}{n}']) for part in 'ymd'), ahead)  # type: ignore[call-arg]
    month, day = _MONTHS[found[f'n{n}'].casefold()], int(found[f'a{n}'])
    if found[f'b{n}']:
        return _start(int(found[f'b{n}']), month, day, ahead)
    year = _year(now_ns + ahead)
    start = _start(year, month, day, ahead)
    return start if start is not None and start <= now_ns else _start(year - 1, month, day, ahead)


def _start(year: int, month: int, day: int, ahead: int) -> int | None:
    if not (1970 <= year < 2262 and 1 <= month <= 12):
        return None
    if not 1 <= day <= calendar.monthrange(year, month)[1]:
        return None
    return calendar.timegm((year, month, day, 0, 0, 0)) * SECOND - ahead


def _year(at_ns: int) -> int:
    """The year of a time (UTC), by counting days: the core has no clock."""
    days, year = at_ns // DAY, 1970
    while days >= (length := 366 if calendar.isleap(year) else 365):
        days -= length
        year += 1
    return year
