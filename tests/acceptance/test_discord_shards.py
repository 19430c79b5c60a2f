"""Two servers on two shards, and two bots on one database: each serves one, and takes the other over."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from pydantic import SecretStr

from bot.model_setup.opened import EngineModels
from tests.support.patience import PATIENCE
from tests.support.town.discord import DiscordTown
from tests.support.town.live_bot import LiveBot, open_live_bot, password
from tests.support.town.protocol import Asked
from tests.support.verbatim_language import find_secrets

pytestmark = pytest.mark.asyncio(loop_scope="module")

Live = LiveBot[DiscordTown]
SLOWLY = "What is the password of the safe, slowly?"


def build_towns() -> tuple[DiscordTown, DiscordTown]:
    """Two guilds of one bot, on the first and the second of two shards."""
    ours = DiscordTown(shards=2)
    theirs = DiscordTown(ours.discord)
    for number, town in enumerate((ours, theirs)):
        while (int(town.guild.id) >> 22) % 2 != number:
            town.discord.clock.advance(0.001)
            town.begin_guild()
    return ours, theirs


@asynccontextmanager
async def open_pair(
    folder: Path, models: EngineModels, url: str, ours: DiscordTown
) -> AsyncIterator[tuple[Live, Live]]:
    """Two bots on one database; the second one is not started."""
    async with open_live_bot(ours, folder / "first", models, database=SecretStr(url)) as first:
        settings = first.settings.model_copy(update={"data_dir": folder / "other"})
        other = LiveBot(ours, settings, first.models, first.language)
        try:
            yield first, other
        finally:
            await other.stop()


def serves(live: Live, town: DiscordTown) -> bool:
    return "discord" in live.bot.context.platforms and live.bot.context.platforms["discord"].serves(town.guild.id)


async def settle(*lives: Live) -> None:
    """Wait until all is received, handled, compared and can be found."""
    async with asyncio.timeout(PATIENCE):
        await lives[0].town.wait_until_received(*(life.bot for life in lives))
        store = lives[0].bot.store
        while await store.event_queue.count_waiting() or any(  # noqa: ASYNC110 - there is no event for it
            life.bot.ingest_service.pending_syncs for life in lives
        ):
            await asyncio.sleep(0.01)
        await lives[0].engine.wait_until_indexed()


async def populate(live: Live, *towns: DiscordTown) -> None:
    for town, words in zip(towns, (("agate", "beryl"), ("topaz", "zircon")), strict=True):
        town.add_channel("square", "ada bob")
        town.add_channel("vault", "ada bob", "private")
        for channel in ("square", "vault"):
            await town.enable(channel)
        await settle(live)
        for channel, word in zip(("square", "vault"), words, strict=True):
            await town.say_fact(channel, password(word))
    await settle(live)


def read(town: DiscordTown, asked: Asked) -> str:
    return "\n".join(post.text for post in town.posts(asked))


async def ask(town: DiscordTown, person: str, channel: str = "square", **how: Any) -> str:
    """The secrets that the answer to a question tells."""
    asked = await town.ask(person, channel, **how)
    await town.wait_for(lambda: any(post.is_complete for post in town.posts(asked)))
    return find_secrets(read(town, asked))


@pytest.mark.long
async def test_each_server_is_served_by_one_process_and_taken_over_by_the_other(
    tmp_path: Path, models: EngineModels, postgres_url: str
) -> None:
    ours, theirs = build_towns()
    async with open_pair(tmp_path, models, postgres_url, ours) as (first, other):
        await ours.wait_for(lambda: serves(first, ours) and serves(first, theirs))
        await populate(first, ours, theirs)
        assert await ask(ours, "bob", way="private") == "agate beryl"
        assert await ask(theirs, "bob", way="private") == "topaz zircon"

        # The second process has one shard, once it runs.
        await other.start()
        await ours.wait_for(lambda: serves(other, theirs) and not serves(first, theirs))
        await ours.wait_for(lambda: ours.discord.gateway.open_sessions == 2)
        assert (serves(first, ours), serves(other, ours)) == (True, False)
        assert [await ask(ours, "ada"), await ask(theirs, "ada")] == ["agate", "topaz"]
        assert await ask(theirs, "bob", way="private") == "topaz zircon"
        # Direct messages are answered by the first process, which knows the members of its own server alone.
        assert [await ask(ours, "bob", ""), await ask(theirs, "bob", "")] == ["agate beryl", ""]

        # Bob loses the vault: the second process hears of it. The first process looked him up a moment ago.
        await theirs.remove_member("bob", "vault")
        await settle(first, other)
        assert await ask(theirs, "bob", way="private") == "topaz"

        # The second process is taken for dead while it answers.
        go = first.script_answer("slowly", "The password of the safe is topaz [1].", " That is all.")
        asked = await theirs.ask("ada", "square", SLOWLY)
        await theirs.wait_for(lambda: "topaz" in read(theirs, asked))
        end_process(postgres_url, other)
        await theirs.wait_for(lambda: serves(first, theirs))
        go.set()
        await theirs.wait_for(lambda: any(post.is_complete for post in theirs.posts(asked)))
        assert read(theirs, asked).count("That is all.") == 1
        assert len(theirs.posts(asked)) == 1
        assert await ask(theirs, "bob", way="private") == "topaz"
        assert [await ask(theirs, "ada", way="private"), await ask(ours, "bob")] == ["topaz zircon", "agate"]


def end_process(url: str, live: Live) -> None:
    """End the connection by which a process proves that it lives."""
    registry: Any = live.engine.processes
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute("SELECT pg_terminate_backend(%s)", (registry._alive.info.backend_pid,))
