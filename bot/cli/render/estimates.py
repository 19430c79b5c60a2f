"""Show what indexing would take, and ask whether to go on if that is much."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import typer
from rich.text import Text

from bot.text.format import format_duration, pluralize, round_figure
from bot.text.terminal import strip_control_chars
from engine.ingest.estimate import is_much

if TYPE_CHECKING:
    from rich.console import RenderableType

    from bot.capabilities.results import EstimateResult

FOUND_MEANWHILE = "Search and the graph have what is there until then."
SEARCH_FIRST = "Search finds the texts before that, once they have vectors."


def render_estimate(event: EstimateResult) -> RenderableType:
    """What is new, and what a model takes to read it."""
    return Text(format_estimate(event))


def format_estimate(event: EstimateResult) -> str:
    """The estimate as sentences."""
    what = f"To read again: {pluralize(event.chunks, 'chunk')}" if event.chunks else f"To index: {_name_new(event)}"
    if not event.model:
        return f"{what}. No model reads them: that costs nothing."
    about = "about" if event.is_whole or event.files else "more than"
    price = "price unknown" if event.dollars is None else f"${event.dollars:,.2f}"
    return (
        f"{what}, {about} {round_figure(event.text_tokens):,} tokens of text."
        f" For the graph, {strip_control_chars(event.model)} takes {about} {round_figure(event.tokens):,} tokens"
        f" ({price}) and {format_duration(event.seconds)}. {FOUND_MEANWHILE if event.chunks else SEARCH_FIRST}"
    )


def _name_new(event: EstimateResult) -> str:
    parts = [pluralize(event.files, "new file")] if event.files or not event.messages else []
    parts += [pluralize(event.messages, "new message")] if event.messages else []
    return " and ".join(parts)


def ask_to_go_on(event: EstimateResult) -> bool:
    """Whether to go on: somebody at a terminal is asked if it is much."""
    if not is_much(event.tokens, event.dollars, event.seconds) or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return True
    return typer.confirm("Index them now?", default=True, err=True)
