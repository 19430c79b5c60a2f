"""Discord adapter: receives events over the gateway and answers through the REST API."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

import discord

from adapters.discord.gateway import (
    build_intents,
    configure_endpoints,
    find_gateway,
    map_connection_errors,
    silence_voice,
)
from adapters.discord.settings import DiscordSettings
from adapters.discord.shards.shard_set import ShardSet
from bot.errors import SetupError
from engine.scheduling.supervisor import child_task

if TYPE_CHECKING:
    from bot.bot import Bot
    from bot.settings import Settings


async def run(bot: Bot, settings: Settings, stop: asyncio.Event) -> None:
    """Serve Discord until `stop` is set. Raises SetupError for what only the operator can fix.

    Raises PlatformError for failures that may pass; the next call starts over.
    """
    own = DiscordSettings.load(settings)
    if not own.bot_token.get_secret_value():
        raise SetupError("The Discord token is not set.", hint="Set THREADLORE_DISCORD_BOT_TOKEN; see .env.example.")
    # The library's debug log contains whole messages.
    logging.getLogger("discord").setLevel(logging.WARNING)
    configure_endpoints(settings)
    silence_voice()
    async with discord.Client(intents=build_intents()) as client:  # for what concerns no single connection
        shards = ShardSet(bot, settings, client.http, own.shards)
        async with (
            child_task(stop.wait(), "discord stop") as stopping,
            child_task(_serve(client, settings, shards), "discord") as serving,
        ):
            await asyncio.wait({serving, stopping}, return_when=asyncio.FIRST_COMPLETED)
            if not serving.done():
                await shards.leave()


async def _serve(client: discord.Client, settings: Settings, shards: ShardSet) -> None:
    with map_connection_errors(client):
        await client.http.static_login(DiscordSettings.load(settings).bot_token.get_secret_value())
        await find_gateway(client, settings)
        await shards.agree_on_count()
    await shards.run()
