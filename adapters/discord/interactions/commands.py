"""Define Discord's slash commands; their options become arguments of the bot's commands."""

# discord.py reads the annotations of callbacks at run time.

from __future__ import annotations

from dataclasses import dataclass
from functools import wraps
from inspect import Parameter
from itertools import starmap
from typing import TYPE_CHECKING, Any, Literal, Protocol, Self, TypeVar, cast

import discord
from discord import app_commands

from adapters.discord.interactions.filters import (
    FILTER_DESCRIPTIONS,
    FILTER_NAMES,
    MAX_CHOICES,
    MAX_TEXT_LENGTH,
    complete_filters,
)
from adapters.discord.settings import TRAITS
from adapters.discord.translate import message_of, upload_of
from bot.commands.table import list_commands
from bot.i18n import N_, match_locale, use_language
from bot.platform.events import PRIVATE_WORD, CommandInvoked, QuestionAsked
from bot.text.search_filters import add_filters
from bot.text.signature import build_parameter, give_signature, list_parameters
from bot.texts import describe_error
from bot.texts.search_notices import SEARCH_MODES
from engine.errors import InvalidQuestion

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from adapters.discord.interactions.interactions import InteractionHandler

Interaction = discord.Interaction[Any]
AnswerSetting = Literal["mode", "style", "language", "model", "reply-to", "suggestions"]
Setting = Literal[AnswerSetting, "askers", "ingest", "content", "bot-messages", "links"]
NameCorrection = Literal["merge", "unmerge", "separate", "split", "unsplit", "hide", "unhide"]
Correction = Literal["answer", NameCorrection, "add", "describe", "undo"]


INTERACTION = Parameter("interaction", Parameter.POSITIONAL_OR_KEYWORD, annotation=Interaction)
Options = TypeVar("Options")


@dataclass(frozen=True, slots=True)
class WordsCommand:
    """A command with one option for the words of the bot's command; with none if `option` is empty."""

    description: str
    option: str = ""
    meaning: str = ""
    is_required: bool = False

    def list_meanings(self) -> dict[str, str]:
        """What its option means, by name."""
        return {self.option: self.meaning} if self.option else {}

    @classmethod
    def of(cls, summary: str, usage: str) -> Self:
        """The one for a command of the bot's table that is described as it is there."""
        option, meaning = ("words", usage[:MAX_TEXT_LENGTH]) if usage else ("", "")
        return cls(summary[:MAX_TEXT_LENGTH], option, meaning)


WORDS_COMMANDS = {
    "forget": WordsCommand(
        N_("Delete a file, a message or what you wrote from my index"),
        "what",
        N_("The title of a file, the link of a message, “me”, or “channel” (managers)"),
        is_required=True,
    ),
    "graph": WordsCommand(
        N_("Draw the graph around a name"), "name", N_("A person, a thing, a place …"), is_required=True
    ),
    "history": WordsCommand(
        N_("what was said about something, by whom, and what replaced it"),
        "subject",
        N_("A person, a thing, a place …"),
        is_required=True,
    ),
    "catch-up": WordsCommand(
        N_("What you missed in this channel"),
        "since",
        N_("2h, yesterday, monday, 2026-11-20; default: since your last message here"),
    ),
    "digest": WordsCommand(
        N_("regular digests: topics, decisions, open questions and new files"),
        "schedule",
        N_("weekly monday 9:00 Europe/Berlin, me daily 8:00, off; default: show the schedule"),
    ),
    "help": WordsCommand(N_("What I can do"), "topic", N_("A command to explain")),
    "verify": WordsCommand(
        N_("Verify an answer: it comes first when somebody asks the same"),
        "what",
        N_("The link of an answer or a reply; list; remove and an id; omit for the last answer here"),
    ),
    "pin": WordsCommand(
        N_("Answer a question in your own words"),
        "words",
        N_("The question and the answer, each in quotation marks"),
        is_required=True,
    ),
    "expert": WordsCommand(
        N_("People to ask when I find nothing"), "words", N_("list, add @person topic, remove @person, or ask")
    ),
}


class CommandClient(Protocol):
    """The part of the client that commands use."""

    interactions: InteractionHandler


def build_command_tree(client: discord.Client) -> app_commands.CommandTree[Any]:
    """Build the command tree: commands with options, and the other ones of the bot's command table."""
    tree = app_commands.CommandTree(client, allowed_installs=app_commands.AppInstallationType(guild=True, user=False))
    listed_commands = list_commands(TRAITS)
    own = [ask, learn, settings, backfill, correct, *starmap(_build_command, WORDS_COMMANDS.items())]
    for command in own:
        command.guild_only = command.name != "ask" and not listed_commands[command.name].in_direct
        tree.add_command(command)
    for name in listed_commands.keys() - {command.name for command in own}:
        listed = listed_commands[name]
        tree.add_command(_build_command(name, WordsCommand.of(listed.summary or name, listed.usage)))
    for menu in (ask_about, add_message, summarize_thread, verify_message):
        tree.add_command(menu)
    return tree


def take(options: type[Options]) -> Callable[[Callable[[Interaction, Options], Awaitable[None]]], Any]:
    """Call a function with one value of all options: each field of the dataclass is an option."""

    def wrap(function: Callable[[Interaction, Options], Awaitable[None]]) -> Any:
        @wraps(function)
        async def callback(interaction: Interaction, **values: Any) -> None:
            await function(interaction, options(**values))

        give_signature(callback, [INTERACTION, *list_parameters(options)])
        return callback

    return wrap


@dataclass(frozen=True, slots=True)
class AskOptions:
    """The options of `/ask`; all after `mode` are filters."""

    question: str
    file: discord.Attachment | None = None
    private: bool = False
    mode: str = ""
    channel: str = ""
    author: str = ""
    after: str = ""
    before: str = ""
    has: Literal["file"] | None = None

    def list_filters(self) -> dict[str, str]:
        """The filters by the names that they have in a question."""
        return {name: getattr(self, field) for field, name in FILTER_NAMES.items()} | {"has": self.has or ""}


@app_commands.command(description=N_("Ask a question and get an answer with sources"))
@app_commands.describe(
    question=N_("Your question"),
    file=N_("A file to search first"),
    private=N_("Only you see the answer; it can use everything that you can read"),
    mode=N_("Where to search"),
    **FILTER_DESCRIPTIONS,
)
@app_commands.choices(mode=[app_commands.Choice(name=words, value=mode) for mode, words in SEARCH_MODES.items()])
@app_commands.rename(channel="in", author="from")
@take(AskOptions)
async def ask(interaction: Interaction, asked: AskOptions) -> None:
    """Ask a question."""
    with use_language(match_locale(str(interaction.locale))):
        try:
            question = add_filters(asked.question, asked.list_filters(), _interactions(interaction).clock.now())
        except InvalidQuestion as error:
            await interaction.response.send_message(describe_error(error), ephemeral=True)
            return
    files = [asked.file] if asked.file else []
    await _submit_question(interaction, question, files, private=asked.private, mode=asked.mode)


@app_commands.command(description=N_("Index a file for all who can read this channel, or only for you"))
@app_commands.describe(
    file=N_("The file"), private=N_("Only you can find it; otherwise everyone who can read this channel")
)
async def learn(
    interaction: Interaction,
    file: discord.Attachment,
    private: bool = False,  # noqa: FBT001, FBT002  - an option
) -> None:
    """Index a file."""
    await _submit_command(interaction, "learn", PRIVATE_WORD if private else "", [file])


async def suggest_names(interaction: discord.Interaction[Any], current: str) -> list[app_commands.Choice[str]]:
    """Suggest names with the typed prefix that the user may see."""
    found = await _interactions(interaction).suggest_names(interaction, current)
    return [app_commands.Choice(name=name, value=name) for name in found if 0 < len(name) <= MAX_TEXT_LENGTH][
        :MAX_CHOICES
    ]


@app_commands.command(description=N_("Show or change the settings of this channel"))
@app_commands.describe(
    setting=N_("The setting to change; omit to show all"), value=N_("on, off, mention, thread, all, or free text")
)
@app_commands.default_permissions(manage_guild=True)
async def settings(interaction: Interaction, setting: Setting | None = None, value: str = "") -> None:
    """Show or change settings."""
    await _submit_command(interaction, "settings", f"{setting or ''} {value}".strip())


@app_commands.command(description=N_("Index earlier messages of this channel"))
@app_commands.describe(days=N_("How many days back"))
@app_commands.default_permissions(manage_guild=True)
async def backfill(interaction: Interaction, days: app_commands.Range[int, 1, 3650] | None = None) -> None:
    """Index earlier messages."""
    await _submit_command(interaction, "backfill", str(days or ""))


@app_commands.command(description=N_("Correct what I know; corrections can be undone"))
@app_commands.describe(
    correction=N_("What to do"), words=N_("Names and descriptions; put several words in quotation marks")
)
async def correct(interaction: Interaction, correction: Correction, words: str) -> None:
    """Submit a correction."""
    await _submit_command(interaction, "correct", f"{correction} {words}")


@app_commands.context_menu(name=N_("Verify as answer"))
async def verify_message(interaction: Interaction, message: discord.Message) -> None:
    """Verify an answer of the bot, or take a person's message as the answer."""
    await _submit_command(interaction, "verify", target=message)


@app_commands.context_menu(name=N_("Ask about this"))
async def ask_about(interaction: Interaction, message: discord.Message) -> None:
    """Ask about a message; only the user sees the answer."""
    files = message.attachments
    question = message.content.strip() or ", ".join(file.filename for file in files)
    await _submit_question(interaction, question, files, private=True)


@app_commands.context_menu(name=N_("Add to knowledge"))
async def add_message(interaction: Interaction, message: discord.Message) -> None:
    """Index a message and its files."""
    await _submit_command(interaction, "learn", target=message)


@app_commands.context_menu(name=N_("Summarize thread"))
async def summarize_thread(interaction: Interaction, message: discord.Message) -> None:
    """Summarize the thread of a message, or the one that it began; only the user sees the summary."""
    await _submit_command(interaction, "summarize-thread", target=message)


def _build_command(name: str, command: WordsCommand) -> app_commands.Command[Any, ..., None]:
    """A command whose option holds the words that the bot's command takes."""

    async def callback(interaction: Interaction, **words: str) -> None:
        await _submit_command(interaction, name, " ".join(words.values()))

    default, meanings = Parameter.empty if command.is_required else "", command.list_meanings()
    give_signature(callback, [INTERACTION, *(build_parameter(option, str, default) for option in meanings)])
    app_commands.describe(**meanings)(callback)
    built = app_commands.Command[Any, ..., None](name=name, description=command.description, callback=callback)
    if name == "graph":
        built.autocomplete("name")(suggest_names)
    return built


async def _submit_question(
    interaction: Interaction, question: str, files: Iterable[discord.Attachment], *, private: bool, mode: str = ""
) -> None:
    interactions = _interactions(interaction)
    uploads, location = tuple(map(upload_of, files)), interactions.resolve_location(interaction)

    def build_event(handle: str) -> QuestionAsked:
        return QuestionAsked(
            str(interaction.id),
            location,
            str(interaction.user.id),
            question,
            interactions.clock.now(),
            uploads,
            private=private,
            mode=mode,
            handle=handle,
            may_write=_can_write(interaction),
            locale=str(interaction.locale),
        )

    await interactions.submit(interaction, build_event, private=private)


async def _submit_command(
    interaction: Interaction,
    command: str,
    words: str = "",
    files: Iterable[discord.Attachment] = (),
    target: discord.Message | None = None,
) -> None:
    """Queue a command. `target`: the message from whose context menu it was chosen."""
    interactions = _interactions(interaction)
    uploads, location = tuple(map(upload_of, files)), interactions.resolve_location(interaction)
    message = message_of(target, location, interactions.me) if target is not None else None

    def build_event(handle: str) -> CommandInvoked:
        interaction_id, person, now = str(interaction.id), str(interaction.user.id), interactions.clock.now()
        may_write, locale = _can_write(interaction), str(interaction.locale)
        return CommandInvoked(
            interaction_id, location, person, command, words, uploads, handle, message, now, may_write, locale
        )

    await interactions.open_or_submit(interaction, build_event)


def _can_write(interaction: Interaction) -> bool:
    """Whether the user may post in the channel; in direct messages everyone may."""
    may_write = interaction.permissions
    if interaction.guild_id is None:
        return True
    return (
        may_write.send_messages_in_threads
        if isinstance(interaction.channel, discord.Thread)
        else may_write.send_messages
    )


def _interactions(interaction: Interaction) -> InteractionHandler:
    return cast("CommandClient", interaction.client).interactions


complete_filters(ask, _interactions)
