"""Prepare the library's connection to Discord: endpoints and gateway intents; load the members of a server."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import discord
import yarl
from discord.gateway import DiscordWebSocket
from discord.http import Route

from adapters.discord.settings import DiscordSettings

if TYPE_CHECKING:
    from bot.settings import Settings

OFFICIAL_API = "https://discord.com/api/v10"
OFFICIAL_GATEWAY = "wss://gateway.discord.gg/"
FILE_HOSTS = frozenset({"cdn.discordapp.com", "media.discordapp.net"})

PRIVILEGED_INTENTS = "Message Content Intent and Server Members Intent"


def configure_endpoints(settings: Settings) -> None:
    """Point the library to the API server of the settings, for the whole process."""
    Route.BASE = DiscordSettings.load(settings).api_base.rstrip("/")
    DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(DiscordSettings.load(settings).gateway_url or OFFICIAL_GATEWAY)


def silence_voice() -> None:
    """Keep the library from warning of packages for voice, which the bot does not use, for the whole process."""
    discord.VoiceClient.warn_nacl = False
    discord.VoiceClient.warn_dave = False


async def find_gateway(client: discord.Client, settings: Settings) -> None:
    """Look up the gateway of a custom API server, unless it is set. Raises discord.GatewayNotFound."""
    if DiscordSettings.load(settings).gateway_url or not is_custom_api(settings):
        return
    _, url, _ = await client.http.get_bot_gateway()
    DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(url).with_query(None)


def is_custom_api(settings: Settings) -> bool:
    """Whether a custom API server is configured."""
    return DiscordSettings.load(settings).api_base.rstrip("/") != OFFICIAL_API


def custom_file_origin(settings: Settings) -> str:
    """Scheme and authority of a custom API server, from which files are downloaded too; empty for Discord's own."""
    return str(yarl.URL(DiscordSettings.load(settings).api_base).origin()) if is_custom_api(settings) else ""


def build_intents() -> discord.Intents:
    """Select guilds, members (needed to determine readers), messages and their content."""
    intents = discord.Intents.none()
    intents.guilds = True
    intents.members = True
    intents.guild_messages = True
    intents.dm_messages = True
    intents.message_content = True
    return intents


def ignore_interactions(client: discord.Client) -> None:
    """Leave commands and buttons to another connection: each can be acknowledged only once."""
    client._connection.parsers["INTERACTION_CREATE"] = lambda _: None  # noqa: SLF001 - the library has no public API for it


async def load_members(guild: discord.Guild, seconds: float) -> None:
    """Load all members of a server within a time. Raises TimeoutError, OSError and discord.ClientException.

    The library would never repeat a request that was lost with its connection.
    """
    try:
        async with asyncio.timeout(seconds):
            await guild.chunk()
    except BaseException:
        guild._state._chunk_requests.pop(guild.id, None)  # noqa: SLF001 - as above
        raise
