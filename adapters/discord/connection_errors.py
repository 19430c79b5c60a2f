"""Convert the errors of a connection to Discord: what only the operator can fix, and what may pass."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import aiohttp
import discord

from adapters.discord.gateway import PRIVILEGED_INTENTS
from bot.errors import PlatformError, SetupError

if TYPE_CHECKING:
    from collections.abc import Iterator

CREDENTIAL_HINT = (
    "Copy the application's bot token again (https://discord.com/developers/applications, Bot: Reset Token) into"
    " THREADLORE_DISCORD_BOT_TOKEN."
)
NETWORK_HINT = "Retried automatically. Check the network, and THREADLORE_DISCORD_API_BASE if it is set."
SHARDS_HINT = "Set THREADLORE_DISCORD_SHARDS=0: the bot then opens as many connections as Discord recommends."
SHARDING_REQUIRED = 4011
# Gateway close codes: the token, the API version or the intents are refused.
FATAL_CLOSE_CODES = frozenset({4004, 4010, 4012, 4013})


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
