# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Up to where the log counts, on its two axes of time."""

from __future__ import annotations

from dataclasses import dataclass

from memory_node.store.database import Database

LAST = 2**63 - 1


@dataclass(frozen=True)
class Bound:
    """Lines up to this number, with stamps up to this time.

    Attributes:
        seq: what the memory had learned by then. stamp_ns: what the world had shown by then.
    """

    seq: int = LAST
    stamp_ns: int = LAST


NOW = Bound()


def line_at(database: Database, recorded_ns: int) -> int:
    """The last log line that was recorded by a time; 0: none was."""
    rows = database.rows(
        'SELECT seq FROM log WHERE recorded_ns <= ? ORDER BY seq DESC LIMIT 1', (recorded_ns,)
    )
    return int(rows[0][0]) if rows else 0
