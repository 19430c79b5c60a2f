"""The table of commands by name. Only the caller sees the result of a command.

A command sees only what the caller may read. After a crash a command may run a second time, with the same result.
"""

from __future__ import annotations

import inspect
from contextlib import suppress
from difflib import get_close_matches
from functools import partial
from typing import TYPE_CHECKING

from bot.capabilities.fields import build_request, describe_usage, match_words
from bot.capabilities.results import Completed, Listing
from bot.capabilities.row import Surface
from bot.capabilities.table import list_rows
from bot.commands import catch_up, correct, digest, forget, learn, status
from bot.commands import help as help_card
from bot.commands.context import Command, CommandContext
from bot.commands.forms import question
from bot.commands.management import connect
from bot.commands.overviews import contradictions, decisions, faq, history, my_data, readers, report, watch
from bot.commands.review import expert, unanswered, verify
from bot.commands.settings import command as channel_settings
from bot.errors import PlatformError, TooManyRequests
from bot.i18n import N_, gettext
from bot.platform.models import Card
from bot.store import Subject
from bot.text.arguments import parse_arguments
from bot.text.markdown import escape_markdown
from engine.errors import InvalidQuestion

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from bot.capabilities.row import Capability
    from bot.commands.context import BotServices
    from bot.platform.events import CommandInvoked
    from bot.platform.traits import PlatformTraits


async def run_command(parts: BotServices, called: CommandInvoked) -> Card | None:
    """Run a command, or show the help for an unknown one. None: the command has sent its answer itself.

    Raises EngineError (bot/texts has words for it), such as TooManyRequests.
    """
    call = CommandContext.of(parts, called, called.time or parts.context.clock.now())
    await _admit(call)
    name = called.command.casefold()
    if called.message is not None and called.handle and name in MENU_COMMANDS:
        return await MENU_COMMANDS[name](call)
    command = list_commands(call.traits).get(name)
    if command and not command.in_direct:
        await _check_in_channel(call)
    return await (command.handler(call) if command else _explain_unknown(call, name))


async def _explain_unknown(call: CommandContext, name: str) -> Card:
    """Name the command that an unknown one may mean, or those that it is about; else list all."""
    known = list_commands(call.traits)
    near = get_close_matches(name, known, n=1, cutoff=MIN_LIKENESS) if name else []
    if not near:
        return await help_card.build_help_card(call, known, name)
    return Card(help_card.format_near_command(call.traits, near[0], known[near[0]]))


async def _check_in_channel(call: CommandContext) -> None:
    """Raise InvalidQuestion in direct messages."""
    with suppress(PlatformError):
        channel = await call.services.context.audience.get_channel(call.location)
        if channel.kind == "direct":
            raise InvalidQuestion(gettext("This command is about a channel."), hint=gettext("Run the command there."))


async def _admit(call: CommandContext) -> None:
    """Count a command, as the requests of a token are counted. Raises TooManyRequests, and NotPermitted.

    The events of somebody who was deactivated meanwhile may still be in the queue.
    """
    location = call.location
    await (await call.services.deps.parts.open()).access.check_active(
        Subject(location.platform, location.workspace, call.person)
    )
    context = call.services.context
    limit = COMMANDS_PER_QUESTION * context.settings.questions_per_minute
    who = (f"commands:{location.platform}", location.workspace, call.person)
    if not await call.store.recent_questions.count_if_below(who, limit, context.clock.time()):
        raise TooManyRequests(gettext("You gave too many commands in the last minute. Wait a moment, then try again."))


async def _help_command(call: CommandContext) -> Card:
    return await help_card.build_help_card(call, list_commands(call.traits), call.arguments)


MIN_LIKENESS = 0.6  # of a command to what was typed, from 0 to 1


def list_commands(traits: PlatformTraits) -> Mapping[str, Command]:
    """The commands of a platform, by name; those that are made of rows of capabilities are the last ones."""
    own = {name: each for name, each in COMMANDS.items() if traits.commands_take_files or not each.needs_file}
    return own | {row.name: _derive_command(row) for row in list_rows() if Surface.CHAT in row.derived}


def _derive_command(row: Capability) -> Command:
    """The command of a row that says enough: its words are the fields of the request, one after the other."""
    usage = describe_usage(row).removeprefix(row.name).strip()
    return Command(partial(_run_derived, row), row.summary, usage, inspect.getdoc(row.request) or "")


async def _run_derived(row: Capability, call: CommandContext) -> Card:
    words = parse_arguments(call.arguments).positional
    results = await call.perform(build_request(row, match_words(row, words)))
    lines = [line for result in results for line in _format_result(result)]
    return Card("\n".join(lines))


def _format_result(result: object) -> list[str]:
    match result:
        case Completed(text=text):
            return [escape_markdown(text)]
        case Listing(rows=rows):
            return [f"- {' · '.join(map(escape_markdown, row))}" for row in rows]
    return []


COMMANDS_PER_QUESTION = 3  # that a person may ask in a minute

# What the menu of a message offers besides; adapters register them with their platform.
MENU_COMMANDS: Mapping[str, Callable[[CommandContext], Awaitable[Card | None]]] = {
    "ask-about": question.ask_about_message,
    "learn": learn.learn_command,
    "summarize-thread": catch_up.summarize_thread,
    "verify": verify.verify_command,
}

COMMANDS: Mapping[str, Command] = {
    "help": Command(
        _help_command,
        N_("what I can do"),
        "[WORDS]",
        N_("With words: the commands that are about them."),
        ("forget", N_("verified answers")),
    ),
    "sources": Command(
        status.sources_command,
        N_("the sources of the last answer here, with their texts"),
        details=N_("Only sources that you can read now."),
    ),
    "catch-up": Command(
        catch_up.catch_up_command,
        N_("what you missed in this channel"),
        "[since]",
        N_("Without a time: since your last message here. Only you see the answer."),
        ("2h", "yesterday", "monday", "2026-11-20"),
    ),
    "digest": Command(
        digest.digest_command,
        N_("regular digests: topics, decisions, open questions and new files"),
        "[me] [daily | weekly DAY] [TIME] [ZONE] | off",
        N_(
            "For this channel managers schedule them, in a thread here. `{}digest me …` sends you what is "
            "new in all that you can read, as a direct message. Without a schedule: shows the current one."
        ),
        ("weekly monday 9:00 Europe/Berlin", "me daily 8:00", "off"),
    ),
    "decisions": Command(
        decisions.decisions_command,
        N_("decisions and tasks"),
        "[tasks] [open] [in:CHANNEL] [from:PERSON] [after:DAY]",
        N_(
            "Who, until when, and what replaced them: of messages and minutes that you can read. Only you see the list."
        ),
        ("tasks open", "after:7d"),
    ),
    "contradictions": Command(
        contradictions.contradictions_command,
        N_("statements that disagree, and which of them is right"),
        "[settle ID older|newer | dismiss ID | off | on]",
        N_(
            "Only what you can read. Authors, managers and experts decide; the right one becomes a verified answer. "
            "`off`: I never ask you about them on my own."
        ),
        ("off",),
    ),
    "faq": Command(
        faq.faq_command,
        N_("frequent questions and their verified answers, as a page"),
        "[here]",
        N_("Of what you can read, with sources. `here`: only what everyone in this channel can read, to publish it."),
    ),
    "report": Command(
        report.report_command,
        N_("the week in numbers: questions, what found no answer, what disagrees"),
        "[weekly | off]",
        N_("Only what you can read. `weekly` sends it to you every week."),
        ("weekly",),
        managers_only=True,
        is_listed=False,
    ),
    "watch": Command(
        watch.watch_command,
        N_("hear about new messages on a topic"),
        "WORDS",
        N_("About messages that you can read, each once. Without words: shows what I tell you about."),
        (N_("somebody decides about the fence"), N_("the release date changes"), "Ada Lovelace"),
    ),
    "watches": Command(watch.watches_command, N_("what I tell you about, and how to end it"), is_listed=False),
    "unwatch": Command(
        watch.unwatch_command,
        N_("stop hearing about a topic"),
        "WORDS | all",
        examples=("Ada Lovelace", "all"),
        is_listed=False,
    ),
    "readers": Command(
        readers.readers_command,
        N_("who could find what is shared here, or a document"),
        "[#channel | TITLE | LINK | open]",
        N_("Without words: what is shared in this channel. Managers see how many people that are, and their names."),
        ("minutes.pdf", "open"),
    ),
    "graph": Command(
        status.graph_command, N_("a picture of a name and its relations"), "NAME", examples=("Ada Lovelace",)
    ),
    "status": Command(
        status.status_command,
        N_("what I have indexed that you can read, what I could not read, and what is in progress"),
        details=N_("Also shows the last message I read here. Managers also see which answers did not help."),
    ),
    "learn": Command(
        learn.learn_command,
        N_("index a file attached to the command"),
        "FILE",
        N_(
            "Everyone who can read the channel can then find it; with the option “private”, only you can. I "
            "automatically index files shared in channels I read or in a DM with me."
        ),
        needs_file=True,
    ),
    "forget": Command(
        forget.forget_command,
        N_("forget a file, a message or you"),
        "TITLE | LINK | me | channel [--dry-run]",
        N_(
            "Authors can have their own messages and files forgotten, managers everything. It happens at "
            "once in the graph and in answers that quoted it; the reply says when its bytes leave my disk. "
            "A channel: all of it, or its messages or files."
        ),
        ("minutes.pdf", N_("https://… (the link to a message)"), "me", "channel files"),
    ),
    "my-data": Command(
        my_data.my_data_command,
        N_("what I know about you, also as a file"),
        "[download | receipts]",
        N_(
            "Only you see it. The file has one record a line (JSON Lines): what you wrote, shared and asked. "
            "Receipts say how much was forgotten for you, and no word of it; with its id, one comes as a file."
        ),
        ("download", "receipts"),
    ),
    "forget-me": Command(
        forget.forget_me_command,
        N_("forget what you wrote and shared, and stop reading your messages"),
        details=N_("Your messages remain in the chat. `{}remember-me` lets me read what you write after that."),
    ),
    "remember-me": Command(forget.remember_me_command, N_("let me read what you write from now on"), is_listed=False),
    "correct": Command(
        correct.correct_command,
        N_("correct what I know"),
        "answer | merge | unmerge | separate | split | unsplit | add | describe | hide | unhide | undo …",
        N_(
            "A correction applies to everyone who can read this channel; its reply names what undoes it, for 30 "
            "days. People who can post here can add a fact, as if they had posted it; everything else is for managers."
        ),
        (
            "answer The tiles come on Friday.",
            'merge "Ada L." "Ada Lovelace"',
            'unmerge "Ada L."',
            'separate "Ada Byron" "Ada Lovelace"',
            'split Ada "Ada (language)" --type technology',
            'add "Ada Lovelace" "She wrote the first program." --type person',
            'add Ada "They wrote to each other." --with "Charles Babbage"',
            N_('describe Ada "A mathematician." (without a description: from its sources)'),
            'hide "Analytical Engin"',
        ),
    ),
    "verify": Command(
        verify.verify_command,
        N_("verify an answer: it comes first when somebody asks the same"),
        "[LINK] | list | remove ID",
        N_(
            "Without a link: my last answer here. The link to a person's reply takes it as the answer. Only "
            "people who can read all sources see a verified answer; if a source changes, it is withdrawn. "
            "For managers and experts."
        ),
        (N_("https://… (the link to an answer or a reply)"), "list"),
    ),
    "pin": Command(
        verify.pin_command,
        N_("answer a question in your own words, for everyone who can read this channel"),
        '"QUESTION" "ANSWER"',
        N_("For managers and experts."),
        ('"Where do I park?" "In the yard behind the hall."',),
        in_direct=False,
    ),
    "expert": Command(
        expert.expert_command,
        N_("people to ask when I find nothing"),
        "[list] | add @PERSON TOPIC | remove @PERSON [TOPIC] | ask [LINK]",
        N_("Managers name them. They are mentioned only when a person asks for it, at most three times an hour."),
        ("add @Ada roofing", "ask"),
    ),
    "unanswered": Command(
        unanswered.unanswered_command,
        N_("questions that found nothing or were voted down, and who asked them"),
        details=N_(
            "Of this channel and of open channels, from the last 30 days; also verified answers to look at again."
        ),
        managers_only=True,
    ),
    "history": Command(
        history.history_command,
        N_("what was said about something, by whom, and what replaced it"),
        "SUBJECT",
        N_("Only what you can read; each step has its message."),
        ("regatta", "of Ada Lovelace"),
    ),
    "duplicates": Command(
        correct.duplicates_command,
        N_("names that may mean the same, and names that I joined"),
        details=N_(
            "Only names that you can read. `{}correct merge` joins two names, `{}correct separate` keeps them apart."
        ),
    ),
    "settings": Command(
        channel_settings.settings_command,
        N_("how I answer in this channel, who may ask, and what I read"),
        "[NAME VALUE]",
        N_(
            "`default` resets a setting. When I stop reading something, what I've indexed stays until you "
            "have it forgotten."
        ),
        (
            "reply-to thread",
            "askers managers",
            "content files",
            "ingest off",
            "language German",
            "style short and friendly",
            "mode hybrid",
        ),
        managers_only=True,
    ),
    "connect": Command(
        connect.connect_command,
        N_("websites that I read for a channel"),
        "[ADDRESS [open] | list | sync NAME | remove NAME]",
        N_(
            "Before I read one, I say how much it is and who will be able to find it. With `open`, that is everyone in "
            "the workspace, not only the people in this channel. What is removed is forgotten. The operator decides "
            "whether managers may add any, and connects folders, repositories and mailboxes in the terminal "
            "(`threadlore source add`)."
        ),
        ("https://wiki.example/", "https://wiki.example/ open", "remove wiki"),
        managers_only=True,
        in_direct=False,
    ),
    "backfill": Command(
        channel_settings.backfill_command,
        N_("read the history of this channel"),
        "[days]",
        examples=("30",),
        managers_only=True,
        in_direct=False,
    ),
}
