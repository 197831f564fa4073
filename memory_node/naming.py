# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What texts are searched by: listed names, words, and what things look like."""

from __future__ import annotations

import numpy as np

from memory_node import checks
from memory_node.fusion.world import Features
from memory_node.opened import OpenStore
from memory_node.recall import rank
from memory_node.recall.names import Names, load_names
from memory_node.recall.rank import Aids, TextEncoder


class Naming(OpenStore):
    """The part of SpatialMemory that knows what a text may mean."""

    _encoder: TextEncoder | None = None
    _why_no_encoder = 'there is no encoder of texts'
    _named_by: tuple[str, Names] | None = None

    def use_encoder(self, encoder: TextEncoder | None, why_not: str = '') -> None:
        """Also rank what a text may look like; None: by words only.

        It is used while the memory has features of its space, see `text_search`.

        Args:
            encoder: of texts. why_not: what `text_search` is to say where there is none.
        """
        self._why_no_encoder = why_not or Naming._why_no_encoder
        self._encoder = encoder

    @property
    def feature_space(self) -> str:
        """Name of the space of the features, model@pretrained@dimension; empty: none is named."""
        return self._session.space.name

    @property
    def text_search(self) -> str:
        """Why texts are searched by words only; empty: also by what things look like (C36)."""
        encoder, space = self._encoder, self.feature_space
        if encoder is None:
            return f'semantic search is off: {self._why_no_encoder}'
        if encoder.name == space:
            return ''
        what = f'the features of {space!r}' if space else 'no features name their space'
        return f'semantic search is off: the encoder is of {encoder.name!r}, {what}'

    def _aids(self, text: str) -> Aids:
        """What a text is ranked by. Call it without the memory held: models take their time."""
        checks.text('text', text)
        feature: Features | None = None
        if text.strip():
            rank.prepare()
            encoder = self._encoder
            if encoder is not None and encoder.name == self.feature_space:
                feature = rank.unit(np.asarray(encoder.texts([text]))[0])
        return Aids(self._names(), self._database, feature)

    def _names(self) -> Names:
        """What people call things, by the settings."""
        path = self.config.labels_file
        if self._named_by is None or self._named_by[0] != path:
            self._named_by = path, load_names(path)
        return self._named_by[1]
