"""Render the register of decisions and tasks for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group
from rich.text import Text

from bot.capabilities.results import Listing
from bot.cli.render.tables import render_listing

if TYPE_CHECKING:
    from rich.console import RenderableType

    from bot.capabilities.decisions.results import DecisionList


def render_decisions(event: DecisionList) -> RenderableType:
    """Rows below their headings, and since when they are complete."""
    table = render_listing(Listing(event.columns, event.rows))
    if not event.complete_since:
        return table
    return Group(table, Text(f"Older messages than of {event.complete_since} were not looked at.", "yellow"))
