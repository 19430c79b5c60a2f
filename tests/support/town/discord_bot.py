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
from adapters.discord.replies.reply import DiscordReply, EditThrottle
from bot import bootstrap
from bot.bot import Bot
from bot.plugins import load_adapter
from bot.settings import Settings
from bot.store import BotStore
from tests.support.discord_server import Channel, FakeDiscord, Guild, Person
from tests.support.verbatim_language import VerbatimLanguage

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence
    from pathlib import Path

    from bot.bootstrap import EngineModels
    from bot.platform.models import Location
    from tests.support.discord_server import Interaction, Message, Post

TASKS = ("discord.py:", "CommandTree", "discord-ui")  # by the library, for what it heard
TIMEOUT_SECONDS = 20.0
EDIT_INTERVAL = 0.02  # seconds between two writes, so that stories are short


@dataclass
class DiscordBotFixture:
    """A bot and the Discord that it serves; `restart` ends it as a signal does, and starts it anew."""

    discord: FakeDiscord
    settings: Settings
    skills: EngineModels
    language: VerbatimLanguage
    _exit_stack: contextlib.AsyncExitStack = field(default_factory=contextlib.AsyncExitStack)

    async def start(self) -> None:
        """The bot as `threadlore serve` makes it, but for the skills."""
        stack = self._exit_stack = contextlib.AsyncExitStack()
        desk = await stack.enter_async_context(bootstrap.open_engine(self.settings, self.skills))
        store = await stack.enter_async_context(BotStore.open(self.settings.data_path / "bot.db"))
        self.bot = await stack.enter_async_context(Bot.open(desk, store, self.settings))
        self.engine = desk.engine
        self.bot.expect_platform("discord")
        stop = asyncio.Event()
        running = asyncio.create_task(load_adapter("discord")(self.bot, self.settings, stop))

        async def end() -> None:
            stop.set()
            await running

        stack.push_async_callback(end)
        await self._wait_until_attached(running)
        await self.wait_until_idle()

    async def stop(self) -> None:
        await self._exit_stack.aclose()

    async def restart(self) -> None:
        await self.stop()
        await self.start()

    async def _wait_until_attached(self, running: asyncio.Task[None]) -> None:
        await self.discord.wait_for(lambda: running.done() or "discord" in self.bot.context.platforms, TIMEOUT_SECONDS)
        if running.done():
            running.result()

    # Waiting.

    async def wait_until_idle(self) -> None:
        """Until all that happened was heard, obeyed or answered, and can be found."""
        await self.wait_until_received()
        async with asyncio.timeout(TIMEOUT_SECONDS):
            await self.bot.event_queue.wait_until_idle()
            await self.engine.wait_until_indexed()

    async def wait_until_received(self) -> None:
        """Until the bot's library has taken in all that was told."""
        await self.discord.wait_for(self._is_received, TIMEOUT_SECONDS)

    def _is_received(self) -> bool:
        served: Any = self.bot.context.platforms["discord"]
        told = [each.number for each in self.discord.gateway.sessions.all.values() if each.connection]
        busy = any(task.get_name().startswith(TASKS) for task in asyncio.all_tasks())
        return bool(told) and served.client.ws.sequence == told[-1] and not busy

    async def close_conversations(self) -> None:
        """Until conversations are over and in the graph."""
        await self.wait_until_idle()
        await self.bot.ingest_service.run_due_jobs(datetime.now(UTC) + timedelta(hours=1))
        await self.engine.wait_until_indexed()

    def script_answer(self, words: str, *pieces: str) -> asyncio.Event:
        """What is said to questions with these words; behind the first piece only once the event is set."""
        go = asyncio.Event()
        self.language.scripts[words] = [pieces[0], go, *pieces[1:]]
        return go

    async def wait_for_backfill(self) -> None:
        """Until the past of all channels was read."""
        known = await self.bot.store.channels.list_joined("discord")
        async with asyncio.timeout(TIMEOUT_SECONDS):
            while self.bot.ingest_service.pending_syncs or await self._is_backfilling(known):  # noqa: ASYNC110 - nobody is told of its end
                await asyncio.sleep(0.02)
        await self.wait_until_idle()

    async def _is_backfilling(self, places: Sequence[Location]) -> bool:
        return any([await self.bot.store.backfill_cursors.get_position(each.room) is not None for each in places])

    # What people do.

    async def enable_ingest(self, *channels: Channel) -> None:
        """The owner has these channels read; back when their past was."""
        for channel in channels:
            assert channel.guild is not None
            told = await self.run_command(
                guild_owner(self.discord, channel.guild), channel, "settings", setting="ingest", value="on"
            )
            assert "I'm reading this channel from now on" in told
        await self.wait_until_idle()
        await self.wait_for_backfill()

    async def ask_by_command(self, person: Person, channel: Channel, question: str, **options: Any) -> str:
        """`/ask`, and all that its user reads of the answer."""
        used = await person.slash("ask", here=channel, question=question, **options)
        assert not used.error, used.error
        return await self.answer_text(person, used)

    async def ask_privately(self, person: Person, channel: Channel, question: str) -> str:
        """`/ask` in private."""
        return await self.ask_by_command(person, channel, question, private=True)

    async def run_command(self, person: Person, channel: Channel, command: str, **options: Any) -> str:
        """Another command, and what its user reads."""
        used = await person.slash(command, here=channel, **options)
        assert not used.error, used.error
        return await self.answer_text(person, used)

    async def answer_text(self, person: Person, used: Interaction) -> str:
        """All that somebody reads of the answer to a command or a button."""
        await self.wait_until_idle()
        return "\n".join(post.text for post in self.answer_posts(person, used))

    def answer_posts(self, person: Person, used: Interaction) -> list[Post]:
        first = None if used.message else used.original  # of a button that is the message below which it stands
        mine = [message for message in (first, *used.followups) if message is not None]
        posts = self.discord.sees(person, used.channel).posts
        return [post for post in posts if post.message in mine]

    async def post_mention(self, person: Person, channel: Channel, text: str) -> Message:
        """A question by a mention."""
        assert channel.guild is not None
        return await person.says(channel, f"{self.discord.bot(channel.guild).mention} {text}")

    async def ask_by_mention(self, person: Person, channel: Channel, text: str) -> str:
        """A question by a mention, and what is read in the thread of its answer."""
        asked = await self.post_mention(person, channel, text)
        await self.wait_until_idle()
        where = asked.thread or channel
        return self.bot_text(person, where)

    async def post_passwords(self, secrets: Mapping[Channel, str], by: Person | None = None) -> None:
        """Channels are switched on, and the password of a safe is said in each."""
        await self.enable_ingest(*secrets)
        for channel, word in secrets.items():
            assert channel.guild is not None
            await (by or guild_owner(self.discord, channel.guild)).says(channel, f"The password of the safe is {word}.")
        await self.wait_until_idle()

    async def ask_in_dm(self, person: Person, text: str) -> str:
        """A question in a DM, and all that was ever said there by the bot."""
        await person.dms(text)
        await self.wait_until_idle()
        return self.bot_text(person, self.discord.dm(person))

    def bot_text(self, person: Person, channel: Channel) -> str:
        """All that somebody reads there of the bot."""
        return "\n".join(post.text for post in self.discord.sees(person, channel).posts if post.bot)

    def all_bot_text(self, person: Person) -> str:
        """All that somebody can read of the bot anywhere."""
        channels = [*person.guild.channels.values(), self.discord.dm(person)]
        return "\n".join(self.bot_text(person, channel) for channel in channels)


def guild_owner(discord: FakeDiscord, guild: Guild) -> Person:
    """Who may do anything in a guild."""
    return Person(discord.world, guild.owner, guild)


async def skip_identify_delay(*_: Any, **__: Any) -> None:
    """The library waits five seconds before it begins a session anew."""


def build_fast_reply(opening: Any, mark: str = "") -> DiscordReply:
    """A reply that is written without long pauses."""
    return DiscordReply(opening, mark, EditThrottle(EDIT_INTERVAL))


@contextlib.asynccontextmanager
async def open_discord_bot(home: Path) -> AsyncIterator[DiscordBotFixture]:
    """A house that is lived in; the library's addresses are put back afterwards."""
    base, gateway = Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY
    async with FakeDiscord() as discord, contextlib.AsyncExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        patch.setattr(client, "GUILD_READY_TIMEOUT", 0.05)
        patch.setattr(client.DiscordClient, "before_identify_hook", skip_identify_delay)
        patch.setattr(platform, "DiscordReply", build_fast_reply)
        patch.setattr(
            platform.DiscordPlatform, "limits", replace(platform.DiscordPlatform.limits, write_interval=EDIT_INTERVAL)
        )
        discord.rates.rules.clear()
        given: dict[str, Any] = {"_env_prefix": "NOBODY_", "_env_file": None, "questions_per_minute": 1000}
        own = {"bot_token": discord.token, "api_base": discord.api, "gateway_url": discord.gateway_url}
        given["adapter_settings"] = {f"discord_{name}": SecretStr(value) for name, value in own.items()}
        settings = Settings(data_dir=home, **given)
        able = await stack.enter_async_context(bootstrap.open_models(settings))
        language = VerbatimLanguage(able.embedder)
        house = DiscordBotFixture(discord, settings, replace(able, language=language), language)
        await house.start()
        try:
            yield house
        finally:
            await house.stop()
            Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY = base, gateway
