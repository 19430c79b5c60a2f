"""Records as lines of JSON: {"kind": name, its fields…}. What the local socket carries."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any, get_args

from pydantic import TypeAdapter, ValidationError

from bot.admin.requests import Request
from bot.admin.results import Event
from engine import errors
from engine.errors import EngineError
from engine.models import Overview

LIMIT = 64 * 1024 * 1024  # bytes of a line


class BadLine(EngineError):
    """What came over the socket is no record that this version knows."""

    hint = "Let both programs be of the same version of Threadlore."


def encode(record: Any) -> bytes:
    """A record as one line."""
    return json.dumps({"kind": type(record).__name__, **fields(record)}, ensure_ascii=False).encode() + b"\n"


def fields(record: Any) -> dict[str, Any]:
    """A record as plain data for JSON."""
    plain: dict[str, Any] = shape(record.__class__).dump_python(record, mode="json")
    return plain


def encode_error(error: EngineError) -> bytes:
    """An error as one line; the other side raises its like."""
    told = {"kind": "Trouble", "name": type(error).__name__, "message": str(error), "hint": error.hint}
    return json.dumps(told, ensure_ascii=False).encode() + b"\n"


def request(line: bytes) -> Request:
    """The request of a line. Raises BadLine."""
    record: Request = _record(_plain(line), REQUESTS)
    return record


def event(line: bytes) -> Event:
    """The event of a line. Raises BadLine, or the error that the line tells of."""
    plain = _plain(line)
    if plain.get("kind") == "Trouble":
        raise _error(plain)
    record: Event = _record(plain, EVENTS)
    return record


REQUESTS = {kind.__name__: kind for kind in get_args(Request)}
EVENTS = {kind.__name__: kind for kind in get_args(Event)}


# The engine's records import these for the type checker only; who builds their JSON must know what they are.
NAMES = {"datetime": datetime, "Mapping": Mapping, "Overview": Overview}


@functools.cache
def shape(kind: type) -> TypeAdapter[Any]:
    """How a record is written and read."""
    adapter: TypeAdapter[Any] = TypeAdapter(kind)
    adapter.rebuild(_types_namespace=NAMES)
    return adapter


def _plain(line: bytes) -> dict[str, Any]:
    try:
        plain = json.loads(line)
    except ValueError as error:
        raise BadLine("A line of the socket is not JSON.") from error
    if not isinstance(plain, dict):
        raise BadLine("A line of the socket is no record.")
    return plain


def _record(plain: dict[str, Any], kinds: dict[str, type]) -> Any:
    kind = plain.pop("kind", "")
    if kind not in kinds:
        raise BadLine(f"“{kind}” is not known to this version.")
    try:
        return shape(kinds[kind]).validate_python(plain)
    except ValidationError as error:
        raise BadLine(f"“{kind}” came with other fields than this version knows.") from error


def _error(plain: dict[str, Any]) -> EngineError:
    kind = getattr(errors, str(plain.get("name")), EngineError)
    known = kind if isinstance(kind, type) and issubclass(kind, EngineError) else EngineError
    return known(str(plain.get("message")), hint=str(plain.get("hint", "")))
