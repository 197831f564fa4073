# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Tools for notes: remember, recall, reflect, feedback.

Whose notes is never an argument: see `tools.Toolbox`. What notes say goes out cleaned like labels,
and in a block whose marks no note can write.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from memory_node.agent import plain
from memory_node.agent.arguments import MAX_K, Argument, ToolError
from memory_node.agent.source import ROBOT, USER, Answer, Source, Tool
from memory_node.notes.beliefs import PREDICATES, Belief
from memory_node.notes.calibration import MAX_MEASURE, TERMS, Option
from memory_node.notes.items import Network, Note, NoteKind
from memory_node.notes.notebook import VERDICTS
from memory_node.noting import OPINION_VERDICTS
from memory_node.recall.noted import delimited
from memory_node.recall.wording import harmless

LONGEST = 2000
"""Characters of a note that a model writes or reads."""
SOURCE = 'language model@1'
_KINDS = [kind.value for kind in (NoteKind.EPISODIC, NoteKind.SEMANTIC, NoteKind.SPATIAL)]


def _remember(source: Source, given: Mapping[str, Any]) -> Answer:
    about = [*(given['about'] or ()), *(f'object:{i}' for i in (given['object_id'],) if i)]
    opinion = given['opinion']
    note = Note(
        given['text'], NoteKind(given['kind']), None if opinion is None else Network.OPINION,
        given['key'] or '', entities=about, scope={USER: given[USER], ROBOT: given[ROBOT]},
        confidence=1.0 if opinion is None else opinion, source=SOURCE,
    )  # fmt: skip
    [kept] = source.remember_each([note])
    if not kept.events:
        raise ToolError('the note was refused: expected objects that are known and plain words')
    return {'events': [{'op': e.op.value, 'note_id': e.id} for e in kept.events]}


def _recall(source: Source, given: Mapping[str, Any]) -> Answer:
    found = source.recall_of(given['question'], given[USER], given[ROBOT], limit=given['k'])
    notes = [
        {
            'note_id': item.state.note.id, 'source': item.citation,
            'kind': item.network.value, 'confidence': round(item.state.note.confidence, 3),
            'content': harmless(item.state.note.content, LONGEST),
            'about': [harmless(name) for name in item.state.note.entities[: plain.MOST]],
            'from_s': _seconds(item.time_ns[0]), 'until_s': _seconds(item.time_ns[1]),
            'score': round(item.score, 4),
        }
        for item in found.items
    ]  # fmt: skip
    return {'notes': notes, 'omitted': found.omitted, 'text': delimited(found.text)}


def _reflect(source: Source, given: Mapping[str, Any]) -> Answer:
    done = source.reflect(scope={USER: given[USER]})
    shown: Answer = {
        'pages': [plain.clean(page) for page in done.pages],
        'left_alone': [plain.clean(page) for page in done.skipped],
        'proposed': list(done.proposed),
    }
    if given[USER]:
        known = source.known_of(given[USER])
        shown['persona'] = [_belief(one) for one in known.persona]
        shown['conflicts'] = [[_belief(one) for one in pair] for pair in known.conflicts]
        shown['words'] = [
            {'word': m.term, 'value': m.value, 'unit': m.unit, 'why': plain.clean(m.why)}
            for m in known.meanings.values()
        ]
    return shown


def _feedback(source: Source, given: Mapping[str, Any]) -> Answer:
    said = [given['note_ids'], given['accepted'], given['predicate']]
    if sum(one is not None for one in said) != 1:
        raise ToolError('arguments: expected one of note_ids, accepted and predicate')
    if given['note_ids'] is not None:
        return _judged(source, given)
    if not given[USER]:
        raise ToolError('nobody in particular is asking, so nothing can be learned of them')
    if given['predicate'] is not None:
        if given['object'] is None:
            raise ToolError('argument object: expected it to be given with predicate')
        source.state_belief(given[USER], given['predicate'], given['object'])
        return {'stated': True}
    measures = {
        term.measure: given[term.measure] for term in TERMS.values()
        if given[term.measure] is not None
    }  # fmt: skip
    option = Option(given['accepted'], measures)
    learned = source.learn_accepted(
        given[USER], [option], option.name, context=given['context'] or ''
    )
    return {'words': [{'word': m.term, 'value': m.value, 'unit': m.unit} for m in learned]}


def _judged(source: Source, given: Mapping[str, Any]) -> Answer:
    if given['verdict'] is None:
        raise ToolError('argument verdict: expected it to be given with note_ids')
    rated = source.judge_notes(
        given['note_ids'], given['verdict'], given['evidence'] or '', given[USER], given[ROBOT]
    )
    known = [one.note_id for one in rated if one.state is not None]
    if not known:
        raise ToolError('no note of these ids, or none that this verdict is for')
    return {'judged': known, 'refused': len(rated) - len(known)}


def _belief(found: Belief) -> Answer:
    return {
        'subject': plain.clean(found.subject), 'predicate': found.predicate,
        'object': plain.clean(found.object), 'confidence': round(found.confidence, 3),
        'how': found.source,
    }  # fmt: skip


def _seconds(at_ns: int | None) -> float | None:
    return None if at_ns is None else plain.seconds(at_ns)


def _measures() -> dict[str, Argument]:
    found = {}
    for term in TERMS.values():
        unit = f' ({term.unit})' if term.unit else ''
        high = 1.0 if term.unit == '0 to 1' else MAX_MEASURE
        found[term.measure] = Argument(
            'number', f'Of what was accepted: {term.measure}{unit}.', high=high
        )
    return found


_VERDICTS: Sequence[str] = (*VERDICTS, *OPINION_VERDICTS)
NOTE_TOOLS: Mapping[str, Tool] = {
    'feedback': Tool(
        'Say how it went. note_ids with a verdict: how notes served. accepted with its measures: '
        'what the user took of what was offered, from which their near, soon, … are learned. '
        'predicate with object: what the user says of themselves.',
        {'note_ids': Argument('texts', 'Notes, as in note_id of recall.', longest=120, most=100),
         'verdict': Argument('text', 'Of the notes; the last two of opinions, with evidence.',
                             choices=_VERDICTS),
         'evidence': Argument('text', 'What the verdict rests on: an episode, or a source.',
                              longest=120),
         'accepted': Argument('text', 'Name of the option that the user took.', longest=120),
         'context': Argument('text', 'What for, for example work.'),
         'predicate': Argument('text', 'What the user says.', choices=PREDICATES),
         'object': Argument('text', 'Of what they say it, for example tea.', longest=120),
         **_measures()},
        _feedback, writes=True,
    ),
    'recall': Tool(
        'A question about what was said, done, decided or preferred, answered from notes, each '
        'with its source.',
        {'question': Argument('text', 'For example "what did we decide about the door?".',
                              required=True, longest=1000),
         'k': Argument('integer', 'Largest number of notes.', default=10, low=1, high=MAX_K)},
        _recall,
    ),
    'reflect': Tool(
        'Write the pages of whom and what notes are about, and tell what is known of the user.', {},
        _reflect, writes=True,
    ),
    'remember': Tool(
        'Write a note: a fact, something that was done, an opinion.',
        {'text': Argument('text', 'In words, self-contained.', required=True, longest=LONGEST),
         'about': Argument('texts', 'Names of whom and what it is about; region:NAME for a region.',
                           longest=120),
         'object_id': Argument('integer', 'object_id of the object that it is about.', low=1),
         'kind': Argument('text', 'semantic: a fact; episodic: what was done; spatial: a place.',
                          default=NoteKind.SEMANTIC.value, choices=_KINDS),
         'key': Argument('text', 'What had this key before is no longer true.', longest=120),
         'opinion': Argument('number', 'It is an opinion, so sure.', high=1)},
        _remember, writes=True,
    ),
}  # fmt: skip
