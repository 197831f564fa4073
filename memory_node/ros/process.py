# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""A process that runs until a signal ends it, and ends quietly then."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable
from typing import NoReturn

SIGNALS = (signal.SIGINT, signal.SIGTERM)


def until_signal(run: Callable[[threading.Event], int]) -> NoReturn:
    """Run something, and exit with the code that it returns.

    Args:
        run: is given an event that is set once SIGINT or SIGTERM has come.
    """
    stop = threading.Event()
    for number in SIGNALS:
        signal.signal(number, lambda *_: stop.set())
    code = run(stop)
    for number in SIGNALS:  # Python restores the defaults at its end, which would kill it
        signal.signal(number, signal.SIG_IGN)
    sys.exit(code)
