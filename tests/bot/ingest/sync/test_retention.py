"""A deletion by age that looks like a mistake waits for a person."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from bot import texts
from bot.context import BotContext
from bot.ingest.documents import ConversationDocuments
from bot.ingest.sync import retention as retention_module
from bot.ingest.sync.retention import MAX_LEAP, Retention, confirm_held
from bot.platform.models import Person
from engine.errors import NotFound
from tests.support.bot_fixture import BotFixture
from tests.support.builders import ROOF
from tests.support.fake_platform import START
from tests.support.steps import DAY, run_steps, say

pytestmark = pytest.mark.usefixtures("roof")
TWO_YEARS = timedelta(days=730)


def open_retention(bot: BotFixture, days: int = 10) -> tuple[Retention, BotContext]:
    context = bot.with_settings(retention_days=days)
    return Retention(context, ConversationDocuments(context)), context


async def texts_of(bot: BotFixture) -> list[str]:
    return [text for found in (await bot.document_texts(ROOF)).values() for text in found]


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two documents are many."""
    monkeypatch.setattr(retention_module, "MAX_UNCONFIRMED", 1)


async def post_days(bot: BotFixture, count: int) -> datetime:
    """A conversation on each day; the time of the last one."""
    await run_steps(bot, [say("ada", f"Day {day}.", after=DAY if day else 0.0) for day in range(count)])
    return START + timedelta(days=count - 1)


@pytest.mark.parametrize("has_run", [False, True])
async def test_a_clock_two_years_ahead_deletes_nothing_until_that_is_confirmed(
    bot: BotFixture, *, has_run: bool
) -> None:
    bot.platform.people["ada"] = Person("ada", "Ada", is_manager=True)
    last = await post_days(bot, 3)
    retention, _ = open_retention(bot)
    if has_run:
        await retention.delete_expired(last)
    for hours in range(3):
        await retention.delete_expired(last + TWO_YEARS + timedelta(hours=hours))
    assert len(await texts_of(bot)) == 3
    [problem] = await bot.engine.list_problems()
    assert "3 documents of 3" in problem
    assert "the clock is far from the newest event" in problem
    assert "`threadlore retention confirm`" in problem
    told = [(place.channel, card.text) for place, card in bot.platform.posts if "`threadlore retention" in card.text]
    assert told == [("Dada", texts.RETENTION_HELD)]
    await retention.delete_expired(last + timedelta(days=1))  # the clock is right again
    assert (await bot.engine.list_problems(), len(await texts_of(bot))) == ([], 3)


async def test_a_confirmed_deletion_deletes_what_was_named_and_no_more(bot: BotFixture) -> None:
    last = await post_days(bot, 4)
    retention, context = open_retention(bot)
    with pytest.raises(NotFound):
        await confirm_held(context.store)
    late = last + MAX_LEAP + timedelta(hours=1)
    await retention.delete_expired(late)
    held = await confirm_held(context.store)
    assert (held.documents, held.total) == (4, 4)
    await retention.continue_held(late)
    assert await texts_of(bot) == []
    assert await bot.engine.list_problems() == []


@pytest.mark.usefixtures("few")
async def test_an_unusually_large_deletion_waits_but_not_the_first_of_a_new_period(bot: BotFixture) -> None:
    last = await post_days(bot, 12)
    retention, _ = open_retention(bot, 10)
    await retention.delete_expired(last)
    assert len(await texts_of(bot)) == 11  # first run
    await retention.delete_expired(last + timedelta(days=3))
    assert len(await texts_of(bot)) == 11
    [problem] = await bot.engine.list_problems()
    assert "3 documents of 11" in problem
    assert "that is unusually much" in problem
    shorter, _ = open_retention(bot, 5)
    await shorter.delete_expired(last + timedelta(days=3))
    assert len(await texts_of(bot)) == 3


@pytest.mark.usefixtures("few")
async def test_what_a_day_brings_goes_without_a_question(bot: BotFixture) -> None:
    last = await post_days(bot, 12)
    retention, _ = open_retention(bot, 10)
    for day in range(5):
        await retention.delete_expired(last + timedelta(days=day))
    assert len(await texts_of(bot)) == 7
    assert await bot.engine.list_problems() == []
