"""Render the register of decisions and tasks, and the life of a fact, for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group
from rich.text import Text

from bot.cli.render.tables import safe_text
from bot.texts.overviews import history as texts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import RenderableType

    from bot.capabilities.decisions.requests import DecisionList
    from bot.capabilities.history.requests import HistoryResult


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


def render_history(event: HistoryResult) -> RenderableType:
    """A line for each step: its number, day, speaker and words, and what it does to other steps."""
    if not event.steps:
        return safe_text(texts.NOTHING.format(subject=event.subject))
    sources = {source.number: source for source in event.sources}
    rows: list[RenderableType] = [safe_text(texts.HEADING.format(subject=event.subject))]
    for number, step in enumerate(event.steps, 1):
        source = sources[step.number]
        day = f"{source.time:%Y-%m-%d}" if source.time else source.title
        what = texts.describe_step(step)
        said = f"{number:>3}. {day}  {step.speaker + ': ' if step.speaker else ''}{step.text}"
        rows.append(Text.assemble(safe_text(said), (f"  ({what})" if what else "", "dim")))
    rows += [Text(texts.ONLY_LATEST, "dim")] if event.has_more else []
    return Group(*rows)
