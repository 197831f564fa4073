# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The command line: `memory inspect`, `check`, `rebuild`, `repair`, `snapshot`."""
