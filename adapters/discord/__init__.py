"""Discord adapter: receives events over the gateway and answers through the REST API."""

from __future__ import annotations

import asyncio
import logging
from contextlib import contextmanager
from typing import TYPE_CHECKING

import aiohttp
import discord

from adapters.discord.client import DiscordClient
from adapters.discord.gateway import PRIVILEGED_INTENTS, configure_endpoints
from adapters.discord.settings import DiscordSettings
from adapters.discord.sharded_client import ShardedDiscordClient
from adapters.discord.translate import NAME
from bot.errors import PlatformError, SetupError
from engine import cancel_tasks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bot.bot import Bot
    from bot.settings import Settings


CREDENTIAL_HINT = "Copy the application's bot token again into THREADLORE_DISCORD_BOT_TOKEN."
NETWORK_HINT = "Retried automatically. Check the network, and THREADLORE_DISCORD_API_BASE if it is set."
SHARDS_HINT = "Set THREADLORE_DISCORD_SHARDS=0: the bot then opens as many connections as Discord recommends."
SHARDING_REQUIRED = 4011
# Gateway close codes: the token, the API version or the intents are refused.
FATAL_CLOSE_CODES = frozenset({4004, 4010, 4012, 4013})


async def run(bot: Bot, settings: Settings, stop: asyncio.Event) -> None:
    """Serve Discord until `stop` is set. Raises SetupError for what only the operator can fix.

    Raises PlatformError for failures that may pass; the next call starts over.
    """
    own = DiscordSettings.load(settings)
    token = own.bot_token.get_secret_value()
    if not token:
        raise SetupError("The Discord token is not set.", hint="Set THREADLORE_DISCORD_BOT_TOKEN; see .env.example.")
    # The library's debug log contains whole messages.
    logging.getLogger("discord").setLevel(logging.WARNING)
    configure_endpoints(settings)
    serving = asyncio.create_task(_serve(bot, settings, token, own.shards), name="discord")
    stopping = asyncio.create_task(stop.wait(), name="discord stop")
    try:
        await asyncio.wait({serving, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if not stop.is_set():
            serving.result()
    finally:
        await cancel_tasks(serving, stopping)


async def _serve(bot: Bot, settings: Settings, token: str, shards: int) -> None:
    """Be connected, as soon as no other process is: events would reach both, and members are cached where they do."""
    async with bot.hold_connection(NAME), _build_client(bot, settings, shards) as client:
        try:
            with _map_connection_errors(client):
                await client.start(token)
            raise PlatformError("Discord closed the connection.")
        finally:
            client.record_stop()


def _build_client(bot: Bot, settings: Settings, shards: int) -> DiscordClient:
    return DiscordClient(bot, settings) if shards == 1 else ShardedDiscordClient(bot, settings, shards or None)


@contextmanager
def _map_connection_errors(client: discord.Client) -> Iterator[None]:
    """Convert connection errors to SetupError or PlatformError with a hint."""
    try:
        yield
    except discord.LoginFailure:
        raise SetupError("Discord does not accept the token.", hint=CREDENTIAL_HINT) from None
    except discord.PrivilegedIntentsRequired:
        hint = f"Enable {PRIVILEGED_INTENTS} in Discord's developer portal, under “Bot”, then start again."
        raise SetupError("Discord does not allow the bot to read messages and members.", hint=hint) from None
    except discord.ConnectionClosed as error:
        if error.code == SHARDING_REQUIRED:
            raise SetupError("Discord requires more than one connection for this bot.", hint=SHARDS_HINT) from None
        if error.code in FATAL_CLOSE_CODES:
            raise SetupError(
                f"Discord does not accept the connection (code {error.code}).", hint=CREDENTIAL_HINT
            ) from None
        raise PlatformError(f"Discord closed the connection (code {error.code}).") from None
    except (discord.DiscordException, aiohttp.ClientError, OSError, TimeoutError) as error:
        raise PlatformError(f"Discord could not be reached ({type(error).__name__}).", hint=NETWORK_HINT) from None
    except AttributeError:
        if client.ws is not None:
            raise
        # The library raises this if the first attempt to reach the gateway fails.
        raise PlatformError("Discord's gateway could not be reached.", hint=NETWORK_HINT) from None
