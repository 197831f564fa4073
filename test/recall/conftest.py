# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What is alike is ranked without `wordllama`, unless a test asks for it: fixture `llama`."""

from __future__ import annotations

from typing import Any

import pytest

from memory_node.recall import rank


@pytest.fixture(autouse=True)
def no_llama(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same results whatever is installed."""
    monkeypatch.setattr(rank, '_llama', lambda: None)


@pytest.fixture
def llama(monkeypatch: pytest.MonkeyPatch, no_llama: None) -> Any:
    """With `wordllama`."""
    pytest.importorskip('wordllama')
    model = rank._Llama()
    monkeypatch.setattr(rank, '_llama', lambda: model)
    return model
