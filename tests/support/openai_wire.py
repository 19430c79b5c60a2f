"""The bytes of an OpenAI-compatible server: replies, stream pieces, vectors and scores, all deterministic."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from zlib import crc32

import numpy as np

DONE = b"data: [DONE]\n\n"
WORD = re.compile(r"\w+")


def count_tokens(text: str) -> int:
    """A count that is good enough to bill by: four characters a token."""
    return (len(text) + 3) // 4


def build_usage(body: Mapping[str, Any], text: str) -> dict[str, int]:
    """The usage of a chat call."""
    sent = sum(count_tokens(str(message["content"])) for message in body["messages"])
    said = count_tokens(text)
    return {"prompt_tokens": sent, "completion_tokens": said, "total_tokens": sent + said}


def chat_reply(body: Mapping[str, Any], text: str, finish: str) -> bytes:
    """A whole chat completion."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish}
    head = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1_700_000_000, "model": body["model"]}
    return json.dumps({**head, "choices": [choice], "usage": build_usage(body, text)}).encode()


def _event(choices: Sequence[Mapping[str, Any]], **more: Any) -> bytes:
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1_700_000_000, "model": "stub"}
    return b"data: " + json.dumps({**head, "choices": choices, **more}).encode() + b"\n\n"


def stream_pieces(text: str, finish: str) -> Iterator[bytes]:
    """The events of a stream: one a word, then the reason why it ended."""
    for piece in re.findall(r"\S+\s*|\s+", text):
        yield _event([{"index": 0, "delta": {"role": "assistant", "content": piece}, "finish_reason": None}])
    yield _event([{"index": 0, "delta": {}, "finish_reason": finish}])


def stream_thought(text: str) -> bytes:
    """An event of a stream with something that the model thinks."""
    return _event([{"index": 0, "delta": {"role": "assistant", "reasoning_content": text}, "finish_reason": None}])


def stream_usage(body: Mapping[str, Any], text: str) -> bytes:
    """The last event of a stream, if usage was asked for."""
    return _event([], usage=build_usage(body, text))


def hash_vector(text: str, dim: int) -> np.ndarray:
    """Hashed words: float32 of shape (dim,), not of length one (a client must not rely on it)."""
    row = np.zeros(dim, dtype=np.float32)
    for word in WORD.findall(text.lower()):
        value = crc32(word.encode())
        row[value % dim] += 1.0 if value & 0x8000 else -1.0
    return row if row.any() else row + 1.0


def embeddings_reply(body: Mapping[str, Any], dim: int) -> bytes:
    """Vectors, in base64 if that is asked for; given in reverse order, because `index` is what counts."""
    texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
    packed = body.get("encoding_format") == "base64"
    data = []
    for index, text in enumerate(texts):
        row = hash_vector(text, dim)
        value = base64.b64encode(row.tobytes()).decode() if packed else row.tolist()
        data.append({"object": "embedding", "index": index, "embedding": value})
    count = sum(count_tokens(text) for text in texts)
    head = {"object": "list", "model": body["model"], "usage": {"prompt_tokens": count, "total_tokens": count}}
    return json.dumps({**head, "data": data[::-1]}).encode()


def rerank_reply(body: Mapping[str, Any], scores: Sequence[Mapping[str, Any]] | None) -> bytes:
    """Scores by shared words, best first; or the rows that a test has scripted."""
    words = set(WORD.findall(body["query"].lower()))
    rows: list[Mapping[str, Any]] = []
    for index, text in enumerate(body["documents"]):
        own = set(WORD.findall(text.lower()))
        rows.append({"index": index, "relevance_score": len(words & own) / max(1, len(words))})
    rows.sort(key=lambda row: -row["relevance_score"])
    if body.get("top_n"):
        rows = rows[: body["top_n"]]
    count = sum(count_tokens(text) for text in body["documents"])
    return json.dumps(
        {"id": "rerank-1", "model": body["model"], "results": list(scores or rows), "usage": {"total_tokens": count}}
    ).encode()


def error_reply(message: str, code: str) -> bytes:
    """An error as the wire has it."""
    error = {"message": message, "type": "invalid_request_error", "param": None, "code": code or None}
    return json.dumps({"error": error}).encode()
