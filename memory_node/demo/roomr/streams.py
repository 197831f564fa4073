# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What a memory is shown in one episode, and the truth that is kept from it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from memory_node.demo.roomr import sensor
from memory_node.demo.roomr.keyed import Draws, Keys, object_keys
from memory_node.demo.roomr.rooms import Tour
from memory_node.demo.roomr.sensor import SensorModel, Stand
from memory_node.demo.roomr.world import Boxes, Episode, Scene, stack
from memory_node.model import Detection, Floats, Pose, Triple, View

START_NS = 1_700_000_000 * 10**9
VIEW_STEP_NS = 2 * 10**9
VISIT_GAP_NS = 24 * 3600 * 10**9
FALSE_ALARM = -1
VISITS = (1, 2)

Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Shown:
    """A view for the memory, and beside it what the memory is not told.

    Attributes:
        visit: 1 or 2.
        index: number of the look in its visit, from 0.
        stand: true pose of the sensor.
        view: what the memory is shown; boxes are map-aligned.
        things: (D,) true thing of each detection, -1 for a false alarm.
    """

    visit: int
    index: int
    stand: Stand
    view: View
    things: Counts


@dataclass(frozen=True, eq=False)
class Truth:
    """Things of one episode: furniture first, then what can be carried. Rows are things.

    Attributes:
        small: can be carried.
        visits: boxes at visit 1 and at visit 2, map.
        displacement_m: metres between the two.
        removed: taken away before visit 2.
        visible: (2, N) number of views of each visit in which the thing can be seen.
        detected: (2, N) number of its detections in each visit.
        old_place_visible: number of views of visit 2 in which no furniture hides its place of
            visit 1.
        old_place_clear: the same, and no carried thing hides it either.
    """

    episode_id: str
    names: list[str]
    labels: list[str]
    small: npt.NDArray[np.bool_]
    visits: tuple[Boxes, Boxes]
    displacement_m: Floats
    removed: npt.NDArray[np.bool_]
    visible: Counts
    detected: Counts
    old_place_visible: Counts
    old_place_clear: Counts


@dataclass(frozen=True, eq=False)
class _Things:
    """Furniture and carried things as one list."""

    names: list[str]
    labels: list[str]
    keys: Keys
    visits: tuple[Boxes, Boxes]
    furniture: int
    removed: npt.NDArray[np.bool_]
    features: Floats | None


@dataclass(frozen=True, eq=False)
class _Visit:
    """One visit: what is where, what is closed, and how far off the localisation is."""

    number: int
    boxes: Boxes
    present: npt.NDArray[np.bool_]
    closed: Boxes
    offset_m: Floats


class EpisodeStream:
    """Iterate to get the `Shown` views of both visits; `truth` is complete after that.

    Views bring no depth image yet; what a camera would need to draw one (the scene's shell and
    occluders, the closed containers and the carried things of the visit) is at hand in `_look`.
    """

    def __init__(
        self, scene: Scene, episode: Episode, tour: Tour, model: SensorModel, seed: int
    ) -> None:
        self._scene, self._episode, self._tour, self._model = scene, episode, tour, model
        self._context = (seed, episode.id)
        self._things = _gather(scene, episode, model, Draws(*self._context))
        self._forget_counts()

    def _forget_counts(self) -> None:
        count = (2, len(self._things.names))
        self._visible, self._detected = np.zeros(count, dtype=int), np.zeros(count, dtype=int)
        self._old_place = np.zeros(count, dtype=int)

    def __iter__(self) -> Iterator[Shown]:
        self._forget_counts()
        for number in VISITS:
            yield from self._looks(number)

    def visit(self, number: int) -> list[Shown]:
        """Return the views of one visit (1 or 2); `truth` then counts this visit alone."""
        self._forget_counts()
        return list(self._looks(number))

    def _looks(self, number: int) -> Iterator[Shown]:
        visit = self._visit(number)
        for k, stand in enumerate(self._tour[number - 1]):
            yield self._look(visit, k, stand)

    @property
    def truth(self) -> Truth:
        """Of the views that have been made."""
        things, episode = self._things, self._episode
        still = np.zeros(things.furniture)
        return Truth(
            episode_id=episode.id,
            names=things.names,
            labels=things.labels,
            small=np.arange(len(things.names)) >= things.furniture,
            visits=things.visits,
            displacement_m=np.concatenate([still, episode.displacement_m]),
            removed=things.removed,
            visible=self._visible,
            detected=self._detected,
            old_place_visible=self._old_place[0],
            old_place_clear=self._old_place[1],
        )

    def _visit(self, number: int) -> _Visit:
        things, scene = self._things, self._scene
        boxes = things.visits[number - 1]
        closed = scene.containers[scene.closed(self._episode.openness[number - 1])]
        present = ~sensor.hidden_in_container(boxes.center, closed)
        present[: things.furniture] = True
        offset = np.zeros(3)
        if number == 2:
            present &= ~things.removed
            draws = Draws(*self._context)
            offset = draws.normal('offset', np.zeros(1, dtype=np.uint64))[0] * self._model.offset_m
        return _Visit(number, boxes, present, closed, offset)

    def _look(self, visit: _Visit, index: int, stand: Stand) -> Shown:
        scene, model, things = self._scene, self._model, self._things
        draws = Draws(*self._context, visit.number, index)
        centers = visit.boxes.center
        seen = sensor.visible(model, stand, centers, scene.occluders) & visit.present
        found = np.flatnonzero(seen & (draws.uniform('detect', things.keys)[:, 0] < model.p_detect))
        self._visible[visit.number - 1] += seen
        self._detected[visit.number - 1][found] += 1
        if visit.number == 2:
            carried = visit.boxes[things.furniture :][visit.present[things.furniture :]]
            self._old_place += self._sees_old_place(visit, stand, carried)
        detections, ids = self._detections(visit, draws, stand, found)
        view = View(
            stamp_ns=START_NS + (visit.number - 1) * VISIT_GAP_NS + index * VIEW_STEP_NS,
            detections=detections,
            sensor_pose=Pose(
                _triple(np.array(stand.position_m) + visit.offset_m), stand.orientation_xyzw
            ),
            field_of_view=model.field_of_view,
            localization_cov=_localization_cov(model.offset_m),
        )
        return Shown(visit.number, index, stand, view, ids)

    def _sees_old_place(self, visit: _Visit, stand: Stand, carried: Boxes) -> npt.NDArray[np.bool_]:
        """(2, N) bool: the place of visit 1 is not hidden by furniture; nor by a carried thing."""
        things = self._things
        places = things.visits[0].center
        seen = sensor.visible(self._model, stand, places, self._scene.occluders)
        shut = sensor.hidden_in_container(places, visit.closed)
        shut[: things.furniture] = False
        seen &= ~shut
        blocked = sensor.occluded(np.array(stand.position_m), places, carried)
        return np.stack([seen, seen & ~blocked & ~carried.contain(places).any(axis=1)])

    def _detections(
        self, visit: _Visit, draws: Draws, stand: Stand, found: Counts
    ) -> tuple[tuple[Detection, ...], Counts]:
        """True detections and false alarms, in an order that says nothing."""
        detections = self._true_detections(visit, draws, found)
        false = self._false_alarms(visit, draws, stand)
        ids = np.concatenate([found, np.full(len(false), FALSE_ALARM)]).astype(int)
        keys = np.concatenate([self._things.keys[found], _alarm_keys(len(false))])
        order = np.argsort(draws.uniform('order', keys)[:, 0], kind='stable')
        both = detections + false
        return tuple(both[i] for i in order), ids[order]

    def _true_detections(self, visit: _Visit, draws: Draws, found: Counts) -> list[Detection]:
        model, things = self._model, self._things
        keys = things.keys[found]
        noise = draws.normal('position', keys) * model.sigma_m
        centers = visit.boxes.center[found] + noise + visit.offset_m
        scale = np.exp(draws.normal('size', keys) * model.size_noise)
        labels = [things.labels[i] for i in found]
        wrong = draws.uniform('label', keys, 2)
        for k in np.flatnonzero(wrong[:, 0] < model.wrong_label):
            labels[k] = _pick([n for n in self._scene.labels if n != labels[k]], wrong[k, 1])
        features = None
        if things.features is not None:
            features = sensor.detection_features(draws, things.features[found], keys)
        sizes = visit.boxes.size[found] * scale
        return self._pack(draws, keys, labels, centers, sizes, features)

    def _false_alarms(self, visit: _Visit, draws: Draws, stand: Stand) -> list[Detection]:
        """Random label, box of 5 to 40 cm, anywhere in the view up to 4.5 m deep."""
        model = self._model
        keys = _alarm_keys(draws.poisson('false alarms', model.false_alarms))
        if not len(keys):
            return []
        u = draws.uniform('false alarm', keys, 7)
        z = 0.3 + 4.2 * u[:, 0]
        x = (2 * u[:, 1] - 1) * np.tan(model.horizontal_rad / 2) * z
        y = (2 * u[:, 2] - 1) * np.tan(model.vertical_rad / 2) * z
        centers = np.stack([x, y, z], axis=1) @ stand.rotation.T + np.array(stand.position_m)
        labels = [_pick(self._scene.labels, value) for value in u[:, 3]]
        features = None
        if model.features:
            things = sensor.thing_features(draws, labels, keys)
            features = sensor.detection_features(draws, things, keys)
        sizes = 0.05 + 0.35 * u[:, 4:7]
        return self._pack(draws, keys, labels, centers + visit.offset_m, sizes, features)

    def _pack(
        self,
        draws: Draws,
        keys: Keys,
        labels: Sequence[str],
        centers: Floats,
        sizes: Floats,
        features: npt.NDArray[np.float32] | None,
    ) -> list[Detection]:
        """The score is uniform in 0.5 to 1 and carries no information."""
        scores = 0.5 + 0.5 * draws.uniform('score', keys)[:, 0]
        covariance = np.eye(3) * self._model.sigma_m**2
        return [
            Detection(
                label=label,
                score=float(scores[k]),
                center_m=_triple(centers[k]),
                size_m=_triple(sizes[k]),
                position_cov=covariance,
                feature=None if features is None else features[k],
            )
            for k, label in enumerate(labels)
        ]


def _gather(scene: Scene, episode: Episode, model: SensorModel, draws: Draws) -> _Things:
    names = scene.furniture_names + episode.names
    labels = scene.furniture_labels + episode.labels
    keys = object_keys(names)
    fixed = len(scene.furniture_names)
    return _Things(
        names=names,
        labels=labels,
        keys=keys,
        visits=(
            stack([scene.furniture, episode.visit_1]),
            stack([scene.furniture, episode.visit_2]),
        ),
        furniture=fixed,
        removed=np.concatenate([np.zeros(fixed, dtype=bool), episode.removed]),
        features=sensor.thing_features(draws, labels, keys) if model.features else None,
    )


def _localization_cov(sigma_m: float) -> Floats | None:
    """(6, 6) covariance of a sensor pose that is off by sigma_m along each axis."""
    if sigma_m == 0.0:
        return None
    return np.diag([sigma_m**2] * 3 + [0.0] * 3)


def _alarm_keys(count: int) -> Keys:
    return object_keys([f'false alarm {k}' for k in range(count)])


def _pick(labels: Sequence[str], u: float) -> str:
    return labels[min(int(u * len(labels)), len(labels) - 1)]


def _triple(row: Floats) -> Triple:
    return float(row[0]), float(row[1]), float(row[2])
