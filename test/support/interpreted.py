# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""A module that may be compiled, as it runs where it is not."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import memory_node

PACKAGE = Path(memory_node.__file__).parent


def interpreted(name: str) -> ModuleType:
    """Import a module of `compiled.txt` from its source, beside the compiled one."""
    spec = importlib.util.spec_from_file_location(
        f'interpreted_{name.replace("/", "_")}', PACKAGE / f'{name}.py'
    )
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
