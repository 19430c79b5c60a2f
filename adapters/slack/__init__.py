"""Slack: a workspace in which the bot is an app, heard through a socket, answered through the Web API."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import aiohttp

from adapters.slack.api import clients
from adapters.slack.api.rate_limits import Pace
from adapters.slack.connection import Watchdog
from adapters.slack.context import Study
from adapters.slack.events.listener import Listener
from adapters.slack.identity import NAME, identify
from adapters.slack.platform import SlackPlatform
from adapters.slack.replies.sender import Letters
from adapters.slack.replies.streaming import Streams
from adapters.slack.workspace.users import People
from bot.commands import offered
from engine.scheduling.supervisor import Supervisor

if TYPE_CHECKING:
    import asyncio

    from bot.bot import Bot
    from bot.settings import Settings

CONNECTION = "slack connection"


async def run(bot: Bot, settings: Settings, stop: asyncio.Event) -> None:
    """Be an app in a workspace until told to stop. Raises SetupError if a token is not valid.

    Raises PlatformError if nobody can say at the start who the bot is; later, connections are tried again here.
    """
    timeout = aiohttp.ClientTimeout(total=clients.SECONDS)
    async with aiohttp.ClientSession(timeout=timeout) as session:
        study = await studied(settings, session, Pace(), bot.supervisor)
        platform = SlackPlatform(study, clients.pager(settings, session), settings.member_age)
        listener = Listener(bot, platform, study, offered(NAME))
        app = listener.app(study.reader)
        token = settings.slack_app_token.get_secret_value()
        watchdog = Watchdog(app, token, lambda: bot.alive(NAME), listener.missed, failed=partial(_note, bot))
        bot.doubt(NAME)  # until it is known what changed while nobody listened
        bot.attach(platform)
        try:
            await watchdog.keep(stop)
        finally:
            await watchdog.close()
            await listener.close()


def _note(bot: Bot, error: BaseException | None) -> None:
    """Let people see whether Slack can be reached."""
    if error is None:
        bot.supervisor.succeeded(CONNECTION)
    else:
        bot.supervisor.failed(CONNECTION, error)


async def studied(
    settings: Settings, session: aiohttp.ClientSession, pace: Pace, supervisor: Supervisor | None = None
) -> Study:
    """What replies share: the ways to call Slack, and the turns to do so. Raises SetupError."""
    reader, writer = clients.reader(settings, session), clients.writer(settings, session)
    us = await identify(reader)
    people = People(reader, us)
    letters = Letters(writer, pace)
    streams = Streams(writer, pace, people, letters)
    return Study(reader, writer, us, pace, people, letters, streams, supervisor or Supervisor())
