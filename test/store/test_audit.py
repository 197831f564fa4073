# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""check() finds what was tampered with; the snapshot hash tells streams apart, and nothing else."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest
from views import SECOND, observe_all, seen, stream, view

from memory_node import Config, Detection, SpatialMemory, View
from memory_node.store import audit
from memory_node.store.database import Database


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A file with 24 views, some objects and one that was forgotten."""
    name = str(tmp_path / 'memory.db')
    with SpatialMemory.open(name) as memory:
        observe_all(memory, stream(11, 24))
        memory.forget(4, 'a test')
        assert memory.check() == []
    return name


def tamper(path: str, *statements: str) -> None:
    connection = apsw.Connection(path)
    for sql in statements:
        connection.execute(sql)
        assert connection.changes() or sql.startswith(('PRAGMA', 'DROP')), f'changed nothing: {sql}'
    connection.close()


def findings(path: str) -> list[str]:
    database = Database(path)
    try:
        return audit.check(database)
    finally:
        database.close()


def test_a_file_that_was_only_written_by_us_is_clean(path: str) -> None:
    assert findings(path) == []


CREATED = "kind = 'CREATED'"


@pytest.mark.parametrize(
    ('statement', 'finding'),
    [
        ("DELETE FROM log WHERE kind = 'UPDATED'", 'log numbers are not 1, 2, 3'),
        ("UPDATE log SET kind = 'VIEW' WHERE kind = 'UPDATED'", 'VIEW lines without a view'),
        ("UPDATE log SET kind = 'NOTE' WHERE seq = 1", 'views without a VIEW line: 1'),
        ('DELETE FROM view WHERE seq = 1', 'VIEW lines without a view: 1'),
        (
            'UPDATE observation SET object_id = NULL WHERE id = (SELECT min(id) FROM observation '
            'WHERE object_id IS NOT NULL)',
            'observations without a verdict that accounts for them',
        ),
        (
            "UPDATE observation SET verdict = 'rejected' WHERE id = (SELECT min(id) FROM "
            'observation WHERE object_id IS NOT NULL)',
            'observations without a verdict that accounts for them',
        ),
        (
            f"UPDATE log SET kind = 'UPDATED' WHERE {CREATED} AND object_id = 2",
            'objects without a CREATED line: 2',
        ),
        (
            f'UPDATE log SET object_id = NULL WHERE {CREATED} AND object_id = 2',
            'objects without a CREATED line: 2',
        ),
        (
            f'UPDATE log SET object_id = NULL WHERE {CREATED} AND object_id = 2',
            'CREATED lines without an object',
        ),
        (
            f'UPDATE log SET object_id = 999 WHERE {CREATED} AND object_id = 2',
            'CREATED lines without an object',
        ),
        ('DELETE FROM object WHERE id = 2', 'CREATED lines without an object'),
        ('DELETE FROM object WHERE id = 2', 'refers to a row that object does not have'),
        (
            'UPDATE object SET observations = observations + 1 WHERE id = 2',
            'objects whose sightings are not the observations they were given: 2',
        ),
        (
            'DELETE FROM observation WHERE object_id = 2',
            'objects whose sightings are not the observations they were given: 2',
        ),
        (
            'UPDATE observation SET object_id = 1 WHERE object_id = 2',
            'objects whose sightings are not the observations they were given: 1, 2',
        ),
        (
            'UPDATE object SET version_seq = 1 WHERE id = 2',
            'objects whose version is not their last change in kind: 2',
        ),
        (
            'UPDATE log SET object_id = NULL WHERE object_id = 2',
            'objects whose version is not their last change in kind: 2',
        ),
        ('DELETE FROM tombstone', 'forgotten objects without a tombstone that bars: 4'),
        (
            "UPDATE object SET state = 'forgotten' WHERE id = 2",
            'forgotten objects without a tombstone that bars: 2',
        ),
        ('UPDATE observation SET view_seq = 12345 WHERE id = 1', 'refers to a row that view'),
        ("UPDATE view SET config = 'gone'", 'refers to a row that config does not have'),
    ],
)
def test_each_finding_is_found(path: str, statement: str, finding: str) -> None:
    tamper(path, statement)
    found = findings(path)
    assert any(finding in text for text in found), found


def test_a_page_that_was_overwritten_is_found(path: str) -> None:
    connection = apsw.Connection(path)
    [(root,)] = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'observation'")
    size = connection.pragma('page_size')
    connection.close()
    with open(path, 'r+b') as file:
        file.seek((root - 1) * size)
        file.write(b'\x99' * 64)
    assert any('damaged' in text or 'malformed' in text for text in findings(path))


def test_a_missing_table_is_a_finding_not_an_error(path: str) -> None:
    tamper(path, 'DROP TABLE tombstone')
    assert any('tombstone' in text for text in findings(path))


def test_only_the_first_few_are_named(path: str) -> None:
    tamper(path, "UPDATE log SET kind = 'NOTE' WHERE kind = 'VIEW'")
    assert 'views without a VIEW line: 1, ' in ' '.join(findings(path))
    assert 'and 19 more' in ' '.join(findings(path))


def test_facts_about_an_empty_file() -> None:
    database = Database(':memory:')
    assert audit.last_numbers(database) == (0, 0, 0, 0)
    assert audit.check(database) == []
    assert audit.store_id(database, new='a') == 'a'
    assert audit.store_id(database, new='b') == 'a'
    database.close()


def test_settings_are_stored_once_for_each_that_was_used(tmp_path: Path) -> None:
    path = str(tmp_path / 'memory.db')
    other = Config(blend=0.5)
    for config in (Config(), other, Config()):
        with SpatialMemory.open(path, config) as memory:
            memory.observe(view(1000, seen()))
            memory.configure(other)
            memory.observe(view(1000, seen()))
    with SpatialMemory.open(path) as memory:
        rows = memory._database.rows(
            "SELECT json_extract(settings, '$.blend') FROM view JOIN config ON config = hash "
            'ORDER BY seq'
        )
        assert [r[0] for r in rows] == [0.2, 0.5, 0.5, 0.5, 0.2, 0.5]
        assert memory._database.rows('SELECT count(*) FROM config') == [(2,)]


# -- the snapshot hash -----------------------------------------------------------------------


def hash_of(*views: View, recorded_after_ns: int = 0, path: str = ':memory:') -> str:
    with SpatialMemory.open(path) as memory:
        for one in views:
            memory.observe(one, recorded_ns=one.stamp_ns + recorded_after_ns)
        return memory.snapshot_hash()


BASE = (view(1000, seen(feature=[1.0, 0.0])), view(1002, seen(feature=[1.0, 0.0])))


def but(*, stamp_s: float = 1002, **more: object) -> tuple[View, View]:
    """BASE with another second view."""
    given: dict[str, object] = {'feature': [1.0, 0.0], **more}
    return BASE[0], view(stamp_s, seen(**given))  # type: ignore[arg-type]


def test_equal_streams_have_equal_hashes(tmp_path: Path) -> None:
    """Promise 3; not the record times, the store's identity, or where the file is."""
    views = list(stream(12, 40))
    expected = hash_of(*views)
    assert hash_of(*views) == expected
    assert hash_of(*views, recorded_after_ns=4 * SECOND) == expected
    assert hash_of(*views, path=str(tmp_path / 'memory.db')) == expected


@pytest.mark.parametrize(
    'views',
    [
        BASE[:1],
        BASE[::-1],
        but(stamp_s=1002.001),
        but(label='cup'),
        but(center_m=(1.001, 0, 1)),
        but(size_m=(0.1, 0.1, 0.201)),
        but(score=0.81),
        but(feature=[0.9, 0.1]),
        but(orientation_xyzw=(0, 0, 0.1, 1)),
        but(alternatives={'cup': 0.1}),
        (*BASE, view(1003)),
        (view(1000, seen(feature=[1.0, 0.0]), map_id='B'), view(1002, map_id='B')),
    ],
)
def test_another_stream_has_another_hash(views: tuple[View, ...]) -> None:
    assert hash_of(*views) != hash_of(*BASE)


def test_differences_below_a_millionth_are_not_told() -> None:
    assert hash_of(*but(center_m=(1 + 1e-9, 0, 1))) == hash_of(*but(center_m=(1, 0, 1)))
    assert hash_of(*but(score=0.8 + 1e-9)) == hash_of(*BASE)


def test_forgetting_changes_the_hash_and_so_does_its_reason() -> None:
    hashes = set()
    for reason in (None, '', 'not a mug', '{not json'):
        with SpatialMemory.open(':memory:') as memory:
            observe_all(memory, BASE)
            if reason is not None:
                memory.forget(1, reason)
            hashes.add(memory.snapshot_hash())
    assert len(hashes) == 4


@pytest.mark.parametrize('label', ['{', '{}', '{"a": "b"}', '"', "'", '\\', '[1]'])
def test_labels_that_look_like_json_are_labels(label: str) -> None:
    detection: Detection = seen(label, (5, 0, 0))
    assert hash_of(*BASE, view(1003, detection)) != hash_of(*BASE, view(1003, seen('x', (5, 0, 0))))


@pytest.mark.parametrize(
    ('statement', 'finding'),
    [
        ("UPDATE object SET labels = '{\"mug\":1.0}' WHERE label = ''", 'something is left: 2'),
        ("UPDATE object SET record = x'00' WHERE label = ''", 'something is left: 2'),
        ("INSERT INTO property VALUES (2, 'a', '1', 0, 'Ada', 1)", 'something is left: 2'),
        ("UPDATE log SET kind = 'EVENT' WHERE kind = 'PURGED'", 'no PURGED line is about: 2'),
        ("UPDATE sealed_object SET label = 'mug' WHERE label = ''", 'object is not what the log'),
    ],
)
def test_what_is_left_of_a_purged_object_is_found(path: str, statement: str, finding: str) -> None:
    with SpatialMemory.open(path) as memory:
        memory.purge(object_id=2)
        assert memory.check() == []
    tamper(path, statement)
    with SpatialMemory.open(path) as memory:
        assert finding in ' '.join(memory.check())
