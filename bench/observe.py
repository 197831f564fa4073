# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""How fast is the memory, beside a bare SQLite write of the same rows in the same run?

    scripts/env python bench/observe.py --objects 1000 10000 100000 --out observe.json

A world of N objects is swept three times, then views of 20 detections with 512-d features follow,
in which 5 % of the detections are new things. All on one core, durable as `process`. The bare write
puts the same rows into the same tables with the same transactions, and does nothing else. Each
size runs in a process of its own, which opens the store again to measure opening, questions and
memory.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table
from workload import BOX, FRAME, Det, World

from memory_node import Config, Detection, Pose, Query, SpatialMemory, View

NEW_SHARE = 0.05
SWEEPS = 3
BARE_TABLES = ('log', 'view', 'observation')


def as_view(frame: list[Det], number: int) -> View:
    """A frame of the shared workload as a view, one second apart, from a moving sensor."""
    detections = [Detection(d.label, d.conf, d.pos, (BOX, BOX, BOX), feature=d.feat) for d in frame]
    pose = Pose((frame[0].pos[0], frame[0].pos[1], 1.0), (0.0, 0.0, 0.0, 1.0))
    return View(1_790_000_000 * 10**9 + number * 10**9, 'camera', detections, pose)


class Stream:
    """Views of a world: first sweeps over all of it, then random returns with new things."""

    def __init__(self, objects: int) -> None:
        self.world = World(objects)
        self.known = objects
        self.rng = np.random.default_rng(3)
        self.number = 0

    def sweep(self) -> Iterator[View]:
        for frame in self.world.sweep():
            yield self._view(frame)

    def next(self) -> View:
        start = int(self.rng.integers(0, self.known - FRAME))
        frame = self.world.frame_at(start)
        for k in np.flatnonzero(self.rng.random(len(frame)) < NEW_SHARE).tolist():
            frame[k] = self._elsewhere(frame[k])
        return self._view(frame)

    def _elsewhere(self, d: Det) -> Det:
        """The same kind of thing where nothing is: three metres above."""
        x, y, _ = d.pos
        lift = 3.0 + 0.7 * float(self.rng.integers(0, 60))
        d.pos = (x, y, lift)
        d.lo, d.hi = (x, y, lift), (x, y, lift)
        return d

    def _view(self, frame: list[Det]) -> View:
        self.number += 1
        return as_view(frame, self.number)


def measure(objects: int, views: int, folder: Path) -> dict[str, Any]:
    """All figures of one size."""
    path = folder / f'observe_{objects}.db'
    config = Config(max_age_s=0.0)
    stream = Stream(objects)
    memory = SpatialMemory.open(str(path), config)
    total = SWEEPS * -(-objects // FRAME)
    sweeps = (view for _ in range(SWEEPS) for view in stream.sweep())
    for view in track(sweeps, f'{objects:,} objects', total, console=Console(stderr=True)):
        memory.observe(view)
    first = memory.seq
    prepared = [stream.next() for _ in range(views)]
    gc.freeze()
    walls, cpu = [], time.process_time()
    for view in prepared:
        start = time.perf_counter()
        memory.observe(view)
        walls.append(time.perf_counter() - start)
    cpu = time.process_time() - cpu
    memory.close()
    bare = bare_write(path, first, folder / f'bare_{objects}.db')
    return {
        'objects': objects, 'views': views,
        'detections_per_s': round(views * FRAME / sum(walls)),
        'observe_p50_ms': percentile(walls, 50), 'observe_p99_ms': percentile(walls, 99),
        'observe_cpu_ms': round(cpu / views * 1e3, 3),
        'bare_p50_ms': bare['p50_ms'], 'bare_cpu_ms': bare['cpu_ms_per_view'],
        'cpu_ratio': round(cpu / views * 1e3 / bare['cpu_ms_per_view'], 1),
        **measure_reading(path, config, stream),
    }  # fmt: skip


def measure_reading(path: Path, config: Config, stream: Stream) -> dict[str, Any]:
    """Opening the store, near and semantic questions, resident memory of a fresh process."""
    start = time.perf_counter()
    memory = SpatialMemory.open(str(path), config)
    opened = time.perf_counter() - start
    rng = np.random.default_rng(5)
    near, semantic = [], []
    for k in rng.integers(0, stream.known, 500).tolist():
        point = tuple(stream.world.pos[k].tolist())
        start = time.perf_counter()
        memory.query(Query(near_m=point, radius_m=2.0))
        near.append(time.perf_counter() - start)
    for k in rng.integers(0, stream.known, 20).tolist():
        start = time.perf_counter()
        memory.query(Query(feature=stream.world.feat[k]))
        semantic.append(time.perf_counter() - start)
    memory.close()
    return {
        'open_s': round(opened, 3),
        'near_p50_ms': percentile(near, 50), 'near_p99_ms': percentile(near, 99),
        'semantic_p50_ms': percentile(semantic, 50),
        'file_mb': path.stat().st_size // 2**20, 'rss_mb': rss_mb_of_opening(path),
    }  # fmt: skip


def rss_mb_of_opening(path: Path) -> int:
    """Resident memory of a process that has only opened the store."""
    program = (
        'import sys; from memory_node import SpatialMemory; m = SpatialMemory.open(sys.argv[1]); '
        "print([line for line in open('/proc/self/status') if line.startswith('VmRSS')][0])"
    )
    done = subprocess.run(
        [sys.executable, '-c', program, str(path)], capture_output=True, text=True, check=True
    )
    return int(done.stdout.split()[1]) // 1024


def percentile(seconds: list[float], share: int) -> float:
    """A percentile in milliseconds."""
    return round(float(np.percentile(np.array(seconds) * 1e3, share)), 3)


def bare_write(source: Path, first_seq: int, target: Path) -> dict[str, float]:
    """Write the rows of the timed views again, one transaction a view, with prepared statements."""
    read = apsw.Connection(str(source))
    write = apsw.Connection(str(target))
    for pragma, value in (('journal_mode', 'wal'), ('synchronous', 'normal')):
        write.pragma(pragma, value)
    write.pragma('wal_autocheckpoint', 0)
    inserts = {}
    for name, sql in read.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'"):
        if name in (*BARE_TABLES, 'object', 'object_version', 'config'):
            write.execute(sql)
            columns = read.execute(f'SELECT count(*) FROM pragma_table_info({name!r})').get
            inserts[name] = f'INSERT INTO {name} VALUES ({", ".join("?" * columns)})'
    object_rows = {row[0]: row for row in read.execute('SELECT * FROM object')}
    update = 'INSERT OR REPLACE INTO object VALUES (' + ', '.join('?' * len(object_rows[1])) + ')'
    walls, cpu = [], time.process_time()
    busy = 0.0
    for (seq,) in read.execute('SELECT seq FROM view WHERE seq > ? ORDER BY seq', (first_seq,)):
        rows = {
            'view': read.execute('SELECT * FROM view WHERE seq = ?', (seq,)).fetchall(),
            'observation': read.execute(
                'SELECT * FROM observation WHERE view_seq = ?', (seq,)
            ).fetchall(),
        }
        line = read.execute('SELECT * FROM log WHERE seq = ?', (seq,)).fetchall()
        touched = [object_rows[o[2]] for o in rows['observation'] if o[2]]
        start, cpu_start = time.perf_counter(), time.process_time()
        write.execute('BEGIN IMMEDIATE')
        write.executemany(inserts['log'], line)
        write.executemany(inserts['view'], rows['view'])
        write.executemany(inserts['observation'], rows['observation'])
        write.executemany(update, touched)
        write.execute('COMMIT')
        walls.append(time.perf_counter() - start)
        busy += time.process_time() - cpu_start
    del cpu
    ms = np.array(walls) * 1e3
    return {
        'p50_ms': round(float(np.percentile(ms, 50)), 3),
        'cpu_ms_per_view': round(busy / max(1, len(walls)) * 1e3, 3),
    }


def table(results: list[dict[str, Any]]) -> Table:
    """The results as a table, one column a size."""
    shown = Table('figure', *(f'{r["objects"]:,} objects' for r in results))
    for key in results[0]:
        if key != 'objects':
            shown.add_row(key, *(f'{r[key]:,}' for r in results))
    return shown


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--objects', type=int, nargs='+', default=[1000, 10000])
    parser.add_argument('--views', type=int, default=1000)
    parser.add_argument('--out', type=Path, help='write the results as JSON')
    parser.add_argument('--cell', type=int, help=argparse.SUPPRESS)
    a = parser.parse_args()
    if a.cell:
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
        with tempfile.TemporaryDirectory() as folder:
            json.dump(measure(a.cell, a.views, Path(folder)), sys.stdout)
        return
    results = []
    for objects in a.objects:
        command = [sys.executable, __file__, '--cell', str(objects), '--views', str(a.views)]
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
        results.append(json.loads(done.stdout))
    console = Console(width=100)
    console.print(table(results))
    python, sqlite = platform.python_version(), apsw.sqlite_lib_version()
    console.print(f'Python {python}, SQLite {sqlite}, numpy {np.__version__}, one core')
    if a.out:
        a.out.write_text(json.dumps(results, indent=1) + '\n')


if __name__ == '__main__':
    main()
