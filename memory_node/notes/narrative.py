# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What changed in the map, told in the file of each day, between the generated marks (WM-5, 6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memory_node.notes.generated import put
from memory_node.notes.journal import Journal

Told = tuple[tuple[str, ...], tuple[str, ...]]
"""Pages that say so now, and pages that could not be written."""


def tell(journal: Journal, days: Mapping[str, Sequence[str]]) -> Told:
    """Put the lines of days into their files; what stands there already is not written again.

    Args:
        journal: the files. days: YYYY-MM-DD → lines.

    Raises:
        StoreError: a page cannot be written.
    """
    told: list[str] = []
    untold: list[str] = []
    for day, lines in days.items():
        page = f'memory/{day}.md'
        written = put(journal, page, f'# {day}', lines)
        if written is not None:
            (told if written else untold).append(page)
    return tuple(told), tuple(untold)
