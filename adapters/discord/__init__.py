"""Discord: translates its events, commands and buttons, and shows what the bot says; it decides nothing."""

from __future__ import annotations

import asyncio
import logging
from contextlib import contextmanager
from typing import TYPE_CHECKING

import aiohttp
import discord

from adapters.discord.addresses import point
from adapters.discord.client import Chat
from adapters.discord.intents import PRIVILEGED
from bot.errors import PlatformError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adapters.discord.interactions import Ear
    from bot.settings import Settings


async def run(bot: Ear, settings: Settings, stop: asyncio.Event) -> None:
    """Serve Discord until `stop` is set. Raises PlatformError, in words, if it cannot be served."""
    token = settings.discord_token.get_secret_value()
    if not token:
        raise PlatformError("There is no token for Discord.", hint="Set THREADLORE_DISCORD_TOKEN; see .env.example.")
    # The library's own log of debugging shows whole messages.
    logging.getLogger("discord").setLevel(logging.WARNING)
    point(settings)
    with _in_words():
        async with Chat(bot, settings) as client:
            serving = asyncio.create_task(client.start(token), name="discord")
            stopping = asyncio.create_task(stop.wait(), name="discord stop")
            try:
                await asyncio.wait({serving, stopping}, return_when=asyncio.FIRST_COMPLETED)
                if serving.done():
                    serving.result()
            finally:
                stopping.cancel()
                serving.cancel()
                await asyncio.gather(serving, stopping, return_exceptions=True)


@contextmanager
def _in_words() -> Iterator[None]:
    """Say what keeps the bot from being connected, and what to do about it."""
    try:
        yield
    except discord.LoginFailure:
        hint = "Copy the token of the application's bot once more into THREADLORE_DISCORD_TOKEN."
        raise PlatformError("Discord does not accept the token.", hint=hint) from None
    except discord.PrivilegedIntentsRequired:
        hint = f"Switch on {PRIVILEGED} in Discord's developer portal, under “Bot”, then start again."
        raise PlatformError("Discord does not let the bot read messages and members.", hint=hint) from None
    except discord.ConnectionClosed as error:
        raise PlatformError(f"Discord ended the connection (code {error.code}).") from None
    except (discord.DiscordException, aiohttp.ClientError, OSError, TimeoutError) as error:
        hint = "Check the network, and THREADLORE_DISCORD_API_BASE if it is set."
        raise PlatformError(f"Discord could not be reached ({type(error).__name__}).", hint=hint) from None
