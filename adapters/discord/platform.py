"""Discord as the bot wants it."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from typing import TYPE_CHECKING
from uuid import uuid4

import discord

from adapters.common.lru import Latest
from adapters.discord.api.calls import Missing, Over, patiently
from adapters.discord.api.endpoints import own_host
from adapters.discord.guild import files
from adapters.discord.guild import history as histories
from adapters.discord.guild.channels import Told, Whereabouts, available
from adapters.discord.guild.markup import readable
from adapters.discord.guild.permissions import adult, history_shown, is_open, readers, thread_readers
from adapters.discord.replies.channel_messages import AsPost, InChannel, Sheet
from adapters.discord.replies.destination import Asking, Doors
from adapters.discord.replies.interaction_responses import Acknowledged, ByToken
from adapters.discord.replies.posted_answers import PostedAnswers
from adapters.discord.replies.refs import Handle
from adapters.discord.replies.render import rendered, split
from adapters.discord.replies.reply import EVERY, Writing
from adapters.discord.translate import NAME, person_of, place_of
from bot.errors import PlatformError, PlatformUnavailable, Withheld
from bot.platform.models import Channel, Person, Place
from bot.platform.ports import Limits

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Collection, Sequence
    from datetime import datetime

    from bot.platform.models import Card, ListedChannel, Message, Upload
    from bot.platform.ports import Listing, Reply, Sign, Target
    from bot.settings import Settings

SIGNS: dict[Sign, str] = {"working": "⏳", "done": "✅", "failed": "⚠️"}
PART = 1800  # characters; links and tables grow a little when they are rendered, and 2,000 is the end
BELIEVED = 60.0  # seconds for which what is known stays true without a connection
CHUNKED = 10.0  # seconds to learn the members of a guild


class Discord:
    """A Platform. `client` is logged in before anything is called."""

    name = NAME
    limits = Limits(part=PART, every=EVERY, burst=1 << 30)
    listable: Collection[str] = ()  # the library knows all channels: looking one up costs nothing

    def __init__(self, client: discord.Client, settings: Settings) -> None:
        self.client = client
        self.whereabouts = Whereabouts(client)
        self.acknowledged = Acknowledged()
        self._doors = Doors(client, self.whereabouts, self.acknowledged)
        self.lost: float | None = None  # since when (monotonic) Discord tells nothing
        self._own_host = own_host(settings)
        self._answered: Latest[str, None] = Latest()  # commands whose first response was written
        self._signs: Latest[str, Sign] = Latest()

    def disconnected(self) -> None:
        """From now on Discord tells nothing; what is known stays true for a short while only."""
        if self.lost is None:
            self.lost = time.monotonic()

    async def channel(self, place: Place) -> Channel:
        """The facts of a channel; who reads it follows from its overwrites and the members' roles."""
        found = await self.whereabouts.found(place)
        if isinstance(found, discord.Thread):
            return await self._thread(place.main, found)
        if isinstance(found, discord.DMChannel):
            return await self._direct(place.main, found)
        if not isinstance(found, discord.abc.GuildChannel):
            raise PlatformError("This is no channel that can be read.")
        await self._chunked(found.guild)
        if is_open(found):
            return Channel(place.main, found.name, "open", adult=adult(found))
        return Channel(place.main, found.name, "closed", readers(found), adult=adult(found))

    async def channel_list(self, workspace: str, person: str = "") -> Sequence[ListedChannel]:  # noqa: ARG002
        """Never asked for."""
        raise PlatformError("Channels are not listed here.")

    async def _thread(self, place: Place, thread: discord.Thread) -> Channel:
        parent = thread.parent
        if parent is None:
            raise PlatformError("The channel of a thread is not known.")
        if not thread.is_private():
            return await self.channel(place_of(parent))
        await self._chunked(thread.guild)
        members = await patiently("to list the members of a thread", thread.fetch_members)
        inside = thread_readers(parent, (member.id for member in members))
        return Channel(place, thread.name, "closed", inside, adult=adult(parent))

    async def _direct(self, place: Place, channel: discord.DMChannel) -> Channel:
        if not channel.recipient:
            fetched = await self.whereabouts.fetched(channel.id)
            channel = fetched if isinstance(fetched, discord.DMChannel) else channel
        if not channel.recipient:
            raise PlatformError("The person of a direct conversation is not known.")
        return Channel(place, channel.recipient.display_name, "direct", frozenset({str(channel.recipient.id)}))

    async def _chunked(self, guild: discord.Guild) -> None:
        """Wait until all members are known. Raises PlatformError, for then nobody knows who reads what."""
        self._informed()
        available(guild)
        if guild.chunked:
            return
        try:
            async with asyncio.timeout(CHUNKED):
                await guild.chunk()
        except (TimeoutError, discord.ClientException) as error:
            raise PlatformUnavailable("The members of this server are not known yet.") from error

    def _informed(self) -> None:
        """Raises PlatformError if changes of members and channels may not have been heard of."""
        if self.lost is not None and time.monotonic() - self.lost > BELIEVED:
            raise PlatformUnavailable("The connection to Discord is lost.")

    async def person(self, workspace: str, person: str) -> Person:
        """Somebody; who is not in the guild is a guest without any channel."""
        self._informed()
        guild = self.client.get_guild(int(workspace)) if workspace else None
        if guild is not None and (found := await self._member(guild, int(person))):
            return person_of(found)
        if user := self.client.get_user(int(person)):
            return person_of(user)
        try:
            return person_of(await patiently("to look at somebody", lambda: self.client.fetch_user(int(person))))
        except Missing:
            return Person(person, "unknown", guest=True)

    async def _member(self, guild: discord.Guild, person: int) -> discord.Member | None:
        if (found := guild.get_member(person)) or guild.chunked:
            return found
        try:
            return await patiently("to look at a member", lambda: guild.fetch_member(person))
        except Missing:
            return None

    async def readable(self, workspace: str, text: str) -> str:
        """A text with names in place of Discord's markup."""
        guild = self.client.get_guild(int(workspace)) if workspace else None

        async def name(person: str) -> str:
            return (await self.person(workspace, person)).name

        return await readable(text, guild, name)

    def link(self, place: Place, message: str) -> str:
        """The address of a message."""
        where = self.whereabouts.of_message(place, message)
        return f"https://discord.com/channels/{place.workspace or '@me'}/{where}/{message}"

    async def history(self, place: Place, since: datetime, before: str = "") -> AsyncIterator[Sequence[Message]]:
        """Pages of a channel's messages with those of its threads; a private thread has its own alone."""
        found = await self._shown(place)
        channels: list[histories.Readable] = []
        if isinstance(found, histories.READABLE):
            channels.append(found)
        if isinstance(found, histories.PARENT):
            channels += await histories.threads(found, since)
        for channel in channels:
            self.whereabouts.note(channel)
        bounds = discord.utils.time_snowflake(since), int(before) if before else histories.newest()
        streams = [histories.Stream(channel, *bounds) for channel in channels]
        async for page in histories.pages(streams, self.whereabouts.me):
            yield page

    async def _shown(self, place: Place) -> Told:
        """The channel of a place. Raises Withheld if Discord would say that nothing was ever said there."""
        found = await self.whereabouts.found(place)
        if not history_shown(found):
            raise Withheld("The history of this channel is hidden: Read Message History is missing.")
        return found

    async def thread(self, place: Place, limit: int) -> Listing:
        """The newest messages of a thread, oldest first, with the message that it began on and what that replies to."""
        await self._shown(place)
        return await histories.thread(self.whereabouts, place, limit)

    async def message(self, place: Place, message: str) -> Message | None:
        """A message as it is now; None if it was deleted."""
        return await histories.message(self.whereabouts, place, message)

    async def fetch(self, upload: Upload, limit: int) -> bytes:
        """The bytes of a file."""
        return await files.fetched(upload, limit, self._own_host)

    async def sign(self, place: Place, message: str, sign: Sign | None) -> None:
        """Put a reaction on a message in place of the one before."""
        channel, http = self.whereabouts.of_message(place, message), self.client.http
        # Of a former run it is known only that it was at work.
        before = self._signs.pop(message, "working")
        if before != sign:
            with suppress(Missing):
                await patiently(
                    "to take a reaction back",
                    lambda: http.remove_own_reaction(channel, int(message), SIGNS[before]),
                )
        if sign is not None:
            await patiently("to react", lambda: http.add_reaction(channel, int(message), SIGNS[sign]))
            self._signs[message] = sign

    async def post(self, place: Place, card: Card) -> str:
        """Say something to all readers of a place; gives the id of the first message."""
        channel, quoted = await self._doors.channel(place, place.thread)
        found = self.client.get_channel(int(channel))
        if isinstance(found, discord.ForumChannel):
            way: InChannel = AsPost(self.client.http, found, uuid4().hex)
        else:
            way = InChannel(self.client.http, channel, uuid4().hex, quoted)
        [first, *_] = await self._say(way, card)
        return first

    async def whisper(self, target: Target, card: Card) -> None:
        """Say something to one person alone.

        Without a command that it answers, it goes into a DM; but what is not private is said below their message.
        """
        handle = Handle.of(target.handle)
        try:
            if handle is not None:
                return await self._respond(handle, card)
        except Over:
            pass
        if target.message and not target.private:
            where = str(self.whereabouts.of_message(target.place, target.message))
            with suppress(Withheld):
                await self._say(InChannel(self.client.http, where, uuid4().hex, target.message), card)
                return None
        await self._say(InChannel(self.client.http, await self._doors.direct(target.person), uuid4().hex), card)
        return None

    async def _say(self, way: InChannel, card: Card) -> list[str]:
        return [(await way.put(part, "", sheet))[1] for part, sheet in enumerate(sheets(card))]

    async def _respond(self, handle: Handle, card: Card) -> None:
        way = ByToken(self.client, handle, self.acknowledged)
        first, *rest = sheets(card)
        if handle.click or handle.interaction in self._answered:
            await way.add(first)
        else:
            await way.put(0, "", first)
            self._answered[handle.interaction] = None
        for sheet in rest:
            await way.add(sheet)

    async def replace_answer(self, target: Target, text: str) -> None:
        """Show this instead of a finished answer."""
        await PostedAnswers(self.client, self.acknowledged).replace(target, text)

    async def delete_answer(self, target: Target) -> None:
        """Delete a finished answer, and a thread that was opened for it if nothing else is in it."""
        await PostedAnswers(self.client, self.acknowledged).delete(target)

    def reply(self, target: Target) -> Reply:
        """An answer to be written, or the one that was begun before."""
        return Writing(Asking(self._doors, target), target.mark)


def sheets(card: Card) -> list[Sheet]:
    """A card in as many messages as it needs; the picture is with the first, the buttons are with the last."""
    texts = [rendered(piece) for piece in split(card.text)]
    made = [Sheet(text, (), card.picture if number == 0 else None) for number, text in enumerate(texts)]
    made[-1] = Sheet(made[-1].content, card.buttons, made[-1].picture)
    return made
