# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""An open store and the turns that are taken on it: what asking and telling stand on."""

from __future__ import annotations

import dataclasses
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from memory_node import checks
from memory_node.config import Config
from memory_node.errors import (
    ClosedError,
    DamagedStoreError,
    StoreBusyError,
    StoreError,
    UnknownObjectError,
)
from memory_node.fusion.classes import MOBILE
from memory_node.fusion.tracks import Tracks
from memory_node.locking import FairLock
from memory_node.model import MemoryObject
from memory_node.store import identity, objects, purge
from memory_node.store.database import BUSY_TIMEOUT_MS, Database
from memory_node.store.rebuild import upgrade
from memory_node.store.session import Session

if TYPE_CHECKING:
    from typing_extensions import Self

    from memory_node.recall.moment import Moment

_T = TypeVar('_T')
RETRY_S = 0.02


class OpenStore:
    """One opened file. Safe to call from several threads; calls take turns in their order.

    Attributes:
        refusals: reason → how many detections (or whole views) were refused and not stored.
    """

    def __init__(self, database: Database, config: Config) -> None:
        """Use `open`."""
        self.refusals: Counter[str] = Counter()
        self._lock = FairLock()
        self._retry = threading.Event()
        self._database = database
        self._closed = False
        self._session = Session(database, config)
        self._tracks = Tracks()
        self._use_labels()
        self._past: Moment | None = None  # the last one that was asked about
        self._consolidated: tuple[int, int, Config | None] = (0, 0, None)
        self._database.empty_left_log()
        self._finish_purge()

    @classmethod
    def open(
        cls,
        path: str,
        config: Config | None = None,
        readonly: bool = False,
        recover: bool = False,
    ) -> Self:
        """Open or create a memory.

        Args:
            path: the file, `~` is expanded; `:memory:` keeps nothing on disk.
            config: settings; None: the defaults.
            readonly: open an existing file for reading; a writer may have it open. What is read is
                the state at opening.
            recover: set a damaged file aside under a new name and start empty.

        Raises:
            StoreError: the file cannot be opened, or is another program's.
            StoreInUseError: another memory has it open for writing.
            DamagedStoreError: it is not what was written; it was not touched.
            NewerSchemaError: a newer version of this package wrote it.
        """
        config = config or Config()
        database = Database(path, config.durability, readonly, recover)
        try:
            try:
                upgrade(database, config)
                return cls(database, config)
            except DamagedStoreError:
                if not recover or readonly:
                    raise
                database.start_anew()
                return cls(database, config)
        except BaseException:
            database.close()
            raise

    # -- what it is --------------------------------------------------------------------------

    @property
    def config(self) -> Config:
        """The settings it decides by."""
        return self._session.config

    @property
    def path(self) -> str:
        """The file."""
        return self._database.path

    @property
    def store_id(self) -> str:
        """Identity of the file; ids and log numbers hold within one store."""
        return self._session.store_id

    @property
    def notices(self) -> list[str]:
        """What whoever opened it should be told, in words."""
        found = list(self._session.notices)
        if self._database.set_aside is not None:
            found.append(f'the file was damaged; it was set aside as {self._database.set_aside}')
        if self._database.log_held_back:
            found.append('a reader outside keeps the write-ahead log from being emptied')
        return found

    @property
    def seq(self) -> int:
        """Number of the last log line."""
        return self._session.seq

    @property
    def durable_seq(self) -> int:
        """Log line up to which nothing is lost in a power cut."""
        return self._database.durable_seq(self._session.seq)

    @property
    def newest_stamp_ns(self) -> int:
        """Newest stamp of a committed view; 0: none."""
        return self._session.newest_ns

    def close(self) -> None:
        """Write everything back into the file and close it; may be called twice."""
        with self._lock:
            if not self._closed:
                self._closed = True
                try:
                    self._session.finish()
                except StoreError:  # another program holds the file: the next opening makes it good
                    pass
                finally:
                    self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _finish_purge(self) -> None:
        """Remove old bytes that a purge had to leave, as a stop or a reader was in its way."""
        if not self._database.readonly and not purge.erase(self._session):
            self._session.notices.append(
                'the file still holds bytes that were purged: there is no room to write it anew, '
                'or a reader outside needs them'
            )

    @contextmanager
    def _opened(self) -> Iterator[Session]:
        """Hold the lock of an open memory."""
        with self._lock:
            if self._closed:
                raise ClosedError(f'the memory {self._database.path!r} has been closed')
            yield self._session

    def _patiently(self, call: Callable[[], _T], wait: bool = True) -> _T:
        """Try again while another program holds the file's lock; others get their turn between."""
        pause_s = RETRY_S + BUSY_TIMEOUT_MS / 1e3
        attempts = 1 + int(self.config.busy_wait_s / pause_s) if wait else 1
        for left in range(attempts, 0, -1):
            try:
                with self._opened():
                    return call()
            except StoreBusyError:
                if left == 1:
                    raise
                self._retry.wait(RETRY_S)
        raise AssertionError('unreachable')

    def _use_labels(self) -> None:
        """Note which labels are refused, case-folded, and which of them may be followed."""
        classes, ignored = self._session.classes, folded(self.config.ignored_labels)
        self._ignored = ignored | classes.left_out()
        self._mobile = classes.labels_of(MOBILE) - ignored

    def _object(self, object_id: int) -> MemoryObject:
        """The object that an id stands for now; of one that was merged, what it became."""
        world = self._session.engine.world
        whole = isinstance(object_id, (int, np.integer)) and not isinstance(object_id, bool)
        valid = whole and 0 < object_id < 2**63
        number = self._session.redirects.final(int(object_id)) if valid else 0
        row = world.row_of(number) if valid else None
        if row is not None:
            return world.view(row)
        found = (
            objects.read_object(self._database, number, self._session.classes) if valid else None
        )
        if found is None:
            last = self._session.engine.last_object_id
            raise UnknownObjectError(
                f'no object has the id {checks.short(object_id)}; ids go from 1 to {last}'
            )
        maps = np.array([world.map_number(found.map_id)])
        [region] = world.regions.names_at(np.array([found.center_m]), maps)
        return dataclasses.replace(found, region=region)

    def _live_row(self, object_id: int) -> int:
        """Row of a live object. What was merged into another is refused: changes name that."""
        self._object(object_id)
        return identity.live_row(self._session, int(object_id))

    def _held(self, object_id: int) -> list[int]:
        """Id of the object that an id stands for, and then all ids that became it."""
        return self._session.redirects.held(self._object(object_id).id)


def folded(labels: Iterable[str]) -> frozenset[str]:
    """Labels with their case folded."""
    return frozenset(label.casefold() for label in labels)
