"""A platform that is out of order for longer than any number of tries: nothing that it told of before is given up."""

from __future__ import annotations

import pytest
from slack_sdk.http_retry.builtin_interval_calculators import BackoffRetryIntervalCalculator

from bot.dispatch import event_queue
from engine.models import Scope
from tests.support.slack_server import Fault
from tests.support.town.live_bot import LiveBot
from tests.support.town.protocol import TownFile
from tests.support.town.slack import SlackTown
from tests.support.verbatim_language import find_secrets

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.platforms("slack"),
    pytest.mark.usefixtures("impatient"),
]
MANY_FAILURES = 10_000  # failing calls: more than there will be


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits between two attempts."""
    monkeypatch.setattr("adapters.slack.retries.MAX_WRITE_ATTEMPTS", 1)
    monkeypatch.setattr("adapters.common.download.MAX_ATTEMPTS", 1)
    monkeypatch.setattr(BackoffRetryIntervalCalculator, "calculate_sleep_duration", lambda *_: 0.0)
    monkeypatch.setattr(event_queue, "MAX_ATTEMPTS", 2)
    monkeypatch.setattr(event_queue, "FIRST_DELAY", 0.01)
    monkeypatch.setattr(event_queue, "MAX_DELAY", 0.01)


@pytest.fixture
def postponed(live: LiveBot[SlackTown], monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Every postponement of an event."""
    postpone, seen = live.bot.event_queue._postpone, list[object]()

    async def counted(*given: object) -> None:
        seen.append(given)
        await postpone(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(live.bot.event_queue, "_postpone", counted)
    return seen


@pytest.mark.long
@pytest.mark.parametrize("fault", [Fault("server", status=503), Fault("error")], ids=lambda fault: fault.kind)
async def test_question_is_answered_after_a_long_outage(
    live: LiveBot[SlackTown], postponed: list[object], fault: Fault
) -> None:
    live.town.add_channel("square", "ada")
    await live.post_passwords(square="agate")
    live.town.slack.fail_next("*", fault, times=MANY_FAILURES)
    asked = await live.town.ask("ada", "square")
    await live.wait_for(lambda: len(postponed) > 2 * event_queue.MAX_ATTEMPTS)
    [trouble] = (await live.engine.maintenance.get_status(Scope(frozenset(), frozenset()))).background
    assert "slack" in trouble
    assert trouble in await live.bot.limitations()
    live.town.clear_faults()
    await live.wait_for(lambda: live.text(asked))
    assert find_secrets(await live.answer(asked)) == "agate"
    assert await live.bot.limitations() == []


@pytest.mark.long
async def test_file_is_ingested_after_a_long_download_outage(live: LiveBot[SlackTown], postponed: list[object]) -> None:
    live.town.slack.fail_next("download", Fault("server", status=502), times=MANY_FAILURES)
    await live.town.say("ada", "", "Read this.", files=[TownFile()])
    await live.wait_for(lambda: len(postponed) > 2 * event_queue.MAX_ATTEMPTS)
    live.town.clear_faults()
    await live.wait_for(lambda: not live.bot.event_queue._outages.describe())
    await live.wait_until_idle()
    assert find_secrets(await live.ask("ada")) == "emerald"
