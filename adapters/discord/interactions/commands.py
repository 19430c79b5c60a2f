"""Define Discord's slash commands; their options become arguments of the bot's commands."""

# discord.py reads the annotations of callbacks at run time.

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol, cast

import discord
from discord import app_commands

from adapters.discord.interactions.filters import FILTER_DESCRIPTIONS, MAX_CHOICES, MAX_TEXT_LENGTH, complete_filters
from adapters.discord.settings import TRAITS
from adapters.discord.translate import message_of, upload_of
from bot.commands.table import list_commands
from bot.i18n import N_, match_locale, use_language
from bot.platform.events import PRIVATE_WORD, CommandInvoked, QuestionAsked
from bot.text.filter_options import add_filters
from bot.texts import describe_error
from bot.texts.search_modes import SEARCH_MODES
from engine.errors import InvalidQuestion

if TYPE_CHECKING:
    from collections.abc import Iterable

    from adapters.discord.interactions.interactions import InteractionHandler

Interaction = discord.Interaction[Any]
AnswerSetting = Literal["mode", "style", "language", "model", "reply-to", "suggestions"]
Setting = Literal[AnswerSetting, "askers", "ingest", "content", "bot-messages", "links"]
NameCorrection = Literal["merge", "unmerge", "separate", "split", "unsplit", "hide", "unhide"]
Correction = Literal["answer", NameCorrection, "add", "describe", "undo"]


class CommandClient(Protocol):
    """The part of the client that commands use."""

    interactions: InteractionHandler


def build_command_tree(client: discord.Client) -> app_commands.CommandTree[Any]:
    """Build the command tree: commands with options, and the other ones of the bot's command table."""
    tree = app_commands.CommandTree(client, allowed_installs=app_commands.AppInstallationType(guild=True, user=False))
    listed_commands = list_commands(TRAITS)
    own: tuple[app_commands.Command[Any, ..., Any], ...] = (
        *(ask, learn, forget, graph, history, catch_up, digest, show_help),
        *(settings, backfill, correct, verify, pin, expert),
    )
    for command in own:
        command.guild_only = command.name != "ask" and not listed_commands[command.name].in_direct
        tree.add_command(command)
    for name in listed_commands.keys() - {command.name for command in own}:
        listed = listed_commands[name]
        tree.add_command(_build_plain_command(name, listed.summary or name, listed.usage))
    for menu in (ask_about, add_message, summarize_thread, verify_message):
        tree.add_command(menu)
    return tree


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
async def ask(  # noqa: PLR0913, PLR0917 - each is an option
    interaction: Interaction,
    question: str,
    file: discord.Attachment | None = None,
    private: bool = False,  # noqa: FBT001, FBT002  - an option
    mode: str = "",
    channel: str = "",
    author: str = "",
    after: str = "",
    before: str = "",
    has: Literal["file"] | None = None,
) -> None:
    """Ask a question."""
    options = {"in": channel, "from": author, "after": after, "before": before, "has": has or ""}
    with use_language(match_locale(str(interaction.locale))):
        try:
            question = add_filters(question, options, _interactions(interaction).clock.now())
        except InvalidQuestion as error:
            await interaction.response.send_message(describe_error(error), ephemeral=True)
            return
    await _submit_question(interaction, question, [file] if file else [], private=private, mode=mode)


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


@app_commands.command(description=N_("Delete a file, a message or what you wrote from my index"))
@app_commands.describe(what=N_("The title of a file, the link of a message, “me”, or “channel” (managers)"))
async def forget(interaction: Interaction, what: str) -> None:
    """Delete something from the index."""
    await _submit_command(interaction, "forget", what)


@app_commands.command(description=N_("Draw the graph around a name"))
@app_commands.describe(name=N_("A person, a thing, a place …"))
async def graph(interaction: Interaction, name: str) -> None:
    """Draw the graph around a name."""
    await _submit_command(interaction, "graph", name)


@graph.autocomplete("name")
async def suggest_names(interaction: Interaction, current: str) -> list[app_commands.Choice[str]]:
    """Suggest names with the typed prefix that the user may see."""
    found = await _interactions(interaction).suggest_names(interaction, current)
    return [app_commands.Choice(name=name, value=name) for name in found if 0 < len(name) <= MAX_TEXT_LENGTH][
        :MAX_CHOICES
    ]


@app_commands.command(description=N_("what was said about something, by whom, and what replaced it"))
@app_commands.describe(subject=N_("A person, a thing, a place …"))
async def history(interaction: Interaction, subject: str) -> None:
    """List what was said about a subject."""
    await _submit_command(interaction, "history", subject)


@app_commands.command(name="catch-up", description=N_("What you missed in this channel"))
@app_commands.describe(since=N_("2h, yesterday, monday, 2026-11-20; default: since your last message here"))
async def catch_up(interaction: Interaction, since: str = "") -> None:
    """Summarize what was missed."""
    await _submit_command(interaction, "catch-up", since)


@app_commands.command(description=N_("regular digests: topics, decisions, open questions and new files"))
@app_commands.describe(schedule=N_("weekly monday 9:00 Europe/Berlin, me daily 8:00, off; default: show the schedule"))
async def digest(interaction: Interaction, schedule: str = "") -> None:
    """Schedule digests, end them, or show the schedule."""
    await _submit_command(interaction, "digest", schedule)


@app_commands.command(name="help", description=N_("What I can do"))
@app_commands.describe(topic=N_("A command to explain"))
async def show_help(interaction: Interaction, topic: str = "") -> None:
    """Show the help."""
    await _submit_command(interaction, "help", topic)


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


@app_commands.command(description=N_("Verify an answer: it comes first when somebody asks the same"))
@app_commands.describe(
    what=N_("The link of an answer or a reply; list; remove and an id; omit for the last answer here")
)
async def verify(interaction: Interaction, what: str = "") -> None:
    """Verify an answer."""
    await _submit_command(interaction, "verify", what)


@app_commands.command(description=N_("Answer a question in your own words"))
@app_commands.describe(words=N_("The question and the answer, each in quotation marks"))
async def pin(interaction: Interaction, words: str) -> None:
    """Pin an answer."""
    await _submit_command(interaction, "pin", words)


@app_commands.command(description=N_("People to ask when I find nothing"))
@app_commands.describe(words=N_("list, add @person topic, remove @person, or ask"))
async def expert(interaction: Interaction, words: str = "") -> None:
    """Name, list or ask experts."""
    await _submit_command(interaction, "expert", words)


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


def _build_plain_command(name: str, summary: str, usage: str) -> app_commands.Command[Any, ..., None]:
    """Build a command without options, or with one for all words that it takes."""

    async def plain(interaction: Interaction) -> None:
        await _submit_command(interaction, name)

    @app_commands.describe(words=usage[:MAX_TEXT_LENGTH] or "…")
    async def with_words(interaction: Interaction, words: str = "") -> None:
        await _submit_command(interaction, name, words)

    callback: Any = with_words if usage else plain
    return app_commands.Command(name=name, description=summary[:MAX_TEXT_LENGTH], callback=callback)


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
