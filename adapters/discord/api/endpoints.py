"""Where Discord is: its API, its gateway, its hosts of files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import yarl
from discord.gateway import DiscordWebSocket
from discord.http import Route

if TYPE_CHECKING:
    import discord

    from bot.settings import Settings

OFFICIAL = "https://discord.com/api/v10"
GATEWAY = "wss://gateway.discord.gg/"
FILES = frozenset({"cdn.discordapp.com", "media.discordapp.net"})


def point(settings: Settings) -> None:
    """Let the library speak to the server of the settings; for the whole process, as the library has it."""
    Route.BASE = settings.discord_api_base.rstrip("/")
    DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(settings.discord_gateway or GATEWAY)


async def find_gateway(client: discord.Client, settings: Settings) -> None:
    """Ask another server than Discord's own for its gateway, unless it is set. Raises GatewayNotFound."""
    if settings.discord_gateway or not elsewhere(settings):
        return
    _, address, _ = await client.http.get_bot_gateway()
    DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(address).with_query(None)


def elsewhere(settings: Settings) -> bool:
    """Whether another server than Discord's own is spoken to."""
    return settings.discord_api_base.rstrip("/") != OFFICIAL


def own_host(settings: Settings) -> str:
    """The host of another server than Discord's own, whose files are taken too; or nothing."""
    return yarl.URL(settings.discord_api_base).host or "" if elsewhere(settings) else ""
