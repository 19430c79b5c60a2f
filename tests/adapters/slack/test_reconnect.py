"""Slack that cannot be reached is tried again, at the start and later; a token that it refuses is told in words."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest
from slack_sdk.http_retry.builtin_interval_calculators import BackoffRetryIntervalCalculator

from adapters.slack import run
from bot.errors import SetupError
from bot.platform.events import MessageReceived
from bot.server import PlatformConnection
from engine.scheduling.supervisor import Supervisor
from tests.adapters.slack.conftest import settings_for
from tests.adapters.slack.events.test_listener import Ear
from tests.support.slack_server import Fault

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.support.slack_server import FakeSlack

pytestmark = pytest.mark.usefixtures("impatient")


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adapters.slack.connection.FIRST_RETRY_SECONDS", 0.01)
    monkeypatch.setattr("adapters.slack.connection.MAX_RETRY_SECONDS", 0.05)
    monkeypatch.setattr("adapters.slack.connection.CONNECT_TIMEOUT", 0.5)
    monkeypatch.setattr(BackoffRetryIntervalCalculator, "calculate_sleep_duration", lambda *_: 0.0)


@asynccontextmanager
async def serving(slack: FakeSlack) -> AsyncIterator[tuple[Ear, asyncio.Task[None]]]:
    """The adapter, begun again as the program does."""
    bot: Any = Ear()
    stop, supervisor = asyncio.Event(), Supervisor(first_wait=0.01, longest_wait=0.05)
    task = PlatformConnection("slack", lambda: run(bot, settings_for(slack), stop), stop).start(supervisor)
    try:
        yield bot, task
    finally:
        stop.set()
        await asyncio.wait({task}, timeout=10)
        await supervisor.stop()


async def hears(slack: FakeSlack, ear: Ear) -> None:
    """Somebody says something, and the bot is told."""
    ada = slack.user("Ada")
    await slack.wait_until_connected(timeout=20)
    await ada.says(slack.channel("roof", members=[ada]), "hello")
    await slack.wait_for(lambda: any(isinstance(each, MessageReceived) for each in ear.heard), 10)
    assert ear.doubts
    assert ear.caught_up


PASSING = [
    Fault("error", error="internal_error"),
    Fault("error", error="fatal_error"),
    Fault("server", status=503),
    Fault("reset"),
    Fault("garbage"),
    Fault("strange"),
]


@pytest.mark.parametrize("fault", PASSING, ids=lambda fault: f"{fault.kind}-{fault.error}")
@pytest.mark.parametrize("method", ["auth.test", "apps.connections.open"])
async def test_what_may_pass_at_the_start_is_tried_again(slack: FakeSlack, method: str, fault: Fault) -> None:
    slack.fail_next(method, fault, times=6)
    async with serving(slack) as (ear, task):
        await hears(slack, ear)
        assert not task.done()


async def test_an_address_that_nobody_listens_at_is_tried_again(slack: FakeSlack) -> None:
    tickets = slack.socket.ticket
    slack.socket.ticket = lambda: "used"  # type: ignore[method-assign]
    async with serving(slack) as (ear, _):
        await slack.wait_for(lambda: len(slack.calls_to("apps.connections.open")) >= 2, 20)
        slack.socket.ticket = tickets  # type: ignore[method-assign]
        await hears(slack, ear)


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
async def test_what_only_a_person_can_change_is_told_with_the_way_out(
    slack: FakeSlack, method: str, error: str, setting: str
) -> None:
    slack.fail_next(method, error)
    async with serving(slack) as (_, task):
        with pytest.raises(SetupError, match=error) as refused:
            await asyncio.wait_for(task, 10)
        assert setting in str(refused.value)
        assert setting in refused.value.hint


async def test_a_token_that_is_revoked_later_ends_it_too(slack: FakeSlack, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adapters.slack.connection.MAX_SILENCE", 0.3)
    async with serving(slack) as (ear, task):
        await hears(slack, ear)
        slack.space.revoked = "token_revoked"
        slack.socket.drop()
        with pytest.raises(SetupError, match="token_revoked"):
            await asyncio.wait_for(task, 60)


@pytest.mark.parametrize("frame", ["no JSON", "[]", "{}", '{"type": 7}', '{"type": "events_api", "envelope_id": "1"}'])
async def test_a_frame_that_cannot_be_parsed_does_not_end_the_connection(slack: FakeSlack, frame: str) -> None:
    async with serving(slack) as (ear, task):
        await slack.wait_until_connected()
        await slack.socket.ready[0].ws.send_str(frame)
        await hears(slack, ear)
        assert not task.done()


@pytest.mark.parametrize(
    "event",
    [
        {"message": 3, "subtype": "message_changed"},
        {"files": 7, "user": {}},
        {"files": [3], "user": "U1"},
    ],
)
async def test_an_event_that_cannot_be_parsed_is_acknowledged(slack: FakeSlack, event: Any) -> None:
    async with serving(slack) as (ear, _):
        await slack.wait_until_connected()
        slack.socket.deliver(
            "events_api", {"type": "event_callback", "event_id": "Ev1", "event": {"type": "message", **event}}
        )
        await slack.wait_until_delivered()
        await hears(slack, ear)


async def test_one_that_may_concern_channels_and_cannot_be_parsed_is_made_up_for(slack: FakeSlack) -> None:
    async with serving(slack) as (ear, _):
        await slack.wait_until_connected()
        await slack.wait_for(lambda: ear.caught_up == 1)
        event = {"type": "tokens_revoked", "tokens": 5}
        slack.socket.deliver("events_api", {"type": "event_callback", "event_id": "Ev1", "event": event})
        await slack.wait_until_delivered()
        await slack.wait_for(lambda: ear.caught_up == 2)
