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


class StoreBusyError(StoreError):
    """Another program holds the file's write lock; nothing was written, and a retry may work."""


class StoreInUseError(StoreError):
    """Another memory has the file open for writing."""


class DamagedStoreError(StoreError):
    """The file is not what was written: it was not touched. `memory repair` saves what it holds.

    Attributes:
        path: the file.
        finding: what is wrong with it.
    """

    def __init__(self, path: str, finding: str) -> None:
        super().__init__(
            f'{path!r} is damaged: {finding}. It was not touched. '
            f'Save what it holds with: memory repair {path}'
        )
        self.path, self.finding = path, finding


class NewerSchemaError(StoreError):
    """The file was written by a newer version of this package."""


class ReadOnlyError(StoreError):
    """The memory was opened for reading only."""


class MissingExtraError(SpatialMemoryError):
    """Something optional is not installed; says what for and how to install it.

    Attributes:
        extra: name of the extra of this package.
    """

    def __init__(self, extra: str, needs: str, packages: str) -> None:
        super().__init__(
            f'{needs}: not installed. Install the extra [{extra}]: pip install {packages}'
        )
        self.extra = extra
