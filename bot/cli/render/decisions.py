"""Render the register of decisions and tasks for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group
from rich.text import Text

from bot.cli.render.tables import safe_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import RenderableType

    from bot.capabilities.decisions.results import DecisionList


def render_decisions(event: DecisionList) -> RenderableType:
    """Each entry in its own lines, whatever the width; then since when the list is complete."""
    lines = [line for row in event.rows for line in _render_entry(dict(zip(event.columns, row, strict=True)))]
    if not event.rows:
        lines.append(Text("No decisions or tasks were found."))
    if event.complete_since:
        lines.append(Text(f"Older messages than of {event.complete_since} were not looked at.", "yellow"))
    return Group(*lines)


def _render_entry(entry: Mapping[str, str]) -> list[Text]:
    """What was decided or is to be done; below it who, until when, where it was said, and what replaced it."""
    labels = (("who", ""), ("due", "due "), ("said", ""), ("where", ""), ("state", ""), ("replaced by", "replaced by "))
    known = [f"{label}{safe_text(entry[column]).plain}" for column, label in labels if entry.get(column)]
    what = Text.assemble((f"{entry['kind']}: ", "bold"), safe_text(entry["what"]))
    return [what, Text("  " + " · ".join(known), "dim")]
