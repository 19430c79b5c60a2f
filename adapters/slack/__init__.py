"""Slack adapter: receives events over Socket Mode and answers through the Web API."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import aiohttp

from adapters.slack import clients
from adapters.slack.connection import SocketConnection
from adapters.slack.context import NAME, SlackContext, fetch_identity
from adapters.slack.events.listener import Listener
from adapters.slack.platform import SlackPlatform
from adapters.slack.replies.sender import MessageSender
from adapters.slack.replies.streaming import MessageStreams
from adapters.slack.retries import RateLimits
from adapters.slack.settings import TRAITS, SlackSettings
from adapters.slack.workspace.users import UserDirectory
from bot.commands.table import list_commands
from bot.errors import SetupError
from engine import Supervisor

if TYPE_CHECKING:
    import asyncio

    from bot.bot import Bot
    from bot.settings import Settings

CONNECTION_TASK = "slack connection"


async def run(bot: Bot, settings: Settings, stop: asyncio.Event) -> None:
    """Serve a workspace until `stop` is set. Raises SetupError if a token is invalid.

    Raises PlatformError if Slack cannot identify the bot at the start; later failures to connect are retried here.
    """
    own = SlackSettings.load(settings)
    for name, token in (("BOT", own.bot_token), ("APP", own.app_token)):
        if not token.get_secret_value():
            variable = f"THREADLORE_SLACK_{name}_TOKEN"
            raise SetupError(f"{variable} is not set.", hint=f"Slack needs both tokens: set {variable} too.")
    timeout = aiohttp.ClientTimeout(total=clients.TIMEOUT_SECONDS)
    async with aiohttp.ClientSession(timeout=timeout) as session:
        context = await build_context(settings, session, RateLimits(), bot.supervisor)
        platform = SlackPlatform(context, clients.history_client(settings, session), settings.membership_cache_seconds)
        listener = Listener(bot, platform, context, list_commands(TRAITS))
        app = listener.build_app(context.idempotent_client)
        connection = SocketConnection(
            app,
            own.app_token.get_secret_value(),
            lambda: bot.record_activity(NAME),
            listener.handle_reconnect,
            on_attempt=partial(_record_connection, bot),
        )
        bot.suspend_visibility(NAME)  # until the changes during downtime are known
        bot.attach(platform)
        try:
            await connection.run(stop)
        finally:
            await connection.close()
            await listener.close()


def _record_connection(bot: Bot, error: BaseException | None) -> None:
    """Record the result of an attempt to connect for status pages."""
    if error is None:
        bot.supervisor.record_success(CONNECTION_TASK)
    else:
        bot.supervisor.record_failure(CONNECTION_TASK, error)


async def build_context(
    settings: Settings, session: aiohttp.ClientSession, rate_limits: RateLimits, supervisor: Supervisor | None = None
) -> SlackContext:
    """Identify the bot and build what replies share. Raises SetupError."""
    idempotent_client, write_client = (
        clients.idempotent_client(settings, session),
        clients.write_client(settings, session),
    )
    identity = await fetch_identity(idempotent_client)
    users = UserDirectory(idempotent_client, identity)
    sender = MessageSender(write_client, rate_limits)
    streams = MessageStreams(write_client, rate_limits, users, sender)
    return SlackContext(
        idempotent_client, write_client, identity, rate_limits, users, sender, streams, supervisor or Supervisor()
    )
