# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What a memory made of a stream, in figures. The definitions are those of the table.

Each detection goes to at most one object; the object's id is the one that it has at the end (an
object merged into another counts as that one). An object *stands for* the thing that most of its
detections came from (a tie goes to the lower thing; mostly false alarms: it is a ghost).

- IDF1, ID switches (motmetrics; a detection is a frame of its own, so that each counts once): over
  the detections that stem from a counted thing. Rejected: a miss. What the detector missed does not
  occur. A false alarm is a false positive where its object is confirmed at the end, else nothing.
- objects per thing: confirmed objects that stand for a counted thing, divided by the counted things
  that at least one stands for: 1 is right, more are duplicates.
- lost: share of the counted things seen in at least two views for which no confirmed object stands:
  merged into another thing, rejected, or never confirmed.
- purity: share of the detections in confirmed objects that stand for a counted thing which came
  from that thing.
- duplicates: confirmed objects beyond one for each such thing, per counted thing. ghosts: number.
- centre, size: of the object with most detections of each thing; distance of the centres (median
  and 90th percentile), and the mean over the axes of |side - true side| / true side (median).
- label: share of those objects that carry the true label.
- exact: share of the streams without a duplicate, a lost thing or a ghost.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields

import motmetrics
import numpy as np

from identity.stream import FALSE_ALARM, Stream
from memory_node.model import MemoryObject, State

SEEN_VIEWS = 2
"""A thing seen in fewer views cannot be expected to be confirmed."""


@dataclass
class Tally:
    """Sums over streams; two can be added."""

    streams: int = 0
    exact: int = 0
    detections: int = 0
    refused: int = 0
    idtp: int = 0
    idfp: int = 0
    idfn: int = 0
    switches: int = 0
    things: int = 0
    owned: int = 0
    seen: int = 0
    lost: int = 0
    objects: int = 0
    ghosts: int = 0
    claimed: int = 0
    pure: int = 0
    right_label: int = 0
    center_m: list[float] = field(default_factory=list)
    size_error: list[float] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        """Add the sums of another."""
        for f in fields(self):
            setattr(self, f.name, getattr(self, f.name) + getattr(other, f.name))

    def figures(self) -> dict[str, float]:
        """The figures of the table; NaN where there is nothing to divide by."""
        return {
            'detections': self.detections,
            'refused': self.refused,
            'idf1': _share(2 * self.idtp, 2 * self.idtp + self.idfp + self.idfn),
            'switches': self.switches,
            'objects_per_thing': _share(self.objects, self.owned),
            'lost': _share(self.lost, self.seen),
            'duplicates': _share(self.objects - self.owned, self.things),
            'purity': _share(self.pure, self.claimed),
            'ghosts': self.ghosts,
            'center_median_m': _percentile(self.center_m, 50),
            'center_p90_m': _percentile(self.center_m, 90),
            'size_error': _percentile(self.size_error, 50),
            'right_label': _share(self.right_label, self.owned),
            'exact': _share(self.exact, self.streams),
        }


def _share(part: float, whole: float) -> float:
    return part / whole if whole else float('nan')


def _percentile(values: list[float], share: float) -> float:
    return float(np.percentile(values, share)) if values else float('nan')


def score(
    stream: Stream, went_to: Iterable[list[int | None]], objects: Mapping[int, MemoryObject]
) -> Tally:
    """Score one stream.

    Args:
        stream: what was shown.
        went_to: of each view, the final object id of each detection, None: rejected.
        objects: the objects at the end by id.
    """
    pairs = [
        (thing, object_id)
        for shown, ids in zip(stream.shown, went_to, strict=True)
        for thing, object_id in zip(shown.things.tolist(), ids, strict=True)
    ]
    confirmed = {k for k, o in objects.items() if o.state == State.CONFIRMED}
    tally = Tally(streams=1, things=int(stream.counted.sum()))
    _count_identities(tally, stream, pairs, confirmed)
    _count_objects(tally, stream, pairs, {k: objects[k] for k in sorted(confirmed)})
    return tally


def _count_identities(
    tally: Tally, stream: Stream, pairs: list[tuple[int, int | None]], confirmed: set[int]
) -> None:
    """IDF1 and ID switches."""
    accumulator = motmetrics.MOTAccumulator(auto_id=True)
    for thing, object_id in pairs:
        if thing == FALSE_ALARM:
            if object_id in confirmed:
                accumulator.update([], [object_id], np.zeros((0, 1)))
        elif stream.counted[thing]:
            tally.detections += 1
            if object_id is None:
                tally.refused += 1
                accumulator.update([thing], [], np.zeros((1, 0)))
            else:
                accumulator.update([thing], [object_id], [[0.0]])
    if not tally.detections:
        return
    wanted = ['idtp', 'idfp', 'idfn', 'num_switches']
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        summary = motmetrics.metrics.create().compute(accumulator, metrics=wanted)
    tally.idtp, tally.idfp, tally.idfn, tally.switches = (int(summary[k].iloc[0]) for k in wanted)


def stands_for(pairs: Iterable[tuple[int, int | None]]) -> dict[int, tuple[int, Counter[int]]]:
    """Object id → the thing that it stands for, and the detections of each thing in it."""
    claims: dict[int, Counter[int]] = {}
    for thing, object_id in pairs:
        if object_id is not None:
            claims.setdefault(object_id, Counter())[thing] += 1
    return {k: (min(c, key=lambda t: (-c[t], t == FALSE_ALARM, t)), c) for k, c in claims.items()}


def _count_objects(
    tally: Tally,
    stream: Stream,
    pairs: list[tuple[int, int | None]],
    confirmed: Mapping[int, MemoryObject],
) -> None:
    """Figures about the confirmed objects."""
    owner: dict[int, tuple[int, int]] = {}  # thing → detections in its best object, -id
    for object_id, (thing, claims) in stands_for(pairs).items():
        if object_id not in confirmed:
            continue
        if thing == FALSE_ALARM:
            tally.ghosts += 1
        elif stream.counted[thing]:
            tally.objects += 1
            tally.claimed += claims.total()
            tally.pure += claims[thing]
            best = (claims[thing], -object_id)
            owner[thing] = max(best, owner.get(thing, best))
    tally.owned = len(owner)
    views = Counter(t for shown in stream.shown for t in set(shown.things.tolist()))
    seen = [t for t in np.flatnonzero(stream.counted).tolist() if views[t] >= SEEN_VIEWS]
    tally.seen, tally.lost = len(seen), sum(t not in owner for t in seen)
    tally.exact = int(tally.objects == tally.owned and not tally.lost and not tally.ghosts)
    for thing, (_, negative_id) in owner.items():
        held = confirmed[-negative_id]
        offset = np.array(held.center_m) - stream.center[thing]
        tally.center_m.append(float(np.linalg.norm(offset)))
        side = stream.size[thing]
        tally.size_error.append(float(np.mean(np.abs(np.array(held.size_m) - side) / side)))
        tally.right_label += held.label.casefold() == stream.labels[thing].casefold()
