# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What scripts/demo runs: a robot tours public rooms, and the memory is asked about them."""
