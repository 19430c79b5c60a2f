"""What the bot can do, in a card; more of one command when it is named."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from bot.errors import PlatformError
from bot.platform.models import Card
from bot.texts import options, prefix, typed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bot.commands import Command
    from bot.commands.context import Call

ABOUT = (
    "I read {channels} and the files that are shared there, and I answer from them, with a number behind each claim "
    "that leads to the message or the page. I use nothing that a reader of my answer could not read themselves."
)
CHANNELS = "the channels that I was invited to"
SWITCHED: Mapping[str, str] = {"discord": "the channels that a manager switched on"}
OPENING = "Mention me with a question, or:"
OPENINGS: Mapping[str, str] = {"console": "Type a question, or:"}
OWN: Mapping[str, tuple[str, ...]] = {  # what a platform has besides commands
    "slack": (
        "`/threadlore ask QUESTION` – an answer for you alone, from all that you can read",
        "share a file in a channel that I am in, or in a direct message to me – I read it, and ✅ says when I have",
    ),
    "discord": ("`/ask` – an answer for all here, or with `private` for you alone, from all that you can read",),
}


def overview(platform: str, commands: Mapping[str, Command], *, manager: bool) -> str:
    """What somebody may do there, a line each: questions, files, commands."""
    lines = [ABOUT.format(channels=SWITCHED.get(platform, CHANNELS)), "", OPENINGS.get(platform, OPENING)]
    lines += [f"- {each}" for each in OWN.get(platform, ())]
    lines += [
        f"- `{_usage(platform, name, command)}` – {command.about}"
        for name, command in commands.items()
        if manager or not command.managers
    ]
    return "\n".join(lines)


def detail(platform: str, name: str, command: Command) -> str:
    """One command: what it does, and how it is given."""
    lines = [f"`{_usage(platform, name, command)}` – {command.about}"]
    lines += [command.more.replace("{}", prefix(platform))] if command.more else []
    lines += ["_For managers of this workspace._"] if command.managers else []
    return "\n".join([*lines, *(f"- `{typed(platform, f'{name} {each}')}`" for each in command.examples)])


async def show(call: Call, commands: Mapping[str, Command]) -> Card:
    """All commands, or the one that is named."""
    name = call.words.casefold().lstrip("/")
    platform = call.place.platform
    if name in commands:
        return Card(detail(platform, name, commands[name]))
    manager = False
    with suppress(PlatformError):  # help is there even if nobody can be asked who somebody is
        manager = await call.manages()
    return Card(overview(platform, commands, manager=manager))


def _usage(platform: str, name: str, command: Command) -> str:
    named = " ".join(f"{each}:…" for each in options(platform, name))
    return f"{prefix(platform)}{name} {named or command.words}".rstrip()
