"""What the bot can do, in a card; more of one command when it is named."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from bot.errors import PlatformError
from bot.platform.models import Card
from bot.texts import command_options, command_prefix, format_command

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bot.commands.context import Command, CommandContext

INTRODUCTION = (
    "I read {channels} and the files that are shared there, and I answer from them, with a number behind each claim "
    "that leads to the message or the page. I use nothing that a reader of my answer could not read themselves."
)
INDEXED_CHANNELS = "the channels that I was invited to"
PLATFORM_INDEXED_CHANNELS: Mapping[str, str] = {"discord": "the channels that a manager switched on"}
USAGE_HEADING = "Mention me with a question, or:"
PLATFORM_USAGE_HEADINGS: Mapping[str, str] = {"console": "Type a question, or:"}
PLATFORM_FEATURES: Mapping[str, tuple[str, ...]] = {  # what a platform has besides commands
    "slack": (
        "`/threadlore ask QUESTION` – an answer for you alone, from all that you can read",
        "share a file in a channel that I am in, or in a direct message to me – I read it, and ✅ says when I have",
    ),
    "discord": ("`/ask` – an answer for all here, or with `private` for you alone, from all that you can read",),
}


def format_overview(platform: str, commands: Mapping[str, Command], *, manager: bool) -> str:
    """What somebody may do there, a line each: questions, files, commands."""
    lines = [
        INTRODUCTION.format(channels=PLATFORM_INDEXED_CHANNELS.get(platform, INDEXED_CHANNELS)),
        "",
        PLATFORM_USAGE_HEADINGS.get(platform, USAGE_HEADING),
    ]
    lines += [f"- {each}" for each in PLATFORM_FEATURES.get(platform, ())]
    lines += [
        f"- `{_format_usage(platform, name, command)}` – {command.summary}"
        for name, command in commands.items()
        if manager or not command.managers_only
    ]
    return "\n".join(lines)


def format_command_help(platform: str, name: str, command: Command) -> str:
    """One command: what it does, and how it is given."""
    lines = [f"`{_format_usage(platform, name, command)}` – {command.summary}"]
    lines += [command.details.replace("{}", command_prefix(platform))] if command.details else []
    lines += ["_For managers of this workspace._"] if command.managers_only else []
    return "\n".join([*lines, *(f"- `{format_command(platform, f'{name} {each}')}`" for each in command.examples)])


async def build_help_card(call: CommandContext, commands: Mapping[str, Command]) -> Card:
    """All commands, or the one that is named."""
    name = call.arguments.casefold().lstrip("/")
    platform = call.location.platform
    if name in commands:
        return Card(format_command_help(platform, name, commands[name]))
    manager = False
    with suppress(PlatformError):  # help is there even if nobody can be asked who somebody is
        manager = await call.is_manager()
    return Card(format_overview(platform, commands, manager=manager))


def _format_usage(platform: str, name: str, command: Command) -> str:
    named = " ".join(f"{each}:…" for each in command_options(platform, name))
    return f"{command_prefix(platform)}{name} {named or command.usage}".rstrip()
