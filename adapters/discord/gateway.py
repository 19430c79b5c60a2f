"""Prepare the library's connection to Discord: endpoints, gateway intents, and dispatches that cannot be parsed."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import discord
import structlog
import yarl
from discord.gateway import DiscordWebSocket
from discord.http import Route

from adapters.discord.settings import DiscordSettings

if TYPE_CHECKING:
    from collections.abc import Callable

    from bot.settings import Settings

OFFICIAL_API = "https://discord.com/api/v10"
OFFICIAL_GATEWAY = "wss://gateway.discord.gg/"
FILE_HOSTS = frozenset({"cdn.discordapp.com", "media.discordapp.net"})

PRIVILEGED_INTENTS = "Message Content Intent and Server Members Intent"

log = structlog.get_logger(__name__)

# Losing one of these leaves no wrong access data; any other one ends the connection, and all is sent again.
SKIPPABLE_EVENTS = frozenset(
    {
        "GUILD_CREATE",  # the guild is then unknown as a whole
        "INTERACTION_CREATE",
        "MESSAGE_CREATE",
        "MESSAGE_REACTION_ADD",
        "MESSAGE_REACTION_REMOVE",
        "MESSAGE_UPDATE",
        "PRESENCE_UPDATE",
        "TYPING_START",
    }
)


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


def build_intents() -> discord.Intents:
    """Select guilds, members (needed to determine readers), messages and their content."""
    intents = discord.Intents.none()
    intents.guilds = True
    intents.members = True
    intents.guild_messages = True
    intents.dm_messages = True
    intents.message_content = True
    return intents


def guard_parsers(client: discord.Client) -> None:
    """Wrap the client's parsers of SKIPPABLE_EVENTS so that failures are logged and skipped."""
    parsers = client._connection.parsers  # noqa: SLF001  - the library has no public API for it
    for event in SKIPPABLE_EVENTS & parsers.keys():
        parsers[event] = _guarded_parser(client, event, parsers[event])


def _guarded_parser(client: discord.Client, event: str, parse: Callable[[Any], None]) -> Callable[[Any], None]:
    def guarded(data: Any) -> None:
        try:
            parse(data)
        except Exception as error:  # noqa: BLE001 - any parser failure is skipped
            log.warning("discord.dispatch_parse_failed", event_name=event, error=type(error).__name__)
            if event == "GUILD_CREATE":
                _remove_guild(client, data)

    return guarded


def _remove_guild(client: discord.Client, data: Any) -> None:
    """Remove a guild that was parsed only partly, so that no incomplete permissions are used."""
    guild_id = str(data.get("id", "")) if isinstance(data, dict) else ""
    guild = client.get_guild(int(guild_id)) if guild_id.isdecimal() else None
    if guild is not None:
        client._connection._remove_guild(guild)  # noqa: SLF001  - as above


def ignore_interactions(client: discord.Client) -> None:
    """Leave commands and buttons to another connection: each can be acknowledged only once."""
    client._connection.parsers["INTERACTION_CREATE"] = lambda _: None  # noqa: SLF001 - as above


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
