"""Servers of one connection after a new session: each is answered as soon as its own members are loaded."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from bot.model_setup.opened import EngineModels
from bot.platform.models import Location
from tests.support.patience import PATIENCE
from tests.support.town.discord import DiscordTown
from tests.support.town.live_bot import LiveBot, open_live_bot, password
from tests.support.verbatim_language import find_secrets

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def settle(live: LiveBot[DiscordTown]) -> None:
    """Wait until all is received, handled, compared and can be found."""
    async with asyncio.timeout(PATIENCE):
        await live.town.wait_until_received(live.bot)
        while await live.bot.store.event_queue.count_waiting() or live.bot.ingest_service.pending_syncs:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        await live.engine.wait_until_indexed()


@pytest.mark.long
async def test_a_question_is_answered_while_another_server_still_loads_its_members(
    tmp_path: Path, models: EngineModels
) -> None:
    ours = DiscordTown()
    theirs = DiscordTown(ours.discord)
    gateway = ours.discord.gateway
    async with open_live_bot(ours, tmp_path / "home", models) as live:
        for town in (ours, theirs):
            town.add_channel("square", "ada")
            await town.enable("square")
        await settle(live)
        await ours.say_fact("square", password("agate"))
        await settle(live)

        gateway.slow_guilds = {theirs.guild.id}
        gateway.invalidate()
        await ours.wait_for(lambda: gateway.identifies == 2)
        await ours.wait_for(lambda: not is_suspended(live, ours) and is_suspended(live, theirs))
        asked = await ours.ask("ada", "square")
        await ours.wait_for(lambda: any(post.is_complete for post in ours.posts(asked)))
        assert find_secrets("\n".join(post.text for post in ours.posts(asked))) == "agate"
        assert is_suspended(live, theirs)
        gateway.slow_guilds = set()


def is_suspended(live: LiveBot[DiscordTown], town: DiscordTown) -> bool:
    return live.bot.context.audience.is_suspended(Location("discord", town.guild.id, ""))
