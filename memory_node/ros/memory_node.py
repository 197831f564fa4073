# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The executable `memory_node`: runs SpatialMemoryNode until SIGINT or SIGTERM.

It ends with code 0 after a signal and with 1 when it could not start, then with one line in the
log that says why. The imports that take long are below the signal handlers, so that a signal
during start-up ends it just as quietly.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from memory_node.ros.process import until_signal

THREADS = 40
"""At most so many callbacks at once: no fewer than there are callback groups, or rclpy's executor
turns in circles while it waits for a free thread. They are started when they are needed."""
SPIN_S = 0.2
"""How long a signal may go unnoticed."""


def main(args: Sequence[str] | None = None) -> None:
    """Run the node until SIGINT or SIGTERM; then everything acknowledged is on disk."""
    until_signal(lambda stop: _run(args, stop))


def _run(args: Sequence[str] | None, stop: threading.Event) -> int:
    import rclpy
    from rclpy.executors import MultiThreadedExecutor
    from rclpy.signals import SignalHandlerOptions

    from memory_node.ros.node import SpatialMemoryNode

    node: SpatialMemoryNode | None = None
    executor: MultiThreadedExecutor | None = None
    try:
        rclpy.init(args=args, signal_handler_options=SignalHandlerOptions.NO)
        node = SpatialMemoryNode()
        executor = MultiThreadedExecutor(num_threads=THREADS)
        executor.add_node(node)
        if node.autostart and not stop.is_set() and not node.start():
            return 1
        while not stop.is_set() and rclpy.ok():
            spin_once(executor, node)
        return 0
    except Exception as error:  # nothing else would be one clear line
        _fatal(error)
        return 1
    finally:
        if node is not None:
            node.close()
        if executor is not None:
            executor.shutdown()
        if node is not None:
            node.destroy_node()
        rclpy.try_shutdown()


def spin_once(executor: Any, node: Any, timeout_s: float = SPIN_S) -> None:
    """Execute what is ready; an exception of a callback is reported, and never ends the node."""
    from rclpy.exceptions import InvalidHandle

    try:
        executor.spin_once(timeout_sec=timeout_s)
    except InvalidHandle:
        pass  # something was destroyed while it was waited for
    except Exception as error:
        node.callback_failed(error)


def _fatal(error: Exception) -> None:
    import traceback

    from rclpy.logging import get_logger

    from memory_node.errors import SpatialMemoryError

    logger = get_logger('spatial_memory')
    known = isinstance(error, SpatialMemoryError)
    logger.fatal(str(error) if known else f'{type(error).__name__}: {error}')
    logger.debug(''.join(traceback.format_exception(error)))


if __name__ == '__main__':
    main()
