# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What the memory holds as plain values for a language model.

Labels come from detectors and persons, and may be written to be obeyed: they lose everything that
is not printable and what is longer than 120 characters (CH-45). Each thing carries its `object_id`,
so that an answer can cite it. Times are seconds, places metres in the map frame, rounded.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from memory_node.model import Change, MemoryObject, Observation, Relation
from memory_node.recall.answer import Answer
from memory_node.recall.search_plan import SearchPlan
from memory_node.scene.approach import Approach

LONGEST = 120
DEEP = 4
MOST = 50
MOST_TEXT = 2000


def clean(text: str, longest: int = LONGEST) -> str:
    """A text as it may be shown: one line, printable, not too long."""
    kept = ''.join(c if c.isprintable() else ' ' for c in text[: 4 * longest])
    short = ' '.join(kept.split())
    return short if len(short) <= longest else f'{short[: longest - 1]}…'


def thing(obj: MemoryObject, at_ns: int) -> dict[str, Any]:
    """An object."""
    return {
        'object_id': obj.id,
        'label': clean(obj.label),
        'state': str(obj.state),
        'center_m': _metres(obj.center_m),
        'size_m': _metres(obj.size_m),
        'confidence': round(obj.confidence, 3),
        'presence': round(obj.presence(at_ns), 3),
        'last_seen_s': seconds(obj.last_seen_ns),
        'last_seen_ago_s': round(max(0, at_ns - obj.last_seen_ns) / 1e9, 1),
        'last_check': str(obj.last_check),
        'observations': obj.observations,
        **({'region': clean(region)} if (region := obj.region) else {}),
    }


def relation(found: Relation, labels: Mapping[int, str]) -> dict[str, Any]:
    """A relation; labels: of the objects."""
    return {
        'subject_id': found.subject_id,
        'subject': clean(labels.get(found.subject_id, '')),
        'relation': clean(str(found.kind)),
        'object_id': found.object_id,
        'object': clean(labels.get(found.object_id, '')),
        'confidence': round(found.confidence, 3),
        'stated': found.stated,
        **({'since_s': seconds(found.since_ns)} if found.since_ns else {}),
    }


def change(found: Change) -> dict[str, Any]:
    """A line of the log."""
    shown: dict[str, Any] = {
        'seq': found.seq, 'kind': str(found.kind), 'object_id': found.object_id,
        'at_s': seconds(found.stamp_ns), 'by': clean(found.actor), 'reason': clean(found.reason),
    }  # fmt: skip
    if found.object is not None:
        shown['label'] = clean(found.object.label)
    if found.from_m is not None and found.to_m is not None:
        shown.update(from_m=_metres(found.from_m), to_m=_metres(found.to_m))
    elif found.after:
        shown['after'] = value(found.after)
    return shown


def sighting(found: Observation) -> dict[str, Any]:
    """A sighting."""
    return {
        'observation_id': found.id, 'at_s': seconds(found.stamp_ns), 'label': clean(found.label),
        'score': round(found.score, 3), 'center_m': _metres(found.center_m),
        'verdict': str(found.verdict), 'sensor': clean(found.sensor),
    }  # fmt: skip


def answer(found: Answer) -> dict[str, Any]:
    """An answer in words. Its text is the memory's own, with labels in it that are cleaned."""
    return {
        'answer': clean(found.text, MOST_TEXT), 'certain': found.certain,
        'confidence': round(found.confidence, 3), 'read_as': clean(found.reading, MOST_TEXT),
        'no_answer_because': clean(found.refusal, MOST_TEXT),
        'object_ids': list(found.citations[:MOST]), 'sources': list(found.sources[:MOST]),
        **({'near_m': found.radius_m, 'near_why': clean(found.radius_why)} if found.radius_why
           else {}),
    }  # fmt: skip


def search_plan(plan: SearchPlan) -> dict[str, Any]:
    """Where to look."""
    places = [
        {
            'position_m': _metres(p.position_m), 'probability': round(p.probability, 4),
            'source': p.source, 'receptacle_id': p.receptacle_id or None,
            'receptacle': clean(p.receptacle_label), 'object_id': p.object_id or None,
            'last_checked_s': seconds(p.last_checked_ns) if p.last_checked_ns else None,
            'reason': clean(p.reason),
        }
        for p in plan.places
    ]  # fmt: skip
    return {'places': places, 'elsewhere': round(plan.elsewhere, 4), 'total': plan.total}


def approach(found: Approach) -> dict[str, Any]:
    """Where to stand."""
    poses = [
        {
            'position_m': _metres(s.pose.position_m),
            'orientation_xyzw': [round(v, 6) for v in s.pose.orientation_xyzw],
            'distance_m': round(s.distance_m, 3), 'clearance_m': round(s.clearance_m, 3),
        }
        for s in found.poses
    ]  # fmt: skip
    return {'poses': poses, 'reason': found.reason}


def value(given: object, deep: int = DEEP) -> Any:
    """Any plain value, cut where it is deep, long or many."""
    if given is None or isinstance(given, (bool, int)):
        return given
    if isinstance(given, float):
        return round(given, 6)
    if isinstance(given, Mapping) and deep:
        return {clean(str(k)): value(v, deep - 1) for k, v in list(given.items())[:MOST]}
    if isinstance(given, Iterable) and not isinstance(given, str) and deep:
        return [value(v, deep - 1) for v in list(given)[:MOST]]
    return clean(str(given))


def seconds(stamp_ns: int) -> float:
    """A stamp in seconds."""
    return round(stamp_ns / 1e9, 3)


def _metres(numbers: Sequence[float]) -> list[float]:
    return [round(float(v), 3) for v in numbers]
