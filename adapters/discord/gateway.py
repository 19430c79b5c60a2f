"""The library's connection to Discord: endpoints, gateway intents, members of a server, and what errors mean."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from typing import TYPE_CHECKING

import aiohttp
import discord
import yarl
from discord.gateway import DiscordWebSocket
from discord.http import Route

from adapters.discord.settings import DiscordSettings
from bot.errors import PlatformError, SetupError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bot.settings import Settings


OFFICIAL_API = "https://discord.com/api/v10"
OFFICIAL_GATEWAY = "wss://gateway.discord.gg/"
FILE_HOSTS = frozenset({"cdn.discordapp.com", "media.discordapp.net"})

PRIVILEGED_INTENTS = "Message Content Intent and Server Members Intent"
CREDENTIAL_HINT = (
    "Copy the application's bot token again (https://discord.com/developers/applications, Bot: Reset Token) into"
    " THREADLORE_DISCORD_BOT_TOKEN."
)
NETWORK_HINT = "Retried automatically. Check the network, and THREADLORE_DISCORD_API_BASE if it is set."
SHARDS_HINT = "Set THREADLORE_DISCORD_SHARDS=0: the bot then opens as many connections as Discord recommends."
SHARDING_REQUIRED = 4011
# Gateway close codes: the token, the API version or the intents are refused.
FATAL_CLOSE_CODES = frozenset({4004, 4010, 4012, 4013})


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


class MoreShardsRequired(SetupError):
    """Discord requires more connections."""

    hint = SHARDS_HINT


@contextmanager
def map_connection_errors(client: discord.Client) -> Iterator[None]:
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
            raise MoreShardsRequired("Discord requires more connections for this bot.") from None
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
