# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Times in words, by hand."""

from __future__ import annotations

import pytest

from memory_node.recall.moments import DAY, HOUR, MINUTE, take_span

MIDNIGHT = 19_676 * DAY
NOW = MIDNIGHT + 14 * HOUR + 30 * MINUTE


@pytest.mark.parametrize(
    ('text', 'left', 'since', 'until'),
    [
        ('what changed since yesterday', 'what changed', MIDNIGHT - DAY, None),
        ('where was it yesterday', 'where was it', MIDNIGHT - DAY, MIDNIGHT - 1),
        ('was hat sich seit gestern verändert', 'was hat sich verändert', MIDNIGHT - DAY, None),
        ('desde ayer', '', MIDNIGHT - DAY, None),
        ('昨天以来有什么变化', '有什么变化', MIDNIGHT - DAY, MIDNIGHT - 1),
        ('the day before yesterday', '', MIDNIGHT - 2 * DAY, MIDNIGHT - DAY - 1),
        ('what moved today', 'what moved', MIDNIGHT, None),
        ('this morning', '', MIDNIGHT + 5 * HOUR, MIDNIGHT + 12 * HOUR - 1),
        ('last night', '', MIDNIGHT - DAY + 18 * HOUR, MIDNIGHT - 1),
        ('in the last 2 hours', '', NOW - 2 * HOUR, None),
        ('in the past half hour', '', NOW - HOUR // 2, None),
        ('in den letzten drei tagen', '', NOW - 3 * DAY, None),
        ('en las últimas 2 horas', '', NOW - 2 * HOUR, None),
        ('过去2小时', '', NOW - 2 * HOUR, None),
        ('2 hours ago', '', NOW - 3 * HOUR, NOW - HOUR),
        ('since an hour ago', '', NOW - HOUR, None),
        ('vor 10 minuten', '', NOW - 15 * MINUTE, NOW - 5 * MINUTE),
        ('hace dos días', '', NOW - 3 * DAY, NOW - DAY),
        ('since 9:15', '', MIDNIGHT + 9 * HOUR + 15 * MINUTE, None),
        ('since 3 pm', '', MIDNIGHT - DAY + 15 * HOUR, None),
        ('seit 8 uhr', '', MIDNIGHT + 8 * HOUR, None),
        ('since 25 pm', 'since 25 pm', None, None),
        ('where is the mug', 'where is the mug', None, None),
    ],
)
def test_spans(text: str, left: str, since: int | None, until: int | None) -> None:
    rest, span = take_span(text, NOW)
    assert (rest, span.since_ns, span.until_ns) == (left, since, until)
    assert bool(span.words) is (since is not None)


def test_a_day_begins_where_the_clock_on_the_wall_says() -> None:
    east = take_span('since yesterday', MIDNIGHT + 23 * HOUR, utc_offset_s=2 * 3600)[1]
    assert east.since_ns == MIDNIGHT - 2 * HOUR, 'it is one o’clock of the next day there'
    west = take_span('today', MIDNIGHT + 3 * HOUR, utc_offset_s=-5 * 3600)[1]
    assert west.since_ns == MIDNIGHT - DAY + 5 * HOUR
