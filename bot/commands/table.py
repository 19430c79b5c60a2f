"""The table of commands by name. Only the caller sees the result of a command.

A command sees only what the caller may read. After a crash a command may run a second time, with the same result.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from bot.commands import catch_up, channel_settings, correct, forget, learn, status
from bot.commands import help as help_card
from bot.commands.context import Command, CommandContext

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bot.commands.context import BotServices
    from bot.platform.events import CommandInvoked
    from bot.platform.models import Card
    from bot.platform.traits import PlatformTraits


async def run_command(parts: BotServices, called: CommandInvoked) -> Card | None:
    """Run a command, or show the help for an unknown one. None: the command has sent its answer itself.

    Raises EngineError (bot/texts.py has words for it).
    """
    call = CommandContext(parts, called, called.time or datetime.now(UTC))
    command = list_commands(call.traits).get(called.command.casefold())
    return await (command.handler(call) if command else _help_command(call))


async def _help_command(call: CommandContext) -> Card:
    return await help_card.build_help_card(call, list_commands(call.traits))


def list_commands(traits: PlatformTraits) -> Mapping[str, Command]:
    """The commands of a platform, by name."""
    return {name: each for name, each in COMMANDS.items() if traits.commands_take_files or not each.needs_file}


COMMANDS: Mapping[str, Command] = {
    "help": Command(_help_command, "what I can do", "[command]", examples=("forget",)),
    "sources": Command(
        status.sources_command,
        "the sources of the last answer here, with their texts",
        details="As far as you can read them now.",
    ),
    "catch-up": Command(
        catch_up.catch_up_command,
        "what you missed in this channel",
        "[since]",
        "Without a time: since you last said something here. Only you see the answer.",
        ("2h", "yesterday", "monday", "2026-11-20"),
    ),
    "graph": Command(
        status.graph_command, "a picture of a name and what is around it", "NAME", examples=("Ada Lovelace",)
    ),
    "status": Command(
        status.status_command,
        "how much I know that you may read, and what I still work on",
        details="And when I last heard this channel. Managers also see which answers did not help.",
    ),
    "learn": Command(
        learn.learn_command,
        "read a file that comes with the command",
        "FILE",
        "Files that are shared in a channel that I read, or with me alone, I read without being told.",
        needs_file=True,
    ),
    "forget": Command(
        forget.forget_command,
        "forget a file, a message or you",
        "TITLE | LINK | me",
        "Whoever wrote or shared something can have it forgotten, and managers anything. It is done at once: graph, "
        "answers that quoted it, and the bytes on my disk.",
        ("minutes.pdf", "https://… (the link of a message)", "me"),
    ),
    "forget-me": Command(
        forget.forget_me_command,
        "forget what you wrote and shared, and read nothing further of yours",
        details="Your messages in the chat itself stay as they are; `{}remember-me` takes it back for what you write "
        "later.",
    ),
    "remember-me": Command(forget.remember_me_command, "read again what you write from now on"),
    "correct": Command(
        correct.correct_command,
        "correct what I read",
        "merge | unmerge | add | describe | hide | unhide …",
        "It holds for whoever can read this channel, and can be taken back. Whoever may write here may add "
        "a statement, as if it was written; the rest is for managers.",
        (
            'merge "Ada L." "Ada Lovelace"',
            'unmerge "Ada L."',
            'add "Ada Lovelace" "She wrote the first program." --type person',
            'add Ada "They wrote to each other." --with "Charles Babbage"',
            'describe Ada "A mathematician." (without words: as it was read)',
            'hide "Analytical Engin"',
        ),
    ),
    "settings": Command(
        channel_settings.settings_command,
        "what holds for this channel: mode, style, language, reply-to, ingest",
        "[NAME VALUE]",
        "`default` takes a setting back.",
        ("reply-to thread", "ingest off", "language German", "style short and friendly", "mode hybrid"),
        managers_only=True,
    ),
    "backfill": Command(
        channel_settings.backfill_command,
        "read what was said in this channel before",
        "[days]",
        examples=("30",),
        managers_only=True,
    ),
}
