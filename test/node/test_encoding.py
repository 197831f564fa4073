# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""~/query by what things look like, with a model that loads beside, and without one (C33, C36)."""

from __future__ import annotations

import sys
import time

import pytest
from clip_kit import make_model
from node_kit import detection, wait_for

from memory_node.perception.encoder import OpenClipEncoder
from memory_node.perception.settings import EncoderConfig

START_S = 10.0
MISSING = 'pip install open-clip-torch'


def test_texts_find_what_looks_so(robot, run_node, tmp_path):
    folder = str(make_model(tmp_path / 'tiny'))
    encoder = OpenClipEncoder(EncoderConfig(encoder_model=folder))
    run_node({'encoder_model': folder})
    robot.wait_ready()
    look = encoder.texts(['corkscrew'])[0].tolist()
    robot.wait_acknowledged(
        robot.see(detection('gadget', feature=look), feature_space=encoder.name)
    )
    wait_for(lambda: not robot.call('query', text='corkscrew').message, what='the encoder')
    [hit] = robot.call('query', text='corkscrew').hits
    assert hit.object.label == 'gadget'
    wait_for(lambda: 'look like too' in robot.status('encoder').message, what='the status')


def test_c33_another_model_is_refused_with_both_names(robot, run_node, tmp_path, log):
    folder = str(make_model(tmp_path / 'tiny'))
    run_node({'encoder_model': folder, 'feature_space': 'other@weights@4'})
    robot.wait_ready()
    seen = detection('gadget', feature=[1.0, 0.0, 0.0, 0.0])
    robot.wait_acknowledged(robot.see(seen, feature_space='other@weights@4'))
    log.wait('semantic search is off: encoder: got')
    reply = robot.call('query', text='gadget')
    assert len(reply.hits) == 1
    assert 'tiny@' in reply.message and 'other@weights@4' in reply.message


def test_c36_without_open_clip_it_starts_at_once_and_says_once_what_is_off(
    robot, run_node, monkeypatch, log
):
    monkeypatch.setitem(sys.modules, 'open_clip', None)
    started = time.monotonic()
    run_node({'encoder_model': 'ViT-B-32', 'encoder_weights': 'laion2b_s34b_b79k'})
    robot.wait_ready()
    assert time.monotonic() - started < START_S
    robot.wait_acknowledged(robot.see(detection('cup')))
    assert len(log.wait(MISSING)) == 1
    reply = robot.call('query', text='cup')
    assert [hit.object.label for hit in reply.hits] == ['cup']
    assert reply.message.startswith('semantic search is off') and MISSING in reply.message
    wait_for(lambda: MISSING in robot.status('encoder').message, what='the status')


def test_c36_weights_that_are_not_there_are_not_fetched(robot, run_node, log):
    pytest.importorskip('torch', reason='needs PyTorch: scripts/env --with clip')
    from clip_kit import import_open_clip

    import_open_clip()
    run_node({'encoder_model': 'ViT-B-32', 'encoder_weights': 'laion2b_s34b_b79k'})
    robot.wait_ready()
    log.wait('encoder_network is false')
    assert 'encoder_network is false' in robot.call('query', text='cup').message
