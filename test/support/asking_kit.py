# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Requests to a running node that must succeed, or be refused with a certain code, for tests."""

from __future__ import annotations

from node_kit import NS, detection

CUP = detection('cup', (2.0, 0.1, 0.85))
TABLE = detection('table', (2.0, 0.0, 0.375), size=(1.2, 0.8, 0.75))
MUG = detection('coffee mug', (5.0, 0.0, 0.5), feature=(1.0, 0.0, 0.0))


class Asking:
    """ask(service, **fields) → reply, which must be a success."""

    def __init__(self, robot, node):
        self.robot, self.node = robot, node
        robot.wait_ready()

    def __call__(self, service, /, **fields):
        reply = self.robot.call(service, **fields)
        assert reply.success, reply.message
        assert reply.error_code == reply.NONE
        told = ('semantic search is off: ', ' were refused')  # C36; of notes, each alone
        assert not reply.message or any(words in reply.message for words in told)
        return reply

    def refused(self, service, code, /, **fields):
        """The message of a request that must be refused with a code."""
        reply = self.robot.call(service, **fields)
        assert not reply.success
        assert reply.error_code == getattr(reply, code), reply.message
        assert reply.message
        return reply.message

    def look(self, *detections, ago_s=0.0):
        """See these twice, so that they are confirmed; return the stamp of the second time."""
        last = self.robot.now_ns() - int(ago_s * NS)
        for stamp_ns in (last - 2 * NS, last):
            self.robot.wait_acknowledged(self.robot.see(*detections, stamp_ns=stamp_ns))
        return last

    def ids(self, **fields):
        return [h.object.id for h in self('query', **fields).hits]
