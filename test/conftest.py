# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What all tests share: --long, a ROS domain each, no time limit for property tests, a summary."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

# Property tests fail on what they find, never because the machine is busy.
settings.register_profile('untimed', deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile('untimed')


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds --long."""
    parser.addoption('--long', action='store_true', help='also run the tests marked as long')


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skips the tests marked as long unless --long is given."""
    if config.getoption('--long'):
        return
    skip = pytest.mark.skip(reason='takes long: run with --long')
    for item in items:
        if item.get_closest_marker('long'):
            item.add_marker(skip)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Prints what scripts/test ran before, and the seconds of the whole run."""
    summary = os.environ.get('SPATIAL_MEMORY_TEST_SUMMARY')
    if not summary:
        return
    terminalreporter.section('scripts/test')
    terminalreporter.write(summary)
    seconds = time.time() - float(os.environ['SPATIAL_MEMORY_TEST_STARTED'])
    terminalreporter.line(f'total: {seconds:.0f} s')


@pytest.fixture
def ros_domain(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """A ROS domain of the test's own, in the environment of the test and of what it starts."""
    domain_coordinator = pytest.importorskip('domain_coordinator')
    with domain_coordinator.domain_id() as domain:
        monkeypatch.setenv('ROS_DOMAIN_ID', str(domain))
        yield int(domain)
