"""Show what an import took over, what it left out, and where it lies now; and write a report of all of it."""

from __future__ import annotations

import json
import shlex
from dataclasses import asdict
from typing import TYPE_CHECKING

from rich.console import Group
from rich.text import Text

from bot.cli.render.tables import MAX_ROWS, build_table, safe_text
from bot.errors import file_write_error
from bot.text.format import pluralize

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from rich.console import RenderableType

    from bot.capabilities.results import HistoryImportResult, ImportedPlace


def render_import(event: HistoryImportResult) -> RenderableType:
    """The summary of an import, and what was left out."""
    line = f"{pluralize(event.channels, 'channel')}, {pluralize(event.messages, 'message')} ({event.new:,} new,"
    line += f" {event.edited:,} edited), {pluralize(event.files, 'new file')} in {event.seconds:.1f} s"
    parts: list[RenderableType] = [Text(line)]
    if event.omissions:
        table = build_table("left out", "number")
        for reason, count in event.omissions:
            table.add_row(safe_text(reason), f"{count:,}")
        parts += [table, *_render_left_out(event)]
    parts += [safe_text(event.readers)] if event.readers else []
    return Group(*parts, *map(_render_place, event.places))


def _render_left_out(event: HistoryImportResult) -> Iterator[RenderableType]:
    """The first names of what was left out."""
    named = [omission for omission in event.left_out if omission.name]
    for omission in named[:MAX_ROWS]:
        channel = f"#{omission.channel}: " if omission.channel else ""
        yield safe_text(f"Not read: {channel}{omission.name} ({omission.kind})")
    if len(named) > MAX_ROWS:
        yield Text(f"and {len(named) - MAX_ROWS:,} more; --report FILE lists them all.")


def _render_place(place: ImportedPlace) -> RenderableType:
    """Where messages lie now, and how to ask there."""
    names = ", ".join(f"#{name}" for name in place.channels[:MAX_ROWS])
    more = f" and {len(place.channels) - MAX_ROWS:,} more" if len(place.channels) > MAX_ROWS else ""
    channel = shlex.quote(place.channels[0])
    return safe_text(
        f"The messages lie in {place.workspace}: {names}{more}.\n"
        f'Ask here: threadlore ask "What was decided?" --channel {channel}; without --channel, all of them.'
    )


def write_report(event: HistoryImportResult, path: Path) -> None:
    """Write who can find what was imported, then what was left out, as JSON Lines: kind, channel, name, count.

    Raises DiskError.
    """
    readers = {"kind": "who can find it", "channel": "", "name": event.readers, "count": event.channels}
    lines = (json.dumps(row, ensure_ascii=False) for row in (readers, *map(asdict, event.left_out)))
    try:
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    except OSError as error:
        raise file_write_error(path, error) from error
