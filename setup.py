# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""All metadata is in setup.cfg. Here: which modules Cython compiles, where there is a compiler."""

from pathlib import Path

from setuptools import Extension, setup

try:
    from Cython.Build import cythonize
except ModuleNotFoundError:  # they run as they are: slower, with the same results
    cythonize = None

FLAGS = ['-O3', '-ffp-contract=off', '-fno-strict-aliasing']
"""As in CMakeLists.txt. Nothing is contracted: results are the same on every machine."""

modules = []
if cythonize is not None:
    names = (Path(__file__).parent / 'memory_node/compiled.txt').read_text().split()
    modules = cythonize(
        [
            Extension(
                f'memory_node.{name.replace("/", ".")}', [f'memory_node/{name}.py'],
                extra_compile_args=FLAGS, optional=True,
            )
            for name in names
        ],
        build_dir='build/cython',
    )  # fmt: skip

setup(ext_modules=modules)
