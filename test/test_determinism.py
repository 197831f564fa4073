# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Promise 3: the same stream gives the same memory, also with the arithmetic of another CPU."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / 'test' / 'support' / 'replay_hash.py'
VIEWS, LONG_VIEWS = 60, 400
CORES = {
    'x86_64': ('Haswell', 'Sandybridge', 'SkylakeX', 'Nehalem'),
    'aarch64': ('NEOVERSEN1', 'CORTEXA57', 'ARMV8'),
}
"""Kernels of OpenBLAS for each kind of machine, the oldest last."""

INSTRUCTIONS = """
try:
    from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__
except ImportError:
    from numpy.core._multiarray_umath import __cpu_dispatch__, __cpu_features__
print(*[name for name in __cpu_dispatch__ if __cpu_features__[name]])
"""


def run(script: list[str], **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *script], cwd=ROOT, capture_output=True, text=True, timeout=250,
        env={**os.environ, 'PYTHONPATH': f'{ROOT}{os.pathsep}{SCRIPT.parent}', **variables},
    )  # fmt: skip


def replay(views: int, **variables: str) -> tuple[str, list[str]]:
    """What replay_hash.py says of its arithmetic, and of the memory."""
    done = run([str(SCRIPT), str(views)], **variables)
    assert done.returncode == 0, done.stderr
    said, *lines = done.stdout.splitlines()
    assert sum(' hash ' in line for line in lines) == 2
    return said, lines


def instructions() -> list[str]:
    """The instruction sets that numpy uses on this machine beyond what it always needs."""
    return run(['-c', INSTRUCTIONS]).stdout.split()


def refused(names: str) -> bool:
    """Whether numpy will not do without these."""
    return run(['-c', 'import numpy'], NPY_DISABLE_CPU_FEATURES=names).returncode != 0


def variants() -> dict[str, dict[str, str]]:
    """Name → environment of each other arithmetic that this machine can show."""
    cores = CORES.get(platform.machine(), ())
    found: dict[str, dict[str, str]] = {
        f'OpenBLAS for {core}': {'OPENBLAS_CORETYPE': core} for core in cores
    }
    names = instructions()
    for k in range(len(names)):  # what an older CPU lacks, it lacks together with all that is newer
        without = ' '.join(names[k:])
        if not refused(without):
            found[f'numpy without {without}'] = {'NPY_DISABLE_CPU_FEATURES': without}
    found['libm without AVX and FMA'] = {
        'GLIBC_TUNABLES': 'glibc.cpu.hwcaps=-AVX512F,-AVX2,-FMA,-FMA4,-AVX'
    }
    found['one BLAS thread, other string hashes'] = {
        'OPENBLAS_NUM_THREADS': '1', 'PYTHONHASHSEED': '7',
    }  # fmt: skip
    everything = {k: v for variant in found.values() for k, v in variant.items()}
    if names and not refused(' '.join(names)):
        everything['NPY_DISABLE_CPU_FEATURES'] = ' '.join(names)
    if cores:
        everything['OPENBLAS_CORETYPE'] = cores[-1]
    found['all of an old CPU'] = everything
    return found


@pytest.mark.timeout(900)
def test_promise_3_the_hash_is_the_same_with_the_arithmetic_of_another_cpu(
    request: pytest.FixtureRequest,
) -> None:
    views = LONG_VIEWS if request.config.getoption('--long') else VIEWS
    said, expected = replay(views)
    told = [f'here: {said}']
    wrong = []
    others = variants()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        replays = list(pool.map(lambda variables: replay(views, **variables), others.values()))
    for name, (said, lines) in zip(others, replays):
        told.append(f'{name}: {said}')
        for mine, theirs in zip(expected, lines):
            if mine != theirs:
                wrong.append(f'{name}: {theirs!r}, expected {mine!r}')
                break
        assert len(lines) == len(expected)
    print('\n'.join(told))
    assert wrong == []
    if platform.machine() not in CORES:
        return
    arithmetics = {line.partition('# ')[2] for line in told}
    assert len(arithmetics) > 1, f'nothing but the arithmetic of this machine was tried: {told}'


def test_the_script_tells_streams_apart() -> None:
    """It would notice a difference."""
    assert replay(10)[1] == replay(10)[1]
    assert replay(11)[1] != replay(10)[1]
