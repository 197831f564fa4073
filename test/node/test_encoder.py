# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Features from the colour image, over real topics, and the lifting node without a model (C36)."""

from __future__ import annotations

import sys
import time

import numpy as np
import pytest
from clip_kit import DIMENSION, make_model
from lifting_kit import Camera, lifting_node, places
from node_kit import wait_for

pytest.importorskip('open3d', reason='needs Open3D: scripts/env --with perception')

START_S = 10.0


@pytest.fixture
def camera(robot):
    return Camera(robot)


@pytest.fixture
def lift(cleanup, monkeypatch):
    """Run the lifting node in this process: lift(parameter=value, …)."""
    monkeypatch.setattr('memory_node.ros.diagnostics.PERIOD_S', 0.2)
    return lambda **parameters: cleanup.enter_context(lifting_node(**parameters))


def show(camera, second):
    camera.info(second)
    colour = np.zeros((*camera.ids.shape, 3), np.uint8)
    colour[camera.ids == 1], colour[camera.ids == 2] = (200, 0, 0), (0, 0, 200)
    camera.image('color', colour, 'rgb8', second)
    camera.depth(second)
    camera.detected(second)
    return camera.view(second)


def test_detections_get_features_of_their_place_in_the_colour_image(camera, lift, tmp_path):
    lift(encoder_model=str(make_model(tmp_path / 'tiny')))
    camera.wait_matched('depth', 'detections_2d', 'camera_info', 'color')
    camera.wait_state('encoder', 'features of tiny@')
    for second in range(30):
        view = show(camera, second)
        if view.feature_space:
            break
    assert view.feature_space.startswith('tiny@') and view.feature_space.endswith(f'@{DIMENSION}')
    features = np.array([d.feature for d in view.detections])
    assert features.shape == (2, DIMENSION)
    assert np.linalg.norm(features, axis=1) == pytest.approx(1.0, abs=1e-5)
    assert abs(features[0] - features[1]).max() > 1e-3
    camera.depth(100)
    camera.detected(100)  # no colour image is of that time
    assert not camera.view(100).feature_space
    camera.wait_value('refused: color_missing', '1')


@pytest.mark.parametrize('installed', [True, False])
def test_c36_without_a_model_it_starts_at_once_and_says_what_is_off(
    camera, lift, monkeypatch, installed
):
    if installed:
        pytest.importorskip('torch', reason='needs PyTorch: scripts/env --with clip')
        from clip_kit import import_open_clip

        import_open_clip()
    else:
        monkeypatch.setitem(sys.modules, 'open_clip', None)
    started = time.monotonic()
    lift(encoder_model='ViT-B-32', encoder_weights='laion2b_s34b_b79k')
    camera.wait_matched('depth', 'detections_2d', 'camera_info', 'color')
    view = show(camera, 0)
    assert time.monotonic() - started < START_S
    assert set(places(view)) == {'cup', 'box'} and not view.feature_space
    if installed:
        camera.wait_state('encoder', 'no features: encoder_weights: those of')
        camera.wait_state('encoder', 'encoder_network is false')
    else:
        camera.wait_state('encoder', 'Install the extra [clip]: pip install open-clip-torch')
    wait_for(
        lambda: 'no features' in camera.robot.diagnostics['lifting: lifting'].message,
        what='that it is said in the first line',
    )
