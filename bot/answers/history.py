"""The messages and answers of a thread before a question, limited to what the audience may read.

Answers are stored with the spaces that they used, and count as history only if these are in scope; private ones only
for their asker.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import structlog

from bot.errors import PlatformError
from bot.ingest.conversations import author_key
from bot.permissions.audience import named_rooms, scope_covers
from bot.platform.models import Location, Message
from bot.store.models import message_key
from bot.text.speech.mentions import strip_mention
from engine import ChatTurn, Scope
from engine.errors import EngineError
from engine.models import CitedSource

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from bot.answers.question import AnswerRequest
    from bot.context import BotContext
    from bot.store import AnswerSource, StoredAnswer

log = structlog.get_logger(__name__)

MAX_MESSAGES = 30  # of a thread, the newest
MAX_ANSWERS = 10  # of the bot
FETCH_TIMEOUT = 3.0  # seconds


@dataclass(frozen=True, slots=True)
class History:
    """The turns before a question and their sources; `keyed_texts` are their texts with the keys of their sources.

    `shown_keys`: the keys of everything that their words may come from.
    """

    turns: tuple[ChatTurn, ...] = ()
    source_scope: Scope = Scope(frozenset(), frozenset())  # noqa: RUF009 - frozen
    keyed_texts: tuple[tuple[str, frozenset[str]], ...] = ()

    shown_keys: frozenset[str] = frozenset()


class ThreadHistory:
    """Loads the history of a thread: the bot's answers from the store, messages from the platform."""

    def __init__(self, context: BotContext) -> None:
        self._context = context

    async def load_history(self, request: AnswerRequest, scope: Scope) -> History:
        """Load the turns before a question that are in scope."""
        if not request.location.thread and request.location.workspace:
            return History()
        answers, messages = await asyncio.gather(
            self._load_answers(request, scope), self._fetch_messages(request, scope)
        )
        others = [message for message in messages if message.id not in {answer.message_id for answer in answers}]
        rooms = frozenset({request.location.room}) if others else frozenset()
        used = Scope(
            frozenset(space for answer in answers for space in answer.spaces),
            rooms.union(*(answer.rooms for answer in answers)),
        )
        received = await self._build_turns(others)
        keyed_texts = [(f"{answer.question}\n{answer.text}", answer.documents) for answer in answers]
        keyed_texts += [(turn.text, message_keys(each)) for each, (_, turn) in zip(others, received, strict=True)]
        shown = frozenset().union(*(answer.shown_keys for answer in answers), *(keys_ for _, keys_ in keyed_texts))
        return History(merge_turns(answers, received), used, tuple(keyed_texts), shown)

    async def _load_answers(self, request: AnswerRequest, scope: Scope) -> list[StoredAnswer]:
        """The latest answers before a question that are in scope, oldest first."""
        turns = self._context.store.answers.list_in_thread
        asker = request.person if request.private else ""
        found: list[StoredAnswer] = []
        seen = 0
        while len(found) < MAX_ANSWERS:
            page = await turns(request.location, request.time, MAX_ANSWERS, skip=seen, asker=asker)
            found += await self._filter_by_scope(page or await self._load_root_answers(request), scope)
            seen += len(page)
            if not page:
                break
        others = {answer.id: answer for answer in found if answer.id != request.id}
        return sorted(others.values(), key=lambda each: each.time)[-MAX_ANSWERS:]

    async def _load_root_answers(self, request: AnswerRequest) -> list[StoredAnswer]:
        """The public answer whose message started the thread, and the one that is replied to."""
        location, of_message = request.location, self._context.store.answers.get_by_message
        messages = filter(None, (location.thread, replied_message_id(request)))
        found = [await of_message(location.without_thread, message) for message in messages]
        seen = [answer for answer in found if answer is not None and answer.state == "done" and not answer.private]
        return [answer for answer in seen if answer.time < request.time]

    async def _filter_by_scope(self, answers: Sequence[StoredAnswer], scope: Scope) -> list[StoredAnswer]:
        homes = await self._current_spaces({room for answer in answers for room in answer.rooms} - named_rooms(scope))
        return [answer for answer in answers if scope_covers(scope, Scope(answer.spaces, answer.rooms), homes)]

    async def has_answered(self, location: Location, *, finished: bool = False) -> bool:
        """Whether the bot answers or answered in a thread, or posted its first message.

        An answer counts even if it was forgotten since. `finished`: those in progress do not count.
        """
        answers = self._context.store.answers
        if await answers.has_answered_in(location.room, location.thread, finished=finished):
            return True
        return await self._find_first(location) is not None

    async def get_askers(self, location: Location) -> tuple[frozenset[str], datetime | None]:
        """The people whom the bot answered publicly in a thread, and when they last asked."""
        people, latest = await self._context.store.answers.get_askers(location.room, location.thread)
        first = await self._find_first(location)
        if first is not None:
            return people | {first.asker}, max(latest or first.time, first.time)
        return people, latest

    async def _find_first(self, location: Location) -> StoredAnswer | None:
        """The answer for all that a thread begins with, if it does."""
        first = await self._context.store.answers.get_by_message(location.without_thread, location.thread)
        return first if first is not None and first.state in {"done", "redacted"} and not first.private else None

    async def _current_spaces(self, rooms: Iterable[str]) -> Mapping[str, str]:
        """The current space of each room; rooms that cannot be looked up are omitted."""
        found = {}
        for room in rooms:
            with suppress(PlatformError):
                found[room] = await self._context.audience.get_home_space(Location.from_room(room))
        return found

    async def _fetch_messages(self, request: AnswerRequest, scope: Scope) -> Sequence[Message]:
        """Fetch the messages of the thread before the question."""
        location = request.location
        if not location.thread or (location.thread == request.message and not replied_message_id(request)):
            return ()
        room = Scope(frozenset(), frozenset({location.room}))
        if not scope_covers(scope, room, await self._current_spaces(room.rooms - named_rooms(scope))):
            return ()
        try:
            async with asyncio.timeout(FETCH_TIMEOUT):
                found = (await self._context.platform_for(location).fetch_thread(location, MAX_MESSAGES)).messages
        except (EngineError, TimeoutError) as error:
            log.warning("answer.thread_lookup_failed", channel=location.room, error=type(error).__name__)
            return ()
        before = [answer for answer in found if answer.id != request.message and answer.time <= request.time]
        return await self._remove_forgotten(location, [answer for answer in before if not answer.by_bot])

    async def _remove_forgotten(self, location: Location, messages: Sequence[Message]) -> Sequence[Message]:
        """Remove messages that were forgotten and messages of people who opted out.

        The question of a redacted answer may repeat removed text, and is removed too.
        """
        store, ids = self._context.store, [message.id for message in messages]
        gone = await store.messages.find_tombstones(location.room, ids) | await store.answers.list_redacted_questions(
            location.room, ids
        )
        remaining = [message for message in messages if message.id not in gone]
        out, whose = store.opt_outs.is_opted_out, (location.platform, location.workspace)
        return [message for message in remaining if not await out(*whose, message.author, message.time)]

    async def _build_turns(self, messages: Sequence[Message]) -> list[tuple[datetime, ChatTurn]]:
        return list(await asyncio.gather(*map(self._build_turn, messages)))

    async def _build_turn(self, message: Message) -> tuple[datetime, ChatTurn]:
        location, text = message.location, message.text
        try:
            text = await self._context.platform_for(location).to_plain_text(location.workspace, text)
            person = await self._context.audience.get_person_at(location, message.author)
        except PlatformError:
            return message.time, ChatTurn("user", text)
        return message.time, ChatTurn("user", f"{person.name}: {text}")


def replied_message_id(request: AnswerRequest) -> str:
    """The message that a question replies to outside of its thread; empty if there is none."""
    return request.origin.replies_to if isinstance(request.origin, Message) else ""


def message_keys(message: Message) -> frozenset[str]:
    """The keys of a message in a prompt: the message, and its author."""
    location = message.location
    whose = author_key(location.platform, location.workspace, message.author)
    return frozenset({message_key(location.room, message.id), whose})


def merge_turns(answers: Iterable[StoredAnswer], messages: Iterable[tuple[datetime, ChatTurn]]) -> tuple[ChatTurn, ...]:
    """Merge questions, answers and messages by time.

    Answers come with their sources: their numbers refer to other passages in the next prompt.
    """
    turns: list[tuple[datetime, tuple[ChatTurn, ...]]] = [(time, (turn,)) for time, turn in messages]
    for answer in answers:
        user_turn, bot_turn = (
            ChatTurn("user", strip_mention(answer.question)),
            ChatTurn("assistant", answer.text, tuple(map(_cite_source, answer.sources))),
        )
        turns.append((answer.time, (user_turn, bot_turn) if user_turn.text else (bot_turn,)))
    return tuple(turn for _, group in sorted(turns, key=lambda each: each[0]) for turn in group)


def _cite_source(source: AnswerSource) -> CitedSource:
    return CitedSource(source.number, source.document, source.passage, source.title)
