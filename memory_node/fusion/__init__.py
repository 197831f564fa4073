# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What a sighting means: candidates, scores, verdicts, updates."""
