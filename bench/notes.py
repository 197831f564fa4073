# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""How long do notes take: the first index of a journal, a question, an edit, a reflection?

    PYTHONPATH=. taskset -c 0 python bench/notes.py [--files 10000] [--notes 10] [--questions 300]

A generated journal: so many day and bank files with so many bullets each, of people, rooms and
things. Processor time and wall time of one process; the machine's own speed is told beside them, as
the time that sorting a million numbers takes.
"""

from __future__ import annotations

import argparse
import os
import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from memory_node import SpatialMemory
from memory_node.notes.items import Network, Note
from memory_node.notes.lines import DAY_NS, day_name
from memory_node.recall import rank

START_NS = 1_700_000_000 * 10**9 // DAY_NS * DAY_NS
PEOPLE = ('Anna', 'Ben', 'Carla', 'Dora', 'Emil', 'Fay', 'Gus', 'Hana')
ACTS = ('cleaned', 'carried', 'repaired', 'charged', 'moved', 'inspected', 'refilled', 'opened')
ROOMS = tuple(f'room {n}' for n in range(40))
Timed = tuple[float, float]
"""Seconds of processor time, and of wall time."""


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--files', type=int, default=10_000)
    parser.add_argument('--notes', type=int, default=10, help='in each file')
    parser.add_argument('--questions', type=int, default=300)
    parser.add_argument('--llama', action='store_true', help='rank by meaning too (wordllama)')
    asked = parser.parse_args()
    if not asked.llama:
        rank._llama = lambda: None
    numbers = np.random.default_rng(1).random(1_000_000)
    sort = min(timed(lambda: np.sort(numbers))[0] for _ in range(5))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / 'robot.db'
        write(Path(f'{path}.journal'), asked.files, asked.notes)
        rows = measure(path, asked.files, asked.files * asked.notes, asked.questions)
    print(f'{asked.files} files, {asked.files * asked.notes} notes; sorting a million numbers: '
          f'{1e3 * sort:.0f} ms; load {os.getloadavg()[0]:.1f}\n')  # fmt: skip
    print('| what | processor time | wall time |\n|---|---:|---:|')
    for what, processor, wall in rows:
        print(f'| {what} | {processor} | {wall} |')


def write(journal: Path, files: int, notes: int) -> None:
    """Write a journal: for nine days one page of the bank."""
    draw = random.Random(8)
    for folder in ('memory', 'bank/pages'):
        (journal / folder).mkdir(parents=True)
    for file in range(files):
        lines = []
        for n in range(notes):
            who, act, room = draw.choice(PEOPLE), draw.choice(ACTS), draw.choice(ROOMS)
            thing = f'thing{draw.randrange(2000)}'
            words = f'{who} {act} the {thing} in {room}, job {file * notes + n}.'
            kind = 'O(c=0.7)' if draw.random() < 0.1 else draw.choice('WBS')
            lines.append(f'- {kind} @{who} @{thing}: {words}\n')
        name = f'memory/{day_name(START_NS + file * DAY_NS)}.md'
        if file % 10 == 9:
            name = f'bank/pages/{file}.md'
        (journal / name).write_text(f'# {file}\n\n## Retain\n{"".join(lines)}')


def measure(path: Path, files: int, notes: int, count: int) -> list[tuple[str, str, str]]:
    """Rows of the table."""
    rows = []

    def row(what: str, times: list[Timed]) -> None:
        cells = []
        for values in zip(*times):
            p50, p99 = (1e3 * float(np.percentile(values, q)) for q in (50, 99))
            cells.append(f'{p50:.0f} ms' if len(times) == 1 else f'{p50:.1f} / {p99:.1f} ms')
        rows.append((what, *cells))

    now_ns = START_NS + files * DAY_NS
    with SpatialMemory.open(str(path)) as memory:
        row('first index of all files', [timed(memory.sync_notes)])
        for kind, questions in asked_of(files, notes, count).items():
            times = [timed(lambda q=q: memory.recall(q, now_ns)) for q in questions]
            row(f'recall, {kind}: p50 / p99 of {len(times)}', times)
        day = Path(f'{path}.journal') / 'memory' / f'{day_name(START_NS)}.md'
        edits = []
        for n in range(20):
            day.write_text(day.read_text() + f'- W: edited by hand, {n}\n')
            edits.append(timed(memory.sync_notes))
        row('taking in one edit: p50 / p99 of 20', edits)
        writes = [
            timed(lambda n=n: memory.remember(Note(f'job {n} is done', entities=['job']), now_ns))
            for n in range(200)
        ]  # fmt: skip
        row('remember one note: p50 / p99 of 200', writes)
        opinion = Note('Anna prefers thing7', network=Network.OPINION, entities=['Anna'])
        memory.remember(opinion, now_ns)
        since_ns = now_ns - 7 * DAY_NS
        row('reflect on the last week', [timed(lambda: memory.reflect(since_ns, now_ns))])
        row('reflect again', [timed(lambda: memory.reflect(since_ns, now_ns))])
        row('hash of map and journal', [timed(memory.snapshot_hash)])
        row('check (reads the whole journal)', [timed(memory.check)])
    return rows


def asked_of(files: int, notes: int, count: int) -> dict[str, list[str]]:
    """Questions by kind."""
    draw = random.Random(9)
    return {
        'lexical': [f'who did job {draw.randrange(notes)}?' for _ in range(count)],
        'common words only': [
            f'who {draw.choice(ACTS)} things in {draw.choice(ROOMS)}?' for _ in range(count)
        ],
        'entity': [f'tell me about thing{draw.randrange(2000)}' for _ in range(count)],
        'temporal': [
            f'what happened on {day_name(START_NS + draw.randrange(files) * DAY_NS)}?'
            for _ in range(count)
        ],
        'opinion': [f'what does {draw.choice(PEOPLE)} prefer?' for _ in range(count)],
        'without an answer': [f'where is the unicorn{n}?' for n in range(count)],
    }  # fmt: skip


def timed(call: Callable[[], object]) -> Timed:
    """What a call takes."""
    processor, wall = time.process_time(), time.perf_counter()
    call()
    return time.process_time() - processor, time.perf_counter() - wall


if __name__ == '__main__':
    main()
