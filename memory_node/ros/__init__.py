# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The ROS 2 boundary: translates and wires, decides nothing."""
