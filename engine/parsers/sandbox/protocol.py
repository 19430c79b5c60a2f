"""What the reader and its worker tell each other, as bytes."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import datetime
from typing import Any

from engine import errors
from engine.models import Passage
from engine.parsers.base import Limits, Read

_ERRORS: dict[str, type[errors.BadInput]] = {kind.__name__: kind for kind in errors.BadInput.__subclasses__()}


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
