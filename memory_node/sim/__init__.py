# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""A simulated home and the robot in it, without ROS; `ros/simulation_node.py` publishes them."""
