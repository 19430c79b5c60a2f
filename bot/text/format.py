"""Format numbers and instants for a sentence. Pure."""

from __future__ import annotations

from datetime import UTC
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime


def pluralize(number: int, name: str) -> str:
    """A number and its noun, in the plural unless it is 1."""
    many = f"{name[:-1]}ies" if name.endswith("y") and name[-2] not in "aeiou" else f"{name}s"
    return f"{number:,} {name if number == 1 else many}"


def format_utc(instant: datetime) -> str:
    """Format an instant, to the minute, in UTC."""
    return f"{instant.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
