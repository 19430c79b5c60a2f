"""Slack adapter: receives events over Socket Mode or HTTP and answers through the Web API."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import aiohttp

from adapters.slack.clients import TIMEOUT_SECONDS, ClientFactory
from adapters.slack.connection import SocketConnection
from adapters.slack.context import NAME
from adapters.slack.events.app import build_app
from adapters.slack.http_receiver import HttpReceiver, serve_routes
from adapters.slack.retries import idempotent_handlers
from adapters.slack.routing import RoutingPlatform
from adapters.slack.settings import SlackSettings
from adapters.slack.workspaces import WorkspaceFactory, Workspaces
from bot.errors import SetupError

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
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=TIMEOUT_SECONDS)) as session:
        clients = ClientFactory(session, own.api_base)
        factory = WorkspaceFactory(bot, clients, over_http=own.mode == "http")
        workspaces = Workspaces(bot, is_single=True)
        token = own.bot_token.get_secret_value()
        workspaces.add(await factory.open(token))
        app = build_app(clients.build(token, handlers=idempotent_handlers()), workspaces)
        bot.attach(RoutingPlatform(workspaces))
        serve = _serve_http if own.mode == "http" else _serve_socket
        try:
            await serve(bot, own, workspaces, app, stop)
        finally:
            await workspaces.close()


def _check_secrets(own: SlackSettings) -> None:
    """Raise SetupError if a secret is missing that the mode needs."""
    needed = {"BOT_TOKEN": own.bot_token}
    needed |= {"SIGNING_SECRET": own.signing_secret} if own.mode == "http" else {"APP_TOKEN": own.app_token}
    for name, secret in needed.items():
        if not secret.get_secret_value():
            variable = f"THREADLORE_SLACK_{name}"
            raise SetupError(f"{variable} is not set.", hint=f"Slack in {own.mode} mode needs it: set {variable} too.")


async def _serve_socket(
    bot: Bot, own: SlackSettings, workspaces: Workspaces, app: AsyncApp, stop: asyncio.Event
) -> None:
    connection = SocketConnection(
        app,
        own.app_token.get_secret_value(),
        lambda: bot.record_activity(NAME),
        workspaces.handle_connect,
        on_attempt=partial(_record_connection, bot),
    )
    try:
        await connection.run(stop)
    finally:
        await connection.close()


async def _serve_http(_: Bot, own: SlackSettings, workspaces: Workspaces, app: AsyncApp, stop: asyncio.Event) -> None:
    receiver = HttpReceiver(app, own.signing_secret.get_secret_value())
    address = own.http_host, own.http_port
    await serve_routes(receiver.list_routes(), address, workspaces.handle_connect, stop)


def _record_connection(bot: Bot, error: BaseException | None) -> None:
    """Record the result of an attempt to connect for status pages."""
    if error is None:
        bot.supervisor.record_success(CONNECTION_TASK)
    else:
        bot.supervisor.record_failure(CONNECTION_TASK, error)
