"""The commands, as a table of words to functions. What comes of one is shown to the caller alone.

Each sees only what the caller may read. After a crash a command may run a second time; that does no harm.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from bot.commands import channel_settings, correct, forget, learn, missed, status
from bot.commands import help as helping
from bot.commands.context import Call, Parts

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from bot.platform.events import Called
    from bot.platform.models import Card

__all__ = ["COMMANDS", "Command", "Parts", "offered", "run"]


@dataclass(frozen=True, slots=True)
class Command:
    """`about` in a line, `words` that may follow; `more` and `examples` for whoever asks. `managers`: for these.

    In `more`, {} is what stands before a command on the platform.

    `platforms` have it; none named: all of them.
    """

    work: Callable[[Call], Awaitable[Card | None]]
    about: str
    words: str = ""
    more: str = ""
    examples: tuple[str, ...] = ()
    managers: bool = False
    platforms: tuple[str, ...] = ()


async def run(parts: Parts, called: Called) -> Card | None:
    """Obey a command; an unknown one is answered with what there is. None: its answer is already on its way.

    Raises EngineError (bot/texts.py has words for it).
    """
    call = Call(parts, called, called.time or datetime.now(UTC))
    command = offered(called.place.platform).get(called.command.casefold())
    return await (command.work(call) if command else _help(call))


async def _help(call: Call) -> Card:
    return await helping.show(call, offered(call.place.platform))


def offered(platform: str) -> Mapping[str, Command]:
    """The commands that a platform has."""
    return {name: each for name, each in COMMANDS.items() if not each.platforms or platform in each.platforms}


COMMANDS: Mapping[str, Command] = {
    "help": Command(_help, "what I can do", "[command]", examples=("forget",)),
    "sources": Command(
        status.sources,
        "the sources of the last answer here, with their texts",
        more="As far as you can read them now.",
    ),
    "missed": Command(
        missed.missed,
        "what you missed in this channel",
        "[since]",
        "Without a time: since you last said something here. Only you see the answer.",
        ("2h", "yesterday", "monday", "2026-11-20"),
    ),
    "graph": Command(status.graph, "a picture of a name and what is around it", "NAME", examples=("Ada Lovelace",)),
    "status": Command(
        status.status,
        "how much I know that you may read, and what I still work on",
        more="And when I last heard this channel. Managers also see which answers did not help.",
    ),
    "learn": Command(
        learn.learn,
        "read a file that comes with the command",
        "FILE",
        "Files that are shared in a channel that I read, or with me alone, I read without being told.",
        platforms=("discord", "console"),  # elsewhere no file can come with a command
    ),
    "forget": Command(
        forget.forget,
        "forget a file, a message or you",
        "TITLE | LINK | me",
        "Whoever wrote or shared something can have it forgotten, and managers anything. It is done at once: graph, "
        "answers that quoted it, and the bytes on my disk.",
        ("minutes.pdf", "https://… (the link of a message)", "me"),
    ),
    "forget-me": Command(
        forget.forget_me,
        "forget what you wrote and shared, and read nothing further of yours",
        more="Your messages in the chat itself stay as they are; `{}remember-me` takes it back for what you write "
        "later.",
    ),
    "remember-me": Command(forget.remember_me, "read again what you write from now on"),
    "correct": Command(
        correct.correct,
        "correct what I read",
        "merge | unmerge | state | pin | hide | unhide …",
        "It holds for whoever can read this channel, and can be taken back. Whoever may write here may state "
        "something, as if it was written; the rest is for managers.",
        (
            'merge "Ada L." "Ada Lovelace"',
            'unmerge "Ada L."',
            'state "Ada Lovelace" "She wrote the first program." --type person',
            'state Ada "They wrote to each other." --with "Charles Babbage"',
            'pin Ada "A mathematician." (without words: as it was read)',
            'hide "Analytical Engin"',
        ),
    ),
    "settings": Command(
        channel_settings.settings,
        "what holds for this channel: mode, style, language, answers, ingest",
        "[NAME VALUE]",
        "`default` takes a setting back.",
        ("answers thread", "ingest off", "language German", "style short and friendly", "mode hybrid"),
        managers=True,
    ),
    "backfill": Command(
        channel_settings.backfill,
        "read what was said in this channel before",
        "[days]",
        examples=("30",),
        managers=True,
    ),
}
