# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The words of the house as frozen dataclasses and string enums; no logic.

Positions are map-frame metres, orientations unit quaternions (x, y, z, w), times int64
nanoseconds. What a sensor claims (Detection, View) is held as given: nothing is checked here, so
that one bad value costs no more than itself; `fusion/intake.py` judges it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np
import numpy.typing as npt

from memory_node.decay import presence_at

Triple = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]
Floats = npt.NDArray[np.float64]

IDENTITY: Quaternion = (0.0, 0.0, 0.0, 1.0)
UNKNOWN_LABEL = 'unknown'


class _Word(str, Enum):
    """A string enum that prints as its value."""

    __str__ = str.__str__


class State(_Word):
    """What the memory holds of an object."""

    TENTATIVE = 'tentative'
    CONFIRMED = 'confirmed'
    DOUBTFUL = 'doubtful'
    ABSENT = 'absent'
    HELD = 'held'
    FORGOTTEN = 'forgotten'
    MERGED = 'merged'


class VerdictKind(_Word):
    """What a detection was taken to mean."""

    CREATED = 'created'
    MERGED = 'merged'
    RELOCATED = 'relocated'
    REJECTED = 'rejected'


class ChangeKind(_Word):
    """What a line of the log says. VIEW lines number the views and are no changes."""

    VIEW = 'VIEW'
    CREATED = 'CREATED'
    CONFIRMED = 'CONFIRMED'
    UPDATED = 'UPDATED'
    MOVED = 'MOVED'
    RELABELLED = 'RELABELLED'
    DOUBTFUL = 'DOUBTFUL'
    ABSENT = 'ABSENT'
    RETURNED = 'RETURNED'
    HELD = 'HELD'
    MERGED = 'MERGED'
    SPLIT = 'SPLIT'
    FORGOTTEN = 'FORGOTTEN'
    RESTORED = 'RESTORED'
    CORRECTED = 'CORRECTED'
    REGION = 'REGION'
    RELATION = 'RELATION'
    EVENT = 'EVENT'
    PURGED = 'PURGED'


class Aspect(_Word):
    """What of an object a person's word can hold, whatever is seen later."""

    LABEL = 'label'
    POSE = 'pose'
    SIZE = 'size'
    PRESENCE = 'presence'


class Check(_Word):
    """What the last look at the place of an object said.

    At its range with nothing detected, cut by the border of the image, or with the sensor within
    its box there is no evidence. Looks that do not have it in view are none.
    """

    SEEN = 'seen'
    SEEN_THROUGH = 'seen_through'
    MISSED = 'missed'
    OCCLUDED = 'occluded'
    OUT_OF_RANGE = 'out_of_range'
    NO_EVIDENCE = 'no_evidence'
    NEVER = ''


class RelationKind(_Word):
    """How the subject stands to the object. `maybe_same`: they may be one thing that was moved."""

    ON = 'on'
    UNDER = 'under'
    NEAR = 'near'
    INSIDE = 'inside'
    BESIDE = 'beside'
    AGAINST = 'against'
    PART_OF = 'part_of'
    MAYBE_SAME = 'maybe_same'


@dataclass(frozen=True)
class Pose:
    """A pose in the map frame.

    Attributes:
        position_m: metres.
        orientation_xyzw: unit quaternion.
    """

    position_m: Triple
    orientation_xyzw: Quaternion = IDENTITY


@dataclass(frozen=True)
class FieldOfView:
    """What a sensor could have seen: full opening angles about its optical axis, and a range."""

    horizontal_rad: float
    vertical_rad: float
    min_range_m: float
    max_range_m: float


@dataclass(frozen=True, eq=False)
class DepthImage:
    """Depth along the optical axis (z, not range).

    Attributes:
        depth_m: (H, W) float32, metres; 0, NaN and inf mean no measurement.
        fx, fy, cx, cy: pinhole intrinsics in pixels; pixel (u, v) has its centre at (u, v).
    """

    depth_m: npt.NDArray[np.float32]
    fx: float
    fy: float
    cx: float
    cy: float


@dataclass(frozen=True, eq=False)
class Detection:
    """One labelled 3D box that a detector claims to have seen.

    Attributes:
        label: class name.
        score: detector score, 0 to 1.
        center_m: centre of the box, map frame.
        size_m: side lengths along the box's own axes; (0, 0, 0) means extent unknown.
        orientation_xyzw: of the box; all zeros means unknown.
        position_cov: (3, 3) covariance of the centre, map frame, square metres; None: unknown.
        feature: (D,) appearance embedding; None: none. Normalised on the way in.
        alternatives: further labels with their scores.
        track_id: identity given by a tracker of this sensor; empty: none.
    """

    label: str
    score: float
    center_m: Sequence[float]
    size_m: Sequence[float] = (0.0, 0.0, 0.0)
    orientation_xyzw: Sequence[float] = IDENTITY
    position_cov: npt.ArrayLike | None = None
    feature: npt.ArrayLike | None = None
    alternatives: Mapping[str, float] = field(default_factory=dict)
    track_id: str = ''


@dataclass(frozen=True, eq=False)
class View:
    """All detections of one sensor at one instant, and what the sensor could see.

    Attributes:
        stamp_ns: when the world showed it.
        sensor: name of the sensor.
        detections: may be empty, which is evidence too.
        sensor_pose: of the optical frame (z forward, x right, y down) in the map; None: unknown.
        field_of_view: None: not declared, so nothing follows from what was not detected.
        depth: depth image of the same instant and sensor.
        localization_cov: (6, 6) covariance of the robot's pose (x, y, z, rotations); None: unknown.
        map_id: identity of the map in which the poses hold.
        scope: whom or what it belongs to, for example {'robot': 'tiago'}.
        clock: 'wall' or 'sim'.
        feature_space: name of the embedding model of the features; empty: that of the memory.
    """

    stamp_ns: int
    sensor: str = ''
    detections: Sequence[Detection] = ()
    sensor_pose: Pose | None = None
    field_of_view: FieldOfView | None = None
    depth: DepthImage | None = None
    localization_cov: npt.ArrayLike | None = None
    map_id: str = ''
    scope: Mapping[str, str] = field(default_factory=dict)
    clock: str = 'wall'
    feature_space: str = ''


@dataclass(frozen=True)
class Verdict:
    """What one detection was taken to mean.

    Attributes:
        kind: created, merged, relocated (it shows what was lost elsewhere) or rejected.
        object_id: object it went to; None when rejected.
        reason: why it was rejected; empty otherwise.
        terms: total and each term that existed, 0 to 1 (CH-15); empty for a malformed detection.
        candidate_id: object that the terms are about; None: there was no candidate.
        repeats: how often the same was rejected here, this time included; 0: not rejected.
    """

    kind: VerdictKind
    object_id: int | None
    reason: str = ''
    terms: Mapping[str, float] = field(default_factory=dict)
    candidate_id: int | None = None
    repeats: int = 0


@dataclass(frozen=True)
class Pin:
    """A person's word about an object, and what has been seen beside it since.

    Attributes:
        object_id: the object it was said of; another than the one that has it after a merge.
        aspect: an Aspect. presence: somebody said that it is there, so it never ages.
        value: the label; the pose (x, y, z and quaternion x, y, z, w); the size; True.
        seq: log line that says by whom and why.
        sightings: since then, those that could have changed it.
        evidence: what these say: the heaviest label, the mean pose, the mean size; None: nothing.
        conflict: whether the evidence says something else.
    """

    object_id: int
    aspect: Aspect
    value: str | bool | tuple[float, ...]
    seq: int
    sightings: int = 0
    evidence: str | tuple[float, ...] | None = None
    conflict: bool = False


NO_PINS: Mapping[Aspect, Pin] = {}


@dataclass(frozen=True)
class Standing:
    """Whether an object is still in its place, as of the last evidence.

    Attributes:
        odds: presence / absence as of stamp_ns. half_life_s: of its class; see `decay`.
    """

    odds: float
    stamp_ns: int
    half_life_s: float


@dataclass(frozen=True)
class MemoryObject:
    """The belief that one physical thing exists.

    Attributes:
        labels: label → evidence mass, heaviest first.
        confidence: saturating sum of scores (CH-19), not a probability of presence.
        first_seen_ns, last_seen_ns: stamps of its first and last sighting; of one that was stated
            and not seen yet, when it was said.
        pins: what of it is a person's word; label, pose and size are then as that says.
        last_checked_ns: stamp of the last view that said something of its place; last_check: what.
        standing: what `presence` is computed from.
        in_motion: whether its last sightings say that it is on its way, at 0.2 m/s or more.
        region: name of the smallest region that holds its centre; empty: none does, or it is held.
    """

    id: int
    label: str
    labels: Mapping[str, float]
    state: State
    center_m: Triple
    orientation_xyzw: Quaternion
    size_m: Triple
    confidence: float
    observations: int
    first_seen_ns: int
    last_seen_ns: int
    map_id: str = ''
    pins: Mapping[Aspect, Pin] = field(default_factory=dict)
    last_checked_ns: int = 0
    last_check: Check = Check.NEVER
    standing: Standing = Standing(0.0, 0, 1.0)
    in_motion: bool = False
    region: str = ''

    @property
    def stated(self) -> bool:
        """Whether somebody said that it is there: it never ages."""
        return bool(self.pins) and Aspect.PRESENCE in self.pins

    @property
    def conflicts(self) -> tuple[Aspect, ...]:
        """The aspects in which what was seen differs from what a person said."""
        return tuple(aspect for aspect, pin in self.pins.items() if pin.conflict)

    def presence(self, at_ns: int) -> float:
        """Probability that it is in its place at a time; what a person stated is certain."""
        if self.stated:
            return 1.0
        known = self.standing
        return presence_at(known.odds, (at_ns - known.stamp_ns) / 1e9, known.half_life_s)


@dataclass(frozen=True)
class Observation:
    """One sighting as it was judged and stored; see Verdict and Detection.

    Attributes:
        sensor_m: centre in the optical frame of the sensor, as it was seen; None: unknown pose.
    """

    id: int
    object_id: int | None
    view_seq: int
    stamp_ns: int
    recorded_ns: int
    sensor: str
    label: str
    score: float
    center_m: Triple
    orientation_xyzw: Quaternion
    size_m: Triple
    verdict: VerdictKind
    reason: str
    terms: Mapping[str, float]
    candidate_id: int | None = None
    sensor_m: Triple | None = None


@dataclass(frozen=True)
class Region:
    """An asserted volume: a room, a place, a floor. Objects belong to it by geometry.

    Attributes:
        name: known by this, whatever its case. kind: any word, for example `room`.
        polygon_m: corners of its outline (x, y), at least three. low_m, high_m: its range of z.
        parent: name of the region that it is part of; empty: none.
        map_id: identity of the map in which it lies.
        seq: log line that says so; 0: not yet said.
    """

    name: str
    kind: str
    polygon_m: tuple[tuple[float, float], ...]
    low_m: float
    high_m: float
    parent: str = ''
    map_id: str = ''
    seq: int = 0


@dataclass(frozen=True)
class ObjectVersion:
    """What was believed of an object from a log line on, until the next version.

    Attributes:
        seq, recorded_ns: when the memory learned it. stamp_ns: since when it is true in the world.
    """

    object_id: int
    seq: int
    stamp_ns: int
    recorded_ns: int
    label: str
    state: State
    center_m: Triple
    size_m: Triple
    orientation_xyzw: Quaternion
    map_id: str = ''


@dataclass(frozen=True)
class Event:
    """Something that happened, as told by somebody (CH-13).

    Attributes:
        object_id: where it happened; None: not said, or that object was purged.
        payload: plain values.
    """

    seq: int
    type: str
    object_id: int | None
    stamp_ns: int
    payload: Mapping[str, object]


@dataclass(frozen=True)
class Explanation:
    """Why the memory holds what it holds.

    Attributes:
        text: the answer in words, a line each.
        observations: the sightings it rests on, with verdicts and terms.
        changes: the log lines it rests on.
        settings: the settings under which it was judged.
    """

    text: tuple[str, ...]
    observations: tuple[Observation, ...]
    changes: tuple[Change, ...]
    settings: Mapping[str, object]


@dataclass(frozen=True)
class Change:
    """One line of the append-only log.

    Attributes:
        seq: number of the line, without gaps.
        object: the object after the change, where the change was made in this call; None in lines
            read back from the log.
        actor: 'perception', or whoever asked.
        before: what the line replaced, as plain values.
        after: what the line says, where the object does not: a stated relation, an event.
    """

    seq: int
    kind: ChangeKind
    object_id: int | None
    stamp_ns: int
    recorded_ns: int
    actor: str = 'perception'
    reason: str = ''
    before: Mapping[str, object] = field(default_factory=dict)
    after: Mapping[str, object] = field(default_factory=dict)
    object: MemoryObject | None = None

    @property
    def from_m(self) -> Triple | None:
        """Of a MOVED line: where it lay."""
        return _place_in(self.before) if self.kind is ChangeKind.MOVED else None

    @property
    def to_m(self) -> Triple | None:
        """Of a MOVED line: where it was found."""
        return _place_in(self.after) if self.kind is ChangeKind.MOVED else None


def _place_in(said: Mapping[str, Any]) -> Triple:
    x, y, z = said['center_m']
    return x, y, z


@dataclass(frozen=True)
class Commit:
    """What one call put on disk.

    Attributes:
        verdicts: one per detection, in their order.
        changes: what it changed, in order.
        first_seq, seq: its first and last log line; when nothing was written, seq is the last line
            written before and first_seq one more.
        refused: why the view as a whole was refused and nothing stored; empty: it was stored.
    """

    verdicts: tuple[Verdict, ...]
    changes: tuple[Change, ...]
    first_seq: int
    seq: int
    refused: str = ''


@dataclass(frozen=True)
class Purge:
    """What a purge removed.

    Attributes:
        commit: its log lines: one for the whole, then one for each object.
        objects, sightings, lines: objects, observations and log lines without content now.
        erased: whether the old bytes are gone from file and write-ahead log; False: a reader
            outside still holds them, and they go when it has ended and the memory is closed.
    """

    commit: Commit
    objects: int
    sightings: int
    lines: int
    erased: bool


@dataclass(frozen=True)
class Merged:
    """Two objects that were found to be one.

    Attributes:
        kept_id: went on. other_id: ended; its id stands for the other from then on.
        score, terms: as of a detection. seq: log line, for `undo`.
    """

    kept_id: int
    other_id: int
    score: float
    terms: Mapping[str, float]
    seq: int


@dataclass(frozen=True)
class Consolidation:
    """What one run of `consolidate` did.

    Attributes:
        looked_at: objects that had changed since the last run.
        merges: in their order.
        kept_apart: pairs that scored high enough but must be two: seen in one view, or told apart.
    """

    looked_at: int
    merges: tuple[Merged, ...]
    kept_apart: int


@dataclass(frozen=True)
class MergedStore:
    """What was taken over from another store.

    Attributes:
        store_id: identity of the other store. confirmed: its confirmed objects.
        taken: of these, the ones that were not taken over before. views: in which they came.
        aliases: id there → id here, also of what was taken over before.
        notes: how many notes of its journal are new here, or added something.
    """

    store_id: str
    confirmed: int
    taken: int
    views: int
    aliases: Mapping[int, int]
    notes: int = 0


NO_FACTS: Mapping[str, str] = {}


class Order(_Word):
    """How answers are sorted; ties always by id."""

    RELEVANCE = 'relevance'
    RECENT = 'recent'
    SALIENT = 'salient'


@dataclass(frozen=True)
class Track:
    """Something that goes about by itself, as it was seen lately. It is never in the file.

    Attributes:
        id: of this opening of the memory.
        center_m, size_m: as last seen, map frame, metres.
        track_id: that of its detector, if it gave one.
        path: its latest places, (stamp, centre), oldest first.
        velocity_mps: over the last second or so.
    """

    id: int
    label: str
    center_m: Triple
    size_m: Triple
    first_seen_ns: int
    last_seen_ns: int
    map_id: str = ''
    track_id: str = ''
    path: tuple[tuple[int, Triple], ...] = ()
    velocity_mps: Triple = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Query:
    """What is asked of the memory; each filter left at its default is off.

    Attributes:
        text: a label, or words that a label must contain.
        labels: only objects with one of these labels (whatever their case).
        feature: (D,) appearance embedding; only objects that have one of its kind.
        near_m: only within radius_m of this point.
        states: only objects in these states; empty: all but absent, near a place also not held.
        seen_since_ns: only last seen at this time or later. unseen_since_ns: only last seen before.
        new_since_ns: only first seen at this time or later.
        moved_m: only objects now at least this far from where they were first seen.
        min_score: only hits with at least this score.
        min_presence: only objects still there with at least this probability, at at_ns.
        order: by relevance, last seen first, or by salience (CH-38).
        limit: largest number of hits, 1 to 1000. offset: so many of the best hits are left out.
        at_ns: the time the presence is about; None: as_of_ns, or the newest committed stamp.
        ids: only these objects, at most 1000; an id that was merged stands for what it became.
        properties: only objects of which all of this was stated, with equal values.
        box_m: only with their centre between two opposite corners. box_pose: in whose axes the
            corners are given; None: those of the map.
        region: only with their centre in a region of this name, whatever its case, or in one
            that is said to be part of it.
        relation: (kind, object): only what stands in this relation to that object, which is an id
            or a text that names one or more.
        seen_from_ns, seen_until_ns: only with a sighting in this stretch of time, both included;
            None: open. sensor: and by this sensor. scope: and in a view of this scope, whatever
            else that says. All of these speak of the same sighting.
        source: `seen`: only what was sighted; `stated`: only what somebody said is there; `person`:
            only that of which something is a person's word.
        as_of_ns: as it would be known if nothing later had been seen or said; None: now.
        known_at: as it was known at this log line; known_at_ns: at this time of recording.
    """

    text: str = ''
    labels: Sequence[str] = ()
    feature: npt.ArrayLike | None = None
    near_m: Sequence[float] | None = None
    radius_m: float = 0.0
    states: Sequence[str] = ()
    seen_since_ns: int = 0
    unseen_since_ns: int = 0
    new_since_ns: int = 0
    moved_m: float = 0.0
    min_score: float = 0.0
    min_presence: float = 0.0
    order: str = Order.RELEVANCE
    limit: int = 10
    at_ns: int | None = None
    offset: int = 0
    ids: Sequence[int] = ()
    properties: Mapping[str, object] = field(default_factory=lambda: NO_FACTS)
    box_m: tuple[Sequence[float], Sequence[float]] | None = None
    box_pose: Pose | None = None
    region: str = ''
    relation: tuple[str, int | str] | None = None
    seen_from_ns: int | None = None
    seen_until_ns: int | None = None
    sensor: str = ''
    scope: Mapping[str, str] = field(default_factory=lambda: NO_FACTS)
    source: str = ''
    as_of_ns: int | None = None
    known_at: int | None = None
    known_at_ns: int | None = None


@dataclass(frozen=True)
class ChangeGroup:
    """Changes of one kind in one region.

    Attributes:
        region: name of the smallest region in which they happened; where a thing has moved, the one
            that it went to. Empty: in none.
        count: number of changes, whatever the limit.
        changes: the newest of them, newest last. versions: the object as each of them left it;
            None: a change of no object, or one whose version is gone.
    """

    region: str
    kind: ChangeKind
    count: int
    changes: tuple[Change, ...]
    versions: tuple[ObjectVersion | None, ...]


@dataclass(frozen=True)
class WhatChanged:
    """What has changed since some moment.

    Attributes:
        since_seq: after this log line; None: it was asked for by time.
        since_ns: from this time on; None: it was asked for by a log line.
        groups: by region, then by kind; what is in no region comes last.
    """

    since_seq: int | None
    since_ns: int | None
    groups: tuple[ChangeGroup, ...]


@dataclass(frozen=True)
class Hit:
    """One answer.

    Attributes:
        score: 0 to 1. terms: what it is made of.
        presence: probability that the object is in its place, at the time asked about.
    """

    object: MemoryObject
    score: float
    terms: Mapping[str, float] = field(default_factory=dict)
    presence: float = 1.0


class Hits(tuple[Hit, ...]):
    """Hits, best first. total: number of matches, whatever the limit."""

    total: int

    def __new__(cls, hits: Iterable[Hit], total: int) -> Hits:
        self = super().__new__(cls, hits)
        self.total = total
        return self


@dataclass(frozen=True)
class Relation:
    """subject relation object, for example cup on table.

    Attributes:
        kind: a RelationKind, or any word that somebody stated.
        confidence: the lesser of the two objects'; 1 for a stated one; the probability that they
            are the same for `maybe_same`.
        stated: whether somebody said so; else it follows from the geometry.
        since_ns: since when it holds; 0: not asked for, see `SpatialMemory.dated`.
    """

    subject_id: int
    kind: str
    object_id: int
    confidence: float
    stated: bool = False
    since_ns: int = field(default=0, compare=False)


@dataclass(frozen=True)
class RelationSpan:
    """A time in which a relation held between two objects, by their versions.

    Attributes:
        until_ns: when it held no longer; None: it holds.
    """

    kind: str
    since_ns: int
    until_ns: int | None
