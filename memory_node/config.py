# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Every tunable once: name, default, unit, range, meaning.

`Config` is what the core is given; `NodeConfig` is what only the ROS node needs. The ROS
parameters, `config/memory.yaml` and the table in the README are made from these two.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from memory_node.errors import InvalidValueError

CHRONOTOPE = 'chronotope'
RULES = ('noise_aware', 'learn_noise', 'size_gate', 'shared_shift', 'fold_duplicates')
"""Switches of profile default, each of which bench/quality.py --rules can leave out."""
PROFILES = ('default', CHRONOTOPE)
DURABILITIES = ('process', 'power')
STAMP_POLICIES = ('refuse', 'receive_time')
MAX_LIMIT = 1000
"""Largest number of items in one answer."""


def tunable(
    default: Any,
    meaning: str,
    *,
    unit: str = '',
    low: float | None = None,
    high: float | None = None,
    choices: Sequence[str] = (),
    read_only: bool = False,
) -> Any:
    """Return a dataclass field that carries its own documentation and range."""
    metadata = {
        'meaning': meaning,
        'unit': unit,
        'low': low,
        'high': high,
        'choices': tuple(choices),
        'read_only': read_only,
    }
    if isinstance(default, tuple):
        return field(default=default, metadata={**metadata, 'list': True})
    return field(default=default, metadata=metadata)


@dataclass(frozen=True)
class Tunable:
    """One row of the table: what a parameter is and which values it takes."""

    name: str
    default: Any
    meaning: str
    unit: str
    low: float | None
    high: float | None
    choices: tuple[str, ...]
    read_only: bool

    def checked(self, value: Any) -> Any:
        """Return the value in the type of the default.

        Raises:
            InvalidValueError: wrong type, not finite, out of range, or not one of the choices.
        """
        if isinstance(self.default, tuple):
            return self._checked_list(value)
        if isinstance(self.default, bool) or isinstance(value, bool):
            accepted = isinstance(self.default, bool) and isinstance(value, bool)
        elif isinstance(self.default, float):
            accepted = isinstance(value, (int, float)) and abs(value) <= sys.float_info.max
        else:
            accepted = isinstance(value, type(self.default))
        if not accepted:
            raise self._refusal(value)
        value = type(self.default)(value)
        if self.choices and value not in self.choices:
            raise self._refusal(value)
        if self.low is not None and value < self.low or self.high is not None and value > self.high:
            raise self._refusal(value)
        return value

    def expected(self) -> str:
        """Return which values are accepted, in words."""
        if isinstance(self.default, tuple):
            return 'a list of strings'
        if self.choices:
            return f'one of {", ".join(self.choices)}'
        kind = {bool: 'true or false', float: 'a number', int: 'a whole number'}.get(
            type(self.default), 'a string'
        )
        if self.low is not None and self.high is not None:
            kind += f' from {self.low:g} to {self.high:g}'
        elif self.low is not None:
            kind += f' of at least {self.low:g}'
        return f'{kind} [{self.unit}]' if self.unit else kind

    def _checked_list(self, value: Any) -> tuple[str, ...]:
        if isinstance(value, str) or not isinstance(value, Sequence):
            raise self._refusal(value)
        if not all(isinstance(item, str) for item in value):
            raise self._refusal(value)
        return tuple(value)

    def _refusal(self, value: Any) -> InvalidValueError:
        return InvalidValueError(f'{self.name}: got {value!r}, expected {self.expected()}')


def tunables(cls: type) -> Iterator[Tunable]:
    """Yield the table of a configuration class, in its order."""
    for f in dataclasses.fields(cls):
        m = f.metadata
        yield Tunable(
            f.name,
            f.default,
            m['meaning'],
            m['unit'],
            m['low'],
            m['high'],
            m['choices'],
            m['read_only'],
        )


def check(config: Any) -> None:
    """Convert the values of a configuration to the types of its table; refuse those out of range."""
    for row in tunables(type(config)):
        object.__setattr__(config, row.name, row.checked(getattr(config, row.name)))


def _check_rates(text: str) -> None:
    """Refuse what is not the name of a sensor and two chances, the first one larger."""
    try:
        _, detect, false = text.split()
        if 0 < float(false) < float(detect) <= 1:
            return
    except ValueError:
        pass
    raise InvalidValueError(
        f'detector_rates: got {text!r}, expected the name of a sensor, P(detect) and a smaller '
        'P(false alarm), for example head_camera 0.9 0.01'
    )


@dataclass(frozen=True)
class Config:
    """What the core decides by. Raises InvalidValueError for a value out of its range.

    The arbiter's numbers are those of Chronotope (FEATURES CH-14 to CH-19).
    """

    profile: str = tunable(
        'default',
        'How sightings are judged: ours, or exactly the arithmetic of Chronotope (for comparison).',
        choices=PROFILES,
        read_only=True,
    )
    feature_space: str = tunable(
        '',
        'Name of the embedding model of the features, model@pretrained@dimension. Empty: that of '
        'the file.',
        read_only=True,
    )
    dilation_m: float = tunable(
        0.25,
        'An object is a candidate when its box, grown by this, overlaps the detection.',
        unit='m',
        low=0.0,
        high=5.0,
    )
    geometry_range_m: float = tunable(
        0.5,
        'Distance of the centres at which the geometry term reaches zero.',
        unit='m',
        low=0.01,
        high=10.0,
    )
    geometry_weight: float = tunable(0.2, 'Weight of the geometry term.', low=0.0, high=1.0)
    iou_weight: float = tunable(0.2, 'Weight of the box overlap term.', low=0.0, high=1.0)
    feature_weight: float = tunable(0.5, 'Weight of the feature term.', low=0.0, high=1.0)
    label_weight: float = tunable(
        0.1, 'Weight of the label term; the four weights sum to 1.', low=0.0, high=1.0
    )
    merge_score: float = tunable(
        0.62, 'A detection joins the best candidate from this score on.', low=0.0, high=1.0
    )
    create_score: float = tunable(
        0.3,
        'Without a candidate, a detector score from here on makes a new object.',
        low=0.0,
        high=1.0,
    )
    blend: float = tunable(
        0.2, 'Share of the new sighting in the running position and feature.', low=0.0, high=1.0
    )
    position_sigma_m: float = tunable(
        0.02,
        'Position noise of a detection that brings no covariance.',
        unit='m',
        low=0.0,
        high=5.0,
    )
    noise_aware: bool = tunable(
        True, 'Distances and box overlaps are judged by what position noise explains.'
    )
    learn_noise: bool = tunable(
        True, 'The noise of a sensor that gives no covariance is learned from what it sees again.'
    )
    size_gate: bool = tunable(
        True, 'An object further away than noise and its size explain is no candidate.'
    )
    shared_shift: bool = tunable(
        True, 'A displacement that most things of a view share is a localisation error.'
    )
    shift_limit_m: float = tunable(
        0.75, 'Largest shared displacement that is looked for.', unit='m', low=0.0, high=5.0
    )
    shift_min_m: float = tunable(
        0.03,
        'Shared displacements under this are left to the running mean.',
        unit='m',
        low=0.0,
        high=5.0,
    )
    fold_duplicates: bool = tunable(
        True, 'Of several boxes of one thing in one view only the strongest counts.'
    )
    fold_iou: float = tunable(
        0.5, 'Two boxes of a label that share this much of their union are of one thing.',
        low=0.01, high=1.0,
    )  # fmt: skip
    confirm_looks: int = tunable(
        2, 'Independent looks after which a tentative object is confirmed.', low=1, high=100
    )
    look_distance_m: float = tunable(
        0.3,
        'A sensor that moved this far gives an independent look at once.',
        unit='m',
        low=0.0,
        high=100.0,
    )
    look_angle_deg: float = tunable(
        15.0,
        'A sensor that turned this far gives an independent look at once.',
        unit='deg',
        low=0.0,
        high=180.0,
    )
    look_gap_s: float = tunable(
        1.0,
        'After this long a look from the same place is independent too.',
        unit='s',
        low=0.0,
        high=3600.0,
    )
    version_distance_m: float = tunable(
        0.05,
        'The centre or a box side changing by this much since the last version is an UPDATED '
        'change; of a long side, by a tenth of it.',
        unit='m',
        low=0.001,
        high=10.0,
    )
    label_margin: float = tunable(
        1.2,
        'A label replaces the current one when it has this many times its evidence.',
        low=1.0,
        high=100.0,
    )
    feature_keep_first: int = tunable(
        5, "The features of an object's first sightings that are kept.", low=0, high=1000
    )
    feature_keep_cosine: float = tunable(
        0.02,
        "Later features are kept when they move the object's feature by more than this cosine.",
        low=0.0,
        high=2.0,
    )
    labels_file: str = tunable(
        '',
        'YAML file with what is known of classes: half-life, mobility, size; ~ is expanded. Empty: '
        'the one of the package, data/labels.yaml.',
    )
    visit_gap_s: float = tunable(
        300.0,
        'A visit ends where there is no view for so long; see ~/what_changed.',
        unit='s',
        low=1.0,
        high=1e7,
    )
    presence: bool = tunable(
        True, 'What should have been seen and was not becomes doubtful, then absent.'
    )
    motion: bool = tunable(True, 'A thing that is found elsewhere keeps its identity: MOVED.')
    moved_distance_m: float = tunable(
        0.05, 'A shorter way is none: the place was not known better.', unit='m', low=0.0, high=10.0
    )
    same_probability: float = tunable(
        0.6, 'What is found elsewhere is what was lost if that is as probable.', low=0.0, high=1.0
    )
    novelty: float = tunable(
        0.02,
        'How often what is found is new, beside how often it is a thing of its label that left.',
        low=0.0,
        high=1.0,
    )
    same_cosine: float = tunable(
        0.85, 'Features less alike than this are of two things.', low=0.0, high=1.0
    )
    detect_probability: float = tunable(
        0.9, 'Chance that a detector shows what it could see.', low=0.5, high=1.0
    )
    false_probability: float = tunable(
        0.01, 'Chance that a detector shows a thing where it is no more.', low=1e-6, high=0.4
    )
    detector_rates: tuple[str, ...] = tunable(
        (), 'Both chances for some sensors, for example head_camera 0.95 0.001.'
    )
    visible_share: float = tunable(
        0.5, 'Without depth, chance that nothing hides what is in view.', low=0.01, high=1.0
    )
    through_if_there: float = tunable(
        0.05, 'Chance that depth sees through a thing that is there.', low=1e-6, high=0.4
    )
    through_if_gone: float = tunable(
        0.9, 'Chance that depth sees through where a thing is no more.', low=0.5, high=1.0
    )
    not_found_if_there: float = tunable(
        0.02,
        'Chance that the robot reports not_found of a thing that is there.',
        low=1e-6,
        high=0.4,
    )
    depth_tolerance_m: float = tunable(
        0.03, 'Depth that differs by less shows the thing itself.', unit='m', low=0.0, high=1.0
    )
    localization_limit_m: float = tunable(
        0.25,
        'A view whose localisation is worse, by its covariance, says nothing of what it misses.',
        unit='m',
        low=0.0,
        high=100.0,
    )
    absent_presence: float = tunable(
        0.1, 'An object is absent when its presence is below.', low=0.001, high=1.0
    )
    absent_misses: int = tunable(
        2, 'Independent looks that must have missed it for that.', low=2, high=100
    )
    antonyms: tuple[str, ...] = tunable(
        ('open closed', 'on off', 'full empty', 'left right'),
        'Pairs of words; things whose labels differ only by such a pair are never one.',
    )
    ignored_labels: tuple[str, ...] = tunable((), 'Detections with these labels are ignored.')
    track_mobile: bool = tunable(
        False, 'Follow mobile things (people, animals, robots) while they are in sight.'
    )
    track_s: float = tunable(
        5.0, 'A track that is not seen lasts so long.', unit='s', low=0.1, high=600.0
    )
    near_m: float = tunable(
        0.6,
        'Objects whose centres are this close are near each other.',
        unit='m',
        low=0.0,
        high=100.0,
    )
    on_gap_m: float = tunable(
        0.08,
        'Largest gap between the top of one box and the bottom of what is on it.',
        unit='m',
        low=0.0,
        high=5.0,
    )
    beside_m: float = tunable(
        0.25,
        'Objects that stand side by side are beside each other up to this gap.',
        unit='m',
        low=0.0,
        high=100.0,
    )
    against_m: float = tunable(
        0.06,
        'A thing stands against another, larger one up to this gap.',
        unit='m',
        low=0.0,
        high=5.0,
    )
    restore_looks: int = tunable(
        5, 'Independent looks at a forgotten thing that bring it back.', low=1, high=1000
    )
    restore_score: float = tunable(
        0.7, 'Mean detector score that these looks must exceed.', low=0.0, high=1.0
    )
    max_future_s: float = tunable(
        5.0,
        'A view stamped further ahead of the clock is refused.',
        unit='s',
        low=0.0,
        high=86400.0,
    )
    assert_confidence: float = tunable(
        0.7, 'An answer in words that is less probable says that it is not sure.', low=0.0, high=1.0
    )
    utc_offset_h: float = tunable(
        0.0, 'Hours that local time is ahead of UTC, for where «yesterday» begins.', unit='h',
        low=-14.0, high=14.0,
    )  # fmt: skip
    max_age_s: float = tunable(
        600.0,
        'A view stamped this long before the newest one is refused; 0: never.',
        unit='s',
        low=0.0,
        high=1e9,
    )
    busy_wait_s: float = tunable(
        5.0,
        'How long a write waits while another program holds the lock of the file.',
        unit='s',
        low=0.0,
        high=600.0,
    )
    working_notes: int = tunable(
        64,
        'Most notes in working memory, which no file keeps; beyond, the oldest goes.',
        low=1,
        high=100000,
    )
    durability: str = tunable(
        'process',
        'What a commit survives: the death of the process, or a power cut.',
        choices=DURABILITIES,
        read_only=True,
    )

    def __post_init__(self) -> None:
        check(self)
        weights = self.weights
        if abs(sum(weights) - 1.0) > 1e-6:
            raise InvalidValueError(
                f'geometry_weight, iou_weight, feature_weight, label_weight: got {weights}, '
                f'which sum to {sum(weights):g}, expected a sum of 1'
            )
        for text in self.detector_rates:
            _check_rates(text)
        for pair in self.antonyms:
            if len(set(pair.casefold().split())) != 2 or len(pair.split()) != 2:
                raise InvalidValueError(
                    f'antonyms: got {pair!r}, expected two different words, for example open closed'
                )

    @property
    def weights(self) -> tuple[float, float, float, float]:
        """Of the terms, in the arbiter's order."""
        return self.geometry_weight, self.iou_weight, self.feature_weight, self.label_weight

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Config:
        """Build from a mapping; an unknown name raises InvalidValueError."""
        names = {row.name for row in tunables(cls)}
        unknown = sorted(set(values) - names)
        if unknown:
            raise InvalidValueError(f'no such setting: {", ".join(unknown)}')
        return cls(**values)


@dataclass(frozen=True)
class NodeConfig:
    """What only the ROS node needs."""

    database: str = tunable(
        '',
        'File of the memory; ~ is expanded. Empty: spatial_memory.db in ROS_HOME (~/.ros), for a '
        'node in a namespace in a folder of that name below it.',
        read_only=True,
    )
    recover: bool = tunable(
        False,
        'Set a damaged file aside under a new name and start empty, instead of refusing to start.',
        read_only=True,
    )
    map_frame: str = tunable('map', 'Frame in which everything is remembered.', read_only=True)
    map_id: str = tunable('', 'Identity of the map, stored with every view.', read_only=True)
    regions_file: str = tunable(
        '',
        'YAML file with regions that are made so at the start; ~ is expanded. Empty: none.',
        read_only=True,
    )
    notes_sync_s: float = tunable(
        5.0,
        'How often it is looked whether somebody edited the journal of notes; 0: at the start only.',
        unit='s',
        low=0.0,
        high=86400.0,
        read_only=True,
    )
    autostart: bool = tunable(
        True, 'Configure and activate at start; false under a lifecycle manager.', read_only=True
    )
    transform_wait_s: float = tunable(
        0.5,
        'How long a view waits for its transform before it is given up.',
        unit='s',
        low=0.0,
        high=60.0,
    )
    depth_wait_s: float = tunable(
        0.1,
        'How long a view waits for the depth image of its time before it is judged without.',
        unit='s',
        low=0.0,
        high=10.0,
    )
    depth_tolerance_s: float = tunable(
        0.02,
        'A depth image belongs to a view when their stamps differ by no more.',
        unit='s',
        low=0.0,
        high=1.0,
    )
    camera_min_range_m: float = tunable(
        0.2,
        'From here on a camera sees things, where views declare no field of view.',
        unit='m',
        low=0.0,
        high=0.5,
    )
    camera_max_range_m: float = tunable(
        4.0,
        'Up to here a camera sees things, where views declare no field of view.',
        unit='m',
        low=0.6,
        high=1000.0,
    )
    stamp_policy: str = tunable(
        'refuse',
        'What becomes of a view stamped zero or more than max_future_s ahead of the clock: refuse '
        'it, or take the time at which it was received for its stamp.',
        choices=STAMP_POLICIES,
    )
    queue_size: int = tunable(
        200,
        'Views waiting to be judged; beyond, the oldest is dropped and counted.',
        low=1,
        high=100000,
        read_only=True,
    )
    sensors: tuple[str, ...] = tunable(
        (),
        'Sensors that have topics of their own: NAME/detections, NAME/detections_vision, '
        'NAME/camera_info and NAME/depth, beside those without a name.',
        read_only=True,
    )
    class_names_file: str = tunable(
        '',
        'YAML file with the names of the class ids on detections_vision, for example 56: chair; '
        '~ is expanded. Empty: the ids are the names.',
        read_only=True,
    )
    answer_url: str = tunable(
        '',
        'OpenAI-compatible endpoint of a language model that ~/ask and ~/reflect may ask with '
        'use_model, for example http://localhost:8080/v1. Empty: none, and nothing is ever sent.',
    )  # fmt: skip
    answer_model: str = tunable('', 'Name of the model there.')
    answer_key_file: str = tunable(
        '', 'File with the key of the endpoint; ~ is expanded. Empty: none.'
    )
    answer_timeout_s: float = tunable(
        20.0, 'How long the model may take.', unit='s', low=0.1, high=600.0
    )
    scene_max_objects: int = tunable(
        2000, 'Objects on ~/scene and ~/objects_vision, those of the lowest ids.', low=1,
        high=100000,
    )  # fmt: skip
    marker_max_objects: int = tunable(
        2000, 'Objects that are shown on ~/markers, those of the lowest ids.', low=1, high=100000
    )
    marker_relations: bool = tunable(
        False, 'Show relations on ~/markers too, as lines between the objects.'
    )

    def __post_init__(self) -> None:
        check(self)
