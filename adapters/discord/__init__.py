"""Discord: translates its events, commands and buttons, and shows what the bot says; it decides nothing."""

from __future__ import annotations

import asyncio
import logging
from contextlib import contextmanager
from typing import TYPE_CHECKING

import aiohttp
import discord

from adapters.discord.api.endpoints import configure_endpoints
from adapters.discord.api.intents import PRIVILEGED_INTENTS
from adapters.discord.client import DiscordClient
from bot.errors import PlatformError, SetupError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adapters.discord.interactions.interactions import BotPort
    from bot.settings import Settings


CREDENTIAL_HINT = "Copy the token of the application's bot once more into THREADLORE_DISCORD_BOT_TOKEN."
NETWORK_HINT = "It is tried again. Check the network, and THREADLORE_DISCORD_API_BASE if it is set."
FATAL_CLOSE_CODES = frozenset(
    {4004, 4010, 4011, 4012, 4013}
)  # close codes: the token, the version or the intents are refused


async def run(bot: BotPort, settings: Settings, stop: asyncio.Event) -> None:
    """Serve Discord until `stop` is set. Raises SetupError, in words, for what only a person can change.

    Raises PlatformError for what may pass: then everything begins anew with the next call.
    """
    token = settings.discord_bot_token.get_secret_value()
    if not token:
        raise SetupError("There is no token for Discord.", hint="Set THREADLORE_DISCORD_BOT_TOKEN; see .env.example.")
    # The library's own log of debugging shows whole messages.
    logging.getLogger("discord").setLevel(logging.WARNING)
    configure_endpoints(settings)
    async with DiscordClient(bot, settings) as client:
        client_task = asyncio.create_task(client.start(token), name="discord")
        stop_task = asyncio.create_task(stop.wait(), name="discord stop")
        try:
            await asyncio.wait({client_task, stop_task}, return_when=asyncio.FIRST_COMPLETED)
            if not stop.is_set():
                with _map_connection_errors(client):
                    client_task.result()
                raise PlatformError("Discord ended the connection.")
        finally:
            client.platform.record_disconnect()
            stop_task.cancel()
            client_task.cancel()
            await asyncio.gather(client_task, stop_task, return_exceptions=True)


@contextmanager
def _map_connection_errors(client: discord.Client) -> Iterator[None]:
    """Say what keeps the bot from being connected, and what to do about it."""
    try:
        yield
    except discord.LoginFailure:
        raise SetupError("Discord does not accept the token.", hint=CREDENTIAL_HINT) from None
    except discord.PrivilegedIntentsRequired:
        hint = f"Switch on {PRIVILEGED_INTENTS} in Discord's developer portal, under “Bot”, then start again."
        raise SetupError("Discord does not let the bot read messages and members.", hint=hint) from None
    except discord.ConnectionClosed as error:
        if error.code in FATAL_CLOSE_CODES:
            raise SetupError(
                f"Discord does not accept the connection (code {error.code}).", hint=CREDENTIAL_HINT
            ) from None
        raise PlatformError(f"Discord ended the connection (code {error.code}).") from None
    except (discord.DiscordException, aiohttp.ClientError, OSError, TimeoutError) as error:
        raise PlatformError(f"Discord could not be reached ({type(error).__name__}).", hint=NETWORK_HINT) from None
    except AttributeError:
        if client.ws is not None:
            raise
        # The library fails like this where the first attempt to reach the gateway does.
        raise PlatformError("Discord's gateway could not be reached.", hint=NETWORK_HINT) from None
