"""What a message asks of the bot: an answer without a mention, a command in words, a reason for a vote.

The vote keeps the message's id, not its text: managers see what the message says when they look.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, cast

from bot import texts
from bot.errors import PlatformError
from bot.i18n import gettext
from bot.platform.models import Card
from bot.platform.ports import ReplyTarget
from bot.text.document_match import is_message_link
from bot.text.speech.addressed import classify_addressed
from bot.text.speech.kinds.commands import MUTE_WORDS, STOP_WORDS, single_word
from bot.text.speech.mentions import strip_mention
from bot.text.speech.question_rules import classify_message
from bot.text.speech.unaddressed import asks_bot, is_remark
from bot.text.speech.watch_phrases import parse_end_message, parse_watch_message

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Literal

    from bot.answers.control.stops import StopRequests
    from bot.answers.history import ThreadHistory
    from bot.context import BotContext
    from bot.platform.models import Location, Message
    from bot.store import StoredAnswer
    from bot.store.models import MessageRecord
    from bot.text.speech.addressed import Speech
    from bot.text.speech.question_rules import Verdict


MAX_PEOPLE = 30  # of a thread, whose names are compared with the message
RECENT_PERIOD = timedelta(days=1)  # whose authors a message in a channel may address
PERIOD = timedelta(days=3)  # after an answer, in which a reply may say what was wrong with it
_VERIFY = re.compile(r"(?:verify|verified|approved?)(?: (?:it|this|that)(?: answer| reply)?)?[.! ]*+", re.IGNORECASE)
_VERIFY_LINK = re.compile(r"(?:verify|approve|take) (?P<link>\S++)(?: as (?:the|an) answer)?[.! ]*+", re.IGNORECASE)
_CORRECT = re.compile(
    r"(?:correct|correction|correct answer|the correct answer is):\s*+(?P<text>.++)", re.IGNORECASE | re.DOTALL
)

_NAMED = re.compile(r"[/!](?P<name>[a-z][a-z-]{1,30})(?:\s++(?P<rest>\S++).*+)?", re.IGNORECASE | re.DOTALL)


class ReplyPolicy:
    """Applies the setting of a channel: `mention` (never), `thread` (questions where the bot answered), `all`."""

    def __init__(self, context: BotContext, historian: ThreadHistory, stops: StopRequests) -> None:
        self._context = context
        self._stops = stops
        self._thread_history = historian

    async def should_answer(self, message: Message) -> bool:
        """Whether to answer a message without a mention: a question to the bot in a thread that it answered in.

        Its author must be one whom the bot answered there. A configured model makes the final decision.
        """
        if message.by_bot or message.own or not message.text.strip():
            return False
        word = single_word(message.text)
        is_stop = bool(message.location.thread) and word in STOP_WORDS
        if is_stop and await self._stops.is_answering(message.location, message.author):
            return True
        if not await self.can_answer_unmentioned(message.location):
            return False
        if word in MUTE_WORDS:
            return bool(message.location.thread) and await self._is_to_be_muted(message.location)
        if classify_message(message.text) not in {"question", "unclear"}:
            return False
        answers_all = await self._reply_setting(message.location) == "all"
        return await (self._is_for_nobody_else(message) if answers_all else self._is_follow_up(message))

    async def classify(self, message: Message) -> Speech:
        """What a message that addresses the bot is. Raises PlatformError."""
        speech = classify_addressed(message.text)
        if message.calls_another and speech != "statement":
            return "aside"
        if speech != "aside":
            return speech
        channel = await self._context.audience.get_channel_info(message.location)
        return classify_addressed(message.text, is_direct=channel.kind == "direct")

    async def is_remark(self, message: Message, *, addressed: bool) -> bool:
        """Whether a message says something, asks nothing, and is for no other person of its thread."""
        if await self._replies_to_another(message):
            return False
        others = {earlier_message.author: None for earlier_message in reversed(await self._earlier_messages(message))}
        text = strip_mention(message.text) if addressed else message.text
        return is_remark(text, await self._person_names(message.location, list(others)))

    async def can_answer_unmentioned(self, location: Location) -> bool:
        """Whether questions in a location are answered without a mention."""
        chosen = await self._reply_setting(location)
        if chosen == "all" or not location.thread:
            return chosen == "all"
        return chosen == "thread" and await self._thread_history.has_answered(location)

    async def _is_to_be_muted(self, location: Location) -> bool:
        """Whether a word that mutes a thread has something to mute: an answer that is not stopped by it."""
        chosen = await self._reply_setting(location)
        return chosen == "all" or await self._thread_history.has_answered(location, finished=True)

    async def handle_stop(self, message: Message) -> bool:
        """If a message to the bot says stop, stop the answers to its author, else mute the bot in the thread.

        True if it did either.
        """
        word = single_word(strip_mention(message.text))
        if word in STOP_WORDS and await self._stops.stop_in_thread(message.location, message.author):
            return True
        if word not in MUTE_WORDS:
            return False
        thread = replace(message.location, thread=message.reply_thread)
        chosen = await self._context.get_channel_settings(_thread_settings_key(thread))
        await self._context.store.channel_settings.save(
            _thread_settings_key(thread), replace(chosen, reply_to="mention")
        )
        target = ReplyTarget("", thread, message.author, message.id)  # reply in the thread
        await self._context.send_private(target, Card(gettext(texts.THREAD_MUTED)))
        return True

    async def _is_follow_up(self, message: Message) -> bool:
        """Whether a message continues its author's exchange with the bot, and addresses nobody else in the thread.

        Where nobody else has written, it asks if it would ask in a message to the bot.
        """
        location = message.location
        askers, latest = await self._thread_history.get_askers(location)
        if message.author not in askers or await self._replies_to_another(message):
            return False
        others = await self._earlier_messages(message)
        names = await self._person_names(location, {*askers, *(other.author for other in others)} - {message.author})
        interrupted = latest is not None and any(other.time > latest for other in others)
        verdict = classify_message(message.text, names, interrupted=interrupted)
        asks_alone = verdict == "unclear" and not others and asks_bot(message.text)
        return asks_alone or verdict in self._answered_verdicts()

    async def _is_for_nobody_else(self, message: Message) -> bool:
        """Whether a message is addressed to no other person of its thread, or of the recent messages of its channel."""
        if await self._replies_to_another(message):
            return False
        others = {earlier_message.author: None for earlier_message in reversed(await self._earlier_messages(message))}
        names = await self._person_names(message.location, list(others)[:MAX_PEOPLE])
        return classify_message(message.text, names) in self._answered_verdicts()

    async def _earlier_messages(self, message: Message) -> list[MessageRecord]:
        """Earlier messages of others in the thread of a message; outside of threads, recent ones in the channel."""
        location, messages = message.location, self._context.store.messages
        if location.thread:
            records = await messages.list_by_thread(location.room, location.thread)
        else:
            records = await messages.list_between(location.room, message.time - RECENT_PERIOD, message.time)
        return [record for record in records if record.author != message.author and record.time < message.time]

    def _answered_verdicts(self) -> frozenset[Verdict]:
        """The verdicts that are answered; without a model only certain questions."""
        return frozenset({"question", "unclear"} if self._context.settings.llm_model else {"question"})

    async def _replies_to_another(self, message: Message) -> bool:
        """Whether a message replies to a message that the bot did not write."""
        answers, replied = self._context.store.answers, message.replies_to
        return bool(replied) and await answers.get_by_message(message.location.without_thread, replied) is None

    async def _person_names(self, location: Location, people: Iterable[str]) -> list[str]:
        found = []
        for person in sorted(people)[:MAX_PEOPLE]:
            with suppress(PlatformError):
                found.append(
                    (await self._context.audience.get_person(location.platform, location.workspace, person)).name
                )
        return found

    async def _reply_setting(self, location: Location) -> Literal["mention", "thread", "all"]:
        get = self._context.get_channel_settings
        muted = (await get(_thread_settings_key(location))).reply_to if location.thread else ""
        chosen = muted or (await get(location.room)).reply_to or self._context.settings.reply_to
        return cast("Literal['mention', 'thread', 'all']", chosen)


def _thread_settings_key(location: Location) -> str:
    """The key under which the settings of a thread are stored."""
    return f"{location.room}:{location.thread}"


class FeedbackReplies:
    """Finds and records such replies. Handling one again has the same result. Raises PlatformError."""

    def __init__(self, context: BotContext, policy: ReplyPolicy) -> None:
        self._context = context
        self._policy = policy

    async def find(self, message: Message, *, addressed: bool) -> str:
        """The id of the answer that a message complains about; empty for other messages. `addressed`: to the bot.

        Its author voted that answer down and gave no comment; the message asks nothing, and is for nobody else.
        """
        if message.own or message.by_bot:
            return ""
        answer = await self._find_answer(message)
        if answer is None or answer.private or not answer.time < message.time <= answer.time + PERIOD:
            return ""
        if not await self._context.store.feedback.awaits_comment(answer.id, message.author, message.id):
            return ""
        channel = await self._context.audience.get_channel_info(message.location)
        return (
            answer.id if channel.kind != "direct" and await self._policy.is_remark(message, addressed=addressed) else ""
        )

    async def record(self, message: Message, *, addressed: bool) -> bool:
        """Keep a reply as the comment of its author's vote; whether it is one."""
        answer = await self.find(message, addressed=addressed)
        if answer:
            await self._context.store.feedback.record_reply(answer, message.author, message.id)
        return bool(answer)

    async def _find_answer(self, message: Message) -> StoredAnswer | None:
        """The answer that a message replies to, or the last one of its thread that its author voted down."""
        location, answers = message.location, self._context.store.answers
        if message.replies_to:
            return await answers.get_by_message(location.without_thread, message.replies_to)
        return await answers.get_disliked(location, message.author) if location.thread else None


def parse_command_name(text: str, prefix: str) -> str:
    """The command that a message to the bot names as people type commands; empty if it names none.

    `prefix`: of commands on the platform, such as "/threadlore ".
    """
    found = _NAMED.fullmatch(text.strip())
    if found is None:
        return ""
    is_prefix = found["name"].casefold() == prefix.strip(" /").casefold()
    return (found["rest"] or "help" if is_prefix else found["name"]).casefold()


def parse_review_command(text: str) -> tuple[str, str] | None:
    """The command that a message without its leading mention stands for, with its arguments; None if it is none."""
    text = text.strip()
    if _VERIFY.fullmatch(text):
        return "verify", ""
    if (found := _VERIFY_LINK.fullmatch(text)) and is_message_link(found["link"]):
        return "verify", found["link"]
    if found := _CORRECT.fullmatch(text):
        return "correct", f"answer {found['text'].strip()}"
    if event := parse_watch_message(text):
        return "watch", event
    if subject := parse_end_message(text):
        return "unwatch", subject
    return None
