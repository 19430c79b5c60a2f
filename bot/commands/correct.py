"""Manual corrections in the space of the channel where the command is run. All of them can be undone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.capabilities.graph.corrections import UNDONE
from bot.capabilities.requests import AddFact, Hide, Merge, Separate, SetDescription, Split, UndoCorrection
from bot.capabilities.results import CorrectionMade, FactAdded
from bot.commands.review.verify import correct_answer
from bot.i18n import gettext
from bot.platform.models import Button, Card
from bot.text.arguments import parse_arguments
from bot.text.markdown import escape_markdown
from bot.texts.corrections import (
    format_description,
    format_merge,
    format_separation,
    format_split,
    format_subject,
    format_unmerge,
    format_unsplit,
    format_visibility,
)
from engine.errors import InvalidQuestion

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from bot.commands.context import CommandContext
    from bot.text.arguments import CommandArguments

    CorrectionHandler = Callable[[CommandContext, CommandArguments], Awaitable[Card]]

OPTIONS = ("with", "type", "keywords")
SPLIT_OPTIONS = ("type", "document")


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
