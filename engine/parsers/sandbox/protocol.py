"""Encode the messages between the parser pool and its workers."""

from __future__ import annotations

import base64
import json
from dataclasses import asdict
from datetime import datetime
from typing import Any

from engine import errors
from engine.models import Omission, Passage
from engine.parsers.base import ParsedFile, ParserLimits, UnreadPicture
from engine.parsers.sandbox.state import SandboxState

_ERROR_CLASSES: dict[str, type[errors.InvalidDocument]] = {
    kind.__name__: kind for base in errors.InvalidDocument.__subclasses__() for kind in (base, *base.__subclasses__())
}


def encode_limits(limits: ParserLimits) -> str:
    """The limits as a command-line argument."""
    return json.dumps(asdict(limits))


def decode_limits(argument: str) -> ParserLimits:
    """Decode the limits of `encode_limits`."""
    return ParserLimits(**json.loads(argument))


def encode_state(state: SandboxState) -> bytes:
    """The state of the sandbox, which a worker sends first."""
    return json.dumps(asdict(state)).encode()


def decode_state(payload: bytes) -> SandboxState:
    """Decode the state of `encode_state`. Raises ValueError or TypeError if that did not write it."""
    return SandboxState(**json.loads(payload))


def encode_result(outcome: ParsedFile | errors.InvalidDocument | None) -> bytes:
    """One document of a file, an error, or None for the end of the file, as JSON."""
    if outcome is None:
        return b"null"
    if isinstance(outcome, errors.InvalidDocument):
        error = {"error": type(outcome).__name__, "message": str(outcome), "hint": outcome.hint}
        return json.dumps(error).encode()
    return json.dumps(asdict(outcome), default=_encode_value).encode()


def decode_result(payload: bytes) -> ParsedFile | None:
    """Decode a document, or None for the end of the file; an error is raised as its own class.

    Raises ValueError, KeyError or TypeError if `encode_result` did not write it.
    """
    result: dict[str, Any] | None = json.loads(payload)
    if result is None:
        return None
    if "error" in result:
        raise _ERROR_CLASSES[result["error"]](str(result["message"]), hint=str(result["hint"]))
    passages = tuple(Passage(**{**row, "time": _parse_time(row["time"])}) for row in result["passages"])
    pictures = (UnreadPicture(**{**row, "data": base64.b64decode(row["data"])}) for row in result["pictures"])
    return ParsedFile(
        result["title"],
        passages,
        _parse_time(result["time"]),
        (result["day"][0], result["day"][1]) if result["day"] else None,
        key=result["key"],
        pictures=tuple(pictures),
        omissions=tuple(Omission(**row) for row in result["omissions"]),
        coverage=result["coverage"],
    )


def _encode_value(value: datetime | bytes) -> str:
    return base64.b64encode(value).decode() if isinstance(value, bytes) else value.isoformat()


def _parse_time(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None
