# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""One SQLite file: the log, views, observations and objects."""
