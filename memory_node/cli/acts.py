# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What a person changes from the command line, while no node has the file open."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from memory_node import SpatialMemory
from memory_node.cli.arguments import CORRECT, REPORT
from memory_node.cli.main import OK
from memory_node.cli.terminal import Terminal
from memory_node.errors import StoreError
from memory_node.model import Change, Commit
from memory_node.store import opening

Act = Callable[[SpatialMemory, argparse.Namespace], Commit]


def correct(given: argparse.Namespace, terminal: Terminal) -> int:
    """Do one of the operations of `memory correct`."""
    return _commit(_CORRECTIONS[given.operation], given, terminal)


def report(given: argparse.Namespace, terminal: Terminal) -> int:
    """Tell what the robot did, one of the acts of `memory report`."""
    return _commit(_REPORTS[given.act], given, terminal)


def forget(given: argparse.Namespace, terminal: Terminal) -> int:
    """End an object, or bring it back."""
    return _commit(_restore if given.undo else _forget, given, terminal)


def split(given: argparse.Namespace, terminal: Terminal) -> int:
    """Make one object two."""
    return _commit(_split, given, terminal)


def merge(given: argparse.Namespace, terminal: Terminal) -> int:
    """Make two objects one."""
    return _commit(_merge, given, terminal)


def consolidate(given: argparse.Namespace, terminal: Terminal) -> int:
    """Merge what has become one."""
    with opened(given.file) as memory:
        report = memory.consolidate(given.actor)
    merges = [
        {'kept': m.kept_id, 'merged': m.other_id, 'score': m.score, 'seq': m.seq}
        for m in report.merges
    ]
    terminal.data({
        'looked_at': report.looked_at, 'merges': merges, 'kept_apart': report.kept_apart,
    })  # fmt: skip
    for found in report.merges:
        terminal.say(
            f'line {found.seq}: object {found.other_id} was merged into object {found.kept_id}, '
            f'score {found.score:.2f}'
        )
    terminal.say(f'{len(merges)} of {report.looked_at} objects were merged into others')
    return OK


def purge(given: argparse.Namespace, terminal: Terminal) -> int:
    """Remove content for good."""
    region = (given.region[:3], given.region[3:]) if given.region else None
    with opened(given.file) as memory:
        found = memory.purge(
            object_id=given.id, label=given.label, region_m=region, map_id=given.map,
            person=given.person, reason=given.reason, actor=given.actor,
        )  # fmt: skip
    terminal.data({
        'objects': found.objects, 'sightings': found.sightings, 'lines': found.lines,
        'erased': found.erased, 'changes': [_plain(c) for c in found.commit.changes],
    })  # fmt: skip
    terminal.say(
        f'{found.objects} objects, {found.sightings} sightings and {found.lines} log lines have '
        'no content any more'
    )
    if not found.erased:
        terminal.warn('a reader outside still needs the old bytes: open the file once more later')
    return OK


ACTS: dict[str, Callable[[argparse.Namespace, Terminal], int]] = {
    CORRECT: correct,
    REPORT: report,
    'forget': forget,
    'purge': purge,
    'consolidate': consolidate,
    'split': split,
    'merge': merge,
}


def _split(memory: SpatialMemory, given: argparse.Namespace) -> Commit:
    return memory.split(given.id, *_why(given))


def _merge(memory: SpatialMemory, given: argparse.Namespace) -> Commit:
    return memory.merge_objects(given.id, given.other, *_why(given))


def _assert(memory: SpatialMemory, given: argparse.Namespace) -> Commit:
    return memory.state_object(
        given.label, given.center_m, given.size, map_id=given.map, reason=given.reason,
        actor=given.actor,
    )  # fmt: skip


def _forget(memory: SpatialMemory, given: argparse.Namespace) -> Commit:
    until_ns = memory.newest_stamp_ns + round(given.for_s * 1e9) if given.for_s else None
    return memory.forget(given.id, *_why(given), until_ns=until_ns)


def _restore(memory: SpatialMemory, given: argparse.Namespace) -> Commit:
    return memory.restore(given.id, *_why(given))


_CORRECTIONS: dict[str, Act] = {
    'relabel': lambda memory, g: memory.correct_label(g.id, g.label, *_why(g)),
    'move': lambda memory, g: memory.correct_pose(g.id, g.center_m, None, *_why(g)),
    'resize': lambda memory, g: memory.correct_size(g.id, g.size_m, *_why(g)),
    'confirm': lambda memory, g: memory.confirm(g.id, g.confidence, *_why(g)),
    'absent': lambda memory, g: memory.declare_absent(g.id, *_why(g)),
    'assert': _assert,
    'pin': lambda memory, g: memory.pin(g.id, g.aspects, *_why(g)),
    'unpin': lambda memory, g: memory.unpin(g.id, g.aspects, *_why(g)),
    'undo': lambda memory, g: memory.undo(g.seq, *_why(g)),
}


_REPORTS: dict[str, Act] = {
    'picked': lambda memory, g: memory.picked(g.id, *_why(g)),
    'placed': lambda memory, g: memory.placed(g.id, g.center_m, None, None, *_why(g)),
    'put_inside': lambda memory, g: memory.put_inside(g.id, g.container, *_why(g)),
    'opened': lambda memory, g: memory.opened(g.id, True, *_why(g)),
    'closed': lambda memory, g: memory.opened(g.id, False, *_why(g)),
    'not_found': lambda memory, g: memory.not_found(g.id, *_why(g)),
}


def opened(file: str) -> SpatialMemory:
    """The memory of a file that is there already.

    Raises:
        StoreError: it is not, or a node has it open.
    """
    path = opening.resolve(file)
    if not path.exists():
        raise StoreError(f'{str(path)!r} does not exist')
    return SpatialMemory.open(file)


def _commit(act: Act, given: argparse.Namespace, terminal: Terminal) -> int:
    with opened(given.file) as memory:
        commit = act(memory, given)
    terminal.data({'seq': commit.first_seq, 'changes': [_plain(c) for c in commit.changes]})
    for change in commit.changes:
        terminal.say(f'line {change.seq}: {change.kind} object {change.object_id}')
    return OK


def _why(given: argparse.Namespace) -> tuple[str, str]:
    return given.reason, given.actor


def _plain(change: Change) -> dict[str, Any]:
    return {
        'seq': change.seq, 'kind': str(change.kind), 'object_id': change.object_id,
        'before': dict(change.before), 'after': dict(change.after),
    }  # fmt: skip
