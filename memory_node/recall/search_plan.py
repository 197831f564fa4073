# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Where to look next for a thing: its last place, other places where it was, and receptacles.

A thing is at its last place with its presence. What is left is shared out among the other places by
their weights: PAST for each earlier stay there, HABIT for each other thing of its class that lies
on or in a receptacle now, the average number of such things on or in such a receptacle in homes (at
least ANYWHERE), and ELSEWHERE for all that nobody knows. A place that was seen without it since
loses weight, the more the less time it had to be put there since. If a word names several things,
the one that is looked for is each of them with a chance as its label fits. So all that is said sums
to 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from memory_node import decay
from memory_node.config import Config
from memory_node.fusion.candidates import CandidateIndex
from memory_node.fusion.classes import key_of
from memory_node.fusion.world import STATE_CODE, Rows, World
from memory_node.model import ObjectVersion, RelationKind, State, Triple
from memory_node.recall.priors import Priors
from memory_node.scene import boxes
from memory_node.scene.relations import relations_about
from memory_node.scene.roles import ROLES
from memory_node.scene.support import DIGITS
from memory_node.scene.things import GONE

LAST, PAST, HABIT, PRIOR = 'last', 'past', 'habit', 'prior'
WEIGHT = {PAST: 1.0, HABIT: 0.5, PRIOR: 1.0}
"""Of one earlier stay, of one other thing of the class, of an average of one thing in homes."""
ANYWHERE = 0.01
"""Least average of a receptacle that is larger: people put things anywhere."""
ELSEWHERE = 1.0
STAY_M = 0.5
"""Places of one object that are farther apart are different ones."""
SEEN = 0.8
"""A look at a place shows what lies there with this chance."""
MAX_SOUGHT = 50
"""Of more things that a word names, those that fit best and were seen last."""
MAX_KIN = 1000
"""Of more things of its class, those that were seen last say where such things are kept."""
MAX_RECEPTACLES = 500
"""Of more receptacles, those nearest to the last place are thought of."""
_HOLDING = (RelationKind.ON, RelationKind.INSIDE)


@dataclass(frozen=True)
class SearchPlace:
    """One place where to look, and why.

    Attributes:
        position_m: map frame. probability: that it is there.
        source: what speaks most for it: 'last', 'past', 'habit' or 'prior'.
        receptacle_id, receptacle_label: what holds things there; 0 and empty: nothing known.
        object_id: the object that is looked for, if a certain one was there.
        last_checked_ns: when the place was seen without it; 0: not since it was there.
        reason: in words.
    """

    position_m: Triple
    probability: float
    source: str
    receptacle_id: int = 0
    receptacle_label: str = ''
    object_id: int = 0
    last_checked_ns: int = 0
    reason: str = ''


@dataclass(frozen=True)
class SearchPlan:
    """Where to look, likeliest first.

    Attributes:
        places: at most as many as were asked for. total: how many there are.
        elsewhere: that it is at none of all the places. at_ns: as of when.
    """

    places: tuple[SearchPlace, ...]
    elsewhere: float
    total: int
    at_ns: int


@dataclass(frozen=True)
class Sought:
    """One object that may be the one looked for.

    Attributes:
        row: in the working set. chance: that it is the one. presence: see MemoryObject.
        versions: of it, oldest first.
    """

    row: int
    chance: float
    presence: float
    versions: Sequence[ObjectVersion] = ()


@dataclass
class _Spot:
    """A place as it is put together; weight: source → weight, before it is shared out."""

    position_m: Triple
    row: int | None = None
    object_id: int = 0
    checked_ns: int = 0
    share: dict[str, float] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)

    def add(self, source: str, probability: float, reason: str) -> None:
        self.share[source] = self.share.get(source, 0.0) + probability
        self.reasons.setdefault(source, reason)


_Weight = tuple[_Spot, str, float, str]
"""A place, what speaks for it, how much, and why."""


class Search:
    """What is known of receptacles at one time, for all that is looked for then."""

    def __init__(
        self, world: World, index: CandidateIndex, config: Config, at_ns: int, map_number: int
    ) -> None:
        """Find the receptacles of a map."""
        self._world, self._index, self._config, self._at_ns = world, index, config, at_ns
        self._priors = Priors(world.columns.classes)
        self._names = world.labels.names
        self._receptacles = self._holders(map_number)
        self._map = map_number
        self._spots: dict[tuple[str, int, int], _Spot] = {}
        self._others_of: dict[str, Mapping[int, int]] = {}

    def look_for(self, sought: Sought) -> None:
        """Add the places of an object."""
        record = self._world.records[sought.row]
        number, label = int(record['id']), self._names[record['label']]
        center = _triple(record['center'])
        spot = self._spots.setdefault(('last', number, 0), _Spot(center, None, number))
        spot.row = self._holder_of(sought.row)
        if record['state'] == STATE_CODE[State.HELD]:
            spot.add(LAST, sought.chance, 'the robot holds it')
            return
        there = sought.chance * sought.presence
        spot.add(LAST, there, f'it was seen here last; there with {sought.presence:.2f}')
        if record['checked_ns'] > record['last_seen_ns']:
            spot.checked_ns = int(record['checked_ns'])
        since_ns = int(record['last_seen_ns'])
        weights = self._stays(number, center, sought.versions, since_ns)
        weights += self._kept(label, since_ns, sought.row, spot.row)
        self._share_out(sought.chance - there, weights)

    def look_for_unknown(self, label: str, chance: float) -> None:
        """Add the places of something that was never seen."""
        self._share_out(chance, self._kept(label, 0, None, None))

    def plan(self, limit: int, from_m: Triple | None) -> SearchPlan:
        """All places so far, likeliest first; then the nearer to a point, then the older one."""
        found = [(key, self._as_place(spot)) for key, spot in self._spots.items()]
        found = [(key, place) for key, place in found if place.probability > 0]

        def order(item: tuple[tuple[str, int, int], SearchPlace]) -> tuple[object, ...]:
            key, place = item
            apart = 0.0 if from_m is None else sum(
                (a - b) ** 2 for a, b in zip(place.position_m, from_m)
            )  # fmt: skip
            return -place.probability, round(apart, DIGITS), key

        places = [place for _, place in sorted(found, key=order)]
        rest = max(0.0, 1.0 - sum(place.probability for place in places))
        return SearchPlan(tuple(places[:limit]), round(rest, DIGITS), len(places), self._at_ns)

    @staticmethod
    def _share_out(mass: float, weights: Sequence[_Weight]) -> None:
        total = ELSEWHERE + sum(weight for _, _, weight, _ in weights)
        for spot, source, weight, reason in weights:
            spot.add(source, mass * weight / total, reason)

    def _stays(
        self, number: int, last: Triple, versions: Sequence[ObjectVersion], since_ns: int
    ) -> list[_Weight]:
        """The other places where an object was."""
        centers: list[Triple] = [last]
        stays, before = [0], -1
        for version in versions:
            if version.state in (*GONE, State.FORGOTTEN, State.MERGED):
                continue
            here = next(
                (k for k, c in enumerate(centers) if _apart(c, version.center_m) <= STAY_M), -1
            )
            if here < 0:
                here = len(centers)
                centers.append(version.center_m)
                stays.append(0)
            stays[here] += here != before
            before = here
        found = []
        for k, center in enumerate(centers[1:], 1):
            spot = self._spots.setdefault(('past', number, k), _Spot(center, None, number))
            spot.row = self._receptacle_at(center)
            checked = self._seen_around(center, number)
            weight = WEIGHT[PAST] * stays[k] * self._unseen(checked, since_ns, number)
            spot.checked_ns = checked if checked > since_ns else 0
            times = 'once' if stays[k] == 1 else f'{stays[k]} times'
            found.append((spot, PAST, weight, f'it was here {times} before'))
        return found

    def _kept(
        self, label: str, since_ns: int, own: int | None, last_holder: int | None
    ) -> list[_Weight]:
        """Receptacles that hold such things, here or in homes."""
        found = []
        r = self._world.records
        others = self._others(label)
        for row in self._near(own):
            if row in (own, last_holder):
                continue
            name = self._names[r['label'][row]]
            known = self._priors.rate(label, name)
            fits = own is None or r['half'][own].prod() < r['half'][row].prod()
            rate = max(known, ANYWHERE) if fits else known
            count = others.get(row, 0)
            if not rate and not count:
                continue
            role = self._world.columns.classes.roles.of_label.get(key_of(name))
            checked = 0 if role is ROLES['closed'] else int(r['last_seen_ns'][row])
            kept = self._unseen(checked, since_ns, None, label)
            center = r['center'][row].copy()
            if role is not ROLES['closed']:
                center[2] += r['half'][row][2]
            spot = self._spots.setdefault(('held', int(r['id'][row]), 0), _Spot(_triple(center)))
            spot.row = row
            spot.checked_ns = max(spot.checked_ns, checked if checked > since_ns else 0)
            if count:
                reason = f'{count} other of its kind {"is" if count == 1 else "are"} kept here'
                found.append((spot, HABIT, WEIGHT[HABIT] * count * kept, reason))
            if rate:
                reason = (
                    f'in homes, {known:.2f} of such are found with each {name}'
                    if known else 'such a thing may be put anywhere'
                )  # fmt: skip
                found.append((spot, PRIOR, WEIGHT[PRIOR] * rate * kept, reason))
        return found

    def _near(self, row: int | None) -> list[int]:
        """The receptacles; of very many those nearest to an object."""
        rows = self._receptacles
        if len(rows) > MAX_RECEPTACLES and row is not None:
            centers = self._world.records['center']
            apart = boxes.distance(centers[rows], centers[row][None]).round(DIGITS)
            rows = rows[np.lexsort([rows, apart])]
        found: list[int] = np.sort(rows[:MAX_RECEPTACLES]).tolist()
        return found

    def _others(self, label: str) -> Mapping[int, int]:
        """Row of a receptacle → how many things of a label's class it holds now."""
        wanted = self._priors.class_of(key_of(label))
        if wanted not in self._others_of:
            self._others_of[wanted] = self._count(wanted)
        return self._others_of[wanted]

    def _count(self, wanted: str) -> Mapping[int, int]:
        world = self._world
        same = [self._priors.class_of(key_of(name)) == wanted for name in self._names]
        rows = world.live_rows()
        rows = rows[np.array(same, dtype=bool)[world.records['label'][rows]]] if same else rows[:0]
        newest = np.lexsort([rows, -world.records['last_seen_ns'][rows]])
        rows = np.sort(rows[newest[:MAX_KIN]])
        ids = set(world.records['id'][rows].tolist())
        found: dict[int, int] = {}
        for relation in relations_about(world, self._index, rows, self._config):
            if relation.kind in _HOLDING and relation.subject_id in ids:
                row = world.row_of(relation.object_id)
                if row is not None:
                    found[row] = found.get(row, 0) + 1
        return found

    def _holders(self, map_number: int) -> Rows:
        """Rows of what holds others by its class, and is at its place."""
        world, classes = self._world, self._world.columns.classes
        holds = [
            (role := classes.roles.of_label.get(key_of(name))) is not None
            and (role.top is not None or role.within is not None)
            for name in self._names
        ]
        rows = np.sort(world.live_rows())
        r = world.records
        keep = np.array(holds, dtype=bool)[r['label'][rows]] if holds else np.zeros(0, bool)
        keep &= ~np.isin(r['state'][rows], [STATE_CODE[s] for s in GONE])
        found: Rows = rows[keep & (r['map'][rows] == map_number)]
        return found

    def _holder_of(self, row: int) -> int | None:
        world = self._world
        number = int(world.records['id'][row])
        for r in relations_about(world, self._index, np.array([row]), self._config):
            if r.kind in _HOLDING and r.subject_id == number:
                return world.row_of(r.object_id)
        return None

    def _receptacle_at(self, center: Triple) -> int | None:
        """The smallest receptacle in or on whose box a point is."""
        r, rows = self._world.records, self._receptacles
        out = np.abs(r['hull_center'][rows] - np.array(center)) - r['half'][rows]
        around = rows[(out[:, :2] <= 0).all(axis=1) & (out[:, 2] <= STAY_M / 2)]
        volumes = r['half'][around].prod(axis=1)
        return int(around[volumes.argmin()]) if len(around) else None

    def _seen_around(self, center: Triple, but: int) -> int:
        """When something beside a place was last seen, and so the place."""
        rows, _ = self._index.within(np.array(center), STAY_M)
        r = self._world.records
        rows = rows[(r['id'][rows] != but) & (r['map'][rows] == self._map)]
        return int(r['last_seen_ns'][rows].max(initial=0))

    def _unseen(self, checked_ns: int, since_ns: int, number: int | None, label: str = '') -> float:
        """What a look at a place leaves of its weight: less, the less time has passed since."""
        if checked_ns <= since_ns or checked_ns <= 0:
            return 1.0
        if number is not None:
            row = self._world.row_of(number)
            label = self._names[self._world.records['label'][row]] if row is not None else ''
        half_life_s = self._world.columns.classes.of(label).half_life_h * 3600.0
        age_s = max(0.0, (self._at_ns - checked_ns) / 1e9)
        return 1.0 - SEEN * float(decay.exp2(np.array([-age_s / half_life_s]))[0])

    def _as_place(self, spot: _Spot) -> SearchPlace:
        most = max(spot.share, key=lambda source: spot.share[source])
        r = self._world.records
        label = '' if spot.row is None else self._names[r['label'][spot.row]]
        return SearchPlace(
            spot.position_m, round(sum(spot.share.values()), DIGITS), most,
            0 if spot.row is None else int(r['id'][spot.row]), label, spot.object_id,
            spot.checked_ns, spot.reasons[most],
        )  # fmt: skip


def chances(scores: Iterable[float]) -> list[float]:
    """Label scores of several things as chances that each is the one that is meant."""
    given = list(scores)
    total = sum(given)
    return [score / total for score in given]


def _triple(numbers: np.ndarray) -> Triple:
    x, y, z = numbers.tolist()
    return x, y, z


def _apart(a: Triple, b: Triple) -> float:
    return float(np.sqrt(sum((p - q) ** 2 for p, q in zip(a, b))).round(DIGITS))
