"""Encode requests, results and errors as JSON lines {"kind": class name, fields…} for the local socket."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import fields
from datetime import date, datetime
from typing import Any, get_args

from pydantic import TypeAdapter, ValidationError

from bot import errors as bot_errors
from bot.capabilities.requests import Envelope, OperationRequest
from bot.capabilities.results import OperationResult
from bot.capabilities.table import list_rows
from engine import ContextEntity, ContextRelation, Source, errors
from engine.errors import EngineError
from engine.models import Overview

MAX_LINE_BYTES = 64 * 1024 * 1024


class ProtocolError(EngineError):
    """A line of the socket is not a valid record of this version."""

    hint = "Run the command with the same version of Threadlore as the running process."


def encode(record: Any) -> bytes:
    """A record as one line."""
    return json.dumps(_to_object(record), ensure_ascii=False).encode() + b"\n"


def _to_object(record: Any) -> dict[str, Any]:
    if isinstance(record, Envelope):
        plain = {field.name: getattr(record, field.name) for field in fields(record)}
        return {"kind": type(record).__name__, **plain, "request": _to_object(record.request)}
    return {"kind": type(record).__name__, **dump_fields(record)}


def dump_fields(record: Any) -> dict[str, Any]:
    """A record as plain data for JSON."""
    plain: dict[str, Any] = get_adapter(record.__class__).dump_python(record, mode="json")
    return plain


def encode_error(error: EngineError) -> bytes:
    """An error as one line; the client raises the same class."""
    fields = {"kind": "Error", "name": type(error).__name__, "message": str(error), "hint": error.hint}
    return json.dumps(fields, ensure_ascii=False).encode() + b"\n"


def parse_request(line: bytes) -> OperationRequest:
    """The request of a line. Raises ProtocolError."""
    record: OperationRequest = _build_record(_parse_object(line), _list_request_types())
    return record


def parse_result(line: bytes) -> OperationResult:
    """The result of a line. Raises ProtocolError, or the error that the line contains."""
    plain = _parse_object(line)
    if plain.get("kind") == "Error":
        raise _build_error(plain)
    record: OperationResult = _build_record(plain, RESULT_TYPES)
    return record


@functools.cache
def _list_request_types() -> dict[str, type]:
    """The types of requests by name, those of installed packages, too."""
    return {argument.__name__: argument for argument in (*get_args(Envelope), *(row.request for row in list_rows()))}


@functools.cache
def _list_inner_types() -> dict[str, type]:
    return {name: kind for name, kind in _list_request_types().items() if not issubclass(kind, Envelope)}


RESULT_TYPES = {kind.__name__: kind for kind in get_args(OperationResult)}


# The engine's records import these for the type checker only; pydantic needs them at run time.
TYPE_NAMESPACE = {
    "date": date,
    "datetime": datetime,
    "Mapping": Mapping,
    "Overview": Overview,
    "ContextEntity": ContextEntity,
    "ContextRelation": ContextRelation,
    "Source": Source,
}


@functools.cache
def get_adapter(kind: type) -> TypeAdapter[Any]:
    """The pydantic adapter of a record class."""
    adapter: TypeAdapter[Any] = TypeAdapter(kind)
    adapter.rebuild(_types_namespace=TYPE_NAMESPACE)
    return adapter


def _parse_object(line: bytes) -> dict[str, Any]:
    try:
        plain = json.loads(line)
    except ValueError as error:
        raise ProtocolError("A line of the socket is not JSON.") from error
    if not isinstance(plain, dict):
        raise ProtocolError("A line of the socket is not a record.")
    return plain


def _build_record(plain: dict[str, Any], kinds: dict[str, type]) -> Any:
    kind = plain.pop("kind", "")
    if not isinstance(kind, str) or kind not in kinds:
        raise ProtocolError(f"“{kind}” is unknown to this version.")
    if issubclass(kinds[kind], Envelope):
        return _build_envelope(kinds[kind], plain)
    try:
        return get_adapter(kinds[kind]).validate_python(plain)
    except ValidationError as error:
        raise ProtocolError(f"“{kind}” has fields that this version does not know.") from error


def _build_envelope(kind: type[Envelope], plain: dict[str, Any]) -> Envelope:
    """A request with its caller; the request in it has none."""
    inner, who = plain.pop("request", None), [*plain.values()]
    names = [field.name for field in fields(kind) if field.name != "request"]
    if [*plain] != names or not isinstance(inner, dict) or not all(isinstance(value, str) for value in who):
        raise ProtocolError(f"“{kind.__name__}” has fields that this version does not know.")
    return kind(who[0], _build_record(inner, _list_inner_types()), *who[1:])


def _build_error(plain: dict[str, Any]) -> EngineError:
    name = str(plain.get("name"))
    kind = getattr(bot_errors, name, None) or getattr(errors, name, EngineError)
    error_class = kind if isinstance(kind, type) and issubclass(kind, EngineError) else EngineError
    return error_class(str(plain.get("message")), hint=str(plain.get("hint", "")))
