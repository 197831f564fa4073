# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Objects in the file as the working set has them, so that opening need not read each number.

Beside its columns, which are for reading by people and other programs, each row of the object table
holds the record itself: `world.STORED`, then the labels beyond its slots. Many records are put
together and looked at as one array, instead of making a Python object of each number. Both are
written by one statement; that they agree with the log, and so with each other, is for `check` to
tell.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from memory_node.fusion.world import OBJECT, STORED, Records

WIDTH = STORED.itemsize
"""Bytes of a record without the labels beyond its slots."""
_DECIMALS: int = STORED.fields['id'][1]  # type: ignore[index]
"""Bytes of the decimal numbers at the beginning of a record."""
SPILLED = np.dtype([('label', '<i4'), ('mass', '<f8')])
"""A label beyond the slots of a record, behind it."""


def pack(records: Records, more_labels: Mapping[int, Mapping[int, float]]) -> list[bytes]:
    """Return each record as it is stored.

    Args:
        records: (R,) OBJECT. more_labels: place → labels beyond the slots, in their order.
    """
    raw = _raw(records)[:, :WIDTH].copy()
    decimals = raw[:, :_DECIMALS].view('<f8')
    decimals += 0.0  # no negative zeros: a column does not keep them, so a replay has none
    whole = raw.tobytes()
    packed = [whole[at : at + WIDTH] for at in range(0, len(whole), WIDTH)]
    for place, masses in more_labels.items():
        packed[place] += np.array([*masses.items()], SPILLED).tobytes()
    return packed


def joined(records: Records, places: Sequence[int]) -> bytes:
    """Return the heads of some records, by ascending places, of WIDTH bytes each, as they are."""
    raw = _raw(records)
    if places and places[-1] == len(places) - 1:  # the first ones, as a rule: a slice is cheaper
        return raw[: len(places), :WIDTH].tobytes()
    return raw[places, :WIDTH].tobytes()


def chosen(records: Records, places: Sequence[int]) -> Records:
    """Return a copy of some records; numpy copies bytes at once, a record number by number."""
    found: Records = _raw(records)[places].view(OBJECT)[:, 0]
    return found


def _raw(records: Records) -> np.ndarray:
    """Records as (R, bytes)."""
    return np.ascontiguousarray(records).view(np.uint8).reshape(len(records), OBJECT.itemsize)


def unpack(packed: Sequence[bytes]) -> tuple[Records, dict[int, dict[int, float]]]:
    """Return stored records, (R,) OBJECT with zeros in what is not stored, and their more_labels.

    Raises:
        ValueError: one of them has another length than any record.
    """
    more = {}
    heads = packed
    if set(map(len, packed)) - {WIDTH}:
        heads = [blob[:WIDTH] for blob in packed]
        for place, blob in enumerate(packed):
            if len(blob) != WIDTH:
                spilled = np.frombuffer(blob[WIDTH:], SPILLED)  # raises for half an entry
                more[place] = dict(zip(spilled['label'].tolist(), spilled['mass'].tolist()))
    raw = np.frombuffer(b''.join(heads), np.uint8).reshape(len(packed), WIDTH)
    records = np.zeros(len(packed), OBJECT)
    records.view(np.uint8).reshape(len(packed), OBJECT.itemsize)[:, :WIDTH] = raw
    return records, more
