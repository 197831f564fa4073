# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""A small model of OpenCLIP, made here: its vectors mean nothing, but are made as real ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

DIMENSION = 24
CONFIG = {
    'model_cfg': {
        'embed_dim': DIMENSION,
        'vision_cfg': {'image_size': 32, 'layers': 1, 'width': 32, 'head_width': 16,
                       'patch_size': 16},
        'text_cfg': {'context_length': 16, 'vocab_size': 49408, 'width': 32, 'heads': 2,
                     'layers': 1},
    },
    'preprocess_cfg': {'mean': [0.5, 0.5, 0.5], 'std': [0.5, 0.5, 0.5]},
}  # fmt: skip


def import_open_clip() -> Any:
    """OpenCLIP; the test is skipped where it is not installed.

    PyPI has torchvision for PyTorch with CUDA only: beside a PyTorch for the CPU its compiled part
    cannot be loaded. What it would then miss at its import, and nobody here calls, is declared.
    """
    torch = pytest.importorskip('torch', reason='needs PyTorch: scripts/env --with clip')
    try:
        import torchvision  # noqa: F401
    except RuntimeError:
        if '_TORCHVISION' not in globals():
            library = torch.library.Library('torchvision', 'DEF')
            for name in ('nms', 'qnms'):
                library.define(f'{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor')
            globals()['_TORCHVISION'] = library
    return pytest.importorskip('open_clip', reason='needs OpenCLIP: scripts/env --with clip')


def make_model(folder: Path, seed: int = 0) -> Path:
    """Write a model with random weights into a folder, as its repository would have it."""
    open_clip = import_open_clip()
    import torch

    folder.mkdir(parents=True, exist_ok=True)
    (folder / 'open_clip_config.json').write_text(json.dumps(CONFIG))
    torch.manual_seed(seed)
    model = open_clip.CLIP(**CONFIG['model_cfg'])
    torch.save(model.state_dict(), folder / 'open_clip_pytorch_model.bin')
    return folder
