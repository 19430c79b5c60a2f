"""What goes over the pipes between the reader and its worker: frames of four bytes of length and that many bytes."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Any

from engine import errors
from engine.reading.read import Limits, Read
from engine.records import Passage

if TYPE_CHECKING:
    from typing import BinaryIO

PREFIX = 4
_ERRORS: dict[str, type[errors.BadInput]] = {kind.__name__: kind for kind in errors.BadInput.__subclasses__()}


def framed(payload: bytes) -> bytes:
    """The payload with its length in front."""
    return len(payload).to_bytes(PREFIX, "big") + payload


def take(pipe: BinaryIO) -> bytes | None:
    """The next payload, or None at the end of the pipe."""
    size = pipe.read(PREFIX)
    return pipe.read(int.from_bytes(size, "big")) if len(size) == PREFIX else None


def encode_limits(limits: Limits) -> str:
    """The limits as a command-line word."""
    return json.dumps(asdict(limits))


def decode_limits(word: str) -> Limits:
    """The limits that `encode_limits` wrote."""
    return Limits(**json.loads(word))


def encode(outcome: Read | errors.BadInput) -> bytes:
    """A result or an error, as JSON."""
    if isinstance(outcome, errors.BadInput):
        error = {"error": type(outcome).__name__, "message": str(outcome), "hint": outcome.hint}
        return json.dumps(error).encode()
    return json.dumps(asdict(outcome), default=datetime.isoformat).encode()


def decode(payload: bytes) -> Read:
    """The result; an error is raised as its own class, with its message and hint.

    Raises ValueError, KeyError or TypeError if it is nothing that `encode` wrote.
    """
    found: dict[str, Any] = json.loads(payload)
    if "error" in found:
        raise _ERRORS[found["error"]](str(found["message"]), hint=str(found["hint"]))
    passages = tuple(Passage(**{**row, "time": _time(row["time"])}) for row in found["passages"])
    return Read(found["title"], passages, _time(found["time"]))


def _time(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None
