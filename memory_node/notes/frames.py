# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What a question is for (OM-12): goals, companions, occasion, vibe, constraints, by tables.

The frame is searched, not the words: «somewhere to read with the kids, not loud» wants what one
can read at, suits children and is quiet, whatever it is called. No model: what the tables do not
know is left out of the frame.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from memory_node.notes.items import slug
from memory_node.notes.rerank import Frame
from memory_node.recall.words import words

_GOALS = {
    'work': 'work working study studying write writing type email homework focus concentrate',
    'read': 'read reading book', 'eat': 'eat eating lunch snack meal hungry dine',
    'cook': 'cook cooking bake baking fry recipe', 'drink': 'drink drinking thirsty sip',
    'sleep': 'sleep sleeping nap rest tired bed', 'sit': 'sit sitting seat',
    'relax': 'relax relaxing unwind chill lounge calm', 'talk': 'talk talking chat meet meeting',
    'play': 'play playing game toy', 'watch': 'watch watching film movie tv',
    'exercise': 'exercise workout yoga stretch train', 'wash': 'wash washing clean cleaning rinse',
    'store': 'store storing keep put away stow', 'charge': 'charge charging plug battery',
    'listen': 'listen listening music', 'make': 'make build repair fix craft paint draw',
}  # fmt: skip
_COMPANIONS = {
    'children': 'child kid baby toddler son daughter grandchild', 'friends': 'friend mate',
    'guests': 'guest visitor company',
    'family': 'family parent mother father mum dad sister brother',
    'partner': 'wife husband partner girlfriend boyfriend', 'colleagues': 'colleague coworker team',
    'pet': 'dog cat pet', 'alone': 'alone myself',
}  # fmt: skip
_OCCASIONS = {
    'birthday': 'birthday', 'breakfast': 'breakfast brunch', 'dinner': 'dinner supper',
    'party': 'party celebration celebrate', 'meeting': 'meeting interview appointment',
    'date': 'date anniversary', 'holiday': 'holiday christmas easter weekend',
    'evening': 'evening tonight night', 'morning': 'morning',
}  # fmt: skip
_VIBES = {
    'quiet': 'quiet silent peaceful', 'lively': 'lively busy fun', 'loud': 'loud noisy',
    'cosy': 'cosy cozy snug comfortable comfy', 'bright': 'bright sunny', 'dark': 'dark dim',
    'warm': 'warm heated', 'cool': 'cool shady fresh', 'private': 'private secluded',
    'tidy': 'tidy neat', 'romantic': 'romantic', 'soft': 'soft',
}  # fmt: skip
_CONSTRAINTS = {
    'near': 'near nearby close next here', 'cheap': 'cheap affordable', 'free': 'free available',
    'accessible': 'accessible wheelchair', 'power': 'socket outlet power', 'large': 'large big',
    'small': 'small little', 'clean': 'clean', 'safe': 'safe', 'open': 'open', 'dry': 'dry',
    'stairs': 'stair step', 'fast': 'fast quick soon', 'outside': 'outside outdoor',
    'inside': 'inside indoor',
}  # fmt: skip
_OPPOSITE = {
    'quiet': 'loud', 'loud': 'quiet', 'lively': 'quiet', 'bright': 'dark', 'dark': 'bright',
    'warm': 'cool', 'cool': 'warm', 'large': 'small', 'small': 'large', 'outside': 'inside',
    'inside': 'outside', 'stairs': 'accessible',
}  # fmt: skip
_IMPLIED = {'children': ('safe',), 'guests': ('tidy',), 'alone': ('private',)}
"""What companions make a place need."""
_NOT = frozenset({'not', 'no', 'without', 'never', 'avoid', 'too', 'isn', 'don', 'nothing'})
_AFFORDANCES = {
    'sit': 'chair sofa couch armchair stool bench seat', 'relax': 'sofa couch armchair bed hammock',
    'work': 'desk table laptop computer office study', 'read': 'armchair sofa lamp desk bookshelf',
    'eat': 'table counter dining kitchen plate fork', 'sleep': 'bed sofa mattress bedroom',
    'cook': 'stove oven hob pan pot kitchen microwave', 'drink': 'mug cup glass kettle bottle',
    'wash': 'sink basin washer shower bath bathroom', 'watch': 'television tv screen projector',
    'store': 'shelf cabinet drawer cupboard wardrobe box closet', 'listen': 'radio speaker stereo',
    'play': 'toy ball game console puzzle', 'charge': 'socket charger dock outlet',
    'talk': 'table sofa', 'make': 'workbench toolbox easel', 'exercise': 'mat treadmill dumbbell',
    'soft': 'sofa couch bed cushion pillow', 'power': 'socket outlet', 'bright': 'lamp window',
    'outside': 'balcony garden terrace porch yard', 'quiet': 'bedroom study library',
}  # fmt: skip


def _table(given: Mapping[str, str]) -> dict[str, str]:
    return {word: name for name, text in given.items() for said in text.split()
            for word in words(said)}  # fmt: skip


_GOAL, _COMPANION, _OCCASION = _table(_GOALS), _table(_COMPANIONS), _table(_OCCASIONS)
_VIBE, _CONSTRAINT = _table(_VIBES), _table(_CONSTRAINTS)


def _afforded() -> dict[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = {}
    for name, text in _AFFORDANCES.items():
        for said in text.split():
            for word in words(said):
                found.setdefault(word, {})[name] = None
    return {word: tuple(names) for word, names in found.items()}


_AFFORDED = _afforded()


def frame_of(text: str) -> Frame:
    """What a text is for.

    What it does without («not loud», «no stairs») becomes its opposite where the tables have one,
    and else is left out.

    Args:
        text: a question or wish, in English.
    """
    goals: dict[str, None] = {}
    companions: dict[str, None] = {}
    vibe: dict[str, None] = {}
    constraints: dict[str, None] = {}
    occasion = ''
    denied = 0
    for word in words(text):
        if word in _NOT:
            denied = 2  # «not too loud» denies what follows, and no more
            continue
        found = _VIBE.get(word), _CONSTRAINT.get(word)
        for name, into in zip(found, (vibe, constraints)):
            if name is not None:
                meant = _OPPOSITE.get(name) if denied else name
                if meant is not None:
                    (vibe if meant in _VIBES else into)[meant] = None
        if not denied:
            goals.update(_one(_GOAL.get(word)))
            companions.update(_one(_COMPANION.get(word)))
            occasion = occasion or _OCCASION.get(word, '')
        denied = max(0, denied - 1) if not any(found) else 0
    for name in companions:
        constraints.update(dict.fromkeys(_IMPLIED.get(name, ())))
    return Frame(tuple(goals), tuple(companions), occasion, tuple(vibe), tuple(constraints))


def affords(name: str, concepts: Iterable[str] = ()) -> tuple[str, ...]:
    """What can be done with a thing or at a place, by what it is called; with what is known.

    Args:
        name: of an object or region. concepts: what is known of it already.
    """
    found = dict.fromkeys(slug(concept) for concept in concepts)
    for word in words(name):
        found[word] = None
        found.update(dict.fromkeys(_AFFORDED.get(word, ())))
    return tuple(found)


def search_words(frame: Frame) -> tuple[str, ...]:
    """What a host may search for a frame: kinds of things that afford its goals, and its own words.

    They are a plan (OM-13): whoever has a map or a catalogue fetches candidates by them.
    """
    found: dict[str, None] = {}
    for name in (*frame.goals, *frame.vibe, *frame.constraints):
        for said in _AFFORDANCES.get(name, '').split():
            found[said] = None
    found.update(dict.fromkeys([*frame.goals, *frame.vibe, frame.occasion]))
    found.pop('', None)
    return tuple(found)


def _one(name: str | None) -> dict[str, None]:
    return {} if name is None else {name: None}
