"""A short introduction, with questions that what the person can read may answer."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from bot.commands.context import CommandContext
from bot.commands.help import describe_reading
from bot.i18n import N_, gettext
from bot.platform.models import Card
from bot.text.markdown import escape_markdown
from engine.errors import EngineError

if TYPE_CHECKING:
    from bot.commands.context import BotServices
    from bot.platform.events import CommandInvoked

MAX_NAMES, MAX_FILES = 12, 200  # of what the person can read
MIN_NAME_LENGTH = 3  # characters

EXAMPLES_HEADING = N_("You could ask me:")
NOTHING_READ = N_("I haven't read anything that you can see yet. Drop a file here, or let me read a channel.")
ABOUT_NAME = N_("What do we know about {name}?")
ABOUT_FILE = N_("What does “{title}” say?")
ABOUT_WEEK = N_("What was decided last week?")
ALL_COMMANDS = N_("Tell me things, too: “remember: …”. `{command}` lists everything that I can do.")


async def introduce(services: BotServices, called: CommandInvoked) -> Card:
    """Who the bot is, with three questions for the person who asks."""
    call = CommandContext.of(services, called, called.time or services.context.clock.now())
    examples = list[str]()
    with suppress(EngineError):  # an introduction without examples is better than none
        examples = await _list_examples(call)
    lines = [describe_reading(call.traits), ""]
    lines += [gettext(EXAMPLES_HEADING), *(f"- {each}" for each in examples)] if examples else [gettext(NOTHING_READ)]
    return Card("\n".join([*lines, "", gettext(ALL_COMMANDS).format(command=call.traits.format_command("help"))]))


async def _list_examples(call: CommandContext) -> list[str]:
    """Three questions about what the caller can read; fewer if there is less."""
    scope = await call.resolve_scope()
    documents = await call.engine.documents.list(scope)
    if not documents:
        return []
    names = [each for each in await call.engine.graph.find_names("", scope, MAX_NAMES) if len(each) >= MIN_NAME_LENGTH]
    files = [each.title for each in documents[:MAX_FILES] if each.kind == "file"]
    about_names = [gettext(ABOUT_NAME).format(name=escape_markdown(each)) for each in names[:2]]
    about_files = [gettext(ABOUT_FILE).format(title=escape_markdown(each)) for each in files[:1]]
    return [*about_names[: 2 - len(about_files)], *about_files, gettext(ABOUT_WEEK)]
