"""Render duplicate names for the terminal (pure)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group
from rich.text import Text

from bot.text.excerpts import truncate_line
from bot.text.format import pluralize
from bot.text.terminal import strip_control_chars
from bot.texts.corrections import format_duplicate_evidence, format_sense

if TYPE_CHECKING:
    from rich.console import RenderableType

    from bot.capabilities.results import DuplicatesResult
    from engine.knowledge.duplicates.report import Duplicate, Homonym


def render_duplicates(event: DuplicatesResult) -> RenderableType:
    """Suggested pairs with their evidence, and automatic joins."""
    report, rows = event.report, list[Text]()
    if report.suggested:
        rows += [Text("These names may mean the same:", "bold"), *map(_render_pair, report.suggested)]
    if report.joined:
        rows += [Text("Joined automatically:", "bold"), *map(_render_pair, report.joined)]
    if report.homonyms:
        rows += [Text("These names may mean two things:", "bold"), *map(_render_homonym, report.homonyms)]
    if report.uncompared:
        rows.append(Text(f"{pluralize(report.uncompared, 'name')} not compared yet.", "yellow"))
    return Group(*rows) if rows else Text("No duplicate names were found.")


def _render_pair(pair: Duplicate) -> Text:
    names = f"{pair.name} → {pair.other}" if pair.is_joined else f"{pair.name} ~ {pair.other}"
    head = Text.assemble((strip_control_chars(names), "cyan"), "  ", (_format_evidence(pair), "dim"))
    for excerpt in pair.excerpts:
        head.append(f"\n    “{truncate_line(strip_control_chars(excerpt))}”", "italic dim")
    return head


def _render_homonym(homonym: Homonym) -> Text:
    senses = "; ".join(map(format_sense, homonym.senses))
    head = Text.assemble((strip_control_chars(homonym.name), "cyan"), "  ", (strip_control_chars(senses), "dim"))
    for sense in homonym.senses:
        if sense.excerpt:
            head.append(f"\n    “{truncate_line(strip_control_chars(sense.excerpt))}”", "italic dim")
    return head


def _format_evidence(pair: Duplicate) -> str:
    return strip_control_chars(format_duplicate_evidence(pair))
