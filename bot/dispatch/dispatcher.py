"""Route an event to ingestion, answering or a command, and hold the platforms that are attached."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import structlog

from bot import texts
from bot.answers.control.buttons import AnswerButtons
from bot.answers.control.repeats import EDIT_PERIOD, REPEAT_ACTION, AnswerRepeater
from bot.answers.history import ThreadHistory
from bot.answers.question import request_from_command, request_from_message, started_answer_id
from bot.answers.renewal.superseded import SupersessionFinder
from bot.answers.suggestions.presses import SuggestionPresses
from bot.capabilities.asking.calls import WELCOME
from bot.commands.forms.table import OPEN_AGAIN, PART_ACTION, submit_form
from bot.commands.help import introduce
from bot.commands.table import list_commands, run_command
from bot.dispatch.reply_policy import FeedbackReplies, ReplyPolicy, parse_command_name, parse_review_command
from bot.errors import PermissionDenied, PlatformError
from bot.i18n import SOURCE_LANGUAGE, gettext, use_language
from bot.ingest.messages import is_for_bot
from bot.platform.events import (
    ButtonPressed,
    CommandInvoked,
    FormSubmitted,
    MessageEdited,
    MessageReceived,
    QuestionAsked,
    VisibilityChanged,
    WorkspaceLeft,
)
from bot.platform.models import SUGGESTION_ACTION, Card, Location
from bot.platform.ports import ReplyTarget
from bot.text.speech.addressed import classify_addressed
from bot.text.speech.mentions import strip_mention
from engine.errors import EngineError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from bot.answers.question import AnswerRequest
    from bot.answers.service import AnswerService
    from bot.capabilities.deps import Deps
    from bot.context import BotContext
    from bot.ingest.service import IngestService
    from bot.monitoring.metrics import Metrics
    from bot.platform.events import PlatformEvent
    from bot.platform.models import Message
    from bot.platform.ports import Platform
    from bot.text.speech.addressed import Speech

log = structlog.get_logger(__name__)

MAX_LATENESS = timedelta(hours=6)  # of an answer; to an older question, its author is asked to ask again
_TOLD = frozenset({"statement", "aside"})  # what is ingested as any other message of its channel
HELP_WORDS = frozenset({"help", "help!", "help?", "hi", "hi!", "hello", "hello!"})  # a message of one of these


class Dispatcher:
    """Handles the events of the queue (`EventHandler`). Every step may run again for the same event.

    `retry_visibility` is called with a visibility change that could not be handled.
    """

    def __init__(
        self,
        context: BotContext,
        services: tuple[IngestService, AnswerService],
        deps: Deps,
        metrics: Metrics,
        retry_visibility: Callable[[VisibilityChanged], None],
    ) -> None:
        self.context = context
        self.ingest_service, self.answer_service = services
        self.deps = deps
        self._retry_visibility = retry_visibility
        self._reply_policy = ReplyPolicy(context, ThreadHistory(context), self.answer_service.stops)
        self._feedback_replies = FeedbackReplies(context, self._reply_policy)
        self._answer_buttons = AnswerButtons(context, metrics)
        self._repeater = AnswerRepeater(context, self.answer_service)
        self._superseded = SupersessionFinder(context)
        self._suggestion_presses = SuggestionPresses(context, self.answer_service)
        self._addressed: set[tuple[str, str]] = set()

    def serves(self, workspace: str) -> bool:
        """Whether the platform of a workspace (`platform:workspace`) is attached, and served by this process."""
        return self.context.serves(Location.from_room(workspace))

    def ordering_key(self, event: PlatformEvent) -> str:
        """The room whose events are ingested in order.

        Empty for questions and commands, and for changes of audiences, which look up what holds now.
        """
        match event:
            case QuestionAsked() | CommandInvoked() | ButtonPressed() | FormSubmitted() | VisibilityChanged():
                return ""
            case WorkspaceLeft():
                return f"{event.platform}:{event.workspace}"
            case MessageReceived(message) | MessageEdited(message):
                return message.location.room
            case _:
                return event.location.room

    async def ingest(self, event: PlatformEvent) -> None:
        """Ingest an event, and decide whether a message is answered."""
        if isinstance(event, MessageReceived) and await self._classify(event) in _TOLD:
            await self.ingest_service.ingest_told(event.message)
            return
        if isinstance(event, MessageEdited):
            await self._repeater.begin_edited(event.message)
        if (
            isinstance(event, MessageReceived)
            and not event.addressed
            and not await self._feedback_replies.find(event.message, addressed=False)
            and await self._reply_policy.should_answer(event.message)
        ):
            event = MessageReceived(event.message, addressed=True)
        if isinstance(event, MessageReceived) and event.addressed:
            self._addressed.add(_message_key(event.message))
        await self.ingest_service.handle(event)

    async def _classify(self, event: MessageReceived) -> Speech | None:
        """What a message that addresses the bot is; None for other messages, and for commands in words."""
        message = event.message
        if not event.addressed or message.own or parse_review_command(strip_mention(message.text)):
            return None
        speech = await self._reply_policy.classify(message)
        is_comment = speech in {"question", "aside"} and await self._feedback_replies.find(message, addressed=True)
        return "statement" if is_comment else speech

    async def process(self, event: PlatformEvent) -> None:
        """Answer a question, run a command, handle a button or a form, or ingest the files of a message."""
        with use_language(await self._find_language(event)):
            await self._process(event)

    async def _find_language(self, event: PlatformEvent) -> str:
        """The language of the person whom an event may get a private message."""
        match event:
            case MessageEdited(message) if message.addressed:
                return await self.context.find_person_language(message.location, message.author)
            case MessageReceived(message) if event.addressed or message.uploads or self._is_addressed(message):
                return await self.context.find_person_language(message.location, message.author)
            case QuestionAsked() | CommandInvoked() | ButtonPressed() | FormSubmitted():
                return await self.context.find_person_language(event.location, event.person, event.locale)
        return SOURCE_LANGUAGE

    async def _process(self, event: PlatformEvent) -> None:
        match event:
            case MessageReceived():
                await self._process_message(event)
            case MessageEdited(message):
                await self.ingest_service.links.ingest(message)
                await self._answer_edited(message)
                await self._superseded.check(message)
            case QuestionAsked():
                await self._answer_command(event)
            case CommandInvoked():
                await self._run_command(event)
            case ButtonPressed():
                await self._handle_button(event)
            case FormSubmitted():
                await self._run_and_report(event, submit_form(self, event))

    async def _process_message(self, event: MessageReceived) -> None:
        """Answer or acknowledge a message, or ingest its files."""
        message = event.message
        if (speech := await self._classify(event)) in _TOLD:
            await self._acknowledge(message, is_told=speech == "statement")
            await self._superseded.check(message)
            await self._ingest_attachments(message)
        elif not self._is_addressed(message):
            if await self._feedback_replies.record(message, addressed=False):
                await self._set_done(message)
            await self._superseded.check(message)
            await self._ingest_attachments(message)
        else:
            if await self._is_too_late(message):
                await self._pass_over(event)
            else:
                await self._answer_message(message, overheard=not event.addressed)
            self._addressed.discard(_message_key(message))

    async def handle_failure(self, event: PlatformEvent, error: Exception) -> None:
        """Report a dropped event to the person who waits for it."""
        with use_language(await self._find_language(event)):
            await self._report_failure(event, error)

    async def _report_failure(self, event: PlatformEvent, error: Exception) -> None:
        request = self._build_request(event)
        if isinstance(event, MessageReceived):
            self._addressed.discard(_message_key(event.message))
        try:
            if request is not None:
                await self.answer_service.post_failure(request, error)
            elif isinstance(event, MessageReceived) and event.message.uploads:
                await self.ingest_service.files.report_failure(event.message, error)
            elif isinstance(event, MessageEdited):
                await self._repeater.report_edited(event.message, error)
            elif isinstance(event, ButtonPressed) and event.action == REPEAT_ACTION:
                await self._repeater.post_failure(event, error)
            elif isinstance(event, ButtonPressed) and event.action == SUGGESTION_ACTION:
                await self._suggestion_presses.post_failure(event, error)
            elif isinstance(event, CommandInvoked | ButtonPressed | FormSubmitted):
                await self.context.store.answers.delete_unfinished(started_answer_id(event))
                await self._send_private(event, Card(await self.context.describe_error(error, event.location)))
            elif isinstance(event, VisibilityChanged) and not isinstance(error, PlatformError):
                self._retry_visibility(event)
        except EngineError as failed:
            log.warning("event.notify_failed", error=type(failed).__name__)

    async def _answer_message(self, message: Message, *, overheard: bool) -> None:
        """Answer a message; ingest an overheard one that is not meant for the bot."""
        thread = replace(message.location, thread=message.reply_thread)
        words = strip_mention(message.text)
        call = CommandInvoked(message.id, thread, message.author, "help", time=message.time, message=message)
        speech = "question" if overheard or message.uploads else classify_addressed(message.text)
        if not overheard and (found := parse_review_command(words)):
            await self._run_command(replace(call, command=found[0], words=found[1]))
        elif speech in {"thanks", "introduction"}:
            await self._greet(message, call, speech)
        elif not overheard and await self._explain_command(call, words):
            return
        elif not await self._reply_policy.handle_stop(message) and not await self.answer_service.answer(
            request_from_message(message, overheard=overheard)
        ):
            await self.ingest_service.ingest_unaddressed(message)
            await self.ingest_service.links.ingest(message)

    async def _answer_command(self, asked: QuestionAsked) -> None:
        """Answer a question that was asked by a command, and reply to what asks for nothing that was read."""
        speech = "question" if asked.uploads else classify_addressed(asked.text, is_direct=True)
        call = asked.build_command("help")
        if speech == "introduction":
            await self._run_and_report(call, introduce(self, call, is_private=asked.private))
        elif speech == "thanks":
            await self._send_private(call, Card(gettext(WELCOME)))
        else:
            await self.answer_service.answer(request_from_command(asked))

    async def _explain_command(self, call: CommandInvoked, words: str) -> bool:
        """Explain the command that a message names, or the nearest one; False if it names none."""
        traits = self.context.platform_for(call.location).traits
        name = parse_command_name(words, traits.command_prefix)
        if name and name in list_commands(traits):
            await self._run_command(replace(call, words=name))
        elif name:
            await self._run_command(replace(call, command=name))
        return bool(name)

    async def _is_too_late(self, message: Message) -> bool:
        """Whether a message is a question that is too old to be answered, and whose answer was not begun."""
        is_old = self.context.clock.now() - message.time > MAX_LATENESS
        if not is_old or classify_addressed(message.text) != "question":
            return False
        return await self.context.store.answers.get(request_from_message(message).id) is None

    async def _pass_over(self, event: MessageReceived) -> None:
        """Ask the author of an old question to ask again; an overheard one is a message like any other."""
        message = event.message
        if event.addressed:
            await self._tell_away(message)
        else:
            await self.ingest_service.ingest_unaddressed(message)
        await self._ingest_attachments(message)

    async def _tell_away(self, message: Message) -> None:
        """Ask the author of a question that is too old to be answered to ask again; once a day for each author."""
        location, day = message.location, f"{self.context.clock.now():%Y-%m-%d}"
        hint = location.platform, location.workspace, f"away:{day}:{message.author}"
        if not await self.context.store.hints.record_if_new(*hint):
            return
        thread = replace(location, thread=message.reply_thread)
        target = ReplyTarget("", thread, message.author, message.id)
        try:
            await self.context.send_private(target, Card(gettext(texts.ASK_AGAIN)))
        except BaseException:
            await self.context.store.hints.delete(*hint)
            raise

    async def _answer_edited(self, message: Message) -> None:
        """Answer a question whose author edited it, or made it one to the bot."""
        if message.own or message.by_bot or await self._repeater.answer_edited(message):
            return
        is_recent = self.context.clock.now() - message.time < EDIT_PERIOD
        if message.edited and message.addressed and is_recent and is_for_bot(message):
            await self._answer_message(message, overheard=False)

    async def _greet(self, message: Message, call: CommandInvoked, speech: Speech) -> None:
        """Reply to thanks with a reaction, to a greeting and a question about the bot with what it can do."""
        if strip_mention(message.text).casefold() in HELP_WORDS:
            await self._run_command(call)
        elif speech == "introduction":
            await self._run_and_report(call, introduce(self, call, is_private=False))
        else:
            await self._set_done(message)

    async def _acknowledge(self, message: Message, *, is_told: bool) -> None:
        """Show that a statement to the bot or about its answer is kept, or tell its author why it is not."""
        if not is_told:
            return
        known = await self.context.store.messages.get(message.location.room, message.id)
        if await self._feedback_replies.record(message, addressed=True) or (known and known.document):
            await self._set_done(message)
        elif refusal := await self.ingest_service.find_refusal(message):
            thread = replace(message.location, thread=message.reply_thread)
            await self.context.send_private(
                ReplyTarget("", thread, message.author, message.id), Card(texts.not_kept(refusal))
            )

    async def _set_done(self, message: Message) -> None:
        try:
            await self.context.platform_for(message.location).set_reaction(message.location, message.id, "done")
        except PermissionDenied as error:
            self.context.denials.note(error, message.location)

    async def _ingest_attachments(self, message: Message) -> None:
        """Ingest the files of a message and the pages that it links to."""
        await self.ingest_service.files.ingest_and_confirm(message)
        await self.ingest_service.links.ingest(message)

    def _is_addressed(self, message: Message) -> bool:
        """Whether a message that is being handled was found to address the bot."""
        return _message_key(message) in self._addressed

    def _build_request(self, event: PlatformEvent) -> AnswerRequest | None:
        match event:
            case MessageReceived(message) if self._is_addressed(message):
                return request_from_message(message, overheard=not event.addressed)
            case QuestionAsked():
                return request_from_command(event)
        return None

    async def _run_command(self, call: CommandInvoked) -> None:
        await self._run_and_report(call, run_command(self, call))

    async def _run_and_report(self, call: CommandInvoked | FormSubmitted, run: Awaitable[Card | None]) -> None:
        """Run a command or a form, and show its result to the person alone."""
        try:
            card = await run
        except EngineError as error:
            if isinstance(error, PlatformError) and not isinstance(error, PermissionDenied):
                raise  # it may be transient: the queue retries it
            card = Card(await self.context.describe_error(error, call.location))
        if card is not None:
            await self._send_private(call, card)

    async def _handle_button(self, pressed: ButtonPressed) -> None:
        """Handle a button of an answer; the action of any other button is a command."""
        if self._answer_buttons.is_answer_button(pressed):
            await self._answer_buttons.handle(pressed)
            return
        if pressed.action == PART_ACTION:
            await self._send_private(pressed, Card(gettext(OPEN_AGAIN)))  # it could not be shown
            return
        if pressed.action == REPEAT_ACTION:
            await self._repeater.handle(pressed)
            return
        if pressed.action == SUGGESTION_ACTION:
            await self._suggestion_presses.handle(pressed)
            return
        await self._run_command(
            CommandInvoked(
                pressed.id,
                pressed.location,
                pressed.person,
                pressed.action,
                pressed.value,
                handle=pressed.handle,
                locale=pressed.locale,
            )
        )

    async def _send_private(self, to: CommandInvoked | ButtonPressed | FormSubmitted, card: Card) -> None:
        message = to.message if isinstance(to, CommandInvoked) and not to.handle else None  # a command in a message
        message_id = message.id if message is not None else ""
        await self.context.send_private(
            ReplyTarget("", to.location, to.person, message_id, private=not message_id, handle=to.handle), card
        )


def _message_key(message: Message) -> tuple[str, str]:
    return message.location.room, message.id


class AttachedPlatforms:
    """The platforms by name, shared with BotContext. `expected`: the names of those that are, or should be attached."""

    def __init__(self) -> None:
        self.platforms: dict[str, Platform] = {}
        self.expected: set[str] = set()

    def attach(self, platform: Platform) -> None:
        """Add a platform, or replace the one of the same name."""
        self.platforms[platform.name] = platform
        self.expected.add(platform.name)
