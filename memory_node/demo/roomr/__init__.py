# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Rooms of the RoomR data set as fixed streams of views, with the truth beside them.

The AI2-THOR rooms are in `memory_node/demo/data`. Frames: the map is right-handed, z up, metres.
Each random draw hangs on (seed, episode, visit, view, thing), so the same arguments give the same
views on every machine, whatever else is drawn.
"""
