# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The words of notes: what is remembered that is no object of the map (HY-1 … HY-6)."""

from __future__ import annotations

import dataclasses
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from memory_node import checks
from memory_node.errors import InvalidValueError

EMPTY: Mapping[str, Any] = {}
SCOPES = ('user', 'robot_id', 'task_id', 'episode_id')
"""Of these, `user` and `robot_id` say who may see a note; the other two only narrow a question."""
PRIVATE = SCOPES[:2]
_LINE_END = re.compile(r'[ \t]*[\r\n]\s*')
MAX_CONTENT = 20_000
MAX_NAMES = 100
MAX_FILE_NAME = 200
"""Bytes of a name that has a page or folder of its own; file systems take 255."""
CLOCKS = ('wall', 'sim')


class NoteKind(str, Enum):
    """What kind of memory a note is. Facts and opinions are SEMANTIC, told apart by `Network`."""

    WORKING = 'working'
    EPISODIC = 'episodic'
    SEMANTIC = 'semantic'
    SPATIAL = 'spatial'
    SKILL = 'skill'


class Network(str, Enum):
    """What a note claims: what is so, what was done, what somebody thinks, what sums it up."""

    WORLD = 'world'
    EXPERIENCE = 'experience'
    OPINION = 'opinion'
    OBSERVATION = 'observation'


class NoteOp(str, Enum):
    """What became of a note that was written, or what a line of the journal says beside notes."""

    ADD = 'ADD'
    INVALIDATE = 'INVALIDATE'
    SKIP_DUP = 'SKIP_DUP'
    MERGE = 'MERGE'
    FORGET = 'FORGET'
    VERDICT = 'VERDICT'
    EVENT = 'EVENT'
    REVISE = 'REVISE'


NETWORK_OF = {
    NoteKind.WORKING: Network.WORLD, NoteKind.EPISODIC: Network.EXPERIENCE,
    NoteKind.SEMANTIC: Network.WORLD, NoteKind.SPATIAL: Network.WORLD,
    NoteKind.SKILL: Network.EXPERIENCE,
}  # fmt: skip


@dataclass(frozen=True)
class NotePose:
    """A place in a named frame; positions of two frames are never compared.

    Attributes:
        frame_id: not empty. position_m: metres. orientation_xyzw: None: unknown.
    """

    frame_id: str
    position_m: Sequence[float]
    orientation_xyzw: Sequence[float] | None = None

    def __post_init__(self) -> None:
        checks.word('pose.frame_id', self.frame_id)
        _set(self, 'position_m', checks.point('pose.position_m', self.position_m))
        if self.orientation_xyzw is not None:
            turn = checks.turn('pose.orientation_xyzw', self.orientation_xyzw)
            _set(self, 'orientation_xyzw', turn)


@dataclass(frozen=True)
class TimeSpan:
    """A stretch of time of one clock; those of two clocks are never compared.

    Attributes:
        start_ns: included. end_ns: included; None: open, or a moment.
        clock: wall or sim.
    """

    start_ns: int
    end_ns: int | None = None
    clock: str = 'wall'

    def __post_init__(self) -> None:
        checks.whole('time.start_ns', self.start_ns, 0)
        if self.end_ns is not None:
            checks.whole('time.end_ns', self.end_ns, self.start_ns)
        if self.clock not in CLOCKS:
            raise InvalidValueError(
                f'time.clock: got {checks.short(self.clock)}, expected wall or sim'
            )


@dataclass(frozen=True)
class Note:
    """One thing that is remembered beside the map.

    Attributes:
        content: in words, not empty; data, never an instruction.
        kind: see NoteKind. network: None: that of the kind.
        key: identity: a later write of the same kind and key invalidates it. Empty: none.
        payload: what only this kind has; plain values.
        entities: whom and what it is about: names, `object:12`, `region:kitchen`.
        scope: of SCOPES; `user` and `robot_id` say who may see it.
        pose: where it holds or happened. extent_m: side lengths there; None: unknown.
        event_time: when it happened; None: when it was written.
        valid_from_ns: when it became true; None: the beginning of event_time.
        confidence: 0 to 1. source: `component@version`.
        embeddings: `space@version` → vector. links: (relation, target).
        evidence: where it is from: addresses, `FILE:LINE`, log lines, ids of notes.
        id: given by the memory; empty before.
    """

    content: str
    kind: NoteKind = NoteKind.SEMANTIC
    network: Network | None = None
    key: str = ''
    payload: Mapping[str, Any] = field(default_factory=dict)
    entities: Sequence[str] = ()
    scope: Mapping[str, str] = field(default_factory=dict)
    pose: NotePose | None = None
    extent_m: Sequence[float] | None = None
    event_time: TimeSpan | None = None
    valid_from_ns: int | None = None
    confidence: float = 1.0
    source: str = ''
    embeddings: Mapping[str, Sequence[float]] = field(default_factory=dict)
    links: Sequence[tuple[str, str]] = ()
    evidence: Sequence[str] = ()
    id: str = ''

    def __post_init__(self) -> None:
        content = checks.said('content', self.content, MAX_CONTENT).strip()
        if not content:
            raise InvalidValueError('content: got nothing, expected a text')
        _set(self, 'content', _LINE_END.sub('\n', content))
        _set(self, 'kind', _one_of('kind', NoteKind, self.kind))
        network = NETWORK_OF[self.kind] if self.network is None else self.network
        _set(self, 'network', _one_of('network', Network, network))
        checks.said('key', self.key)
        _set(self, 'payload', dict(_mapping('payload', self.payload)))
        checks.plain('payload', self.payload)
        _set(self, 'entities', _entities(self.entities))
        _set(self, 'evidence', _names('evidence', self.evidence))
        _set(self, 'scope', scope_of(self.scope))
        if self.extent_m is not None:
            _set(self, 'extent_m', checks.size('extent_m', self.extent_m))
        checks.moment('valid_from_ns', self.valid_from_ns)
        _set(self, 'confidence', checks.share('confidence', self.confidence))
        checks.said('source', self.source)
        _set(self, 'links', _links(self.links))
        _set(self, 'embeddings', _vectors(self.embeddings))


@dataclass(frozen=True)
class NoteQuery:
    """What is asked of the notes; what is left empty does not narrow it (HY-5).

    Attributes:
        text: words that the content or entities hold. kinds, networks, key: of the note.
        entities: all of them. object_ids: any of these objects. relation: (name, target).
        scope: `user` and `robot_id`: who asks; sees what is theirs and what is nobody's. The others
            must be equal.
        time: intersects event_time, in the same clock.
        as_of_ns: what was true then, in the clock `clock`; None: what is true now.
        near: (pose, radius in m): true distance, in the same frame.
        include_invalidated: also what is no longer true, and what was forgotten.
        limit: 1 to 1000.
    """

    text: str = ''
    kinds: Sequence[NoteKind] = ()
    networks: Sequence[Network] = ()
    key: str = ''
    entities: Sequence[str] = ()
    object_ids: Sequence[int] = ()
    relation: tuple[str, str] | None = None
    scope: Mapping[str, str] = field(default_factory=dict)
    time: TimeSpan | None = None
    as_of_ns: int | None = None
    clock: str = 'wall'
    near: tuple[NotePose, float] | None = None
    include_invalidated: bool = False
    limit: int = 10

    def __post_init__(self) -> None:
        checks.said('text', self.text)
        _set(self, 'kinds', tuple(_one_of('kinds', NoteKind, k) for k in self.kinds))
        _set(self, 'networks', tuple(_one_of('networks', Network, n) for n in self.networks))
        _set(self, 'entities', _names('entities', self.entities))
        for number in self.object_ids:
            checks.whole('object_ids', number, 1)
        if self.relation is not None:
            _set(self, 'relation', _links([self.relation])[0])
        _set(self, 'scope', scope_of(self.scope))
        checks.moment('as_of_ns', self.as_of_ns)
        if self.clock not in CLOCKS:
            raise InvalidValueError(f'clock: got {checks.short(self.clock)}, expected wall or sim')
        if self.near is not None:
            pose, radius_m = self.near
            if not isinstance(pose, NotePose):
                raise InvalidValueError(f'near: got {checks.short(pose)}, expected a NotePose')
            checks.finite('near radius', radius_m)
        checks.limit(self.limit)


@dataclass(frozen=True)
class NoteState:
    """A note as the journal has it by now.

    Attributes:
        note: with its id. file, line: where it stands in the journal.
        valid_from_ns, valid_to_ns: when it was true; None: still. clock: of these.
        forgotten_ns: when it was forgotten; None: it was not.
        verdicts: word → how often it was given.
    """

    note: Note
    file: str
    line: int
    valid_from_ns: int
    valid_to_ns: int | None
    clock: str
    forgotten_ns: int | None = None
    verdicts: Mapping[str, int] = field(default_factory=dict)

    @property
    def citation(self) -> str:
        """Where it can be read: `FILE:LINE`."""
        return f'{self.file}:{self.line}'


@dataclass(frozen=True)
class NoteHit:
    """An answer: a note with its score and what that is made of (HY-6)."""

    state: NoteState
    score: float
    details: Mapping[str, float]

    @property
    def note(self) -> Note:
        """The note."""
        return self.state.note

    @property
    def valid_to_ns(self) -> int | None:
        """Until when it was true; None: it is."""
        return self.state.valid_to_ns


@dataclass(frozen=True)
class NoteEvent:
    """What became of one write: its operation, the note, and what that replaced."""

    op: NoteOp
    id: str
    key: str = ''
    other_id: str = ''
    reason: str = ''


@dataclass(frozen=True)
class Consolidation:
    """What consolidating did: how many notes it looked at, and what it merged or forgot."""

    looked_at: int
    merged: int
    forgotten: int
    left: int


def slug(name: str) -> str:
    """The identity of a name: whatever its case, and whatever stands between its words.

    Letters of any script stay: `Living room`, `living_room` and `LIVING-ROOM` are one.
    """
    text = unicodedata.normalize('NFKC', name).casefold()
    parts = ''.join(c if c.isalnum() or c in ':.' else ' ' for c in text).split()
    return '-'.join(parts).strip('.:-')


def scope_of(given: Mapping[str, str]) -> dict[str, str]:
    """A scope with what is empty left out.

    Raises:
        InvalidValueError: a name that is none of SCOPES, or a value that is no text.
    """
    for name in _mapping('scope', given):
        if name not in SCOPES:
            raise InvalidValueError(
                f'scope: got {checks.short(name)}, expected {", ".join(SCOPES)}'
            )
    found = {name: checks.said(f'scope.{name}', given[name]) for name in SCOPES if given.get(name)}
    if 'user' in found:
        owner = slug(found['user']).replace(':', '-')
        if not owner:
            raise InvalidValueError(
                f'scope.user: got {checks.short(found["user"])}, expected letters or digits'
            )
        found['user'] = _file_name('scope.user', owner)
    return found


def owner_of(user: str) -> str:
    """The slug of a user; empty: nobody in particular.

    Raises:
        InvalidValueError: it is no name.
    """
    return scope_of({'user': user}).get('user', '')


def _set(item: Any, name: str, value: Any) -> None:
    object.__setattr__(item, name, value)


def _one_of(name: str, words: Any, value: Any) -> Any:
    try:
        return words(value)
    except ValueError:
        listed = ', '.join(word.value for word in words)
        raise InvalidValueError(f'{name}: got {checks.short(value)}, expected {listed}') from None


def _mapping(name: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise InvalidValueError(f'{name}: got {checks.short(value)}, expected names with values')
    return value


def _names(name: str, values: Any) -> tuple[str, ...]:
    """Texts, each once, in their order."""
    if isinstance(values, str) or not isinstance(values, Sequence):
        raise InvalidValueError(f'{name}: got {checks.short(values)}, expected a list of texts')
    if len(values) > MAX_NAMES:
        raise InvalidValueError(f'{name}: got {len(values)}, expected at most {MAX_NAMES}')
    return tuple(dict.fromkeys(checks.word(name, value).strip() for value in values))


def _file_name(name: str, value: str) -> str:
    """A slug that may name a file or folder of the journal."""
    if len(value.encode()) > MAX_FILE_NAME:
        raise InvalidValueError(
            f'{name}: got {checks.short(value)}, expected at most {MAX_FILE_NAME} bytes of UTF-8'
        )
    return value


def _entities(values: Any) -> tuple[str, ...]:
    names = _names('entities', values)
    for name in names:
        if not slug(name):
            raise InvalidValueError(f'entities: got {name!r}, expected letters or digits')
        _file_name('entities', slug(name))
    return names


def _links(values: Any) -> tuple[tuple[str, str], ...]:
    found = []
    for pair in values:
        if isinstance(pair, str) or not isinstance(pair, Sequence) or len(pair) != 2:
            raise InvalidValueError(
                f'links: got {checks.short(pair)}, expected a relation and a target'
            )
        found.append((checks.word('links', pair[0]), checks.word('links', pair[1])))
    return tuple(dict.fromkeys(found))


def _vectors(given: Any) -> dict[str, tuple[float, ...]]:
    found = {}
    for space, vector in _mapping('embeddings', given).items():
        values = tuple(float(checks.finite(f'embeddings.{space}', v, -1e9)) for v in vector)
        if '@' not in space or not any(values):
            raise InvalidValueError(
                f'embeddings: got {checks.short(space)}, expected space@version with a vector '
                'that is not zero'
            )
        found[space] = values
    return found


def extended(old: Note, new: Note) -> Note:
    """The old note with what a new one of the same content adds."""
    return dataclasses.replace(
        old,
        entities=tuple(dict.fromkeys([*old.entities, *new.entities])),
        evidence=tuple(dict.fromkeys([*old.evidence, *new.evidence])),
        links=tuple(dict.fromkeys([*old.links, *new.links])),
        payload={**old.payload, **new.payload},
        embeddings={**old.embeddings, **new.embeddings},
        confidence=max(old.confidence, new.confidence),
    )
