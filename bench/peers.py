# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Our memory on the workload of the peers' bench, and the peers beside it, in one table.

    python bench/peers.py --objects 1000 10000 100000 --out peers.json \\
        [--peers FOLDER [--peer-python PYTHON]]

What is measured follows the cell `speed` of the peers' bench: a world of N objects is swept once
(load), then up to 200 random frames of 20 known objects are handed over, each made durable by the
memory's own commit, for at most 20 s; then 200 questions each: within 2 m, by label, the ten most
similar. One core, one BLAS thread, a process for each cell. With --peers the peers whose packages
PYTHON can import run too, by that folder's own run.py. The others are shown as committed in
peers.json, which were measured on another day while other work ran: compare magnitudes only.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from observe import as_frame, machine, middle
from rich.console import Console
from rich.table import Table
from workload import FRAME, LABELS, World

from memory_node import Config, Query, SpatialMemory

OURS = 'spatial_memory'
PEERS = {
    'Chronotope (no sqlite-vec)': ('tempomem', 'tempomem'),
    'eMEM 0.3.0, no LLM': ('emem', 'emem'),
    'eMEM 0.3.0 + stub extractor': ('emem', 'emem_ent'),
    'Spark-DSG, in memory*': ('spark_dsg', 'spark_dsg'),
    'Spark-DSG, save per frame*': ('spark_dsg', 'spark_dsg_save'),
}
"""The package and the name in the peers' run.py of each row of peers.json that can be run."""
FRAMES, FRAME_BUDGET_S = 200, 20.0
QUESTIONS, QUESTION_BUDGET_S = 200, 5.0
LIMIT = 100
COLUMNS = {
    'det_per_s': 'det/s', 'p50_ms': 'frame p50', 'p99_ms': 'p99 ms', 'cpu_ms': 'CPU p50',
    'load_s': 'load s', 'near_ms': '2 m ms', 'label_ms': 'label', 'semantic_ms': 'top 10',
    'hit_at_1': 'hit@1', 'nodes': 'objects held', 'open_s': 'open s', 'rss_mb': 'RSS MB',
    'disk_mb': 'disk MB',
}  # fmt: skip
Row = dict[str, Any]


def ours(objects: int, folder: Path) -> Row:
    """All figures of our memory."""
    path = folder / 'peers.db'
    world = World(objects)
    memory = SpatialMemory.open(str(path), Config(max_age_s=0.0))
    empty_mb = resident_mb()
    start = time.perf_counter()
    for frame in world.sweep():
        memory.observe(as_frame(frame))
    load_s = time.perf_counter() - start
    frames = [as_frame(frame) for frame in world.reobserve(FRAMES)]
    walls, cpu = timed(memory.observe, frames, FRAME_BUDGET_S)
    rng = np.random.default_rng(3)
    asked = rng.integers(0, objects, QUESTIONS).tolist()
    vectors = [world.det(k).feat for k in asked]
    near = [Query(near_m=world.pos[k].tolist(), radius_m=2.0, limit=LIMIT) for k in asked]
    label = [Query(text=LABELS[k % len(LABELS)]) for k in asked]
    alike = [Query(feature=v) for v in vectors]
    answers = [
        percentile(timed(memory.query, q, QUESTION_BUDGET_S)[0], 50) for q in (near, label, alike)
    ]
    hits = [nearest(memory, world, v) == k for k, v in list(zip(asked, vectors))[:50]]
    rss_mb, nodes = resident_mb() - empty_mb, len(memory.objects())
    memory.close()
    disk = sum(f.stat().st_size for f in folder.glob(f'{path.name}*'))
    start = time.perf_counter()
    memory = SpatialMemory.open(str(path))
    open_s = time.perf_counter() - start
    memory.close()
    return {
        'peer': OURS, 'objects': objects, 'det_per_s': round(FRAME * len(walls) / sum(walls)),
        'p50_ms': percentile(walls, 50), 'p99_ms': percentile(walls, 99),
        'cpu_ms': percentile(cpu, 50), 'load_s': round(load_s, 2), 'disk_mb': round(disk / 1e6, 1),
        'near_ms': answers[0], 'label_ms': answers[1], 'semantic_ms': answers[2],
        'hit_at_1': round(statistics.mean(hits), 3), 'nodes': nodes, 'open_s': round(open_s, 3),
        'rss_mb': round(rss_mb),
    }  # fmt: skip


def timed(
    call: Callable[[Any], Any], given: Iterable[Any], budget_s: float
) -> tuple[list[float], list[float]]:
    """Wall and CPU seconds of each call, of as many as the budget allows but at least three."""
    walls: list[float] = []
    cpu: list[float] = []
    for one in given:
        cpu_start, start = time.process_time(), time.perf_counter()
        call(one)
        walls.append(time.perf_counter() - start)
        cpu.append(time.process_time() - cpu_start)
        if sum(walls) > budget_s and len(walls) >= 3:
            break
    return walls, cpu


def nearest(memory: SpatialMemory, world: World, feature: np.ndarray) -> int | None:
    """The thing of the world that stands where the most similar object is said to be."""
    hits = memory.query(Query(feature=feature, limit=1))
    if not hits:
        return None
    return int(np.argmin(np.linalg.norm(world.pos - np.array(hits[0].object.center_m), axis=1)))


def percentile(seconds: list[float], share: int) -> float:
    """A percentile in milliseconds."""
    return round(float(np.percentile(np.array(seconds) * 1e3, share)), 3)


def resident_mb() -> float:
    """Resident memory of this process."""
    pages = int(Path('/proc/self/statm').read_text().split()[1])
    return pages * os.sysconf('SC_PAGE_SIZE') / 2**20


def here(name: str, objects: int, folder: Path, python: str) -> Row | None:
    """A cell of the peers' own bench, run now; None, with a word why, where that fails."""
    _, cell = PEERS[name]
    command = [python, str(folder / 'run.py'), 'cell', 'speed', cell, str(objects)]
    without = {k: v for k, v in os.environ.items() if k != 'PYTHONPATH'}
    done = subprocess.run(command, capture_output=True, text=True, env=without)
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:]
        print(f'{name}, {objects:,} objects did not run: {last}', file=sys.stderr)
        return None
    r = json.loads(done.stdout.strip().splitlines()[-1])['r']
    rss = r['rss_mb']['end'] - r['rss_mb']['empty_store_plus_workload']
    return {
        'peer': name, 'objects': objects, 'det_per_s': round(r['det_per_s'], 1),
        'p50_ms': round(r['frame']['p50_ms'], 3), 'p99_ms': round(r['frame']['p99_ms'], 3),
        'cpu_ms': round(r['frame_cpu']['p50_ms'], 3), 'load_s': rounded(r['load_s'], 2),
        'disk_mb': round(r['disk_mb_after_close'], 1), 'near_ms': round(r['spatial']['p50_ms'], 3),
        'label_ms': round(r['label']['p50_ms'], 3) if r['label_hits_last'] else None,
        'semantic_ms': round(r['semantic']['p50_ms'], 3),
        'hit_at_1': round(r['semantic_hit_at_1'], 3), 'nodes': r['n_nodes'],
        'open_s': rounded(r.get('reopen_s'), 3), 'rss_mb': round(rss),
    }  # fmt: skip


def rounded(value: float | None, digits: int) -> float | None:
    """Round what was measured at all."""
    return None if value is None else round(value, digits)


def importable(python: str) -> set[str]:
    """Which of the peers' packages that Python has."""
    modules = sorted({module for module, _ in PEERS.values()})
    program = (
        'import importlib.util, sys; '
        'print(*(m for m in sys.argv[1:] if importlib.util.find_spec(m)))'
    )
    done = subprocess.run([python, '-c', program, *modules], stdout=subprocess.PIPE, check=True)
    return set(done.stdout.decode().split())


def our_rows(objects: int, runs: int) -> Row:
    """The median of so many processes."""
    command = [sys.executable, __file__, '--cell', str(objects)]
    cells = [
        json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
        for _ in range(runs)
    ]
    return {**middle(cells), 'from': 'this run'}


def ratio(value: float) -> str:
    """Two digits, or whole."""
    return f'{value:.2g}' if value < 100 else f'{value:,.0f}'


def table(rows: list[Row]) -> Table:
    """One row a memory and size, by size."""
    shown = Table()
    for title in ('memory', 'N'):
        shown.add_column(title, no_wrap=True)
    for title in (*COLUMNS.values(), 'ours ×', 'from'):
        shown.add_column(title, justify='right')
    speed = {r['objects']: r['det_per_s'] for r in rows if r['peer'] == OURS}
    for r in sorted(rows, key=lambda r: r['objects']):
        cells = ['–' if r.get(key) is None else f'{r[key]:,g}' for key in COLUMNS]
        faster = ratio(speed[r['objects']] / r['det_per_s'])
        shown.add_row(r['peer'], f'{r["objects"]:,}', *cells, faster, r['from'])
    return shown


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--objects', type=int, nargs='+', default=[1000, 10000])
    parser.add_argument('--runs', type=int, default=1, help='runs of ours; the median is shown')
    parser.add_argument('--peers', type=Path, metavar='FOLDER', help="the peers' bench")
    parser.add_argument('--peer-python', default=sys.executable, help='Python with their packages')
    parser.add_argument('--out', type=Path, help='write the results as JSON')
    parser.add_argument('--cell', type=int, help=argparse.SUPPRESS)
    a = parser.parse_args()
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    os.environ.update(OMP_NUM_THREADS='1', OPENBLAS_NUM_THREADS='1', MKL_NUM_THREADS='1')
    if a.cell:
        with tempfile.TemporaryDirectory() as folder:
            json.dump(ours(a.cell, Path(folder)), sys.stdout)
        return
    committed = json.loads(Path(__file__).with_name('peers.json').read_text())
    present = importable(a.peer_python) if a.peers else set()
    rows = [our_rows(objects, a.runs) for objects in a.objects]
    for row in committed['rows']:
        name, objects = row['peer'], row['objects']
        if objects not in a.objects:
            continue
        found = None
        if name in PEERS and PEERS[name][0] in present:
            print(f'{name}, {objects:,} objects ...', file=sys.stderr)
            found = here(name, objects, a.peers, a.peer_python)
        if found:
            rows.append({**found, 'from': 'this run'})
        else:
            rows.append({**row, 'from': 'committed'})
    console = Console(width=190)
    console.print(table(rows))
    console.print(f'This run: {machine()}, one core; runs of ours: {a.runs}')
    console.print(f'Committed {committed["date"]}: {committed["machine"]}')
    console.print('RSS: over the empty memory and the workload. *: given the true identities,')
    console.print('no questions of its own. eMEM without an LLM holds observations, not objects.')
    if a.out:
        told = {'machine': machine(), 'committed_machine': committed['machine'], 'rows': rows}
        a.out.write_text(json.dumps(told, indent=1) + '\n')


if __name__ == '__main__':
    main()
