# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Lines of the journal: what a person can read and write, and the notes they stand for (WM-8, 9).

    - O(c=0.8) @anna @tea: Prefers green tea in the morning.

A line that the memory wrote ends in an HTML comment with what words do not say; a page that is
rendered does not show it. The words win: whoever edits them edits the note.
"""

from __future__ import annotations

import calendar
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from memory_node.errors import InvalidValueError
from memory_node.notes.beliefs import event_of
from memory_node.notes.items import (
    Network,
    Note,
    NoteKind,
    NoteOp,
    NotePose,
    TimeSpan,
)

DAY_NS = 86_400 * 10**9
RETAIN = 'retain'
BEGIN, END = '<!-- generated: begin -->', '<!-- generated: end -->'
"""What stands between these two is written by the memory, and is read by people only."""
LETTERS = {
    'W': Network.WORLD, 'B': Network.EXPERIENCE, 'O': Network.OPINION, 'S': Network.OBSERVATION,
}  # fmt: skip
_LETTER_OF = {network: letter for letter, network in LETTERS.items()}
_KIND_OF = dict.fromkeys(Network, NoteKind.SEMANTIC) | {Network.EXPERIENCE: NoteKind.EPISODIC}
_BULLET = re.compile(r'[-*]\s+(.*)', re.DOTALL)
_TYPE = re.compile(r'([WBOS])(?:\(\s*c\s*=\s*([^)]*)\))?(?=[\s:@]|$)')
_ABOUT = re.compile(r'((?:\s*@\S+?(?:\s+@\S+?)*)?)\s*:(?=\s|$)\s*')
_MENTION = re.compile(r'(?<!\w)@([^\s@,;!?()]+)')
_COMMENT = re.compile(r'\s*<!-- memory (\{.*\}) -->\s*$', re.DOTALL)
_HIDDEN = re.compile(r'&((?:amp;)*)lt;!--')
_DATES = re.compile(
    r'\b(\d{4})-(\d{2})-(\d{2})\b(?:\s*(?:\.\.|–|to|until)\s*(\d{4})-(\d{2})-(\d{2})\b)?'
)
_DAY_FILE = re.compile(r'(?:users/[^/]+/)?memory/(\d{4})-(\d{2})-(\d{2})\.md')
_CORE = re.compile(r'(?:users/[^/]+/)?memory\.md')
_USER = re.compile(r'users/([^/]+)/')


@dataclass(frozen=True)
class NoteLine:
    """A line that is a note. at_ns: when it was written; None: a person wrote it."""

    line: int
    note: Note
    at_ns: int | None


@dataclass(frozen=True)
class OpLine:
    """A line that says something of a note: more of it, that it is forgotten, or a verdict."""

    line: int
    op: NoteOp
    of: str
    at_ns: int
    said: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Problem:
    """A line that could not be read; it stays as it is."""

    line: int
    text: str


@dataclass
class Page:
    """What a file holds. section: of its last heading, by which it is known how to append."""

    notes: list[NoteLine] = field(default_factory=list)
    ops: list[OpLine] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    section: str = ''
    lines: int = 0


def day_of(file: str) -> int | None:
    """Beginning of the day of a day's file (UTC); None: it is another page, or no such day."""
    found = _DAY_FILE.fullmatch(file)
    return _day_ns(*found.groups()) if found else None


def is_core(file: str) -> bool:
    """Whether a file is a core file: small, and seen every time."""
    return _CORE.fullmatch(file) is not None


def day_name(at_ns: int) -> str:
    """YYYY-MM-DD of a time (UTC)."""
    days = at_ns // DAY_NS + 719_468
    era, day = divmod(days, 146_097)
    of_era = (day - day // 1460 + day // 36_524 - day // 146_096) // 365
    of_year = day - (365 * of_era + of_era // 4 - of_era // 100)
    month = (5 * of_year + 2) // 153
    date = of_year - (153 * month + 2) // 5 + 1
    month = month + 3 if month < 10 else month - 9
    year = of_era + 400 * era + (month <= 2)
    return f'{year:04d}-{month:02d}-{date:02d}'


def user_of(file: str) -> str:
    """Slug of the person to whom a file belongs; empty: everybody's."""
    found = _USER.match(file)
    return found[1] if found else ''


def read_page(file: str, data: bytes) -> Page:
    """Read a file of the journal; what cannot be read becomes a problem with its line.

    Args:
        file: its name in the journal. data: what it holds.
    """
    page = Page()
    block: list[str] = []
    first = 0
    generated = False
    seen: Counter[str] = Counter()
    lines = data.split(b'\n')
    page.lines = len(lines) - (not lines[-1])
    for number, raw in enumerate(lines, 1):
        text = raw.rstrip(b'\r').decode('utf-8', 'replace')
        if '\ufffd' in text:
            _report_bytes(page, raw, number)
        if block and text[:1] in (' ', '\t') and text.strip():
            block.append(text.strip())
            continue
        if block:
            _take(page, file, first, block, seen)
            block = []
        mark = text.strip()
        if mark in (BEGIN, END):
            generated = mark == BEGIN
        elif text.startswith('#'):
            page.section = text.strip('# \t').casefold()
        elif _BULLET.match(text) and not generated and _is_read(file, page.section):
            block, first = [text.rstrip()], number
    if block:
        _take(page, file, first, block, seen)
    return page


def write_note(note: Note, at_ns: int) -> str:
    """The line of a note, with its line end; `scope.user` is told by the file."""
    plain = as_plain(note)
    for name in ('content', 'entities', 'network', 'confidence'):
        plain.pop(name, None)
    if _KIND_OF[note.network or Network.WORLD] is note.kind:
        plain.pop('kind')
    plain.get('scope', {}).pop('user', None)
    assert note.network is not None
    sure = '' if note.confidence == 1.0 else f'(c={note.confidence!r})'
    about = ''.join(f' @{_token(name)}' for name in note.entities)
    head = f'- {_LETTER_OF[note.network]}{sure}{about}: '
    return head + _shown(note.content) + _comment({**plain, 'at': at_ns})


def write_op(op: NoteOp, of: str, words: str, at_ns: int, said: Mapping[str, Any]) -> str:
    """The line that says something of a note.

    Args:
        op: what. of: id of the note. words: for whoever reads it. said: what words do not say.
    """
    more = {'op': op.value, 'of': of, 'at': at_ns, **({'said': dict(said)} if said else {})}
    return f'- S: {_shown(words)}' + _comment(more)


def as_plain(note: Note) -> dict[str, Any]:
    """A note as JSON can hold it, without what it does not say."""
    pose, time = note.pose, note.event_time
    plain: dict[str, Any] = {
        'id': note.id, 'content': note.content, 'kind': note.kind.value,
        'network': note.network.value if note.network else None, 'key': note.key,
        'payload': dict(note.payload), 'entities': list(note.entities),
        'scope': dict(note.scope), 'confidence': note.confidence, 'source': note.source,
        'embeddings': {k: list(v) for k, v in note.embeddings.items()},
        'links': [list(pair) for pair in note.links], 'evidence': list(note.evidence),
        'pose': pose and [pose.frame_id, list(pose.position_m),
                          pose.orientation_xyzw and list(pose.orientation_xyzw)],
        'extent_m': note.extent_m and list(note.extent_m),
        'event_time': time and [time.start_ns, time.end_ns, time.clock],
        'valid_from_ns': note.valid_from_ns,
    }  # fmt: skip
    return {name: value for name, value in plain.items() if value not in (None, '', {}, [], ())}


def from_plain(plain: Mapping[str, Any]) -> Note:
    """The note that `as_plain` was given.

    Raises:
        InvalidValueError: it is none.
    """
    given = dict(plain)
    try:
        if 'pose' in given:
            frame_id, position, turn = given['pose']
            given['pose'] = NotePose(frame_id, position, turn)
        if 'event_time' in given:
            start, end, clock = given['event_time']
            given['event_time'] = TimeSpan(start, end, clock)
        return Note(**given)
    except (TypeError, ValueError, OverflowError, AttributeError) as error:
        raise InvalidValueError(f'note: {error}') from error


def _report_bytes(page: Page, raw: bytes, number: int) -> None:
    try:
        raw.decode('utf-8')
    except UnicodeDecodeError as error:
        page.problems.append(Problem(number, f'byte {error.start + 1} is no UTF-8'))


def _is_read(file: str, section: str) -> bool:
    """Whether bullets here are notes: those of a day's narrative are not."""
    return not _DAY_FILE.fullmatch(file) or section == RETAIN


def _take(page: Page, file: str, line: int, block: Sequence[str], seen: Counter[str]) -> None:
    """Read one bullet into the page."""
    try:
        _read(page, file, line, '\n'.join(block), seen)
    except (InvalidValueError, KeyError, TypeError, ValueError) as error:
        page.problems.append(Problem(line, str(error)))


def _read(page: Page, file: str, line: int, text: str, seen: Counter[str]) -> None:
    bullet = _BULLET.match(text)
    assert bullet is not None
    said, more = _uncommented(bullet[1])
    if 'op' in more:
        op, addition = NoteOp(more['op']), dict(more.get('said', {}))
        if op in (NoteOp.MERGE, NoteOp.REVISE):
            from_plain({**addition, 'content': said})
        elif op is NoteOp.EVENT:
            event_of(addition, int(more['at']), f'{file}:{line}')
        page.ops.append(OpLine(line, op, str(more['of']), int(more['at']), addition))
        return
    kind = _TYPE.match(said)
    if kind is None:
        if _CORE.fullmatch(file):
            kind, rest = _TYPE.match('W'), said
        elif _DAY_FILE.fullmatch(file):
            raise InvalidValueError('expected - W, B, O or S, then @names, a colon and a text')
        else:
            return  # a list on a page that a person keeps
    else:
        rest = said[kind.end() :]
    assert kind is not None
    network = LETTERS[kind[1]]
    confidence = 1.0 if kind[2] is None else _confidence(kind[2])
    entities, content = _about(rest, by_hand=not more)
    given = {
        'kind': _KIND_OF[network].value, **more, 'content': content, 'network': network.value,
        'entities': entities, 'confidence': confidence,
    }  # fmt: skip
    at = given.pop('at', None)
    owner = user_of(file)
    if owner:
        given['scope'] = {**given.get('scope', {}), 'user': owner}
    elif 'user' in given.get('scope', {}):
        raise InvalidValueError('scope.user: a note of a person stands in their own folder')
    if 'id' not in given:
        day_ns = day_of(file)
        if day_ns is not None:
            given.setdefault('event_time', _dates(content) or [day_ns, day_ns + DAY_NS - 1, 'wall'])
        identity = f'{file}\n{network.value}\n{content}'
        seen[identity] += 1
        given['id'] = (
            'h' + hashlib.sha256(f'{identity}\n{seen[identity]}'.encode()).hexdigest()[:12]
        )
    page.notes.append(NoteLine(line, from_plain(given), None if at is None else int(at)))


def _confidence(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0.0 <= value <= 1.0:
        raise InvalidValueError(f'confidence: got {text!r}, expected 0 to 1')
    return value


def _about(rest: str, by_hand: bool) -> tuple[list[str], str]:
    """Names before the colon, and what comes after; by hand: also names in what comes after."""
    head = _ABOUT.match(rest)
    names = [word[1:] for word in head[1].split()] if head else []
    content = rest[head.end() :].strip() if head else rest.strip()
    if by_hand:
        names += [name.rstrip('.:-') for name in _MENTION.findall(content)]
    return [name.replace('_', ' ').strip() for name in dict.fromkeys(names) if name], content


def _dates(content: str) -> list[Any] | None:
    """The days that a text names, the first of them or the range; None: none."""
    for found in _DATES.finditer(content):
        start = _day_ns(*found.groups()[:3])
        last = _day_ns(*found.groups()[3:]) if found[4] else start
        if start is not None and last is not None and start <= last:
            return [start, last + DAY_NS - 1, 'wall']
    return None


def _day_ns(year: str, month: str, day: str) -> int | None:
    y, m, d = int(year), int(month), int(day)
    if not (1970 <= y < 2262 and 1 <= m <= 12 and 1 <= d <= calendar.monthrange(y, m)[1]):
        return None
    return calendar.timegm((y, m, d, 0, 0, 0)) * 10**9


def _token(name: str) -> str:
    return re.sub(r'\s+', '_', name).lstrip('@').rstrip(':') or '_'


def _shown(text: str) -> str:
    """A text as it stands in a bullet: further lines are set in, comments are shown as text."""
    hidden = _HIDDEN.sub(r'&amp;\1lt;!--', text).replace('<!--', '&lt;!--')
    return hidden.replace('\n', '\n  ')


def _comment(plain: Mapping[str, Any]) -> str:
    text = json.dumps(plain, sort_keys=True, separators=(',', ':'), ensure_ascii=False)
    return f' <!-- memory {text.replace(">", chr(92) + "u003e")} -->\n'


def _uncommented(text: str) -> tuple[str, dict[str, Any]]:
    found = _COMMENT.search(text)
    if found is None:
        return text, {}
    try:
        more = json.loads(found[1])
    except ValueError as error:
        raise InvalidValueError(f'what stands in the comment is no JSON: {error}') from error
    said = _HIDDEN.sub(lambda m: f'&{m[1][4:]}lt;!--' if m[1] else '<!--', text[: found.start()])
    return said, more


def digest_of(note: Note) -> str:
    """What two writes of the same share; of what was done the time counts too."""
    time = note.event_time
    parts: Iterable[Any] = (
        note.kind.value, note.network and note.network.value, note.key,
        ' '.join(note.content.casefold().split()), note.scope,
        note.pose and [note.pose.frame_id, *note.pose.position_m],
        note.kind is NoteKind.EPISODIC and time and [time.start_ns, time.clock],
    )  # fmt: skip
    return hashlib.sha256(json.dumps(list(parts), sort_keys=True).encode()).hexdigest()[:24]
