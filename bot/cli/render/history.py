"""Render the life of a fact."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group
from rich.text import Text

from bot.cli.render.tables import safe_text
from bot.texts.overviews import history as texts

if TYPE_CHECKING:
    from rich.console import RenderableType

    from bot.capabilities.history.results import HistoryResult


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
