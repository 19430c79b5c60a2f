"""Slack: a workspace in which the bot is an app, heard through a socket, answered through the Web API."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import aiohttp

from adapters.slack.api import clients
from adapters.slack.api.rate_limits import RateLimits
from adapters.slack.connection import SocketConnection
from adapters.slack.context import SlackContext
from adapters.slack.events.listener import Listener
from adapters.slack.identity import NAME, fetch_identity
from adapters.slack.platform import SlackPlatform
from adapters.slack.replies.sender import MessageSender
from adapters.slack.replies.streaming import MessageStreams
from adapters.slack.workspace.users import UserDirectory
from bot.commands.table import list_commands
from engine import Supervisor

if TYPE_CHECKING:
    import asyncio

    from bot.bot import Bot
    from bot.settings import Settings

CONNECTION_TASK = "slack connection"


async def run(bot: Bot, settings: Settings, stop: asyncio.Event) -> None:
    """Be an app in a workspace until told to stop. Raises SetupError if a token is not valid.

    Raises PlatformError if nobody can say at the start who the bot is; later, connections are tried again here.
    """
    timeout = aiohttp.ClientTimeout(total=clients.TIMEOUT_SECONDS)
    async with aiohttp.ClientSession(timeout=timeout) as session:
        study = await build_context(settings, session, RateLimits(), bot.supervisor)
        platform = SlackPlatform(study, clients.history_client(settings, session), settings.membership_cache_seconds)
        listener = Listener(bot, platform, study, list_commands(NAME))
        app = listener.build_app(study.idempotent_client)
        token = settings.slack_app_token.get_secret_value()
        watchdog = SocketConnection(
            app,
            token,
            lambda: bot.record_activity(NAME),
            listener.handle_reconnect,
            failed=partial(_record_connection, bot),
        )
        bot.suspend_visibility(NAME)  # until it is known what changed while nobody listened
        bot.attach(platform)
        try:
            await watchdog.run(stop)
        finally:
            await watchdog.close()
            await listener.close()


def _record_connection(bot: Bot, error: BaseException | None) -> None:
    """Let people see whether Slack can be reached."""
    if error is None:
        bot.supervisor.record_success(CONNECTION_TASK)
    else:
        bot.supervisor.record_failure(CONNECTION_TASK, error)


async def build_context(
    settings: Settings, session: aiohttp.ClientSession, pace: RateLimits, supervisor: Supervisor | None = None
) -> SlackContext:
    """What replies share: the ways to call Slack, and the turns to do so. Raises SetupError."""
    reader, writer = clients.idempotent_client(settings, session), clients.write_client(settings, session)
    us = await fetch_identity(reader)
    people = UserDirectory(reader, us)
    letters = MessageSender(writer, pace)
    streams = MessageStreams(writer, pace, people, letters)
    return SlackContext(reader, writer, us, pace, people, letters, streams, supervisor or Supervisor())
