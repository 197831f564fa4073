# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Objects as markers: what a viewer is told, and that it ends up showing what there is."""

from __future__ import annotations

import math

import pytest

pytest.importorskip('visualization_msgs')

from builtin_interfaces.msg import Time
from hypothesis import given
from hypothesis import strategies as st
from viewer import Viewer, require_valid
from visualization_msgs.msg import Marker, MarkerArray

from memory_node import Detection, SpatialMemory, View
from memory_node.config import NodeConfig
from memory_node.model import IDENTITY, MemoryObject, Relation, State
from memory_node.ros import markers as m

STAMP = Time(sec=7)


def thing(number=1, label='cup', center=(1.0, 2.0, 3.0), size=(0.1, 0.1, 0.2), turn=IDENTITY,
          state=State.CONFIRMED):  # fmt: skip
    return MemoryObject(number, label, {label: 1.0}, state, center, turn, size, 0.9, 2, 1, 2)


def shown(picture):
    viewer = Viewer()
    viewer.take(MarkerArray(markers=[m.marker(k, f, 'map', STAMP) for k, f in picture.items()]))
    return viewer


def test_an_object_is_a_box_with_its_label_above():
    picture = m.figures_of(thing(12, 'coffee mug'), 3)
    viewer = shown(picture)
    (box,), (text,) = viewer.of(m.BOXES), viewer.of(m.LABELS)
    assert (box.type, box.id, text.id) == (Marker.CUBE, 3, 3)
    assert (box.pose.position.x, box.pose.position.y, box.pose.position.z) == (1.0, 2.0, 3.0)
    assert (box.scale.x, box.scale.y, box.scale.z) == (0.1, 0.1, 0.2)
    assert text.text == 'coffee mug #12'
    assert text.pose.position.z - text.scale.z / 2 > 3.0 + 0.1
    assert box.header.frame_id == 'map'
    assert box.header.stamp.sec == 7
    assert box.frame_locked


def test_c15_what_is_flat_or_of_unknown_extent_has_a_thickness():
    poster = m.figures_of(thing(size=(1.0, 0.0, 0.6)), 1)[m.BOXES, 1]
    assert (poster.kind, poster.scale) == (Marker.CUBE, (1.0, m.THIN_M, 0.6))
    tag = m.figures_of(thing(size=(0.0, 0.0, 0.0)), 1)[m.BOXES, 1]
    assert (tag.kind, tag.scale) == (Marker.SPHERE, (m.DOT_M,) * 3)
    thread = m.figures_of(thing(size=(1e-9, 2.0, 0.0)), 1)[m.BOXES, 1]
    assert thread.scale == (m.THIN_M, 2.0, m.THIN_M)


def test_a_lying_box_has_its_label_above_what_is_highest():
    half = math.sqrt(0.5)
    lying = thing(size=(2.0, 0.1, 0.1), turn=(0.0, half, 0.0, half))
    text = m.figures_of(lying, 1)[m.LABELS, 1]
    assert text.center[2] > 3.0 + 1.0


def test_colours_are_those_of_the_label_and_tentative_is_fainter():
    colors = {m.color_of(f'label {k}') for k in range(100)}
    assert len(colors) > 90
    assert m.color_of('Cup') == m.color_of('cup')
    sure = m.figures_of(thing(), 1)[m.BOXES, 1].color
    guess = m.figures_of(thing(state=State.TENTATIVE), 1)[m.BOXES, 1].color
    assert sure[:3] == guess[:3] == m.color_of('cup')
    assert 0.0 < guess[3] < sure[3] <= 1.0


@pytest.mark.parametrize('state', [State.ABSENT, State.HELD])
def test_what_is_not_at_its_place_is_grey_and_faint(state):
    gone = m.figures_of(thing(state=state), 1)[m.BOXES, 1].color
    assert len(set(gone[:3])) == 1 and gone[3] == m.FAINT


@pytest.mark.parametrize('number', [math.nan, math.inf, -math.inf, 1e300])
def test_what_no_viewer_can_show_is_left_out(number):
    assert m.figures_of(thing(center=(number, 0.0, 0.0)), 1) == {}
    assert m.figures_of(thing(size=(0.1, abs(number), 0.1)), 1) == {}
    far = thing(2, center=(number, 0.0, 0.0))
    related = [Relation(1, 'on', 2, 1.0)]
    assert m.lines_of(related, {1: thing(1), 2: far}, int) == {}


@pytest.mark.parametrize('turn', [(0.0,) * 4, (math.nan, 0.0, 0.0, 1.0), (0.0, 0.0, 2.0, 2.0)])
def test_quaternions_are_of_unit_length_whatever_comes(turn):
    for figure in m.figures_of(thing(turn=turn), 1).values():
        assert abs(math.hypot(*figure.turn) - 1.0) < 1e-9


def test_ids_of_any_size_get_numbers_that_fit_and_stay():
    number = m.Numbers()
    ids = [2**63 - 1, 1, 2**40, 7]
    first = [number(i) for i in ids]
    assert len(set(first)) == 4
    assert all(0 < n < 2**31 for n in first)
    assert [number(i) for i in reversed(ids)] == first[::-1]


def test_relations_are_lines_drawn_once():
    cup, table, spoon = thing(1), thing(2, 'table', (1, 2, 2)), thing(3, 'spoon', (1, 2, 3.1))
    objects = {o.id: o for o in (cup, table, spoon)}
    picture = m.lines_of([
        Relation(1, 'on', 2, 0.9), Relation(2, 'under', 1, 0.9),
        Relation(1, 'near', 3, 0.9), Relation(3, 'near', 1, 0.9),
        Relation(3, 'part_of', 1, 1.0, stated=True),
        Relation(1, 'on', 99, 0.9),
    ], objects, int)  # fmt: skip
    assert {key: figure.points for key, figure in picture.items()} == {
        ('relations on', 1): (cup.center_m, table.center_m),
        ('relations near', 1): (cup.center_m, spoon.center_m),
        ('relations stated', 3): (spoon.center_m, cup.center_m),
    }
    assert len(shown(picture).shown) == 3


def test_a_difference_holds_what_changed_and_nothing_else():
    before = {**m.figures_of(thing(1), 1), **m.figures_of(thing(2), 2)}
    after = {**m.figures_of(thing(1), 1), **m.figures_of(thing(3, center=(0, 0, 0)), 3)}
    changed, gone = m.difference(before, after)
    assert set(changed) == {(m.BOXES, 3), (m.LABELS, 3)}
    assert set(gone) == {(m.BOXES, 2), (m.LABELS, 2)}
    assert m.difference(before, dict(before)) == ({}, [])
    moved = m.figures_of(thing(1, center=(1.0, 2.0, 3.1)), 1)
    assert set(m.difference(m.figures_of(thing(1), 1), moved)[0]) == set(moved)


objects = st.builds(
    thing,
    st.integers(1, 6),
    st.sampled_from(['cup', 'Cup', 'table', 'x' * 120, '椅子', '\ud800?']),
    st.tuples(*[st.floats(-10, 10)] * 3),
    st.tuples(*[st.sampled_from([0.0, 1e-12, 0.3, 5.0])] * 3),
    st.tuples(*[st.floats(-1, 1)] * 4),
    st.sampled_from([State.TENTATIVE, State.CONFIRMED]),
)


@given(st.lists(st.lists(objects, max_size=6), max_size=6))
def test_c37_a_viewer_that_takes_every_difference_shows_the_last_picture(states):
    viewer, before = Viewer(), {}
    for state in states:
        after = {}
        for obj in state:
            after |= m.figures_of(obj, obj.id)
        changed, gone = m.difference(before, after)
        viewer.take(MarkerArray(markers=[
            *(m.deletion(key, 'map', STAMP) for key in gone),
            *(m.marker(key, figure, 'map', STAMP) for key, figure in changed.items()),
        ]))  # fmt: skip
        before = after
        assert viewer.shown.keys() == after.keys()
        for key, figure in after.items():
            assert viewer.shown[key] == m.marker(key, figure, 'map', STAMP)
    viewer.take(MarkerArray(markers=[m.delete_all('map', STAMP)]))
    assert viewer.shown == {}


def test_a_deletion_is_a_message_a_viewer_takes():
    for message in (m.deletion((m.BOXES, 1), 'map', STAMP), m.delete_all('map', STAMP)):
        assert message.pose.orientation.w == 1.0
    with pytest.raises(AssertionError):
        require_valid(Marker(type=Marker.CUBE))


class Publisher:
    """Node and publisher at once, for a board that is asked for its messages by hand."""

    def create_lifecycle_publisher(self, *_, event_callbacks):
        return self


@given(
    limit=st.integers(1, 4),
    batches=st.lists(
        st.tuples(st.sets(st.integers(1, 6), max_size=3), st.sets(st.integers(1, 6), max_size=4)),
        min_size=1, max_size=5,
    ),
)  # fmt: skip
def test_a_full_picture_stays_full_and_no_fuller_whatever_changes_together(limit, batches):
    viewer = Viewer()
    settings = NodeConfig(marker_max_objects=limit)
    board = m.Markers(Publisher(), lambda: settings, print)
    with SpatialMemory.open(':memory:') as memory:
        seen = tuple(Detection('cup', 0.9, (float(k), 0.0, 0.0)) for k in range(6))
        memory.observe(View(1, detections=seen))
        left = set(range(1, 7))

        def show(ids):
            for message in board._messages(memory, ids):
                viewer.take(message)
            numbers = {int(text.split('#')[1]) for text in viewer.labels()}
            assert numbers <= left
            assert len(numbers) == min(limit, len(left))

        show(None)
        for gone, changed in batches:
            for number in gone & left:
                memory.forget(number)
            left -= gone
            if gone | changed:
                show(gone | changed)
