"""Slack adapter: receives events over Socket Mode or HTTP and answers through the Web API."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import aiohttp

from adapters.slack import clients
from adapters.slack.connection import SocketConnection
from adapters.slack.context import NAME, SlackContext, fetch_identity
from adapters.slack.events.listener import Listener
from adapters.slack.http_receiver import HttpReceiver
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

    from slack_bolt.async_app import AsyncApp

    from bot.bot import Bot
    from bot.settings import Settings

CONNECTION_TASK = "slack connection"


async def run(bot: Bot, settings: Settings, stop: asyncio.Event) -> None:
    """Serve a workspace until `stop` is set. Raises SetupError if a token is invalid.

    Raises PlatformError if Slack cannot identify the bot at the start; later failures to connect are retried here.
    """
    own = SlackSettings.load(settings)
    _check_secrets(own)
    timeout = aiohttp.ClientTimeout(total=clients.TIMEOUT_SECONDS)
    async with aiohttp.ClientSession(timeout=timeout) as session:
        context = await build_context(settings, session, RateLimits(), bot.supervisor)
        platform = SlackPlatform(context, clients.history_client(settings, session), settings.membership_cache_seconds)
        listener = Listener(bot, platform, context, list_commands(TRAITS))
        app = listener.build_app(context.idempotent_client)
        bot.suspend_visibility(NAME)  # until the changes during downtime are known
        bot.attach(platform)
        serve = _serve_http if own.mode == "http" else _serve_socket
        try:
            await serve(bot, own, listener, app, stop)
        finally:
            await listener.close()


def _check_secrets(own: SlackSettings) -> None:
    """Raise SetupError if a secret is missing that the mode needs."""
    needed = {"BOT_TOKEN": own.bot_token}
    needed |= {"SIGNING_SECRET": own.signing_secret} if own.mode == "http" else {"APP_TOKEN": own.app_token}
    for name, secret in needed.items():
        if not secret.get_secret_value():
            variable = f"THREADLORE_SLACK_{name}"
            raise SetupError(f"{variable} is not set.", hint=f"Slack in {own.mode} mode needs it: set {variable} too.")


async def _serve_socket(bot: Bot, own: SlackSettings, listener: Listener, app: AsyncApp, stop: asyncio.Event) -> None:
    connection = SocketConnection(
        app,
        own.app_token.get_secret_value(),
        lambda: bot.record_activity(NAME),
        listener.handle_reconnect,
        on_attempt=partial(_record_connection, bot),
    )
    try:
        await connection.run(stop)
    finally:
        await connection.close()


async def _serve_http(bot: Bot, own: SlackSettings, listener: Listener, app: AsyncApp, stop: asyncio.Event) -> None:
    receiver = HttpReceiver(bot, listener, app, own.signing_secret.get_secret_value())
    await receiver.run(stop, own.http_host, own.http_port)


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
