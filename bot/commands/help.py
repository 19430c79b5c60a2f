"""What the bot can do, in a card; more of one command when it is named."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from bot.errors import PlatformError
from bot.platform.models import Card

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bot.commands.context import Command, CommandContext
    from bot.platform.traits import PlatformTraits

INTRODUCTION = (
    "I read {channels} and the files that are shared there, and I answer from them, with a number behind each claim "
    "that leads to the message or the page. I use nothing that a reader of my answer could not read themselves."
)
INVITED_CHANNELS = "the channels that I was invited to"
ENABLED_CHANNELS = "the channels that a manager enabled"


def format_overview(traits: PlatformTraits, commands: Mapping[str, Command], *, manager: bool) -> str:
    """What somebody may do there, a line each: questions, files, commands."""
    lines = [
        INTRODUCTION.format(channels=INVITED_CHANNELS if traits.reads_by_default else ENABLED_CHANNELS),
        "",
        traits.usage_heading,
    ]
    lines += [f"- {each}" for each in traits.features]
    lines += [
        f"- `{_format_usage(traits, name, command)}` – {command.summary}"
        for name, command in commands.items()
        if manager or not command.managers_only
    ]
    return "\n".join(lines)


def format_command_help(traits: PlatformTraits, name: str, command: Command) -> str:
    """One command: what it does, and how it is given."""
    lines = [f"`{_format_usage(traits, name, command)}` – {command.summary}"]
    lines += [command.details.replace("{}", traits.command_prefix)] if command.details else []
    lines += ["_For managers of this workspace._"] if command.managers_only else []
    return "\n".join([*lines, *(f"- `{traits.format_command(f'{name} {each}')}`" for each in command.examples)])


async def build_help_card(call: CommandContext, commands: Mapping[str, Command]) -> Card:
    """All commands, or the one that is named."""
    name = call.arguments.casefold().lstrip("/")
    traits = call.traits
    if name in commands:
        return Card(format_command_help(traits, name, commands[name]))
    manager = False
    with suppress(PlatformError):  # help is there even if nobody can be asked who somebody is
        manager = await call.is_manager()
    return Card(format_overview(traits, commands, manager=manager))


def _format_usage(traits: PlatformTraits, name: str, command: Command) -> str:
    named = " ".join(f"{each}:…" for each in traits.argument_names.get(name, ()))
    return f"{traits.command_prefix}{name} {named or command.usage}".rstrip()
