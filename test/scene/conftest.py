# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Property tests fail on what they find, never because the machine is busy."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile('untimed', deadline=None)
settings.load_profile('untimed')
