# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""~/ask: questions in words."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from memory_node.config import NodeConfig
from memory_node.errors import InvalidValueError
from memory_node.memory import SpatialMemory
from memory_node.model import Pose, Query
from memory_node.recall.endpoint import Endpoint
from memory_node.ros import conversions

if TYPE_CHECKING:
    from memory_node.ros.handlers import Desk


def ask(desk: Desk, memory: SpatialMemory, request: Any, response: Any) -> None:
    """Answer a question."""
    at_ns = conversions.stamp_to_ns(request.at)
    if at_ns < 0:
        raise InvalidValueError(f'at: got {at_ns} ns, expected 0 (now) or more')
    at_ns = at_ns or desk.now_ns() or memory.newest_stamp_ns
    model = model_for(desk, request)
    limit = conversions.limit_from_request(request.limit)
    answer = memory.ask(
        str(request.text), _asker(desk, request.pose), at_ns, limit or Query().limit,
        int(request.since_seq), model, str(request.user), str(request.robot_id),
        str(request.context), desk.map_frame,
    )  # fmt: skip
    desk.on_notes()
    response.message = memory.text_search
    response.answer, response.kind = answer.text, answer.kind
    response.reading, response.refusal = answer.reading, answer.refusal
    response.certain, response.confidence = bool(answer.certain), float(answer.confidence)
    response.by_model = answer.by_model
    response.hits = [conversions.hit_to_msg(hit) for hit in answer.hits]
    response.citations, response.sources = list(answer.citations), list(answer.sources)
    response.radius_m, response.radius_why = float(answer.radius_m), answer.radius_why
    response.header.frame_id = desk.map_frame
    response.header.stamp = conversions.stamp_from_ns(at_ns)


def model_for(desk: Desk, request: Any) -> Endpoint | None:
    """The language model that a request asks for; None: it asks for none.

    Raises:
        InvalidValueError: it asks for one, and there is none.
    """
    model = desk.model() if request.use_model else None
    if request.use_model and model is None:
        raise InvalidValueError('use_model: got true, expected the parameter answer_url to be set')
    return model


def model_of(settings: NodeConfig) -> Endpoint | None:
    """The language model that the parameters name; None: there is none.

    Raises:
        InvalidValueError: the file with the key cannot be read, or the URL is none.
    """
    if not settings.answer_url:
        return None
    key = ''
    if settings.answer_key_file:
        try:
            path = Path(settings.answer_key_file).expanduser()
            key = path.read_text(encoding='utf-8').strip()
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidValueError(
                f'answer_key_file: cannot read {settings.answer_key_file!r}: {type(error).__name__}'
            ) from error
    return Endpoint(settings.answer_url, settings.answer_model, key, settings.answer_timeout_s)


def _asker(desk: Desk, stamped: Any) -> Pose | None:
    """Where whoever asks stands; None: it is not said."""
    p, q = stamped.pose.position, stamped.pose.orientation
    turned = any((q.x, q.y, q.z)) or q.w not in (0.0, 1.0)
    if not stamped.header.frame_id and not any((p.x, p.y, p.z)) and not turned:
        return None
    if not any((q.x, q.y, q.z, q.w)):
        q.w = 1.0
    return desk.pose_to_map(stamped)
