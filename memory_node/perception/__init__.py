# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""From what detectors say to what the memory takes."""
