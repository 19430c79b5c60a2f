from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import partial
from typing import Any

import aiohttp
import pytest
from slack_bolt.async_app import AsyncApp
from slack_sdk.http_retry.builtin_interval_calculators import BackoffRetryIntervalCalculator

from adapters.slack import run
from adapters.slack.clients import ClientFactory
from adapters.slack.connection import SocketConnection, SocketReports
from bot.errors import SetupError
from bot.platform.events import MessageReceived
from bot.server import PlatformConnection
from engine.clock import SYSTEM_CLOCK
from engine.scheduling.supervisor import Supervisor
from tests.adapters.recording_bot import RecordingBot
from tests.adapters.slack.scene import settings_for
from tests.support.patience import PATIENCE
from tests.support.slack_server import FakeSlack, Fault


@pytest.fixture(autouse=True)
def without_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adapters.slack.connection.FIRST_RETRY_SECONDS", 0.01)
    monkeypatch.setattr("adapters.slack.connection.MAX_RETRY_SECONDS", 0.05)
    monkeypatch.setattr(BackoffRetryIntervalCalculator, "calculate_sleep_duration", lambda *_: 0.0)


# A socket.


@asynccontextmanager
async def connected(slack: FakeSlack, max_silence: float) -> AsyncIterator[Counter[str]]:
    """A connection; gives its signs of life and its reconnects."""
    signals, stop = Counter[str](), asyncio.Event()
    async with aiohttp.ClientSession() as session:
        client = ClientFactory(session, slack.base_url).build(slack.space.app.bot_token)
        app = AsyncApp(name="test", client=client, logger=client.logger)
        on_activity, on_reconnect = (partial(signals.update, [name]) for name in ("activity", "reconnects"))
        reports = SocketReports(on_activity, on_reconnect)
        connection = SocketConnection(app, slack.space.app.app_token, slack.clock, reports, max_silence)
        await connection.connect()
        await slack.wait_until_connected()
        watching = asyncio.create_task(connection.run(stop))
        try:
            yield signals
        finally:
            stop.set()
            await watching
            await connection.close()


async def test_a_silent_socket_is_replaced_until_slack_is_back(slack: FakeSlack) -> None:
    slack.fail_next("auth.test", "internal_error")
    async with connected(slack, 0.3) as signals:
        first = slack.socket.ready[0]
        await slack.wait_for(lambda: signals["reconnects"])
        assert slack.socket.ready[0] is not first
        assert len(slack.calls_to("auth.test")) >= 2


async def test_a_living_socket_is_kept(slack: FakeSlack) -> None:
    async with connected(slack, 30.0) as signals:
        first = slack.socket.ready[0]
        await slack.wait_for(lambda: signals["activity"])  # Slack says hello
        assert slack.socket.ready[0] is first
        assert not signals["reconnects"]


async def test_pongs_keep_a_silent_socket_whatever_the_clock_of_the_sdk_says(
    slack: FakeSlack, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("PING_INTERVAL", "CHECK_INTERVAL"):
        monkeypatch.setattr(f"adapters.slack.connection.{name}", 0.05)
    slack.clock.advance(timedelta(days=200).total_seconds())
    async with connected(slack, 30.0) as signals:
        first = slack.socket.ready[0]
        await slack.wait_for(lambda: signals["activity"] > 5)
        assert slack.socket.ready[0] is first
        assert not signals["reconnects"]


# The whole adapter.


@asynccontextmanager
async def serving(slack: FakeSlack) -> AsyncIterator[tuple[RecordingBot, asyncio.Task[None]]]:
    """The adapter, restarted as the program does."""
    bot: Any = RecordingBot(slack.clock)
    stop, supervisor = asyncio.Event(), Supervisor(SYSTEM_CLOCK, first_wait=0.01, longest_wait=0.05)
    task = PlatformConnection("slack", lambda: run(bot, settings_for(slack), stop), stop).start(supervisor)
    try:
        yield bot, task
    finally:
        stop.set()
        await asyncio.wait({task}, timeout=PATIENCE)
        await supervisor.stop()


async def check_alive(slack: FakeSlack, bot: RecordingBot) -> None:
    """A message reaches the bot."""
    ada = slack.user("Ada")
    await slack.wait_until_connected()
    await ada.says(slack.channel("roof", members=[ada]), "hello")
    await slack.wait_for(lambda: any(isinstance(event, MessageReceived) for event in bot.events))
    assert bot.suspended
    assert bot.reconciled


TRANSIENT = [
    Fault("error", error="internal_error"),
    Fault("error", error="fatal_error"),
    Fault("server", status=503),
    Fault("reset"),
    Fault("garbage"),
    Fault("strange"),
]


@pytest.mark.share(4)
@pytest.mark.parametrize("fault", TRANSIENT, ids=lambda fault: f"{fault.kind}-{fault.error}")
@pytest.mark.parametrize("method", ["auth.test", "apps.connections.open"])
async def test_a_transient_failure_at_the_start_is_retried(slack: FakeSlack, method: str, fault: Fault) -> None:
    slack.fail_next(method, fault, times=6)
    async with serving(slack) as (bot, task):
        await check_alive(slack, bot)
        assert not task.done()


async def test_a_refused_address_is_retried(slack: FakeSlack, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(slack.socket, "ticket", lambda: "used")
        patched.setattr("adapters.slack.connection.CONNECT_TIMEOUT", 0.5)
        async with serving(slack) as (bot, _):
            await slack.wait_for(lambda: len(slack.calls_to("apps.connections.open")) >= 2)
            patched.undo()
            await check_alive(slack, bot)


@pytest.mark.parametrize(
    ("method", "error", "setting"),
    [
        ("auth.test", "invalid_auth", "THREADLORE_SLACK_BOT_TOKEN"),
        ("auth.test", "token_revoked", "THREADLORE_SLACK_BOT_TOKEN"),
        ("auth.test", "account_inactive", "THREADLORE_SLACK_BOT_TOKEN"),
        ("apps.connections.open", "not_allowed_token_type", "THREADLORE_SLACK_APP_TOKEN"),
        ("apps.connections.open", "missing_scope", "THREADLORE_SLACK_APP_TOKEN"),
    ],
)
async def test_a_permanent_failure_names_the_setting(slack: FakeSlack, method: str, error: str, setting: str) -> None:
    slack.fail_next(method, error)
    async with serving(slack) as (_, task):
        with pytest.raises(SetupError, match=error) as refused:
            await asyncio.wait_for(task, PATIENCE)
        assert setting in str(refused.value)
        assert setting in refused.value.hint


async def test_a_token_that_is_revoked_later_ends_the_adapter(
    slack: FakeSlack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adapters.slack.connection.MAX_SILENCE", 0.3)
    async with serving(slack) as (bot, task):
        await check_alive(slack, bot)
        slack.space.revoked = "token_revoked"
        slack.socket.drop()
        with pytest.raises(SetupError, match="token_revoked"):
            await asyncio.wait_for(task, PATIENCE)


UNREADABLE_FRAMES = ("no JSON", "[]", "{}", '{"type": 7}', '{"type": "events_api", "envelope_id": "1"}')
UNREADABLE_EVENTS: list[dict[str, Any]] = [
    {"type": "message", "message": 3, "subtype": "message_changed"},
    {"type": "message", "files": 7, "user": {}},
    {"type": "message", "files": [3], "user": "U1"},
]


async def test_frames_and_events_that_cannot_be_parsed_do_not_end_the_connection(slack: FakeSlack) -> None:
    async with serving(slack) as (bot, task):
        await slack.wait_until_connected()
        for frame in UNREADABLE_FRAMES:
            await slack.socket.ready[0].ws.send_str(frame)
        for number, event in enumerate(UNREADABLE_EVENTS):
            payload = {"type": "event_callback", "event_id": f"Ev{number}", "event": event}
            slack.socket.deliver("events_api", payload)
        await slack.wait_until_delivered()
        await check_alive(slack, bot)
        assert not task.done()


async def test_an_unreadable_event_that_may_concern_channels_leads_to_a_reconciliation(slack: FakeSlack) -> None:
    async with serving(slack) as (bot, _):
        await slack.wait_for(lambda: bot.reconciled == 1)
        event = {"type": "tokens_revoked", "tokens": 5}
        slack.socket.deliver("events_api", {"type": "event_callback", "event_id": "Ev1", "event": event})
        await slack.wait_until_delivered()
        await slack.wait_for(lambda: bot.reconciled == 2)
