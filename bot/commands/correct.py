"""Manual corrections in the space of a channel, and duplicates to merge. All corrections can be undone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.capabilities.graph.corrections import UNDONE
from bot.capabilities.requests import (
    AddFact,
    FindDuplicates,
    Hide,
    Merge,
    Separate,
    SetDescription,
    Split,
    UndoCorrection,
)
from bot.capabilities.results import CorrectionMade, DuplicatesResult, FactAdded
from bot.commands.review.verify import correct_answer
from bot.i18n import gettext
from bot.platform.models import Button, Card
from bot.text.arguments import parse_arguments
from bot.text.format import pluralize
from bot.text.markdown import escape_markdown
from bot.texts.corrections import (
    format_description,
    format_duplicate_evidence,
    format_merge,
    format_sense,
    format_separation,
    format_split,
    format_subject,
    format_unmerge,
    format_unsplit,
    format_visibility,
)
from engine.errors import InvalidQuestion

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping

    from bot.commands.context import CommandContext
    from bot.text.arguments import CommandArguments
    from engine.knowledge.duplicates.report import Duplicate, Homonym

    CorrectionHandler = Callable[[CommandContext, CommandArguments], Awaitable[Card]]


OPTIONS = ("with", "type", "keywords")
SPLIT_OPTIONS = ("type", "document")
MAX_PAIRS = 8
MAX_EXCERPT_LENGTH = 120


async def correct_command(call: CommandContext) -> Card:
    """Merge names, change descriptions, hide names, add a fact, or correct an answer."""
    name, _, rest = call.arguments.partition(" ")
    if name.casefold() == "answer":
        return await correct_answer(call, rest)
    if name.casefold() not in CORRECTIONS:
        raise InvalidQuestion(
            gettext("What do you want to correct?")
            if not name
            else gettext("There is no correction “{name}”.").format(name=name),
            hint=_usage_hint(call),
        )
    min_words, max_words, correction = CORRECTIONS[name.casefold()]
    words = parse_arguments(rest, SPLIT_OPTIONS if correction is _split else OPTIONS)
    if not min_words <= len(words.positional) <= max_words:
        raise InvalidQuestion(
            gettext("“{name}” has too many or too few arguments.").format(name=name),
            hint=f"{_usage_hint(call)} {gettext('Put several words in quotation marks.')}",
        )
    return await correction(call, words)


def _usage_hint(call: CommandContext) -> str:
    examples = (
        'merge "Ada L." "Ada Lovelace"',
        'describe Ada "She wrote it." --with Engine',
        'hide "Analytical Engin"',
    )
    listed = "; ".join(call.format_example(f"correct {example}") for example in examples)
    return gettext("Examples: {examples}.").format(examples=listed)


def _undo_hint(call: CommandContext, command: str) -> str:
    return gettext("{command} undoes this.").format(command=call.format_example(command))


async def _merge(call: CommandContext, words: CommandArguments) -> Card:
    name, into = words.positional
    made = await call.get_result(Merge(name, into), CorrectionMade)
    unknown = map(escape_markdown, made.change.unknown)
    return _confirm(call, format_merge(escape_markdown(name), escape_markdown(into), unknown), made)


async def _unmerge(call: CommandContext, words: CommandArguments) -> Card:
    made = await call.get_result(Merge(words.positional[0]), CorrectionMade)
    return _confirm(call, format_unmerge(escape_markdown(words.positional[0])), made)


async def _separate(call: CommandContext, words: CommandArguments) -> Card:
    name, other = words.positional
    made = await call.get_result(Separate(name, other), CorrectionMade)
    return _confirm(call, format_separation(escape_markdown(name), escape_markdown(other)), made)


async def _split(call: CommandContext, words: CommandArguments) -> Card:
    name, part = words.positional
    if not part and not words.options:
        return await _unsplit(call, words)
    request = Split(name, part, words.options.get("type", ""), words.options.get("document", ""))
    made = await call.get_result(request, CorrectionMade)
    shown = (escape_markdown(word) for word in (name, part, request.type))
    return _confirm(call, format_split(*shown), made)


async def _unsplit(call: CommandContext, words: CommandArguments) -> Card:
    made = await call.get_result(Split(words.positional[0]), CorrectionMade)
    return _confirm(call, format_unsplit(escape_markdown(words.positional[0])), made)


async def _describe(call: CommandContext, words: CommandArguments) -> Card:
    name, description = (*words.positional, "")[:2]
    request = SetDescription(name, description, words.options.get("with", ""))
    return _confirm(
        call,
        format_description(_format_name(words), description),
        await call.get_result(request, CorrectionMade),
    )


async def _hide(call: CommandContext, words: CommandArguments) -> Card:
    made = await call.get_result(Hide(words.positional[0], words.options.get("with", "")), CorrectionMade)
    return _confirm(call, format_visibility(_format_name(words), hidden=True), made)


async def _unhide(call: CommandContext, words: CommandArguments) -> Card:
    request = Hide(words.positional[0], words.options.get("with", ""), hidden=False)
    made = await call.get_result(request, CorrectionMade)
    return _confirm(call, format_visibility(_format_name(words), hidden=False), made)


async def _undo(call: CommandContext, words: CommandArguments) -> Card:
    """Undo exactly what the correction with an id changed."""
    made = await call.get_result(UndoCorrection(id=words.positional[0].strip("`")), CorrectionMade)
    return _confirm(call, gettext(UNDONE), made)


def _confirm(call: CommandContext, done: str, made: CorrectionMade) -> Card:
    """What was done, and how exactly that is undone."""
    if not made.undo:
        return Card(done)
    button = Button(gettext("Undo"), "correct", f"undo {made.undo}")
    return Card(f"{done} {_undo_hint(call, f'correct undo {made.undo}')}", buttons=(button,))


async def _add_fact(call: CommandContext, words: CommandArguments) -> Card:
    name, description = words.positional
    other, type_, keywords = (words.options.get(option, "") for option in OPTIONS)
    added = await call.get_result(AddFact(name, description, other, type_, keywords), FactAdded)
    text = gettext("Added: {name} – {description}")
    text = text.format(name=_format_name(words), description=escape_markdown(description))
    return Card(f"{text}\n{_undo_hint(call, f'forget {added.key}')}")


def _format_name(words: CommandArguments) -> str:
    return format_subject(escape_markdown(words.positional[0]), escape_markdown(words.options.get("with", "")))


CORRECTIONS: Mapping[str, tuple[int, int, CorrectionHandler]] = {
    "merge": (2, 2, _merge),
    "unmerge": (1, 1, _unmerge),
    "separate": (2, 2, _separate),
    "split": (2, 2, _split),
    "unsplit": (1, 1, _unsplit),
    "add": (2, 2, _add_fact),
    "describe": (1, 2, _describe),
    "hide": (1, 1, _hide),
    "unhide": (1, 1, _unhide),
    "undo": (1, 1, _undo),
}


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
