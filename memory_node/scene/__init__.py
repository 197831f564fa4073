# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Geometry of boxes, and the relations between objects."""
