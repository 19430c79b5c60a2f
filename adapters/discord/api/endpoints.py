"""Endpoints of Discord: API, gateway, file hosts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import yarl
from discord.gateway import DiscordWebSocket
from discord.http import Route

from adapters.discord.settings import DiscordSettings

if TYPE_CHECKING:
    import discord

    from bot.settings import Settings

OFFICIAL_API = "https://discord.com/api/v10"
OFFICIAL_GATEWAY = "wss://gateway.discord.gg/"
FILE_HOSTS = frozenset({"cdn.discordapp.com", "media.discordapp.net"})


def configure_endpoints(settings: Settings) -> None:
    """Point the library to the API server of the settings, for the whole process."""
    Route.BASE = DiscordSettings.load(settings).api_base.rstrip("/")
    DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(DiscordSettings.load(settings).gateway_url or OFFICIAL_GATEWAY)


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
