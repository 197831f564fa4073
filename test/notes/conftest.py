# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Notes are ranked without `wordllama`, unless a test asks for it."""

from __future__ import annotations

import pytest

from memory_node.recall import rank


@pytest.fixture(autouse=True)
def no_llama(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same results whatever is installed."""
    monkeypatch.setattr(rank, '_llama', lambda: None)
