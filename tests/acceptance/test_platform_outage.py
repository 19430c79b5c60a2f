"""A platform that is out of order for longer than any number of tries: nothing that it told of before is given up."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from slack_sdk.http_retry.builtin_interval_calculators import BackoffRetryIntervalCalculator

from bot.dispatch import event_queue
from engine.models import Scope
from tests.support.slack_server import Fault, File
from tests.support.verbatim_language import QUESTION, find_secrets

if TYPE_CHECKING:
    from tests.support.town.slack_bot import SlackBotFixture

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.usefixtures("impatient")]

PAGES = File("manual.md", b"# The safe\n\nThe password of the safe is emerald.\n", "text/markdown")
MANY_FAILURES = 10_000  # failing calls: more than there will be


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits between two attempts."""
    monkeypatch.setattr("adapters.slack.api.retries.MAX_WRITE_ATTEMPTS", 1)
    monkeypatch.setattr("adapters.common.download.MAX_ATTEMPTS", 1)
    monkeypatch.setattr(BackoffRetryIntervalCalculator, "calculate_sleep_duration", lambda *_: 0.0)
    monkeypatch.setattr(event_queue, "MAX_ATTEMPTS", 2)
    monkeypatch.setattr(event_queue, "FIRST_DELAY", 0.01)
    monkeypatch.setattr(event_queue, "MAX_DELAY", 0.01)


class RetryCounter:
    """Counts how often events were postponed, and are still being so."""

    def __init__(self, house: SlackBotFixture, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        postpone = house.bot.event_queue._postpone

        async def counted(*given: object) -> None:
            self.count += 1
            await postpone(*given)  # type: ignore[arg-type]

        monkeypatch.setattr(house.bot.event_queue, "_postpone", counted)


@pytest.mark.parametrize(
    "fault",
    [Fault("server", status=503), Fault("reset"), Fault("error")],
    ids=lambda fault: fault.kind,
)
async def test_question_is_answered_after_a_long_outage(
    house: SlackBotFixture, fault: Fault, monkeypatch: pytest.MonkeyPatch
) -> None:
    slack, tries = house.slack, RetryCounter(house, monkeypatch)
    ada = slack.user("Ada")
    square = slack.channel("square", members=[ada])
    await house.post_passwords({square: "agate"})
    slack.fail_next("*", fault, times=MANY_FAILURES)
    asked = await ada.mentions(square, QUESTION)
    await slack.wait_for(lambda: tries.count > 2 * event_queue.MAX_ATTEMPTS, 20, "for many tries")
    [trouble] = (await house.engine.get_status(Scope(frozenset(), frozenset()))).background
    assert "slack" in trouble
    assert trouble in await house.bot.limitations()
    slack.faults.clear()
    await slack.wait_for(lambda: house.answer_text(ada, asked), 20, "for an answer")
    await house.wait_until_idle()
    assert find_secrets(house.answer_text(ada, asked)) == "agate"
    assert await house.bot.limitations() == []


async def test_file_is_ingested_after_a_long_download_outage(
    house: SlackBotFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    slack, tries = house.slack, RetryCounter(house, monkeypatch)
    ada = slack.user("Ada")
    slack.fail_next("download", Fault("server", status=502), times=MANY_FAILURES)
    await ada.says(ada.direct, "Read this.", files=[PAGES])
    await slack.wait_for(lambda: tries.count > 2 * event_queue.MAX_ATTEMPTS, 20, "for many tries")
    slack.faults.clear()
    await slack.wait_for(lambda: not house.bot.event_queue._delayed.describe_outages(), 20, "for the file")
    await house.wait_until_idle()
    assert find_secrets(await house.ask_in_dm(ada)) == "emerald"
