# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Encoders that load beside the work, and what the memory is given of them."""

from __future__ import annotations

import threading
from collections.abc import Callable

from memory_node.errors import InvalidValueError, SpatialMemoryError
from memory_node.memory import SpatialMemory
from memory_node.perception.encoder import Encoder, OpenClipEncoder, require_space
from memory_node.perception.settings import EncoderConfig

OFF = 'semantic search is off'

Loader = Callable[[EncoderConfig], Encoder]


def load_beside(
    config: EncoderConfig, done: Callable[[Encoder | None, str], None],
    load: Loader = OpenClipEncoder,
) -> None:  # fmt: skip
    """Load an encoder in a thread of its own: that takes seconds, and nothing waits for it (C36).

    Args:
        config: which model. done: called from there with the encoder and an empty text, or with
            None and why there is none. load: makes the encoder.
    """

    def run() -> None:
        try:
            encoder = load(config)
        except SpatialMemoryError as error:
            done(None, str(error))
        except Exception as error:  # whatever a library raises that does not fit the others
            done(None, f'encoder_model: {config.encoder_model!r} cannot be loaded: '
                 f'{type(error).__name__}: {error}')  # fmt: skip
        else:
            done(encoder, '')

    threading.Thread(target=run, name='encoder', daemon=True).start()


class TextEncoding:
    """The encoder of a node, which it loads once; `SpatialMemory.text_search` says how it stands.

    The node never waits for it: until it is there, where it cannot be loaded (C36), and where the
    features are of another model (C33), texts are searched by words only.
    """

    def __init__(
        self, config: EncoderConfig, on_problem: Callable[[str, str], None],
        load: Loader = OpenClipEncoder,
    ) -> None:  # fmt: skip
        """Create it; nothing is loaded yet.

        Args:
            config: which model. on_problem: told reason and details. load: makes the encoder.
        """
        self._config, self._on_problem, self._load = config, on_problem, load
        self._lock = threading.Lock()
        self._memory: SpatialMemory | None = None
        self._encoder: Encoder | None = None
        self._begun = self._ended = False
        self._why_not = f'the encoder {config.encoder_model!r} is being loaded'

    def serve(self, memory: SpatialMemory) -> None:
        """Give a memory the encoder, now or when it is loaded; the first call begins to load it."""
        if not self._config.encoder_model:
            return
        with self._lock:
            first, self._begun = not self._begun, True
            self._memory = memory
            self._hand_over()
        if first:
            load_beside(self._config, self._loaded, self._load)

    def _loaded(self, encoder: Encoder | None, why_not: str) -> None:
        with self._lock:
            self._encoder, self._why_not, self._ended = encoder, why_not, True
            self._hand_over()

    def _hand_over(self) -> None:
        """Let the memory have what there is, and tell of a problem that stays."""
        assert self._memory is not None
        encoder, why_not = self._encoder, self._why_not
        if encoder is not None:
            try:
                require_space(encoder, self._memory.feature_space)
            except InvalidValueError as error:
                encoder, why_not = None, str(error)
        self._memory.use_encoder(encoder, why_not)
        if why_not and self._ended:
            self._on_problem(OFF, why_not)
