"""List names that may mean the same entity, within what the caller may read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.capabilities.requests import FindDuplicates
from bot.capabilities.results import DuplicatesResult
from bot.i18n import gettext
from bot.platform.models import Card
from bot.text.format import pluralize
from bot.text.markdown import escape_markdown
from bot.texts.corrections import format_duplicate_evidence, format_sense

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bot.commands.context import CommandContext
    from engine.knowledge.duplicates.report import Duplicate, Homonym

MAX_PAIRS = 8
MAX_EXCERPT_LENGTH = 120


async def duplicates_command(call: CommandContext) -> Card:
    """List likely duplicates and automatic joins of the spaces that the caller may read."""
    scope = await call.resolve_scope()
    if not scope.spaces:
        return Card(gettext("I can't compare names for you here: they combine channels that you can't all read."))
    report = (await call.get_result(FindDuplicates(MAX_PAIRS, compare_all=False), DuplicatesResult)).report
    lines: list[str] = []
    if report.suggested:
        lines += [_heading(gettext("These names may mean the same")), *_format_pairs(report.suggested)]
    if report.joined:
        lines += [_heading(gettext("Joined automatically")), *_format_pairs(report.joined)]
    if lines:
        lines += [_format_hint(call)]
    if report.homonyms:
        lines += [_heading(gettext("These names may mean two things")), *_format_homonyms(report.homonyms)]
        split = call.format_example('correct split NAME "OTHER NAME" --type TYPE')
        lines += [gettext("{command} tells them apart.").format(command=split)]
    if not lines and not report.uncompared:
        lines += [gettext("I found no names that may mean the same.")]
    if report.uncompared:
        lines += [
            pluralize(report.uncompared, "I'm still comparing {count} name.", "I'm still comparing {count} names.")
        ]
    return Card("\n".join(lines))


def _heading(text: str) -> str:
    return f"**{text}**"


def _format_pairs(pairs: Iterable[Duplicate]) -> Iterable[str]:
    for pair in pairs:
        name, other = escape_markdown(pair.name), escape_markdown(pair.other)
        sign = "→" if pair.is_joined else "~"
        yield f"- **{name}** {sign} **{other}**: {escape_markdown(format_duplicate_evidence(pair))}"
        yield from (f"  “{escape_markdown(excerpt, MAX_EXCERPT_LENGTH)}”" for excerpt in pair.excerpts)


def _format_homonyms(homonyms: Iterable[Homonym]) -> Iterable[str]:
    for homonym in homonyms:
        yield f"- **{escape_markdown(homonym.name)}**: {escape_markdown('; '.join(map(format_sense, homonym.senses)))}"
        excerpts = filter(None, (sense.excerpt for sense in homonym.senses))
        yield from (f"  “{escape_markdown(text, MAX_EXCERPT_LENGTH)}”" for text in excerpts)


def _format_hint(call: CommandContext) -> str:
    merge, separate, unmerge = map(call.format_example, ("correct merge", "correct separate", "correct unmerge"))
    return gettext("{merge} joins two names, {separate} keeps them apart, {unmerge} undoes a join.").format(
        merge=merge, separate=separate, unmerge=unmerge
    )
