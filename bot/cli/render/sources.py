"""Render what was read of a source."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group
from rich.text import Text

from bot.cli.render.tables import render_failures
from bot.text.format import strip_control_chars

if TYPE_CHECKING:
    from rich.console import RenderableType

    from bot.capabilities.results import SourceReport

CONFIRM_HINT = "`threadlore source sync NAME --forget-missing` forgets what is gone."


def render_source_report(event: SourceReport) -> RenderableType:
    """The numbers of a synchronization, what was not read, and why it is not complete."""
    line = f"{event.name}: {event.documents}, {event.changed:,} new or changed, {event.removed:,} forgotten"
    rows: list[RenderableType] = [Text(strip_control_chars(f"{line}, in {event.seconds:.1f} s"))]
    rows += [render_failures(event.unread, "not read")] if event.unread else []
    if event.trouble:
        rows += [Text(strip_control_chars(event.trouble), "red")]
        rows += [Text(CONFIRM_HINT.replace("NAME", event.name), "dim")] if "gone at once" in event.trouble else []
    return Group(*rows)
