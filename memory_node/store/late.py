# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Records of objects whose rows are written behind.

Most sightings change nothing of an object but its numbers: where it is to the millimetre, how often
and when it was seen. A view keeps the records of these side by side, in one row of its own; the
rows of the objects, which lie far apart, follow once enough others came (`store.rows_behind`). A
row that was written for a change in kind is newer than all late records before that change.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import apsw
import numpy as np

from memory_node.fusion.world import STORED, Records
from memory_node.store import behind
from memory_node.store.database import Database
from memory_node.store.packed import SPILLED, WIDTH, joined

MARK = 'glances_to'
"""In meta: the log line up to which all rows have all late records, and all glances."""
_PUT = 'INSERT INTO late_record VALUES (?, ?, ?)'
_REMOVE = 'DELETE FROM late_record WHERE seq <= ?'
_SINCE = 'SELECT seq, records, more_labels FROM late_record WHERE seq > ? ORDER BY seq'
_ROWS = """
    SELECT id, version_seq, map_id FROM object WHERE id IN (SELECT value FROM json_each(?))
"""
_SPILLED = np.dtype([('place', '<i4'), ('label', '<i4'), ('mass', '<f8')])


Part = tuple[Records, Sequence[int], Mapping[int, Mapping[int, float]]]
"""Records, (R,) OBJECT, places of the ones to keep, and by places the labels beyond the slots."""


@dataclass(frozen=True)
class Late:
    """The newest late record of an object. packed: as its row will have it; see `store.packed`."""

    packed: bytes
    map_id: str

    @property
    def observations(self) -> int:
        """How often it was sighted."""
        return int(np.frombuffer(self.packed[:WIDTH], STORED)['observations'][0])


def mark_of(database: Database) -> int:
    """Log line up to which all rows are said to have all that is late; 0: nothing is said."""
    return behind.mark_of(database, MARK)


def put(connection: apsw.Connection, seq: int, parts: Sequence[Part]) -> None:
    """Keep records of a view, within its transaction.

    Args:
        seq: log line of the view. parts: what to keep; without any record, nothing is written.
    """
    heads, spilled, first = [], [], 0
    for records, places, more_labels in parts:
        heads.append(joined(records, places))
        for k, place in enumerate(places, first) if more_labels else ():
            spilled += [(k, *entry) for entry in more_labels.get(place, {}).items()]
        first += len(places)
    if first:
        more = np.array(spilled, _SPILLED).tobytes() if spilled else None
        connection.execute(_PUT, (seq, b''.join(heads), more))


def remove(connection: apsw.Connection, seq: int) -> None:
    """All rows have what was late up to a log line, within a transaction."""
    behind.put_mark(connection, MARK, seq)
    connection.execute(_REMOVE, (seq,))


def recovered(database: Database) -> dict[int, Late]:
    """The newest late record of each object, where its row was not written for a change since."""
    newest: dict[int, tuple[int, bytes]] = {}
    for seq, records, more_labels in database.rows(_SINCE, (mark_of(database),)):
        packed = [records[at : at + WIDTH] for at in range(0, len(records), WIDTH)]
        for place, *entry in np.frombuffer(more_labels or b'', _SPILLED).tolist():
            packed[place] += np.array([tuple(entry)], SPILLED).tobytes()
        ids = np.frombuffer(records, STORED)['id'].tolist()
        newest.update(zip(ids, zip([seq] * len(ids), packed)))
    if not newest:
        return {}
    return {
        number: Late(newest[number][1], map_id)
        for number, version_seq, map_id in database.rows(_ROWS, (json.dumps([*newest]),))
        if version_seq <= newest[number][0]
    }
