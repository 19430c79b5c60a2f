"""Parse the dates and times of --since and --until."""

from __future__ import annotations

from datetime import UTC, datetime, time

import typer


def parse_start_time(text: str) -> datetime | None:
    """Parse a time, or a date as its start; UTC by default, None for an empty text. Raises typer.BadParameter."""
    return _parse_time(text, time.min)


def parse_end_time(text: str) -> datetime | None:
    """Parse a time, or a date as its end. Otherwise as `parse_start_time`."""
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
