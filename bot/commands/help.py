"""Cards that list the commands, or explain one of them."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from bot.errors import PlatformError
from bot.i18n import N_, gettext
from bot.platform.models import Card

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bot.commands.context import Command, CommandContext
    from bot.platform.traits import PlatformTraits

INTRODUCTION = N_(
    "I read {channels} and the files shared there, and answer questions about them. The "
    "numbers in an answer link to its sources. I only use what everyone who sees an answer "
    "can read."
)
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
    lines += [f"- {gettext(each)}" for each in traits.features]
    lines += [
        f"- `{_format_usage(traits, name, command)}` – {gettext(command.summary)}"
        for name, command in commands.items()
        if manager or not command.managers_only
    ]
    return "\n".join(lines)


def format_command_help(traits: PlatformTraits, name: str, command: Command) -> str:
    """Explain one command, with examples."""
    lines = [f"`{_format_usage(traits, name, command)}` – {gettext(command.summary)}"]
    lines += [gettext(command.details).replace("{}", traits.command_prefix)] if command.details else []
    lines += [f"_{gettext('For managers of this workspace.')}_"] if command.managers_only else []
    return "\n".join(
        [*lines, *(f"- `{traits.format_command(f'{name} {gettext(each)}')}`" for each in command.examples)]
    )


async def build_help_card(call: CommandContext, commands: Mapping[str, Command]) -> Card:
    """Explain the command named in the arguments, or list all commands."""
    name = call.arguments.casefold().lstrip("/")
    traits = call.traits
    if name in commands:
        return Card(format_command_help(traits, name, commands[name]))
    manager = False
    with suppress(PlatformError):  # show help even if the caller cannot be looked up
        manager = await call.is_manager()
    return Card(format_overview(traits, commands, manager=manager))


def _format_usage(traits: PlatformTraits, name: str, command: Command) -> str:
    named = " ".join(f"{each}:…" for each in traits.argument_names.get(name, ()))
    return f"{traits.command_prefix}{name} {named or command.usage}".rstrip()
