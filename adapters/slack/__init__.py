"""Slack adapter: receives events over Socket Mode or HTTP and answers through the Web API."""

from __future__ import annotations

from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import aiohttp
import structlog
from slack_sdk.oauth.token_rotation.async_rotator import AsyncTokenRotator

from adapters.slack.clients import TIMEOUT_SECONDS, ClientFactory
from adapters.slack.connection import SocketConnection, SocketReports
from adapters.slack.context import NAME
from adapters.slack.events.app import build_app
from adapters.slack.http_receiver import HttpReceiver, serving_routes
from adapters.slack.install import installed, pages, setup
from adapters.slack.install.accesses import Accesses
from adapters.slack.install.manifests import APPS_PAGE
from adapters.slack.install.store import InstallationStore, StateStore, TokenCipher
from adapters.slack.install.withheld import Ownership
from adapters.slack.retries import idempotent_handlers
from adapters.slack.router import WorkspaceRouter
from adapters.slack.settings import SlackSettings
from adapters.slack.workspaces import WorkspaceFactory, Workspaces
from bot.errors import SetupError
from bot.listeners.admission import parse_proxies
from engine.scheduling.supervisor import cancel_tasks

if TYPE_CHECKING:
    import asyncio
    from collections.abc import AsyncIterator

    from aiohttp import web
    from slack_bolt.async_app import AsyncApp

    from bot.bot import Bot
    from bot.settings import Settings

log = structlog.get_logger(__name__)

CONNECTION_TASK = "slack connection"
PLACES = {
    name: f" (at {APPS_PAGE}, {credential.place})"
    for name, credential in (("BOT_TOKEN", setup.BOT), ("APP_TOKEN", setup.APP), ("SIGNING_SECRET", setup.SECRET))
}


@dataclass(frozen=True, slots=True)
class SlackService:
    """What is served: the workspaces, the app that receives their requests, and the pages that install it."""

    workspaces: Workspaces
    router: WorkspaceRouter
    app: AsyncApp
    pages: list[web.RouteDef] = field(default_factory=list)


async def run(bot: Bot, settings: Settings, stop: asyncio.Event) -> None:
    """Serve one workspace, or all that installed the app, until `stop` is set. Raises SetupError for a bad secret.

    Raises PlatformError if Slack cannot identify the bot at the start; later failures to connect are retried here.
    """
    own = SlackSettings.load(settings)
    _check_secrets(own)
    open_service = _open_installed if own.client_id else _open_single
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=TIMEOUT_SECONDS)) as session:
        factory = WorkspaceFactory(bot, ClientFactory(session, own.api_base), over_http=own.mode == "http")
        async with open_service(own, factory) as service:
            bot.attach(service.router)
            await (_serve_http if own.mode == "http" else _serve_socket)(bot, own, service, stop)


def _check_secrets(own: SlackSettings) -> None:
    """Raise SetupError if a secret is missing that the settings need."""
    needed = {"CLIENT_SECRET": own.client_secret} if own.client_id else {"BOT_TOKEN": own.bot_token}
    needed |= {"SIGNING_SECRET": own.signing_secret} if own.mode == "http" else {"APP_TOKEN": own.app_token}
    for name, secret in needed.items():
        if not secret.get_secret_value():
            variable, place = f"THREADLORE_SLACK_{name}", PLACES.get(name, "")
            hint = f"Slack in {own.mode} mode needs it: set {variable} too{place}, or run `threadlore init`."
            raise SetupError(f"{variable} is not set.", hint=hint)
    if own.client_id and own.bot_token.get_secret_value():
        log.warning("slack.bot_token_ignored", hint="With THREADLORE_SLACK_CLIENT_ID each installation has its own.")


@asynccontextmanager
async def _open_single(own: SlackSettings, factory: WorkspaceFactory) -> AsyncIterator[SlackService]:
    """Open the workspace of the bot token."""
    token = own.bot_token.get_secret_value()
    workspaces = Workspaces(factory.bot, is_single=True)
    workspaces.add(await factory.open(token))
    try:
        app = build_app(factory.clients.build(token, handlers=idempotent_handlers()), workspaces)
        yield SlackService(workspaces, WorkspaceRouter(workspaces), app)
    finally:
        await workspaces.close()


@asynccontextmanager
async def _open_installed(own: SlackSettings, factory: WorkspaceFactory) -> AsyncIterator[SlackService]:
    """Open all workspaces that the app is installed in, and follow its installations."""
    bot, clients, workspaces = factory.bot, factory.clients, Workspaces(factory.bot)
    cipher = TokenCipher(own.encryption_key_list)
    store = InstallationStore(bot.store.installations, cipher)
    states = StateStore(bot.store.installation_states, cipher, bot.clock)
    await store.reencrypt()
    rotator = AsyncTokenRotator(
        client_id=own.client_id, client_secret=own.client_secret.get_secret_value(), client=clients.build()
    )
    accesses = Accesses(store, rotator, clients, bot.processes, bot.clock)
    following = installed.InstalledWorkspaces(accesses, store, factory, workspaces, Ownership.of(own))
    await following.update()
    is_shared = bot.store.shared_visibility is not None  # other processes may store installations
    router = WorkspaceRouter(workspaces, following.is_own, following.is_absent if is_shared else None)
    flow = pages.build_flow(own, clients.build(), (store, states), following.announce_change)
    task = bot.supervisor.run(installed.TASK, following.run)
    try:
        app = build_app(clients.build(handlers=idempotent_handlers()), workspaces, following)
        visits = pages.Visits(bot.clock, parse_proxies(bot.settings.trusted_proxies))
        yield SlackService(workspaces, router, app, pages.list_routes(flow, visits))
    finally:
        await cancel_tasks(task)
        await following.close()
        await workspaces.close()


async def _serve_socket(bot: Bot, own: SlackSettings, service: SlackService, stop: asyncio.Event) -> None:
    connection = SocketConnection(
        service.app,
        own.app_token.get_secret_value(),
        bot.clock,
        SocketReports(
            lambda: bot.record_activity(NAME), service.workspaces.handle_connect, partial(_record_connection, bot)
        ),
    )
    async with AsyncExitStack() as stack:
        if service.pages:
            proxies = parse_proxies(bot.settings.trusted_proxies)
            await stack.enter_async_context(serving_routes(service.pages, own.http_host, own.http_port, proxies))
        stack.push_async_callback(connection.close)
        await connection.run(stop)


async def _serve_http(bot: Bot, own: SlackSettings, service: SlackService, stop: asyncio.Event) -> None:
    receiver = HttpReceiver(service.app, own.signing_secret.get_secret_value(), bot.clock)
    routes, proxies = [*receiver.list_routes(), *service.pages], parse_proxies(bot.settings.trusted_proxies)
    async with serving_routes(routes, own.http_host, own.http_port, proxies):
        service.workspaces.handle_connect()
        await stop.wait()


def _record_connection(bot: Bot, error: BaseException | None) -> None:
    """Record the result of an attempt to connect for status pages."""
    if error is None:
        bot.supervisor.record_success(CONNECTION_TASK)
    else:
        bot.supervisor.record_failure(CONNECTION_TASK, error)
