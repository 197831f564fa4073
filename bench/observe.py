# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""How fast is the memory, beside a bare SQLite write of the same rows in the same run?

    scripts/env python bench/observe.py --objects 1000 10000 100000 --runs 3 --out observe.json

A world of N objects is swept three times into a store, which is opened again (--sweeps 6: a world
that is known, where the first five features of each thing are kept already); 100 views warm it up,
then views of 20 detections with 512-d features are timed, in which 5 % of the detections are new
things. All threads on one core (--cores 2: the checkpointer has another to itself), durable as
`process`. The bare write puts the same rows into the same tables with the same transactions, and
does nothing else. Closing writes what waits (`close_s`). Each run is a process of its own, which
opens the store again to measure opening, questions and memory. --visibility declares a field of
view and gives a depth image with each timed view, so that what is not seen counts too. With --runs
the median of each figure is told, and all runs in the JSON. --in-turn opens the stores of all
sizes in one process and times some views of each by turns: how many times as long a view takes as
one of the first size is told best by that, as machines change their pace. --keep DIR keeps the
swept stores there and uses them again, --prepare does only that: then a quiet machine is needed for
seconds only. A store and its copy are 18 GB at a million objects: the source leaves the machine's
cache, or views would wait for the disk. Some memory is taken and given back before views are timed:
the host of a virtual machine gives it then, and not when the write-ahead log needs it. --plot draws
the growth from size to size.
"""

from __future__ import annotations

import argparse
import dataclasses
import gc
import json
import os
import platform
import shutil
import statistics
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
from svg import Line, Panel, figure
from workload import BOX, FRAME, Det, World

from memory_node import Config, Detection, FieldOfView, Pose, Query, SpatialMemory, View
from memory_node.model import DepthImage

NEW_SHARE = 0.05
SWEEPS = 3
WARM_UP = 100
IN_TURN = 50
"""Views of one size before those of the next."""
SPARE_BYTES = 3 * 2**29
"""More than the log and the working set grow by while views are timed."""
ALONG_X = (-0.5, 0.5, -0.5, 0.5)
"""Orientation of an optical frame that looks along x."""
SIGHT = FieldOfView(1.2, 0.9, 0.3, 5.0)
WALL = DepthImage(np.full((480, 640), 1.8, np.float32), 467.0, 467.0, 319.5, 239.5)
"""An image of the same angles: what is farther is hidden, what is nearer has gone."""
BARE_TABLES = ('log', 'view', 'observation')


def as_frame(frame: list[Det], stamp_ns: int | None = None, pose: Pose | None = None) -> View:
    """A frame of the shared workload as a view, at its own time if no other is given."""
    detections = [Detection(d.label, d.conf, d.pos, (BOX, BOX, BOX), feature=d.feat) for d in frame]
    when = int(frame[0].ts * 1e9) if stamp_ns is None else stamp_ns
    return View(when, 'camera', detections, pose)


def as_view(frame: list[Det], number: int) -> View:
    """A frame of the shared workload as a view, one second apart, from a moving sensor."""
    pose = Pose((frame[0].pos[0], frame[0].pos[1], 1.0), (0.0, 0.0, 0.0, 1.0))
    return as_frame(frame, 1_790_000_000 * 10**9 + number * 10**9, pose)


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

    def after_sweeps(self, sweeps: int) -> Stream:
        """As it stands after the sweeps, whether they were made now or in an earlier run."""
        self.world.r = np.random.default_rng(11)
        self.number = sweeps * -(-self.known // FRAME)
        return self

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


def prepare(objects: int, path: Path, sweeps: int) -> None:
    """Sweep the world into a new store."""
    stream = Stream(objects)
    unfinished = path.with_suffix('.new')
    for old in path.parent.glob(f'{unfinished.name}*'):
        old.unlink()
    total = sweeps * -(-objects // FRAME)
    views = (view for _ in range(sweeps) for view in stream.sweep())
    with SpatialMemory.open(str(unfinished), Config(max_age_s=0.0)) as memory:
        for view in track(views, f'{objects:,} objects', total, console=Console(stderr=True)):
            memory.observe(view)
    unfinished.rename(path)


def copy(source: Path, target: Path) -> None:
    """Copy a store. Afterwards the machine caches the copy, like a file in use, not the source."""
    shutil.copyfile(source, target)
    os.sync()
    with source.open('rb') as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    with target.open('rb') as file:
        while file.read(2**24):
            pass


def looking(view: View) -> View:
    """A view that says what it could have seen: from two metres before its first detection."""
    x, y, z = view.detections[0].center_m
    pose = Pose((x - 2.0, y, z), ALONG_X)
    return dataclasses.replace(view, sensor_pose=pose, field_of_view=SIGHT, depth=WALL)


def opened(
    objects: int, sweeps: int, swept: Path, folder: Path, config: Config
) -> tuple[SpatialMemory, Stream, Path]:
    """A copy of a swept store, and the views that follow."""
    path = folder / f'observe_{objects}.db'
    copy(swept, path)
    return SpatialMemory.open(str(path), config), Stream(objects).after_sweeps(sweeps), path


def warm_up(memory: SpatialMemory, stream: Stream) -> None:
    """Let some views go by, on the core that this thread stays on; other threads keep theirs."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    for _ in range(WARM_UP):
        memory.observe(stream.next())


def measure_in_turn(
    sizes: list[int], views: int, sweeps: int, keep: Path, folder: Path
) -> list[dict[str, Any]]:
    """Time views of all sizes in one process, some of each in turn.

    So what the machine does meanwhile is in all of them alike.
    """
    config = Config(max_age_s=0.0)
    stores = [opened(n, sweeps, swept(keep, n, sweeps), folder, config) for n in sizes]
    for memory, stream, _ in stores:
        warm_up(memory, stream)
    prepared = [[stream.next() for _ in range(views)] for _, stream, _ in stores]
    gc.freeze()
    np.ones(SPARE_BYTES, np.uint8)
    walls: list[list[float]] = [[] for _ in sizes]
    cpu = [0.0] * len(sizes)
    for first in range(0, views, IN_TURN):
        for k, (memory, _, _) in enumerate(stores):
            busy = time.thread_time()
            for view in prepared[k][first : first + IN_TURN]:
                start = time.perf_counter()
                memory.observe(view)
                walls[k].append(time.perf_counter() - start)
            cpu[k] += time.thread_time() - busy
    for memory, _, _ in stores:
        memory.close()
    return [
        {
            'objects': n, 'views': views, 'detections_per_s': round(views * FRAME / sum(wall)),
            'observe_p50_ms': percentile(wall, 50), 'observe_p99_ms': percentile(wall, 99),
            'observe_own_cpu_ms': round(own / views * 1e3, 3),
            'p50_growth': round(percentile(wall, 50) / percentile(walls[0], 50), 3),
            'mean_growth': round(sum(wall) / sum(walls[0]), 3),
            'own_cpu_growth': round(own / cpu[0], 3),
        }
        for n, wall, own in zip(sizes, walls, cpu)
    ]  # fmt: skip


def measure(
    objects: int, views: int, sweeps: int, visibility: bool, swept: Path, folder: Path
) -> dict[str, Any]:
    """All figures of one run."""
    config = Config(max_age_s=0.0)
    memory, stream, path = opened(objects, sweeps, swept, folder, config)
    warm_up(memory, stream)
    first = memory.seq
    prepared = [stream.next() for _ in range(views)]
    if visibility:
        prepared = [looking(view) for view in prepared]
    gc.freeze()
    np.ones(SPARE_BYTES, np.uint8)
    walls, cpu, own = [], time.process_time(), time.thread_time()
    for view in prepared:
        start = time.perf_counter()
        memory.observe(view)
        walls.append(time.perf_counter() - start)
    cpu, own = time.process_time() - cpu, time.thread_time() - own
    closing = time.perf_counter()
    memory.close()
    closing = time.perf_counter() - closing
    bare = bare_write(path, first, folder / f'bare_{objects}.db')
    return {
        'objects': objects, 'views': views,
        'detections_per_s': round(views * FRAME / sum(walls)),
        'observe_p50_ms': percentile(walls, 50), 'observe_p99_ms': percentile(walls, 99),
        'observe_cpu_ms': round(cpu / views * 1e3, 3),
        'observe_own_cpu_ms': round(own / views * 1e3, 3),
        'close_s': round(closing, 3),
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
    seen = read.execute('SELECT * FROM observation WHERE view_seq > ? ORDER BY id', (first_seq,))
    of_view: dict[int, list[Any]] = {}
    at = [column[0] for column in seen.get_description()].index('view_seq')
    for row in seen:
        of_view.setdefault(row[at], []).append(row)
    walls = []
    busy = 0.0
    for (seq,) in read.execute('SELECT seq FROM view WHERE seq > ? ORDER BY seq', (first_seq,)):
        rows = {
            'view': read.execute('SELECT * FROM view WHERE seq = ?', (seq,)).fetchall(),
            'observation': of_view.get(seq, []),
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
    parser.add_argument('--sweeps', type=int, default=SWEEPS, help='how often all was seen before')
    parser.add_argument('--runs', type=int, default=1, help='runs of each size')
    parser.add_argument('--keep', type=Path, metavar='DIR', help='keep and reuse the swept stores')
    parser.add_argument('--prepare', action='store_true', help='with --keep: only sweep')
    parser.add_argument('--out', type=Path, help='write the results as JSON')
    parser.add_argument('--plot', type=Path, metavar='SVG', help='draw growth over the sizes')
    parser.add_argument('--visibility', action='store_true', help='what is not seen counts too')
    parser.add_argument('--cores', type=int, default=1, help='for all threads together')
    parser.add_argument('--in-turn', action='store_true', help='views of all sizes by turns')
    parser.add_argument('--cell', type=int, nargs='+', help=argparse.SUPPRESS)
    a = parser.parse_args()
    if a.cell:
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-a.cores :])
        with tempfile.TemporaryDirectory() as folder:
            if len(a.cell) > 1:
                told = measure_in_turn(a.cell, a.views, a.sweeps, a.keep, Path(folder))
            else:
                [n] = a.cell
                store = swept(a.keep, n, a.sweeps)
                told = [measure(n, a.views, a.sweeps, a.visibility, store, Path(folder))]
            json.dump(told, sys.stdout)
        return
    with tempfile.TemporaryDirectory() as folder:
        keep = a.keep or Path(folder)
        keep.mkdir(parents=True, exist_ok=True)
        for objects in a.objects:
            store = swept(keep, objects, a.sweeps)
            if not store.exists():
                prepare(objects, store, a.sweeps)
        if a.prepare:
            return
        rounds = []
        for _ in range(a.runs):
            if a.in_turn:
                rounds.append(run(a.objects, a.views, a.sweeps, False, keep, a.cores))
            else:
                each = (run([n], a.views, a.sweeps, a.visibility, keep, a.cores) for n in a.objects)
                rounds.append([figures for [figures] in each])
    results = [middle(list(of_size)) for of_size in zip(*rounds)]
    console = Console(width=100)
    console.print(table(results))
    console.print(f'{machine()}, used: {a.cores}; sweeps: {a.sweeps}, runs: {a.runs}')
    if a.out:
        told = {
            'machine': machine(),
            'cores': a.cores,
            'sweeps': a.sweeps,
            'visibility': a.visibility,
            'median': results,
            'rounds': rounds,
        }
        a.out.write_text(json.dumps(told, indent=1) + '\n')
    if a.plot:
        a.plot.write_text(growth(results))


def machine() -> str:
    """What the figures hold for."""
    models = [
        line for line in Path('/proc/cpuinfo').read_text().splitlines() if 'model name' in line
    ]
    processor = models[0].split(':')[1].strip() if models else platform.machine()
    python, sqlite = platform.python_version(), apsw.sqlite_lib_version()
    software = f'Python {python}, SQLite {sqlite}, numpy {np.__version__}'
    return f'{os.cpu_count()} cores of {processor}, {software}'


def swept(folder: Path, objects: int, sweeps: int) -> Path:
    """Where the store of so many objects is kept."""
    return folder / f'swept_{objects}_{sweeps}.db'


def run(
    sizes: list[int], views: int, sweeps: int, visibility: bool, keep: Path, cores: int
) -> list[dict[str, Any]]:
    """One run in a process of its own; several sizes: some views of each in turn."""
    command = [
        sys.executable, __file__, '--cell', *map(str, sizes), '--views', str(views),
        '--cores', str(cores), '--sweeps', str(sweeps), *(['--visibility'] if visibility else []),
    ]  # fmt: skip
    done = subprocess.run([*command, '--keep', str(keep)], stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def middle(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """The median of each figure; of an even number the lower of both."""
    return {key: statistics.median_low(r[key] for r in runs) for key in runs[0]}


def growth(results: list[dict[str, Any]]) -> str:
    """The figures that may not grow with the map, and the one that must, against its size."""

    def line(name: str, key: str) -> Line:
        return Line(name, [(r['objects'], r[key]) for r in results])

    return figure(
        [
            Panel('ms a view', [line('p50', 'observe_p50_ms'), line('p99', 'observe_p99_ms')]),
            Panel('file, MB', [line('file', 'file_mb')], log=True),
        ],
        'objects',
    )


if __name__ == '__main__':
    main()
