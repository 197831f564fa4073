# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What each verb of the command line does; returns its exit code."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Callable
from pathlib import Path

from memory_node.cli import ask, inspect, notes
from memory_node.cli import query as asking
from memory_node.cli.acts import ACTS
from memory_node.cli.main import CANNOT, FINDINGS, OK
from memory_node.cli.plan import plan
from memory_node.cli.terminal import Terminal
from memory_node.config import Config
from memory_node.errors import DamagedStoreError, StoreError
from memory_node.notes import coverage
from memory_node.notes.filing import Filing
from memory_node.notes.journal import Journal, journal_of
from memory_node.store import opening
from memory_node.store.database import Database, migrations
from memory_node.store.rebuild import findings, rewrite
from memory_node.store.repair import Saved, repair


def check(given: argparse.Namespace, terminal: Terminal) -> int:
    """Say what is wrong with a file."""
    found = _findings(given.file, terminal)
    unread = [] if found else _unread(given.file)
    terminal.data({'path': given.file, 'clean': not found, 'findings': found, 'unread': unread})
    _list(found or ['clean'], terminal)
    _list([f'cannot be read, and was left as it is: {line}' for line in unread], terminal)
    return FINDINGS if found else OK


def rebuild(given: argparse.Namespace, terminal: Terminal) -> int:
    """Derive everything anew."""
    database = Database(given.file)
    try:
        try:
            with terminal.progress(_last_seq(database)) as tell:
                different = rewrite(database, Config(), lambda seq: tell('replaying the log', seq))
                wrong = findings(database, Config(), lambda seq: tell('checking', seq))
            filing = Filing(database, Journal(journal_of(database.path), readonly=True))
            with terminal.progress(len(filing.journal.marks())) as tell:
                filing.rebuild(lambda done, of: tell('reading the journal', done))
        except StoreError as error:
            wrong, different = [str(error)], []
    finally:
        database.close()
    terminal.data({'path': database.path, 'different': different, 'findings': wrong})
    if wrong:
        _list(wrong, terminal)
        terminal.say(
            f'It could not be rebuilt. Save what it holds with: memory repair {given.file}'
        )
        return FINDINGS
    _list(different, terminal)
    terminal.say(
        'rebuilt; all that was different before stands above' if different
        else 'rebuilt; nothing was different before'
    )  # fmt: skip
    return OK


def mend(given: argparse.Namespace, terminal: Terminal) -> int:
    """Save what a damaged file holds."""
    path = opening.resolve(given.file)
    if holder := opening.holder(path):
        terminal.warn(f'{str(path)!r} is in use by {holder}: stop that process first')
        terminal.data({'error': f'in use by {holder}'})
        return CANNOT
    if path.exists():
        found = _findings(given.file, terminal)
        if not found:
            terminal.data({'path': str(path), 'clean': True})
            terminal.say('clean: there is nothing to repair')
            return OK
        _list(found, terminal)
    with terminal.progress(0) as tell:
        saved = repair(given.file, given.out, tell)
    terminal.data(_plain(saved))
    for line in _said(saved):
        terminal.say(line)
    return FINDINGS if saved.path is None else OK


def snapshot(given: argparse.Namespace, terminal: Terminal) -> int:
    """Copy a file."""
    database = Database(given.file, readonly=True)
    try:
        seq = database.copy_to(given.new)
        journal = Journal(journal_of(database.path), readonly=True)
        Filing(database, journal).copy_to(given.new)
    finally:
        database.close()
    new = opening.resolve(given.new)
    terminal.data({'path': str(new), 'seq': seq, 'bytes': new.stat().st_size})
    terminal.say(f'copied log lines 1 to {seq} into {str(new)!r}')
    return OK


VERBS: dict[str, Callable[[argparse.Namespace, Terminal], int]] = {
    'inspect': inspect.inspect,
    'ask': ask.ask,
    'query': asking.query,
    'check': check,
    'rebuild': rebuild,
    'repair': mend,
    'snapshot': snapshot,
    'plan': plan,
    'feedback': notes.feedback,
    'recall': notes.recall,
    'reflect': notes.reflect,
    'remember': notes.remember,
    **ACTS,
}


def _findings(file: str, terminal: Terminal) -> list[str]:
    """All that is wrong with a file; the file may be in use, and is not written to.

    Raises:
        StoreError: it is missing, another program's, or of another schema.
    """
    path = opening.resolve(file)
    try:
        if path.exists() and not opening.holder(path):  # what opening it for writing would find
            opening.require_sound(path, migrations()[-1][0], writing=True)
        database = Database(file, readonly=True)
    except DamagedStoreError as error:
        return [error.finding]
    try:
        with database.standing_still(), terminal.progress(_last_seq(database)) as tell:
            found = findings(database, Config(), lambda seq: tell('replaying the log', seq))
            journal = Journal(journal_of(database.path), readonly=True)
            return found or coverage.findings(Filing(database, journal))
    except StoreError as error:
        return [str(error)]
    finally:
        database.close()


def _unread(file: str) -> list[str]:
    """Lines of the journal that say nothing that can be read, as `FILE:LINE: what`."""
    database = Database(file, readonly=True)
    try:
        return Filing(database, Journal(journal_of(database.path), readonly=True)).problems()
    finally:
        database.close()


def _last_seq(database: Database) -> int:
    try:
        return int(database.rows('SELECT coalesce(max(seq), 0) FROM log')[0][0])
    except StoreError:
        return 0


def _list(lines: list[str], terminal: Terminal) -> None:
    for line in lines:
        terminal.say(line)


def _said(saved: Saved) -> list[str]:
    of = f' of {saved.last_seq}' if saved.last_seq > saved.seq else ''
    if saved.path is None:
        return [f'nothing could be saved{of and f"{of} log lines"}: {saved.stopped}']
    lines = [
        f'saved log lines 1 to {saved.seq}{of}: {saved.views} views, {saved.observations} '
        f'observations, {saved.objects} objects'
    ]
    if saved.stopped:
        lines.append(f'nothing after log line {saved.seq} could be saved: {saved.stopped}')
    lines += saved.notes
    if saved.set_aside is not None:
        lines.append(f'the damaged file is {str(saved.set_aside)!r} now')
    lines.append(f'the new file is {str(saved.path)!r}; it is clean')
    return lines


def _plain(saved: Saved) -> dict[str, object]:
    return {
        name: str(value) if isinstance(value, Path) else value
        for name, value in dataclasses.asdict(saved).items()
    }
