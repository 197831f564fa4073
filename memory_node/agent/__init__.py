# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The memory as tools of a language model."""
