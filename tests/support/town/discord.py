"""The whole bot on Discord: real engine, real adapter, the vendor's library; a server and a language made for tests."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from discord.gateway import DiscordWebSocket
from discord.http import Route
from pydantic import SecretStr

from adapters.discord import client, platform
from adapters.discord.replies.reply import Pace, Writing
from bot import bootstrap
from bot.bot import Bot
from bot.plugins import adapter
from bot.settings import Settings
from bot.store import Store
from tests.support.discord_server import Channel, FakeDiscord, Guild, Person
from tests.support.gossip import Gossip

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence
    from pathlib import Path

    from bot.bootstrap import Skills
    from bot.platform.models import Place
    from tests.support.discord_server import Interaction, Message, Post

TASKS = ("discord.py:", "CommandTree", "discord-ui")  # by the library, for what it heard
PATIENCE = 20.0
EVERY = 0.02  # seconds between two writes, so that stories are short


@dataclass
class House:
    """A bot and the Discord that it serves; `restart` ends it as a signal does, and starts it anew."""

    discord: FakeDiscord
    settings: Settings
    able: Skills
    language: Gossip
    _inside: contextlib.AsyncExitStack = field(default_factory=contextlib.AsyncExitStack)

    async def start(self) -> None:
        """The bot as `threadlore run` makes it, but for the skills."""
        stack = self._inside = contextlib.AsyncExitStack()
        desk = await stack.enter_async_context(bootstrap.desk(self.settings, self.able))
        store = await stack.enter_async_context(Store.open(self.settings.root / "bot.db"))
        self.bot = await stack.enter_async_context(Bot.open(desk, store, self.settings))
        self.engine = desk.engine
        self.bot.expect("discord")
        stop = asyncio.Event()
        running = asyncio.create_task(adapter("discord")(self.bot, self.settings, stop))

        async def end() -> None:
            stop.set()
            await running

        stack.push_async_callback(end)
        await self._attached(running)
        await self.settled()

    async def end(self) -> None:
        await self._inside.aclose()

    async def restart(self) -> None:
        await self.end()
        await self.start()

    async def _attached(self, running: asyncio.Task[None]) -> None:
        await self.discord.until(lambda: running.done() or "discord" in self.bot.house.platforms, PATIENCE)
        if running.done():
            running.result()

    # Waiting.

    async def settled(self) -> None:
        """Until all that happened was heard, obeyed or answered, and can be found."""
        await self.heard()
        async with asyncio.timeout(PATIENCE):
            await self.bot.inbox.idle()
            await self.engine.settled()

    async def heard(self) -> None:
        """Until the bot's library has taken in all that was told."""
        await self.discord.until(self._heard, PATIENCE)

    def _heard(self) -> bool:
        served: Any = self.bot.house.platforms["discord"]
        told = [each.number for each in self.discord.gateway.sessions.all.values() if each.connection]
        busy = any(task.get_name().startswith(TASKS) for task in asyncio.all_tasks())
        return bool(told) and served.client.ws.sequence == told[-1] and not busy

    async def read_up(self) -> None:
        """Until conversations are over and in the graph."""
        await self.settled()
        await self.bot.listening.tick(datetime.now(UTC) + timedelta(hours=1))
        await self.engine.settled()

    def script(self, words: str, *pieces: str) -> asyncio.Event:
        """What is said to questions with these words; behind the first piece only once the event is set."""
        go = asyncio.Event()
        self.language.scripts[words] = [pieces[0], go, *pieces[1:]]
        return go

    async def caught_up(self) -> None:
        """Until the past of all channels was read."""
        known = await self.bot.store.rooms.known("discord")
        async with asyncio.timeout(PATIENCE):
            while self.bot.listening.owed or await self._reads(known):  # noqa: ASYNC110 - nobody is told of its end
                await asyncio.sleep(0.02)
        await self.settled()

    async def _reads(self, places: Sequence[Place]) -> bool:
        return any([await self.bot.store.cursors.of(each.room) is not None for each in places])

    # What people do.

    async def switched_on(self, *channels: Channel) -> None:
        """The owner has these channels read; back when their past was."""
        for channel in channels:
            assert channel.guild is not None
            told = await self.calls(
                owner(self.discord, channel.guild), channel, "settings", setting="ingest", value="on"
            )
            assert "From now on I read this channel" in told
        await self.settled()
        await self.caught_up()

    async def asks(self, person: Person, channel: Channel, question: str, **options: Any) -> str:
        """`/ask`, and all that its user reads of the answer."""
        used = await person.slash("ask", here=channel, question=question, **options)
        assert not used.error, used.error
        return await self.answer(person, used)

    async def whispers(self, person: Person, channel: Channel, question: str) -> str:
        """`/ask` in private."""
        return await self.asks(person, channel, question, private=True)

    async def calls(self, person: Person, channel: Channel, command: str, **options: Any) -> str:
        """Another command, and what its user reads."""
        used = await person.slash(command, here=channel, **options)
        assert not used.error, used.error
        return await self.answer(person, used)

    async def answer(self, person: Person, used: Interaction) -> str:
        """All that somebody reads of the answer to a command or a button."""
        await self.settled()
        return "\n".join(post.text for post in self.posts(person, used))

    def posts(self, person: Person, used: Interaction) -> list[Post]:
        first = None if used.message else used.original  # of a button that is the message below which it stands
        mine = [message for message in (first, *used.followups) if message is not None]
        posts = self.discord.sees(person, used.channel).posts
        return [post for post in posts if post.message in mine]

    async def mentions(self, person: Person, channel: Channel, text: str) -> Message:
        """A question by a mention."""
        assert channel.guild is not None
        return await person.says(channel, f"{self.discord.bot(channel.guild).mention} {text}")

    async def answered(self, person: Person, channel: Channel, text: str) -> str:
        """A question by a mention, and what is read in the thread of its answer."""
        asked = await self.mentions(person, channel, text)
        await self.settled()
        where = asked.thread or channel
        return self.said(person, where)

    async def safe(self, secrets: Mapping[Channel, str], by: Person | None = None) -> None:
        """Channels are switched on, and the password of a safe is said in each."""
        await self.switched_on(*secrets)
        for channel, word in secrets.items():
            assert channel.guild is not None
            await (by or owner(self.discord, channel.guild)).says(channel, f"The password of the safe is {word}.")
        await self.settled()

    async def in_private(self, person: Person, text: str) -> str:
        """A question in a DM, and all that was ever said there by the bot."""
        await person.dms(text)
        await self.settled()
        return self.said(person, self.discord.dm(person))

    def said(self, person: Person, channel: Channel) -> str:
        """All that somebody reads there of the bot."""
        return "\n".join(post.text for post in self.discord.sees(person, channel).posts if post.bot)

    def all_read_by(self, person: Person) -> str:
        """All that somebody can read of the bot anywhere."""
        channels = [*person.guild.channels.values(), self.discord.dm(person)]
        return "\n".join(self.said(person, channel) for channel in channels)


def owner(discord: FakeDiscord, guild: Guild) -> Person:
    """Who may do anything in a guild."""
    return Person(discord.world, guild.owner, guild)


async def at_once(*_: Any, **__: Any) -> None:
    """The library waits five seconds before it begins a session anew."""


def brisk(opening: Any, mark: str = "") -> Writing:
    """A reply that is written without long pauses."""
    return Writing(opening, mark, Pace(EVERY))


@contextlib.asynccontextmanager
async def living(home: Path) -> AsyncIterator[House]:
    """A house that is lived in; the library's addresses are put back afterwards."""
    base, gateway = Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY
    async with FakeDiscord() as discord, contextlib.AsyncExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        patch.setattr(client, "QUIET", 0.05)
        patch.setattr(client.Chat, "before_identify_hook", at_once)
        patch.setattr(platform, "Writing", brisk)
        patch.setattr(platform.Discord, "limits", replace(platform.Discord.limits, every=EVERY))
        discord.rates.rules.clear()
        given: dict[str, Any] = {"_env_prefix": "NOBODY_", "_env_file": None, "questions_per_minute": 1000}
        given |= {"discord_api_base": discord.api, "discord_gateway": discord.gateway_url}
        settings = Settings(home=home, discord_token=SecretStr(discord.token), **given)
        able = await stack.enter_async_context(bootstrap.skills(settings))
        language = Gossip(able.embedder)
        house = House(discord, settings, replace(able, language=language), language)
        await house.start()
        try:
            yield house
        finally:
            await house.end()
            Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY = base, gateway
