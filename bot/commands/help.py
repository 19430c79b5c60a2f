"""Cards that list the commands, explain one of them, or introduce the bot."""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING

from bot.answers.introduction import build_introduction
from bot.commands.context import CommandContext
from bot.errors import PlatformError
from bot.i18n import LANGUAGES, N_, gettext, use_language
from bot.platform.models import Card
from bot.text.excerpts import content_words
from engine.text.languages.detection import load_function_words

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from bot.commands.context import BotServices, Command
    from bot.platform.events import CommandInvoked
    from bot.platform.traits import PlatformTraits

MAX_FOUND = 5  # commands about words
MIN_COMMON, MAX_ENDING = 4, 4  # letters that two forms of a word begin with, and those of their endings
MAX_USAGE = 32  # characters of a usage in the list of all commands

NOTHING_READ = N_("I haven't read anything that you can see yet. Drop a file here, or let me read a channel.")
ALL_COMMANDS = N_("Tell me things, too: “remember: …”. `{command}` lists everything that I can do.")
INTRODUCTION = N_(
    "I read {channels} and the files shared there, and answer questions about them. The "
    "numbers in an answer link to its sources. I only use what everyone who sees an answer "
    "can read."
)
NARROWING = N_("write `in:#channel`, `from:@person`, `after:2026-05-01` or `as of 3 May` in a question – to narrow it")
# What people call it besides what the name, the summary and the details of a command say.
OTHER_WORDS: Mapping[str, str] = {
    "catch-up": N_("missed, absence, vacation, summary, news"),
    "connect": N_("wiki, site, crawl, source"),
    "backfill": N_("old messages, past, import"),
    "correct": N_("wrong answer, mistake, fix, false"),
    "decisions": N_("agreed, open tasks, deadline, who does what"),
    "digest": N_("summary, weekly, daily, newsletter"),
    "duplicates": N_("merge, same person, alias"),
    "expert": N_("who knows about, responsible, contact"),
    "forget": N_("delete, remove, erase"),
    "forget-me": N_("opt out, erase, delete, privacy"),
    "graph": N_("image, map, connections"),
    "history": N_("timeline, earlier, past, changed"),
    "learn": N_("upload, add, document"),
    "my-data": N_("export, privacy, personal data"),
    "readers": N_("see, access, permissions, visible"),
    "settings": N_("language, permissions, options"),
    "sources": N_("citations, evidence, proof"),
    "status": N_("progress, problems, errors, files"),
    "verify": N_("approve, confirm, save, right answer"),
    "watch": N_("notify, alert, remind, subscribe, tell me"),
}
ABOUT_WORDS = N_("These commands are about that:")
INVITED_CHANNELS = N_("the channels that I was invited to")
ENABLED_CHANNELS = N_("the channels that a manager enabled")


def describe_reading(traits: PlatformTraits) -> str:
    """What the bot is, and what it reads."""
    channels = gettext(INVITED_CHANNELS if traits.reads_by_default else ENABLED_CHANNELS)
    return gettext(INTRODUCTION).format(channels=channels)


def format_overview(traits: PlatformTraits, commands: Mapping[str, Command], *, manager: bool) -> str:
    """List what a person can do on a platform, a line each."""
    lines = [
        describe_reading(traits),
        "",
        gettext(traits.usage_heading),
    ]
    lines += [f"- {gettext(feature)}" for feature in (*traits.features, NARROWING)]
    lines += [
        _format_line(traits, name, command)
        for name, command in commands.items()
        if command.is_listed and (manager or not command.managers_only)
    ]
    return "\n".join(lines)


def format_found(traits: PlatformTraits, words: str, commands: Mapping[str, Command], *, manager: bool) -> str:
    """List the commands that these words are about, the nearest first; empty if none is."""
    wanted = content_words(words) - _list_function_words()
    shown = [(name, command) for name, command in commands.items() if manager or not command.managers_only]
    scores = {name: _count_common(wanted, name, command) for name, command in shown}
    found = sorted((each for each in shown if scores[each[0]]), key=lambda each: -scores[each[0]])[:MAX_FOUND]
    if not found:
        return ""
    return "\n".join([gettext(ABOUT_WORDS), *(_format_line(traits, name, command) for name, command in found)])


@cache
def _list_function_words() -> frozenset[str]:
    """Those of the other languages of the bot, which say nothing about a command; English ones are left out before."""
    by_language = load_function_words()
    return frozenset[str]().union(*(by_language.get(each, ()) for each in LANGUAGES if each != "en"))


def _count_common(wanted: Collection[str], name: str, command: Command) -> int:
    """How many of these words stand in what explains a command, in any form: the most in its name, then its summary."""
    summary = " ".join(_summarize_in_all_languages(name, command))
    explained = [content_words(text) for text in (gettext(command.details), summary, name.replace("-", " "))]
    return sum(weight * _count_form(word, words) for word in wanted for weight, words in enumerate(explained, 1))


def _summarize_in_all_languages(name: str, command: Command) -> Iterator[str]:
    """The summary and what people call the command: not everybody types in the language of the channel."""
    for language in LANGUAGES:
        with use_language(language):
            words = gettext(command.summary), gettext(OTHER_WORDS.get(name, ""))
        yield from words


def _count_form(word: str, words: Collection[str]) -> int:
    """2 if a word is among these, 1 if another form of it is, else 0."""
    return 2 if word in words else int(any(_are_forms(word, other) for other in words))


def _are_forms(one: str, other: str) -> bool:
    """Whether two words differ in their endings alone."""
    common = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    longest, shortest = max(len(one), len(other)), min(len(one), len(other))
    return common >= max(MIN_COMMON, shortest - 2) and longest - common <= MAX_ENDING


def format_command_help(traits: PlatformTraits, name: str, command: Command) -> str:
    """Explain one command, with examples."""
    lines = [f"`{_format_usage(traits, name, command)}` – {gettext(command.summary)}"]
    lines += [gettext(command.details).replace("{}", traits.command_prefix)] if command.details else []
    lines += [f"_{gettext('For managers of this workspace.')}_"] if command.managers_only else []
    return "\n".join(
        [*lines, *(f"- `{traits.format_command(f'{name} {gettext(example)}')}`" for example in command.examples)]
    )


def format_near_command(traits: PlatformTraits, name: str, command: Command) -> str:
    """Explain the command that was probably meant."""
    meant = gettext("I don't know that command. Did you mean this one?")
    return f"{meant}\n{format_command_help(traits, name, command)}"


async def build_help_card(call: CommandContext, commands: Mapping[str, Command], words: str) -> Card:
    """Explain the command of this name, list those that these words are about, or all commands."""
    name = words.casefold().lstrip("/")
    traits = call.traits
    if name in commands:
        return Card(format_command_help(traits, name, commands[name]))
    manager = False
    with suppress(PlatformError):  # show help even if the caller cannot be looked up
        manager = await call.is_manager()
    if found := format_found(traits, name, commands, manager=manager):
        return Card(found)
    overview = format_overview(traits, commands, manager=manager)
    return Card(f"{overview}\n\n{call.services.context.disclosure.describe()}")


def _format_line(traits: PlatformTraits, name: str, command: Command) -> str:
    return f"- `{_format_short_usage(traits, name, command)}` – {gettext(command.summary)}"


def _format_short_usage(traits: PlatformTraits, name: str, command: Command) -> str:
    """The usage without arguments that the platform asks for itself, and without alternatives that are too many.

    The help of the command shows all of it.
    """
    if name in traits.argument_names:
        return f"{traits.command_prefix}{name}"
    usage = _format_usage(traits, name, command)
    if len(usage) <= MAX_USAGE:
        return usage
    words = usage[:MAX_USAGE].split(" ")[:-1]
    while words[-1] == "|" or " ".join(words).count("[") > " ".join(words).count("]"):
        words.pop()
    return f"{' '.join(words)} …"


def _format_usage(traits: PlatformTraits, name: str, command: Command) -> str:
    named = " ".join(f"{argument_name}:…" for argument_name in traits.argument_names.get(name, ()))
    return f"{traits.command_prefix}{name} {named or command.usage}".rstrip()


async def introduce(services: BotServices, called: CommandInvoked, *, is_private: bool) -> Card:
    """Who the bot is, with three questions for those who see the reply: the caller alone, or everyone at the place."""
    call = CommandContext.of(services, called, called.time or services.context.clock.now())
    audience = services.context.audience
    scope = await (call.resolve_scope() if is_private else audience.scope_for_channel(called.location))
    all_commands = gettext(ALL_COMMANDS).format(command=call.traits.format_command("help"))
    further = [all_commands, services.context.disclosure.describe()]
    reading, nothing = describe_reading(call.traits), gettext(NOTHING_READ)
    return Card(await build_introduction(call.engine, scope, reading, nothing, further))
