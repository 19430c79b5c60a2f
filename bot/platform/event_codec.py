"""Platform events as the event queue stores them: the name of their class, and JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

from pydantic import TypeAdapter

from bot.platform import events

if TYPE_CHECKING:
    from bot.platform.events import PlatformEvent

_TYPES: dict[str, TypeAdapter[Any]] = {kind.__name__: TypeAdapter(kind) for kind in get_args(events.PlatformEvent)}


def encode_event(event: PlatformEvent) -> tuple[str, str]:
    """The name of an event's class, and its JSON."""
    kind = type(event).__name__
    return kind, _TYPES[kind].dump_json(event).decode()


def decode_event(kind: str, payload: str) -> PlatformEvent:
    """The event. Raises KeyError for an unknown class, and ValueError for other JSON."""
    event: PlatformEvent = _TYPES[kind].validate_json(payload)
    return event
