# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Errors of the memory: few, named, each says what was given and what was expected."""

from __future__ import annotations


class SpatialMemoryError(Exception):
    """Base of all errors raised on purpose by this package."""


class InvalidValueError(SpatialMemoryError, ValueError):
    """A value that was given is of the wrong type, not finite, or out of range."""


class UnknownObjectError(SpatialMemoryError, KeyError):
    """No object has ever had this id."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ''


class ObjectEndedError(SpatialMemoryError):
    """The object has been forgotten, so this can no longer be done to it."""


class StoreError(SpatialMemoryError):
    """The file could not be opened, read or written."""


class ClosedError(SpatialMemoryError):
    """The memory was closed before this call."""
