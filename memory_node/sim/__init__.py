# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""A simulated home, seen by the depth camera of a robot (pybullet, on the processor)."""
