"""Manual corrections in the space of the channel where the command is run. All of them can be undone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot import texts
from bot.commands.review.verify import correct_answer
from bot.errors import NotAllowed
from bot.i18n import gettext
from bot.platform.models import Card
from bot.text.arguments import parse_arguments
from bot.text.markdown import escape_markdown
from bot.texts.corrections import (
    format_description,
    format_merge,
    format_separation,
    format_subject,
    format_unmerge,
    format_visibility,
)
from engine import build_fact
from engine.errors import InvalidQuestion

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from bot.commands.context import CommandContext
    from bot.text.arguments import CommandArguments

    CorrectionHandler = Callable[[CommandContext, str, CommandArguments], Awaitable[str]]

OPTIONS = ("with", "type", "keywords")


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
    words = parse_arguments(rest, OPTIONS)
    if not min_words <= len(words.positional) <= max_words:
        raise InvalidQuestion(
            gettext("“{name}” has too many or too few arguments.").format(name=name),
            hint=f"{_usage_hint(call)} {gettext('Put several words in quotation marks.')}",
        )
    space = await call.services.context.audience.get_home_space(call.location)
    if space not in (await call.resolve_scope()).spaces:
        raise NotAllowed(
            gettext("You can't correct what I know here."),
            hint=gettext("Ask a member who can read all of this channel."),
        )
    return Card(await correction(call, space, words))


def _usage_hint(call: CommandContext) -> str:
    examples = (
        'merge "Ada L." "Ada Lovelace"',
        'describe Ada "She wrote it." --with Engine',
        'hide "Analytical Engin"',
    )
    listed = "; ".join(call.format_example(f"correct {each}") for each in examples)
    return gettext("Examples: {examples}.").format(examples=listed)


def _undo_hint(call: CommandContext, command: str) -> str:
    return gettext("{command} undoes this.").format(command=call.format_example(command))


async def _merge(call: CommandContext, space: str, words: CommandArguments) -> str:
    await call.require_manager(gettext("merge names"))
    name, into = words.positional
    change = await call.engine.merge(space, name, into, room=call.location.room)
    done = format_merge(escape_markdown(name), escape_markdown(into), map(escape_markdown, change.unknown))
    return f"{done} {_undo_hint(call, 'correct unmerge')}"


async def _unmerge(call: CommandContext, space: str, words: CommandArguments) -> str:
    await call.require_manager(gettext("separate names"))
    await call.engine.unmerge(space, words.positional[0], room=call.location.room)
    return format_unmerge(escape_markdown(words.positional[0]))


async def _separate(call: CommandContext, space: str, words: CommandArguments) -> str:
    await call.require_manager(gettext("separate names"))
    name, other = words.positional
    await call.engine.separate(space, name, other, room=call.location.room)
    done = format_separation(escape_markdown(name), escape_markdown(other))
    return f"{done} {_undo_hint(call, 'correct merge')}"


async def _describe(call: CommandContext, space: str, words: CommandArguments) -> str:
    await call.require_manager(gettext("change descriptions"))
    name, description = (*words.positional, "")[:2]
    await call.engine.describe(space, name, description, words.options.get("with", ""), room=call.location.room)
    return format_description(_format_name(words), description)


async def _hide(call: CommandContext, space: str, words: CommandArguments) -> str:
    await call.require_manager(gettext("hide names"))
    await call.engine.hide(space, words.positional[0], words.options.get("with", ""), room=call.location.room)
    hint = gettext("{command} shows it again.").format(command=call.format_example("correct unhide"))
    return f"{format_visibility(_format_name(words), hidden=True)} {hint}"


async def _unhide(call: CommandContext, space: str, words: CommandArguments) -> str:
    await call.require_manager(gettext("show names again"))
    await call.engine.unhide(space, words.positional[0], words.options.get("with", ""), room=call.location.room)
    return format_visibility(_format_name(words), hidden=False)


async def _add_fact(call: CommandContext, space: str, words: CommandArguments) -> str:  # noqa: ARG001  - a correction's signature
    """Add a fact as if the caller had posted it; they must be allowed to post, and the channel must be read."""
    if not await _can_write(call):
        raise NotAllowed(gettext(texts.CANNOT_WRITE), hint=gettext("Join it, or ask someone who can post there."))
    name, description = words.positional
    options = (words.options.get(each, "") for each in OPTIONS)
    fact = build_fact(name, description, *options)
    key = await call.services.ingest_service.manual_facts.add_fact(
        call.location, call.invocation.person, fact, call.now
    )
    added = gettext("Added: {name} – {description}")
    added = added.format(name=_format_name(words), description=escape_markdown(description))
    return f"{added}\n{_undo_hint(call, f'forget {key}')}"


async def _can_write(call: CommandContext) -> bool:
    """Whether the caller may post here; where the platform lists members, they must be one of them."""
    joined = (await call.services.context.audience.get_channel(call.location)).members
    return call.invocation.may_write and (not joined or call.invocation.person in joined)


def _format_name(words: CommandArguments) -> str:
    return format_subject(escape_markdown(words.positional[0]), escape_markdown(words.options.get("with", "")))


CORRECTIONS: Mapping[str, tuple[int, int, CorrectionHandler]] = {
    "merge": (2, 2, _merge),
    "unmerge": (1, 1, _unmerge),
    "separate": (2, 2, _separate),
    "add": (2, 2, _add_fact),
    "describe": (1, 2, _describe),
    "hide": (1, 1, _hide),
    "unhide": (1, 1, _unhide),
}
