# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""A person's word about an object as a message, both ways."""

from __future__ import annotations

import json

from spatial_memory import msg

from memory_node import model

_UINT32 = 2**32


def to_msg(pin: model.Pin) -> msg.Pin:
    """Return a person's word as a message."""
    return msg.Pin(
        aspect=str(pin.aspect),
        value=json.dumps(pin.value, ensure_ascii=False),
        evidence='' if pin.evidence is None else json.dumps(pin.evidence, ensure_ascii=False),
        sightings=min(int(pin.sightings), _UINT32 - 1),
        conflict=bool(pin.conflict),
        seq=int(pin.seq),
        object_id=int(pin.object_id),
    )


def from_msg(message: msg.Pin) -> model.Pin:
    """Return a person's word from a message."""
    value, evidence = (json.loads(text or 'null') for text in (message.value, message.evidence))
    return model.Pin(
        object_id=message.object_id,
        aspect=model.Aspect(message.aspect),
        value=tuple(value) if isinstance(value, list) else value,
        seq=message.seq,
        sightings=message.sightings,
        evidence=tuple(evidence) if isinstance(evidence, list) else evidence,
        conflict=message.conflict,
    )
