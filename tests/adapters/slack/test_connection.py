from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import aiohttp
from slack_bolt.async_app import AsyncApp

from adapters.slack.api import clients
from adapters.slack.connection import SocketConnection
from tests.adapters.slack.conftest import settings_for
from tests.support.slack_server import Fault

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.support.slack_server import FakeSlack


class Signs:
    def __init__(self) -> None:
        self.alive = 0
        self.missed = 0

    def live(self) -> None:
        self.alive += 1

    def miss(self) -> None:
        self.missed += 1


@asynccontextmanager
async def watched(slack: FakeSlack, silence: float) -> AsyncIterator[Signs]:
    signs, stop = Signs(), asyncio.Event()
    async with aiohttp.ClientSession() as session:
        client = clients.idempotent_client(settings_for(slack), session)
        app = AsyncApp(client=client, logger=client.logger)
        dog = SocketConnection(app, slack.space.app.app_token, signs.live, signs.miss, silence)
        await dog.connect()
        await slack.wait_until_connected()
        watching = asyncio.create_task(dog.run(stop))
        try:
            yield signs
        finally:
            stop.set()
            await watching
            await dog.close()


async def test_a_socket_that_is_silent_is_replaced_and_what_was_missed_is_looked_for(slack: FakeSlack) -> None:
    async with watched(slack, 0.3) as signs:
        first = slack.socket.ready[0]
        await slack.wait_for(lambda: slack.socket.ready and slack.socket.ready[0] is not first)
        await slack.wait_for(lambda: signs.missed)
        assert slack.calls_to("auth.test")


async def test_it_is_tried_again_until_slack_is_back(slack: FakeSlack) -> None:
    slack.fail_next("auth.test", Fault("error", error="internal_error"))
    async with watched(slack, 0.3) as signs:
        await slack.wait_for(lambda: signs.missed, timeout=10)
        assert len(slack.calls_to("auth.test")) >= 2


async def test_a_living_socket_is_left_alone(slack: FakeSlack) -> None:
    async with watched(slack, 30.0) as signs:
        first = slack.socket.ready[0]
        await slack.wait_for(lambda: signs.alive)  # Slack says hello
        assert slack.socket.ready[0] is first
        assert not signs.missed
