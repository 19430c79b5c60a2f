"""A platform that is out of order for longer than any number of tries: nothing that it told of before is given up."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from slack_sdk.http_retry.builtin_interval_calculators import BackoffRetryIntervalCalculator

from bot.dispatch import event_queue
from engine.models import Scope
from tests.support.gossip import QUESTION, told
from tests.support.slack_server import Fault, File

if TYPE_CHECKING:
    from tests.support.town.slack import House

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.usefixtures("impatient")]

PAGES = File("manual.md", b"# The safe\n\nThe password of the safe is emerald.\n", "text/markdown")
LONG = 10_000  # failing calls: more than there will be


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits between two attempts."""
    for module in ("api.retries", "workspace.files"):
        monkeypatch.setattr(f"adapters.slack.{module}.ATTEMPTS", 1)
    monkeypatch.setattr("adapters.slack.workspace.files.Again.__init__", lambda self, _: setattr(self, "seconds", 0.0))
    monkeypatch.setattr(BackoffRetryIntervalCalculator, "calculate_sleep_duration", lambda *_: 0.0)
    monkeypatch.setattr(event_queue, "TRIES", 2)
    monkeypatch.setattr(event_queue, "FIRST", 0.01)
    monkeypatch.setattr(event_queue, "LONGEST", 0.01)


class Tries:
    """Counts how often events were postponed, and are still being so."""

    def __init__(self, house: House, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        postpone = house.bot.inbox._postpone

        async def counted(*given: object) -> None:
            self.count += 1
            await postpone(*given)  # type: ignore[arg-type]

        monkeypatch.setattr(house.bot.inbox, "_postpone", counted)


@pytest.mark.parametrize(
    "fault",
    [Fault("server", status=503), Fault("reset"), Fault("error")],
    ids=lambda fault: fault.kind,
)
async def test_a_question_is_answered_after_an_outage_of_more_tries_than_a_refusal_gets(
    house: House, fault: Fault, monkeypatch: pytest.MonkeyPatch
) -> None:
    slack, tries = house.slack, Tries(house, monkeypatch)
    ada = slack.user("Ada")
    square = slack.channel("square", members=[ada])
    await house.safe({square: "agate"})
    slack.fails("*", fault, times=LONG)
    asked = await ada.mentions(square, QUESTION)
    await slack.until(lambda: tries.count > 2 * event_queue.TRIES, 20, "for many tries")
    [trouble] = (await house.engine.status(Scope(frozenset(), frozenset()))).background
    assert "slack" in trouble
    assert trouble in await house.bot.limitations()
    slack.faults.clear()
    await slack.until(lambda: house.answer(ada, asked), 20, "for an answer")
    await house.settled()
    assert told(house.answer(ada, asked)) == "agate"
    assert await house.bot.limitations() == []


async def test_a_file_is_taken_in_after_a_long_outage_of_downloads(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    slack, tries = house.slack, Tries(house, monkeypatch)
    ada = slack.user("Ada")
    slack.fails("download", Fault("server", status=502), times=LONG)
    await ada.says(ada.direct, "Read this.", files=[PAGES])
    await slack.until(lambda: tries.count > 2 * event_queue.TRIES, 20, "for many tries")
    slack.faults.clear()
    await slack.until(lambda: not house.bot.inbox._delayed.sentences(), 20, "for the file")
    await house.settled()
    assert told(await house.in_private(ada)) == "emerald"
