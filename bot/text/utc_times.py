"""Times as a person gives them. Pure."""

from __future__ import annotations

from datetime import UTC, datetime, time

import typer


def parse_start_time(text: str) -> datetime | None:
    """The instant of a date or of a time (UTC unless it says otherwise); None for nothing. Raises BadParameter."""
    return _parse_time(text, time.min)


def parse_end_time(text: str) -> datetime | None:
    """As `since`, but a date means its end."""
    return _parse_time(text, time.max)


def _parse_time(text: str, hour: time) -> datetime | None:
    if not text:
        return None
    try:
        given = datetime.fromisoformat(text.strip())
        if len(text.strip()) <= len("2026-05-12"):
            given = datetime.combine(given.date(), hour)
        return given.astimezone(UTC) if given.tzinfo else given.replace(tzinfo=UTC)
    except (ValueError, OverflowError) as error:
        raise typer.BadParameter(f"“{text}” is no date like 2026-05-12 or 2026-05-12T09:30.") from error
