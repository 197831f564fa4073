# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The whole way over ROS: detections at 30 Hz into the real node, and how soon the feed tells.

    scripts/env python bench/over_ros.py --seconds 60

50 detections with 512-d features, 30 times a second, of a world that is known after the first
seconds. Reported: views that were dropped, time from publishing to the acknowledgement on
~/changes, and the time of a near query beside that of the cheapest request the node answers.
"""

from __future__ import annotations

import argparse
import array
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import rclpy
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rich.console import Console
from rich.table import Table
from spatial_memory.msg import ChangeArray, Detection, DetectionArray
from spatial_memory.srv import GetChanges, Query
from workload import BOX, World

RATE_HZ = 30.0
DETECTIONS = 50
OBJECTS = 2000
QUERIES = 200


class Load(Node):
    """Publishes views and remembers when each was acknowledged."""

    def __init__(self) -> None:
        super().__init__('load')
        self.sent: dict[int, float] = {}
        self.latency_ms: list[float] = []
        self.world = World(OBJECTS)
        self.start = 0
        self.out = self.create_publisher(DetectionArray, 'detections', QoSProfile(depth=50))
        self.create_subscription(
            ChangeArray, '/spatial_memory/changes', self._told, QoSProfile(depth=200)
        )

    def _told(self, message: Any) -> None:
        stamp = message.header.stamp.sec * 10**9 + message.header.stamp.nanosec
        sent = self.sent.pop(stamp, None)
        if sent is not None:
            self.latency_ms.append((time.perf_counter() - sent) * 1e3)

    def prepared(self, count: int) -> list[Any]:
        """Messages of the next views, without their stamps."""
        return [self._message() for _ in range(count)]

    def _message(self) -> Any:
        message = DetectionArray(sensor='camera')
        message.header.frame_id = 'map'
        for k in range(self.start, self.start + DETECTIONS):
            d = self.world.det(k % OBJECTS)
            one = Detection(label=d.label, score=float(d.conf))
            p = one.pose.position
            p.x, p.y, p.z = d.pos
            one.pose.orientation.w = 1.0
            one.size.x = one.size.y = one.size.z = BOX
            one.feature = array.array('f', d.feat.tobytes())
            message.detections.append(one)
        self.start = (self.start + DETECTIONS) % OBJECTS
        return message

    def send(self, message: Any) -> None:
        """Stamp and publish."""
        message.header.stamp = self.get_clock().now().to_msg()
        stamp = message.header.stamp
        self.sent[stamp.sec * 10**9 + stamp.nanosec] = time.perf_counter()
        self.out.publish(message)


def flow(load: Load, seconds: float) -> None:
    """Publish at the rate for so long, and hear the feed."""
    messages = load.prepared(OBJECTS // DETECTIONS)
    begin, count = time.perf_counter(), 0
    while (now := time.perf_counter() - begin) < seconds:
        if now * RATE_HZ >= count:
            load.send(messages[count % len(messages)])
            count += 1
        rclpy.spin_once(load, timeout_sec=0.001)
    limit = time.perf_counter() + 10
    while load.sent and time.perf_counter() < limit:
        rclpy.spin_once(load, timeout_sec=0.01)


def calls_ms(load: Load, kind: Any, name: str, request: Any) -> list[float]:
    """Round trips of a service."""
    client = load.create_client(kind, f'/spatial_memory/{name}')
    client.wait_for_service(10)
    times = []
    for _ in range(QUERIES):
        start = time.perf_counter()
        future = client.call_async(request)
        rclpy.spin_until_future_complete(load, future, timeout_sec=5)
        times.append((time.perf_counter() - start) * 1e3)
    return times


def measure(seconds: float) -> dict[str, Any]:
    """Run the node and all of it."""
    os.environ.setdefault('ROS_DOMAIN_ID', '91')
    rclpy.init()
    with tempfile.TemporaryDirectory() as folder:
        node = subprocess.Popen(
            [sys.executable, '-m', 'memory_node.ros.memory_node', '--ros-args', '-p',
             f'database:={folder}/bench.db'])  # fmt: skip
        load = Load()
        try:
            while not (load.out.get_subscription_count() and load.count_publishers(
                    '/spatial_memory/changes')):  # fmt: skip
                rclpy.spin_once(load, timeout_sec=0.1)
            flow(load, 3.0)
            load.latency_ms.clear()
            load.sent.clear()
            flow(load, seconds)
            near = Query.Request(radius_m=2.0)
            near.near.point.x, near.near.point.y = 10.0, 10.0
            least = calls_ms(load, GetChanges, 'get_changes', GetChanges.Request(limit=-1))
            query = calls_ms(load, Query, 'query', near)
        finally:
            node.send_signal(signal.SIGINT)
            node.wait(20)
            rclpy.shutdown()
    ms = np.array(load.latency_ms)
    return {
        'seconds': seconds, 'views': len(ms) + len(load.sent), 'lost': len(load.sent),
        'feed_p50_ms': round(float(np.percentile(ms, 50)), 2),
        'feed_p99_ms': round(float(np.percentile(ms, 99)), 2),
        'least_call_p50_ms': round(float(np.median(least)), 2),
        'near_call_p50_ms': round(float(np.median(query)), 2),
        'near_call_p99_ms': round(float(np.percentile(query, 99)), 2),
    }  # fmt: skip


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--seconds', type=float, default=60.0)
    parser.add_argument('--out', type=Path, help='write the results as JSON')
    a = parser.parse_args()
    result = measure(a.seconds)
    table = Table('figure', 'value')
    for key, value in result.items():
        table.add_row(key, f'{value:,}')
    Console(width=100).print(table)
    if a.out:
        a.out.write_text(json.dumps(result, indent=1) + '\n')


if __name__ == '__main__':
    main()
