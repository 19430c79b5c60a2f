"""The fields of a request as doors ask for them, and requests of what they got."""

from __future__ import annotations

from dataclasses import MISSING, Field, dataclass, fields
from typing import TYPE_CHECKING, Any, get_type_hints

from pydantic import TypeAdapter, ValidationError

from engine.errors import InvalidQuestion

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bot.capabilities.row import Capability

REQUIRED: Any = MISSING


@dataclass(frozen=True, slots=True)
class RequestField:
    """A field of a request: its name, its type with what pydantic checks, and its default, or REQUIRED."""

    name: str
    type: Any
    default: Any

    @property
    def is_required(self) -> bool:
        """Whether a request needs it."""
        return self.default is REQUIRED


def list_fields(row: Capability) -> list[RequestField]:
    """The fields of the request of a capability, in their order."""
    hints = get_type_hints(row.request, include_extras=True)
    return [RequestField(field.name, hints[field.name], _get_default(field)) for field in fields(row.request)]


def _get_default(field: Field[Any]) -> Any:
    return field.default if field.default_factory is MISSING else field.default_factory()


def build_request(row: Capability, values: Mapping[str, Any]) -> Any:
    """The request with these values. Raises InvalidQuestion if one is missing, unknown or of a wrong kind."""
    if unknown := values.keys() - {field.name for field in list_fields(row)}:
        raise InvalidQuestion(f"“{min(unknown)}” is unknown.", hint=describe_usage(row))
    try:
        return TypeAdapter(row.request).validate_python(dict(values))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        wrong = first["msg"].removeprefix("Value error, ").rstrip(".")
        raise InvalidQuestion(f"“{where}”: {wrong}.", hint=describe_usage(row)) from error


def match_words(row: Capability, words: Sequence[str]) -> dict[str, str]:
    """The values of words that are typed one after the other. Raises InvalidQuestion if there are too many."""
    names = [field.name for field in list_fields(row)]
    if len(words) > len(names):
        raise InvalidQuestion(f"“{row.name}” takes {len(names)} words at most.", hint=describe_usage(row))
    return dict(zip(names, words, strict=False))


def describe_usage(row: Capability) -> str:
    """The words that a capability takes: `NAME [OTHER]`."""
    shown = (field.name.upper() if field.is_required else f"[{field.name.upper()}]" for field in list_fields(row))
    return f"{row.name} {' '.join(shown)}".strip()
