# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What was said and done: notes, their journal, and what is learned from them."""
