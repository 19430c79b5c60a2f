"""Where an answer is written: in a thread that begins with its question, there where it was asked, or by a token."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import discord

from adapters.discord.api.calls import patiently, told
from adapters.discord.guild.permissions import may_open_threads
from adapters.discord.replies.channel_messages import InChannel
from adapters.discord.replies.interaction_responses import Acknowledged, ByToken
from adapters.discord.replies.refs import Handle, Mark
from adapters.discord.replies.render import named
from bot.errors import PlatformError

if TYPE_CHECKING:
    from adapters.discord.guild.channels import Whereabouts
    from adapters.discord.replies.channel_messages import Way
    from bot.platform.models import Place
    from bot.platform.ports import Target

YOUNG = 5.0  # seconds; a question that is older may have been begun to be answered in a former run
AFTER = 50  # messages behind a question among which its answer is looked for
SOON = 5.0  # seconds until a thread is begun; Discord allows few of them in five minutes
FALLBACK = "Question"
ALREADY = 160004  # Discord's code for: the message has a thread


@dataclass(frozen=True, slots=True)
class Doors:
    """What it takes to reach people."""

    client: discord.Client
    whereabouts: Whereabouts
    acknowledged: Acknowledged

    async def direct(self, person: str) -> str:
        """The channel of a DM with somebody. Raises Withheld if they take none."""
        channel = await patiently("to write to somebody", lambda: self.client.http.start_private_message(int(person)))
        return str(channel["id"])

    async def channel(self, place: Place, message: str) -> tuple[str, str]:
        """Where something is said in a place, and the message that it quotes: a thread that begins with it quotes none.

        A thread is begun on the message if there is none, and if the bot may.
        """
        if place.thread and place.thread != message:
            return str(self.whereabouts.of_message(place, "")), message
        if not place.workspace or not (place.thread or message):
            return place.channel, message
        return await self._thread(place, message or place.thread)

    async def _thread(self, place: Place, message: str) -> tuple[str, str]:
        if self.whereabouts.known(int(place.workspace), int(message)) is not None:
            return message, ""
        parent = self.client.get_channel(int(place.channel))
        if isinstance(parent, discord.TextChannel):
            there = may_open_threads(parent) and await self._begin(parent, int(message))
        else:
            there = await self._exists(int(message))
        return (message, "") if there else (place.channel, message)

    async def _exists(self, thread: int) -> bool:
        try:
            self.whereabouts.note(await self.whereabouts.fetched(thread))
        except PlatformError:
            return False
        return True

    async def _begin(self, parent: discord.TextChannel, message: int) -> bool:
        question = parent.get_partial_message(message)
        name = await self._name(question)
        try:
            async with asyncio.timeout(SOON):
                self.whereabouts.note(await patiently("to begin a thread", lambda: _created(question, name)))
        except _HasThread:
            return True
        except (PlatformError, TimeoutError):
            return self.whereabouts.known(question.guild.id if question.guild else None, message) is not None
        return True

    async def _name(self, question: discord.PartialMessage) -> str:
        cached = discord.utils.get(self.client.cached_messages, id=question.id)
        if cached is None:
            try:
                cached = await patiently("to read a question", question.fetch)
            except PlatformError:
                return FALLBACK
        return named(cached.content) or FALLBACK


class _HasThread(Exception):
    pass


async def _created(question: discord.PartialMessage, name: str) -> discord.Thread:
    try:
        return await question.create_thread(name=name)
    except discord.HTTPException as error:
        if error.code == ALREADY:
            raise _HasThread from None
        raise


class Asking:
    """The opening for one target."""

    def __init__(self, doors: Doors, target: Target) -> None:
        self._doors = doors
        self._target = target
        self._handle = Handle.of(target.handle)

    @property
    def private(self) -> bool:
        """Whether one person alone sees the answer."""
        return self._handle.private if self._handle else self._target.private

    async def begin(self) -> tuple[Way, Mark]:
        """The way, and what was written on it before."""
        mark = Mark.of(self._target.mark)
        if self._handle is not None:
            if self._handle.until <= time.time():
                return await self.instead(mark)
            way = ByToken(self._doors.client, self._handle, self._doors.acknowledged)
            return way, await self._with_followups(mark)
        if mark.messages:
            return self._in(mark.channel, self._target.message), mark
        return await self._by_message()

    async def instead(self, mark: Mark) -> tuple[Way, Mark]:
        """In the channel, and if nobody else may see it, in a DM; there all begins anew."""
        target = self._target
        if self.private and target.place.workspace:
            return self._in(await self._doors.direct(target.person)), Mark("", ())
        original = mark.messages[0] if mark.messages else ""
        return self._in(mark.channel or target.place.thread or target.place.channel, original), mark

    async def _by_message(self) -> tuple[Way, Mark]:
        target = self._target
        if target.private:
            return self._in(await self._doors.direct(target.person)), Mark("", ())
        channel, quoted = await self._doors.channel(target.place, target.message)
        return self._in(channel, quoted), await self._found(channel, quoted)

    def _in(self, channel: str, quoted: str = "") -> InChannel:
        return InChannel(self._doors.client.http, channel, self._target.answer, quoted)

    async def _found(self, channel: str, quoted: str) -> Mark:
        """What a former run wrote of this answer without noting it: the bot's own messages behind the question."""
        me, found = self._doors.client.user, list[str]()
        if me is None or not self._target.message or not self._old():
            return Mark(channel, ())
        for message in await self._after(int(channel), int(self._target.message)):
            own = message.author.id == me.id and not message.is_system()
            if found and not (own and message.reference is None):
                break
            if own and (found or _quotes(message, quoted)):
                found.append(str(message.id))
        return Mark(channel, tuple(found))

    def _old(self) -> bool:
        """Whether a former run may have begun to answer it."""
        asked = self._target.asked
        return asked is not None and (datetime.now(UTC) - asked).total_seconds() > YOUNG

    async def _with_followups(self, mark: Mark) -> Mark:
        """What a former run added to the first message before it could note so."""
        if not mark.messages or self.private or self._handle is None or self._handle.click:
            return mark
        original = int(mark.messages[0])
        behind = [
            str(message.id)
            for message in await self._after(int(mark.channel), original)
            if message.interaction_metadata is not None
            and message.interaction_metadata.original_response_message_id == original
        ]
        return Mark(mark.channel, (mark.messages[0], *(behind or mark.messages[1:])))

    async def _after(self, channel: int, message: int) -> list[discord.Message]:
        """The messages behind one, oldest first; none if they may not be read."""
        where = self._doors.client.get_partial_messageable(channel)
        try:
            with told("to look for its own messages"):
                return [each async for each in where.history(limit=AFTER, after=discord.Object(message))]
        except PlatformError:
            return []


def _quotes(message: discord.Message, quoted: str) -> bool:
    reference = message.reference.message_id if message.reference else None
    return str(reference or "") == quoted
