# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Does the memory know who is who? Streams with a known truth, and what a memory made of them."""
