from __future__ import annotations

import asyncio
import gzip
import io
import json
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from adapters.slack import run
from adapters.slack.delivery_watch import DeliveryWatch, shows_missed_events
from adapters.slack.http_receiver import MAX_BODY, MAX_CONNECTIONS, PATH
from bot.errors import PortInUse, SetupError
from bot.platform.events import CommandInvoked, MessageReceived
from engine.clock import SYSTEM_CLOCK
from tests.adapters.recording_bot import RecordingBot
from tests.adapters.slack.scene import settings_for
from tests.support.patience import PATIENCE
from tests.support.raw_http import holding
from tests.support.slack_server import FakeSlack, Person, Room, Timing
from tests.support.slack_server.request_url import RequestUrl, encode_payload, sign
from tests.support.slack_server.state import Message
from tests.support.town.slack import SlackHttpTown

NOW = 1_800_000_000.0
EVENT = {"type": "event_callback", "team_id": "T", "event_id": "Ev1", "event": {"type": "app_home_opened"}}


@pytest.mark.parametrize(
    ("headers", "body", "expected"),
    [
        ({}, {}, False),
        ({}, {"event_time": int(NOW) - 5}, False),
        ({}, {"event_time": int(NOW) - 61}, True),
        ({"x-slack-retry-num": ["0"]}, {}, False),
        ({"x-slack-retry-num": ["1"], "x-slack-retry-reason": ["http_timeout"]}, {}, True),
        ({}, {"event_time": "yesterday"}, False),
    ],
)
def test_late_and_repeated_deliveries_show_missed_events(
    headers: Mapping[str, Any], body: Mapping[str, Any], *, expected: bool
) -> None:
    assert shows_missed_events(headers, body, NOW) is expected


@asynccontextmanager
async def serving(town: SlackHttpTown, **changes: str) -> AsyncIterator[RecordingBot]:
    """The adapter in HTTP mode."""
    bot: Any = RecordingBot(town.clock)
    settings, stop = settings_for(town.slack, **{**town.adapter_settings, **changes}), asyncio.Event()
    bot.settings = settings.model_copy(update={"membership_cache_seconds": 0.0})
    task = asyncio.create_task(run(bot, settings, stop))
    try:
        await town.wait_for(lambda: town.is_connected or task.done())
        yield bot
    finally:
        stop.set()
        await task


@pytest.fixture
async def town() -> AsyncIterator[SlackHttpTown]:
    async with SlackHttpTown(FakeSlack(timing=Timing(retries=()))) as opened:
        yield opened


@pytest.fixture
async def bot(town: SlackHttpTown) -> AsyncIterator[RecordingBot]:
    async with serving(town) as opened:
        yield opened


def members(town: SlackHttpTown) -> tuple[Person, Room]:
    ada = town.slack.user("Ada")
    return ada, town.slack.channel("roof", members=[ada])


async def post(town: SlackHttpTown, body: str | bytes, headers: Mapping[str, str]) -> int:
    """The status of the answer to a request."""
    url = f"http://127.0.0.1:{town.port}{PATH}"
    async with aiohttp.ClientSession() as session, session.post(url, data=body, headers=headers) as response:
        return response.status


def commands(bot: RecordingBot) -> list[str]:
    return [event.command for event in bot.all(CommandInvoked)]


async def test_messages_and_commands_arrive(town: SlackHttpTown, bot: RecordingBot) -> None:
    ada, roof = members(town)
    await ada.says(roof, "hello")
    await ada.slash(roof, "status")
    await town.slack.wait_until_delivered()
    assert [event.message.text for event in bot.all(MessageReceived)] == ["hello"]
    assert commands(bot) == ["status"]
    assert bot.suspended
    assert bot.reconciled == 1


async def test_signatures_are_as_old_as_the_clock_of_the_bot_says(town: SlackHttpTown) -> None:
    town.clock.advance(timedelta(days=200).total_seconds())
    async with serving(town) as bot:
        ada, roof = members(town)
        await ada.says(roof, "hello")
        await town.slack.wait_until_delivered()
        assert len(bot.all(MessageReceived)) == 1


COMMAND = encode_payload("slash_commands", {"command": "/threadlore", "text": "status", "trigger_id": "1.2"})


FORGERIES: dict[str, Callable[[float], dict[str, str]]] = {
    "unsigned": lambda _: {},
    "another secret": lambda now: sign(COMMAND[0], now, "another secret"),
    "altered": lambda now: sign(COMMAND[0] + " ", now),
    "old": lambda now: sign(COMMAND[0], now - 301),
    "future": lambda now: sign(COMMAND[0], now + 310),
    "a time of 4,300 digits": lambda now: {**sign(COMMAND[0], now), "X-Slack-Request-Timestamp": "1" * 4301},
    "no time": lambda now: {**sign(COMMAND[0], now), "X-Slack-Request-Timestamp": "today"},
    "signature in Greek": lambda now: {**sign(COMMAND[0], now), "X-Slack-Signature": "v0=αβγ"},
    "no signature": lambda now: {**sign(COMMAND[0], now), "X-Slack-Signature": "v0="},
}


@pytest.mark.parametrize("forgery", FORGERIES)
async def test_a_request_that_slack_did_not_sign_now_does_nothing(
    town: SlackHttpTown, bot: RecordingBot, forgery: str
) -> None:
    headers = FORGERIES[forgery](town.clock.time())
    assert await post(town, COMMAND[0], {**headers, "Content-Type": COMMAND[1]}) == 401
    assert await post(town, f"ssl_check=1&{COMMAND[0]}", {**headers, "Content-Type": COMMAND[1]}) == 401
    assert not bot.events


async def test_a_replayed_request_has_no_second_effect(town: SlackHttpTown, bot: RecordingBot) -> None:
    headers = {**sign(COMMAND[0], town.clock.time()), "Content-Type": COMMAND[1]}
    assert [await post(town, COMMAND[0], headers) for _ in range(2)] == [200, 200]
    assert commands(bot) == ["status"]


async def test_the_url_is_verified_by_its_challenge(town: SlackHttpTown, bot: RecordingBot) -> None:
    body = json.dumps({"type": "url_verification", "challenge": "abc"})
    url = f"http://127.0.0.1:{town.port}{PATH}"
    headers = {**sign(body, town.clock.time()), "Content-Type": "application/json"}
    async with aiohttp.ClientSession() as session:
        async with session.post(url, data=body, headers=headers) as response:
            assert (await response.json())["challenge"] == "abc"
        async with session.get(url, params={"ssl_check": "1"}) as response:
            assert response.status == 200


async def test_a_stranger_does_not_choose_the_decoder(town: SlackHttpTown, bot: RecordingBot) -> None:
    body = b"a-" * 100_000
    began = time.process_time()
    for charset in ("punycode", "no-such-charset"):
        assert await post(town, body, {"Content-Type": f"application/json; charset={charset}"}) == 401
    assert time.process_time() - began < 1
    assert not bot.events


@pytest.mark.long
async def test_nothing_is_unpacked_for_a_stranger(town: SlackHttpTown, bot: RecordingBot) -> None:
    packed = gzip.compress(bytes(2**30 // 4), compresslevel=1)
    headers = {
        **sign(packed.decode("latin-1"), town.clock.time()),
        "Content-Encoding": "gzip",
        "Content-Type": "application/json",
    }
    began = time.process_time()
    assert await post(town, packed[:1_000_000], headers) == 415
    assert time.process_time() - began < 0.5
    assert not bot.events


HALF = b"POST /slack/events HTTP/1.1\r\nHost: he"
UNFINISHED = b"POST /slack/events HTTP/1.1\r\nHost: here\r\nContent-Length: 999\r\n\r\n{"


@pytest.mark.share(2)
@pytest.mark.parametrize("sent", [HALF, UNFINISHED], ids=["heads", "bodies"])
async def test_events_arrive_while_a_stranger_keeps_connections_open(
    town: SlackHttpTown, bot: RecordingBot, sent: bytes
) -> None:
    ada, roof = members(town)
    before = count_open_files()
    async with holding(town.port, 400, sent):
        await ada.says(roof, "still there?")
        await town.slack.wait_until_delivered()
        kept = count_open_files() - before - 400  # the stranger's ends are in this process, too
    assert [event.message.text for event in bot.all(MessageReceived)] == ["still there?"]
    assert kept < MAX_CONNECTIONS + 20


def count_open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


async def test_dropped_events_are_reconciled(town: SlackHttpTown, bot: RecordingBot) -> None:
    body = json.dumps({"type": "app_rate_limited", "team_id": "T", "minute_rate_limited": 1, "api_app_id": "A"})
    assert await post(town, body, {**sign(body, town.clock.time()), "Content-Type": "application/json"}) == 200
    await town.wait_for(lambda: bot.reconciled == 2)
    assert bot.suspended > 1


@pytest.mark.parametrize("body", [b"\xff\xfe{", b"{" * 5000, b"[]", b"null", b"", b"[" * 100_000])
async def test_hostile_bodies_are_refused_or_ignored(town: SlackHttpTown, bot: RecordingBot, body: bytes) -> None:
    text = body.decode(errors="replace")
    assert await post(town, body, {**sign(text, town.clock.time()), "Content-Type": "application/json"}) in {
        400,
        401,
        404,
    }
    ada, roof = members(town)
    await ada.says(roof, "still there?")
    await town.slack.wait_until_delivered()
    assert bot.all(MessageReceived)


async def test_a_huge_body_is_refused(town: SlackHttpTown, bot: RecordingBot) -> None:
    body = io.BytesIO(b"x" * (MAX_BODY + 1))
    url = f"http://127.0.0.1:{town.port}{PATH}"
    async with aiohttp.ClientSession() as session, session.post(url, data=body) as response:
        assert response.status == 413


async def test_an_event_that_cannot_be_stored_is_not_acknowledged(town: SlackHttpTown, bot: RecordingBot) -> None:
    bot.failures = 1
    ada, roof = members(town)
    await ada.says(roof, "hello")
    await town.slack.wait_for(lambda: [delivery.lost for delivery in town.slack.socket.deliveries] == ["http_error"])


async def test_a_repeated_delivery_suspends_visibility_first_and_reconciles(
    town: SlackHttpTown, bot: RecordingBot
) -> None:
    ada, roof = members(town)
    await ada.says(roof, "hello")
    await town.slack.wait_until_delivered()
    before = bot.suspended
    town.slack.redelivers("message")
    await town.slack.wait_for(lambda: bot.reconciled == 2)
    assert bot.suspended > before


async def test_a_repeated_delivery_of_what_the_bot_posted_itself_shows_missed_events_too(
    town: SlackHttpTown, bot: RecordingBot
) -> None:
    _, roof = members(town)
    space = town.slack.space
    town.slack.changes.post(roof.channel, Message(space.new_ts(), roof.id, space.bot.id, "The tiles come on Monday."))
    await town.slack.wait_until_delivered()
    before = bot.suspended
    town.slack.redelivers("message")
    await town.slack.wait_for(lambda: bot.reconciled == 2)
    assert bot.suspended > before
    assert bot.all(MessageReceived) == []


async def test_a_delivery_that_shows_missed_events_is_acknowledged_when_all_processes_know(
    town: SlackHttpTown, bot: RecordingBot
) -> None:
    ada, roof = members(town)
    await ada.says(roof, "hello")
    await town.slack.wait_until_delivered()
    before = bot.suspended
    bot.suspensions_saved.clear()
    town.slack.redelivers("message")
    await town.slack.wait_for(lambda: bot.suspended > before)
    again = town.slack.socket.deliveries[-1]
    assert not again.is_done
    bot.suspensions_saved.set()
    await town.slack.wait_for(again.acked.is_set)


async def happens(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not condition():  # noqa: ASYNC110 - there is no event for it
            await asyncio.sleep(0.01)


class CountingListener:
    """Counts what a watch asks of the listener of its workspace."""

    def __init__(self) -> None:
        self.checks = 0

    async def check_api(self) -> None:
        self.checks += 1


async def test_of_several_processes_one_compares_audiences_until_it_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adapters.slack.delivery_watch.MIN_REFRESH_SECONDS", 0.01)
    bots, listeners = [RecordingBot(SYSTEM_CLOCK) for _ in "ab"], [CountingListener(), CountingListener()]
    for each in bots:
        each.processes = bots[0].processes
        each.settings = each.settings.model_copy(update={"membership_cache_seconds": 0.01})
    here, there = (DeliveryWatch(bot, listener, "T1") for bot, listener in zip(bots, listeners, strict=True))  # type: ignore[arg-type]
    here.start()
    await happens(lambda: bots[0].refreshed)
    there.start()
    await happens(lambda: listeners[1].checks > 2)
    assert bots[1].refreshed == 0
    await here.close()
    await happens(lambda: bots[1].refreshed)
    await there.close()


async def test_audiences_are_compared_at_intervals(town: SlackHttpTown, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adapters.slack.delivery_watch.MIN_REFRESH_SECONDS", 0.01)
    async with serving(town) as bot:
        await town.wait_for(lambda: bot.refreshed > 2 and bot.active > 2)


async def test_a_missing_secret_and_a_used_port_are_explained(town: SlackHttpTown) -> None:
    with pytest.raises(SetupError, match="THREADLORE_SLACK_SIGNING_SECRET"):
        async with serving(town, slack_signing_secret=""):
            pass
    runner = web.AppRunner(web.Application())
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", town.port).start()
    with pytest.raises(PortInUse, match="THREADLORE_SLACK_HTTP_PORT"):
        async with serving(town):
            pass
    await runner.cleanup()


async def test_a_request_url_that_answers_nothing_is_a_timeout(town: SlackHttpTown) -> None:
    async def read(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    server = await asyncio.start_server(read, "127.0.0.1", 0)
    url = RequestUrl(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/", town.clock)
    assert await url.post("events_api", EVENT, 0, "", 0.05) == ("http_timeout", None)
    server.close()
