# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Messages made without what their constructor puts in, where many are made at once.

The constructor of a message makes every nested message, also those that it is given: for a Hit with
a MemoryObject in it that is half of the time that an answer takes to become a message.
"""

from __future__ import annotations

from typing import Any, TypeVar

from builtin_interfaces.msg import Time

_T = TypeVar('_T')
_CHECKED: bool | None = getattr(Time(), '_check_fields', None)
"""Whether fields are checked when set (ROS_PYTHON_CHECK_FIELDS); None: there is no choice."""


def blank(kind: type[_T]) -> _T:
    """Return a message of a kind of which no field is set: the caller sets every one of them."""
    message: Any = kind.__new__(kind)
    if _CHECKED is not None:
        message._check_fields = _CHECKED
    return message  # type: ignore[no-any-return]
