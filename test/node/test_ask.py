# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Questions in words over the service, and each bad value with its error code."""

from __future__ import annotations

import pytest
from asking_kit import CUP, MUG, TABLE, Asking
from geometry_msgs.msg import PoseStamped
from model_server import ModelServer
from node_kit import detection


@pytest.fixture
def ask(robot, run_node):
    """A running node to ask: see Asking."""
    return Asking(robot, run_node())


def facing(x=0.0, y=0.0, w=0.0, frame='map'):
    """Where whoever asks stands; all zeros: looks along x."""
    pose = PoseStamped()
    pose.header.frame_id = frame
    pose.pose.position.x, pose.pose.position.y, pose.pose.orientation.w = x, y, w
    return pose


def test_questions_are_answered_with_confidence_and_citations(ask):
    ask.look(CUP, TABLE, MUG, detection('DogBed', (0.0, 3.0, 0.1)))
    reply = ask('ask', text='Where is the cup?')
    number = ask.ids(text='cup')[0]
    assert reply.certain and reply.confidence > 0.9
    assert reply.kind == 'where' and "of 'cup'" in reply.reading
    assert number in reply.citations and f'cup [#{number}] is on the table' in reply.answer
    assert reply.hits[0].object.id == number
    assert {t.name: t.value for t in reply.hits[0].terms}['certain'] == 1.0
    assert reply.header.frame_id == 'map' and not reply.by_model and not reply.refusal

    reply = ask('ask', text='is there a dog?')
    assert not reply.certain and 'Similar, not certain: DogBed' in reply.answer
    assert {t.name: t.value for t in reply.hits[0].terms}['certain'] == 0.0

    reply = ask('ask', text='where is the unicorn?')
    assert not reply.certain and reply.answer.startswith('I do not know')

    reply = ask('ask', text='why is the sky blue?')
    assert not reply.certain and reply.refusal and reply.kind == 'unread'


def test_sides_are_those_of_whoever_asks(ask):
    ask.look(CUP, TABLE, detection('DogBed', (0.0, 3.0, 0.1)))
    assert ask('ask', text='what is on my left?').refusal
    assert 'DogBed' in ask('ask', text='what is on my left?', pose=facing()).answer
    assert 'DogBed' in ask('ask', text='what is on my right?', pose=facing(0.0, 6.0)).answer
    assert 'DogBed' not in ask('ask', text='what is behind me?', pose=facing(0.0, 6.0)).answer
    ask.refused('ask', 'NO_TRANSFORM', text='what is near me?', pose=facing(frame='nowhere'))


@pytest.mark.parametrize(
    ('fields', 'code'),
    [
        ({'text': ''}, 'INVALID_REQUEST'),
        ({'text': ' \n\t'}, 'INVALID_REQUEST'),
        ({'text': 'x' * 100_000}, 'INVALID_REQUEST'),
        ({'text': 'where is it?', 'limit': -1}, 'INVALID_REQUEST'),
        ({'text': 'where is it?', 'limit': 10**9}, 'INVALID_REQUEST'),
        ({'text': 'where is it?', 'use_model': True}, 'INVALID_REQUEST'),
        ({'text': 'where is it?', 'pose': facing(float('nan'))}, 'INVALID_REQUEST'),
    ],
)
def test_bad_requests_are_refused(ask, fields, code):
    ask.refused('ask', code, **fields)


def test_a_query_by_text_says_why_it_goes_by_words_only(ask):
    ask.look(CUP)
    reply = ask('query', text='cup')
    assert reply.message == 'semantic search is off: there is no encoder of texts'
    assert ask('query').message == ''


def test_a_model_is_asked_last_and_only_if_both_sides_say_so(robot, run_node):
    with ModelServer('The cup [#1] could hold tea.') as server:
        ask = Asking(robot, run_node({'answer_url': server.url}))
        ask.look(CUP)
        assert not ask('ask', text='where is the cup?', use_model=True).by_model
        assert ask('ask', text='what can I use to drink tea?').refusal
        assert not server.requests
        reply = ask('ask', text='what can I use to drink tea?', use_model=True)
        assert reply.by_model and not reply.certain and list(reply.citations) == [1]
        assert len(server.requests) == 1
