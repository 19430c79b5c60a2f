"""The whole bot in a town: real engine, real adapter, the vendor's library; a fake server and a language for tests."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any, Generic, TypeVar

import pytest
from pydantic import SecretStr

from bot import bootstrap
from bot.bot import Bot
from bot.dispatch.dispatcher import AttachedPlatforms
from bot.i18n import list_translations
from bot.model_setup.opened import EngineModels
from bot.plugins import load_adapter
from bot.settings import Settings
from bot.texts import review as review_texts
from engine.clock import SYSTEM_CLOCK
from engine.llm.base import Embedder
from engine.models import Scope
from tests.support.databases import find_database
from tests.support.discord_server import Permission
from tests.support.parsing import parse_in_this_process
from tests.support.patience import PATIENCE
from tests.support.plain_settings import plain_settings
from tests.support.town.discord import DiscordTown
from tests.support.town.protocol import Asked, BotPost, TownFile, Way
from tests.support.town.slack import SlackTown
from tests.support.verbatim_language import QUESTION, Gate, VerbatimLanguage

POLL_SECONDS = 0.01
ISOLATED: dict[str, Any] = {"_env_prefix": "NOBODY_", "_env_file": None}  # no settings from outside
AnyTown = TypeVar("AnyTown", bound=SlackTown | DiscordTown)


@dataclass
class LiveBot(Generic[AnyTown]):
    """A bot and the town that it serves; `restart` ends it as a signal does, and starts it again."""

    town: AnyTown
    settings: Settings
    models: EngineModels
    language: Any
    go: asyncio.Event = field(default_factory=asyncio.Event)
    _exit_stack: contextlib.AsyncExitStack = field(default_factory=contextlib.AsyncExitStack)

    async def start(self) -> None:
        """Start as `threadlore serve` does, but for the models."""
        stack = self._exit_stack = contextlib.AsyncExitStack()
        opened = await stack.enter_async_context(bootstrap.open_engine(self.settings, self.models, self.town.clock))
        attached = AttachedPlatforms()
        opening = bootstrap.open_context(opened, self.settings, attached.platforms)
        context = await stack.enter_async_context(opening)
        self.bot = await stack.enter_async_context(Bot.open(context, attached))
        self.engine = opened.engine
        self.bot.expect_platform(self.town.platform)
        stop = asyncio.Event()
        running = asyncio.create_task(load_adapter(self.town.platform)(self.bot, self.settings, stop))

        async def end() -> None:
            stop.set()
            await running

        stack.push_async_callback(end)
        await self.wait_for(lambda: running.done() or self._is_attached())
        if running.done():
            running.result()

    def _is_attached(self) -> bool:
        return self.town.is_connected and self.town.platform in self.bot.context.platforms

    async def stop(self) -> None:
        await self._exit_stack.aclose()

    async def restart(self) -> None:
        await self.stop()
        await self.start()

    async def restart_and_reconcile(self) -> None:
        """Start again, with no news of what happened, and compare everything."""
        self.town.drop_events()
        await self.start()
        await self.reconcile()

    # Waiting.

    async def wait_for(self, condition: Any) -> None:
        await self.town.wait_for(condition)

    async def wait_until_idle(self) -> None:
        """Wait until every event was handled, every question answered, and everything can be found."""
        await self.town.wait_until_received(self.bot)
        async with asyncio.timeout(PATIENCE):
            await self.bot.event_queue.wait_until_idle()
            while await self._is_backfilling():  # noqa: ASYNC110 - there is no event for it
                await asyncio.sleep(POLL_SECONDS)
            await self.engine.wait_until_indexed()
        await self.town.wait_until_received(self.bot)

    async def _is_backfilling(self) -> bool:
        known = await self.bot.store.channels.list_joined(self.town.platform)
        return any([await self.bot.store.backfill_cursors.get_position(place.room) is not None for place in known])

    async def wait_for_sync(self) -> None:
        """Wait until no channel waits to be back-filled or compared; one that failed waits for a minute."""
        async with asyncio.timeout(PATIENCE):
            while self.bot.ingest_service.pending_syncs:  # noqa: ASYNC110 - there is no event for it
                await asyncio.sleep(POLL_SECONDS)
        await self.wait_until_idle()

    async def reconcile(self) -> None:
        """Compare everything that is known with what is there."""
        await self.bot.ingest_service.start_reconciliation(self.town.platform)
        await self.bot.ingest_service.run_sync()
        await self.wait_until_idle()

    async def close_conversations(self) -> None:
        """Wait until conversations are closed and in the graph."""
        await self.wait_until_idle()
        await self.bot.ingest_service.run_due_jobs(self.bot.clock.now() + timedelta(hours=1))
        await self.engine.wait_until_indexed()

    async def wait_for_corrections(self) -> None:
        """Wait until no answer waits to be corrected."""
        await self.wait_until_idle()
        async with asyncio.timeout(PATIENCE):
            while await self.bot.store.answer_corrections.list_workspaces():  # noqa: ASYNC110 - there is no event for it
                await asyncio.sleep(POLL_SECONDS)

    # What happens.

    async def read(self, *channels: str) -> None:
        """Index these channels, with what was said in them before."""
        for channel in channels:
            await self.town.enable(channel)
        await self.wait_until_idle()
        await self.wait_for_sync()

    async def post_passwords(self, **words: str) -> dict[str, Any]:
        """Index these channels and say a password in each; gives the messages."""
        await self.read(*words)
        said = {channel: await self.town.say_fact(channel, password(word)) for channel, word in words.items()}
        await self.wait_until_idle()
        return said

    def add_manager(self, name: str) -> None:
        """Somebody who manages the workspace."""
        if isinstance(self.town, DiscordTown):
            role = self.town.discord.role(self.town.guild, name, Permission.MANAGE_GUILD)
            self.town.add_person(name, roles=[role])
        else:
            self.town.add_person(name, admin=True)

    async def build_square(self) -> None:
        """A channel in which the password was said."""
        self.town.add_channel("square", "ada bob")
        await self.post_passwords(square="agate")

    def script_answer(self, words: str, *pieces: str) -> Gate:
        """The answer to questions with these words; what follows the first piece waits for the gate."""
        go = Gate()
        self.language.scripts[words] = [pieces[0], go, *pieces[1:]]
        return go

    async def ask(self, person: str, channel: str = "", text: str = QUESTION, way: Way = "mention") -> str:
        """Ask, and give all that the asker reads of the answer."""
        return await self.answer(await self.town.ask(person, channel, text, way))

    async def answer(self, asked: Asked) -> str:
        """All that is read of an answer in the end."""
        await self.wait_until_idle()
        return self.text(asked)

    def text(self, asked: Asked) -> str:
        """All that is read of an answer now."""
        return "\n".join(post.text for post in self.town.posts(asked))

    async def posts(self, asked: Asked) -> list[BotPost]:
        """The messages of an answer in the end."""
        await self.wait_until_idle()
        return self.town.posts(asked)

    async def run_command(self, person: str, channel: str, command: str, **options: Any) -> str:
        return await self.answer(await self.town.run_command(person, channel, command, **options))

    async def click(self, person: str, post: BotPost, button: str) -> str:
        return await self.answer(await self.town.click(person, post, button))

    async def offers(self, person: str, post: BotPost) -> BotPost:
        """The card that shows somebody what they may do with an answer."""
        [opener] = list_translations(review_texts.IMPROVE_BUTTON) & set(post.buttons)
        [card] = await self.posts(await self.town.click(person, post, opener))
        return card

    async def improve(self, person: str, post: BotPost, button: str) -> str:
        """Press a button of that card."""
        return await self.click(person, await self.offers(person, post), button)

    async def titles(self, channel: str) -> list[str]:
        """The documents of a channel."""
        scope = Scope(frozenset(), frozenset({self.town.location(channel).room}))
        return [each.title for each in await self.engine.documents.list(scope)]


def password(word: str) -> str:
    """A message that answers the question."""
    return f"The password of the safe is {word}."


def file_of(word: str) -> TownFile:
    return TownFile(f"{word}.md", f"# The safe\n\n{password(word)}\n")


async def reply(town: Any, word: str) -> Any:
    """A message in a thread that answers the question."""
    root = await town.say("ada", "square", "Let us talk about the safe.")
    return await town.say("ada", "square", password(word), thread=root)


@contextlib.asynccontextmanager
async def open_models() -> AsyncIterator[EngineModels]:
    """The offline models, to be shared by several bots."""
    async with bootstrap.open_models(plain_settings(**ISOLATED), SYSTEM_CLOCK) as models:
        yield models


@contextlib.asynccontextmanager
async def open_live_bot(
    town: AnyTown,
    home: Path,
    models: EngineModels,
    language: Callable[[Embedder], Any] = VerbatimLanguage,
    **given: Any,
) -> AsyncIterator[LiveBot[AnyTown]]:
    """A running bot in a town; `language` makes its model, `given` are settings."""
    with pytest.MonkeyPatch.context() as patch:
        town.speed_up(patch)
        parse_in_this_process(patch)
        async with town:
            secrets = {name: SecretStr(value) for name, value in town.adapter_settings.items()}
            database = SecretStr(find_database(home))
            chosen = {"questions_per_minute": 1000, "database": database, **ISOLATED, **given}
            settings = plain_settings(data_dir=home, adapter_settings=secrets, **chosen)
            made = language(models.embedder)
            live = LiveBot(town, settings, replace(models, language=made), made)
            await live.start()
            try:
                yield live
            finally:
                live.go.set()
                await live.stop()
