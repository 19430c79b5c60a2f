"""Encode the values of a `Provider` as JSON for the provider process, and decode them."""

from __future__ import annotations

import base64
from dataclasses import asdict
from typing import Any

import numpy as np

from engine import errors
from engine.llm.client.protocol import ChatReply, EmbeddingResult, RerankResult, StreamDelta, TokenUsage

Frame = dict[str, Any]


def encode_result(value: ChatReply | StreamDelta | EmbeddingResult | RerankResult) -> Frame:
    """Encode the result of a call."""
    if isinstance(value, EmbeddingResult):
        rows = np.ascontiguousarray(value.rows, dtype="<f4")
        encoded = base64.b64encode(rows.tobytes()).decode()
        return {"rows": encoded, "shape": rows.shape, "spent": asdict(value.spent)}
    if isinstance(value, RerankResult):
        rows_of_scores = [{key: row.get(key) for key in ("index", "relevance_score")} for row in value.rows]
        return {"rows": rows_of_scores, "spent": asdict(value.spent)}
    return asdict(value)


def decode_reply(frame: Frame) -> ChatReply:
    """Decode a whole reply."""
    return ChatReply(frame["text"], frame["finish"], TokenUsage(**frame["spent"]))


def decode_delta(frame: Frame) -> StreamDelta:
    """Decode a part of a reply."""
    spent = frame["spent"]
    return StreamDelta(frame["text"], frame["finish"], TokenUsage(**spent) if spent else None, frame["thought"])


def decode_vectors(frame: Frame) -> EmbeddingResult:
    """Decode vectors."""
    rows = np.frombuffer(base64.b64decode(frame["rows"]), dtype="<f4").reshape(frame["shape"])
    return EmbeddingResult(rows, TokenUsage(**frame["spent"]))


def decode_scores(frame: Frame) -> RerankResult:
    """Decode scores."""
    return RerankResult(frame["rows"], TokenUsage(**frame["spent"]))


def encode_error(error: errors.ModelError) -> Frame:
    """Encode the error of a failed call."""
    return {"error": type(error).__name__, "message": str(error), "hint": error.hint, "wait": error.retry_after}


def decode_error(frame: Frame) -> errors.ModelError:
    """Decode an error to its own class."""
    kind: type[errors.ModelError] = getattr(errors, frame["error"])
    error = kind(frame["message"], hint=frame["hint"])
    error.retry_after = frame["wait"]
    return error
