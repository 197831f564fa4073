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

_WIDTH = STORED.itemsize
_DECIMALS: int = STORED.fields['id'][1]  # type: ignore[index]
"""Bytes of the decimal numbers at the beginning of a record."""
_SPILLED = np.dtype([('label', '<i4'), ('mass', '<f8')])


def pack(records: Records, more_labels: Mapping[int, Mapping[int, float]]) -> list[bytes]:
    """Return each record as it is stored.

    Args:
        records: (R,) OBJECT. more_labels: place → labels beyond the slots, in their order.
    """
    raw = np.ascontiguousarray(records).view(np.uint8).reshape(len(records), OBJECT.itemsize)
    raw = raw[:, :_WIDTH].copy()
    decimals = raw[:, :_DECIMALS].view('<f8')
    decimals += 0.0  # no negative zeros: a column does not keep them, so a replay has none
    whole = raw.tobytes()
    packed = [whole[at : at + _WIDTH] for at in range(0, len(whole), _WIDTH)]
    for place, masses in more_labels.items():
        packed[place] += np.array([*masses.items()], _SPILLED).tobytes()
    return packed


def unpack(packed: Sequence[bytes]) -> tuple[Records, dict[int, dict[int, float]]]:
    """Return stored records, (R,) OBJECT with zeros in what is not stored, and their more_labels.

    Raises:
        ValueError: one of them has another length than any record.
    """
    more = {}
    heads = packed
    if set(map(len, packed)) - {_WIDTH}:
        heads = [blob[:_WIDTH] for blob in packed]
        for place, blob in enumerate(packed):
            if len(blob) != _WIDTH:
                spilled = np.frombuffer(blob[_WIDTH:], _SPILLED)  # raises for half an entry
                more[place] = dict(zip(spilled['label'].tolist(), spilled['mass'].tolist()))
    raw = np.frombuffer(b''.join(heads), np.uint8).reshape(len(packed), _WIDTH)
    records = np.zeros(len(packed), OBJECT)
    records.view(np.uint8).reshape(len(packed), OBJECT.itemsize)[:, :_WIDTH] = raw
    return records, more
