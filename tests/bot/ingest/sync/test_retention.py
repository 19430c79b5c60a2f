"""A deletion by age that looks like a mistake waits for a person."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from bot import texts
from bot.context import BotContext
from bot.errors import PlatformUnavailable
from bot.ingest.documents import ConversationDocuments
from bot.ingest.sync import manager_notices
from bot.ingest.sync import retention as retention_module
from bot.ingest.sync.retention import MAX_LEAP, TELL_INTERVAL_SECONDS, Retention, confirm_held
from bot.platform.models import Person
from bot.store import FileRecord, MessageRecord
from bot.store.access.audit_log import OWNER, AuditEvent, AuditFilter
from engine.errors import NotFound
from tests.support.bot_fixture import BotFixture, run_before
from tests.support.builders import ROOF
from tests.support.clock import ManualClock
from tests.support.fake_platform import START
from tests.support.steps import DAY, run_steps, say

pytestmark = pytest.mark.usefixtures("roof")
TWO_YEARS = timedelta(days=730)


def open_retention(bot: BotFixture, days: int = 10) -> tuple[Retention, BotContext]:
    context = bot.with_settings(retention_days=days)
    return Retention(context, ConversationDocuments(context)), context


async def texts_of(bot: BotFixture) -> list[str]:
    return [text for found in (await bot.document_texts(ROOF)).values() for text in found]


def told(bot: BotFixture) -> list[str]:
    """The channels where it was told that a deletion waits."""
    return [place.channel for place, card in bot.platform.posts if card.text == texts.RETENTION_HELD]


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
    [problem] = await bot.engine.maintenance.list_problems()
    assert "3 documents of 3" in problem
    assert "the clock is far from the newest event" in problem
    assert "`threadlore retention confirm`" in problem
    assert told(bot) == ["Dada"]
    await retention.delete_expired(last + timedelta(days=1))  # the clock is right again
    assert (await bot.engine.maintenance.list_problems(), len(await texts_of(bot))) == ([], 3)


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
    assert await bot.engine.maintenance.list_problems() == []


@pytest.mark.usefixtures("few")
async def test_an_unusually_large_deletion_waits_but_not_the_first_of_a_new_period(bot: BotFixture) -> None:
    last = await post_days(bot, 12)
    retention, _ = open_retention(bot, 10)
    await retention.delete_expired(last)
    assert len(await texts_of(bot)) == 11  # first run
    await retention.delete_expired(last + timedelta(days=3))
    assert len(await texts_of(bot)) == 11
    [problem] = await bot.engine.maintenance.list_problems()
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
    assert await bot.engine.maintenance.list_problems() == []


def dated_file(time: datetime) -> FileRecord:
    return FileRecord(f"{ROOF.room}:file:c1:F1", ROOF.room, "c1", "F1", "ada", time)


async def test_a_file_dated_by_the_wrong_clock_does_not_release_what_is_held(bot: BotFixture) -> None:
    last = await post_days(bot, 3)
    retention, context = open_retention(bot)
    late = last + TWO_YEARS
    await retention.delete_expired(late)
    await context.store.files.insert(dated_file(late + timedelta(minutes=5)))
    await retention.delete_expired(late + timedelta(hours=1))
    restarted, _ = open_retention(bot)
    await restarted.delete_expired(late + timedelta(hours=2))
    assert len(await texts_of(bot)) == 3
    await restarted.delete_expired(last + timedelta(days=1))  # the clock is right again
    assert (await context.store.retention.load()).held is None


async def test_what_the_clock_held_waits_even_if_messages_come_with_its_time(bot: BotFixture) -> None:
    last = await post_days(bot, 3)
    retention, context = open_retention(bot)
    late = last + TWO_YEARS
    await retention.delete_expired(late)
    await bot.post(ROOF, "ada", "Two years later.", after=TWO_YEARS.total_seconds())
    await retention.delete_expired(late + timedelta(hours=1))
    assert len(await texts_of(bot)) == 4
    await confirm_held(context.store)
    await retention.continue_held(late + timedelta(hours=1))
    assert await texts_of(bot) == ["Ada: Two years later."]


@pytest.mark.parametrize("days", [0, 3000])
async def test_a_longer_period_ends_the_wait_if_the_clock_is_right(bot: BotFixture, days: int) -> None:
    last = await post_days(bot, 3)
    retention, _ = open_retention(bot)
    late = last + TWO_YEARS
    await retention.delete_expired(late)
    await bot.post(ROOF, "ada", "Back again.", after=TWO_YEARS.total_seconds())
    longer, context = open_retention(bot, days)
    await longer.delete_expired(late + timedelta(hours=1))
    assert len(await texts_of(bot)) == 4
    assert (await context.store.retention.load()).held is None


@pytest.mark.usefixtures("few")
async def test_a_deletion_held_for_its_amount_does_not_date_a_later_one_of_the_clock(bot: BotFixture) -> None:
    last = await post_days(bot, 12)
    retention, context = open_retention(bot, 10)
    await retention.delete_expired(last)
    await retention.delete_expired(last + timedelta(days=3))
    late = last + TWO_YEARS
    await retention.delete_expired(late)
    held = (await context.store.retention.load()).held
    assert held is not None
    assert (held.reason, held.since) == ("clock", late)


@pytest.mark.usefixtures("few")
async def test_to_confirm_an_amount_does_not_vouch_for_a_clock_that_leapt_since(bot: BotFixture) -> None:
    last = await post_days(bot, 12)
    retention, context = open_retention(bot, 10)
    await retention.delete_expired(last)
    await retention.delete_expired(last + timedelta(days=3))
    await confirm_held(context.store)
    await retention.delete_expired(last + TWO_YEARS)
    assert len(await texts_of(bot)) == 8  # what was confirmed is gone
    await retention.delete_expired(last + TWO_YEARS + timedelta(hours=1))
    held = (await context.store.retention.load()).held
    assert held is not None
    assert (held.reason, len(await texts_of(bot))) == ("clock", 8)


async def test_a_confirmation_amid_a_run_is_kept(bot: BotFixture) -> None:
    late = await post_days(bot, 4) + MAX_LEAP + timedelta(hours=1)
    retention, context = open_retention(bot)
    await retention.delete_expired(late)
    run_before(context.store.retention, "count", lambda: confirm_held(context.store))
    await retention.delete_expired(late)
    await retention.continue_held(late)
    assert await texts_of(bot) == []


async def test_files_alone_show_that_the_clock_leapt(bot: BotFixture) -> None:
    retention, context = open_retention(bot)
    await context.store.files.insert(dated_file(START))
    await retention.delete_expired(START + TWO_YEARS)
    assert await context.store.files.get(dated_file(START).document) is not None


async def test_managers_who_could_not_be_reached_are_told_later(bot: BotFixture) -> None:
    bot.platform.people["ada"] = Person("ada", "Ada", is_manager=True)
    late = await post_days(bot, 3) + TWO_YEARS
    clock = ManualClock(late)
    context = replace(bot.with_settings(retention_days=10), clock=clock)
    retention = Retention(context, ConversationDocuments(context))
    bot.platform.failing["open_direct"] = PlatformUnavailable("gone")
    await retention.delete_expired(late)
    bot.platform.failing.clear()
    await retention.continue_held(late)
    assert told(bot) == []  # not with every look
    clock.advance(TELL_INTERVAL_SECONDS)
    for _ in range(2):
        await retention.continue_held(late)
        clock.advance(TELL_INTERVAL_SECONDS)
    assert told(bot) == ["Dada"]


async def test_nobody_is_looked_up_once_enough_managers_are_told(
    bot: BotFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(manager_notices, "MAX_TOLD", 1)
    bot.platform.people["ada"] = Person("ada", "Ada", is_manager=True)
    await post_days(bot, 3)
    await bot.store.messages.insert([MessageRecord(ROOF.room, "x1", "", "zed", START, "")])
    before = bot.platform.calls.count("person")
    retention, _ = open_retention(bot)
    await retention.delete_expired(START + TWO_YEARS)
    assert told(bot) == ["Dada"]
    assert bot.platform.calls.count("person") == before  # Ada was known already


async def test_the_audit_log_has_a_period_of_its_own_and_records_what_age_deleted(bot: BotFixture) -> None:
    await bot.store.audit.append(AuditEvent("export", "done", OWNER, "cli"))
    last = await post_days(bot, 14)
    retention, context = open_retention(bot)
    await retention.delete_expired(last)
    newest, exported = await bot.store.audit.list(AuditFilter())
    [receipt] = await bot.store.receipts.list_newest()
    assert (newest.action, newest.actor, newest.details) == (
        *("retention", "system"),
        f'{{"before":"2026-11-23","files":0,"messages":3,"receipt":"{receipt.id}"}}',
    )
    assert exported.action == "export"
    shorter = replace(context, settings=context.settings.model_copy(update={"audit_days": 1}))
    await Retention(shorter, ConversationDocuments(shorter)).delete_expired(last + timedelta(days=1))
    assert "export" not in {each.action for each in await bot.store.audit.list(AuditFilter())}
    assert (await bot.store.audit.check()).problem == ""


async def test_a_broken_audit_log_is_kept_and_told(bot: BotFixture) -> None:
    await bot.store.audit.append(AuditEvent("export", "done", OWNER, "cli"))
    await bot.store._database.execute("UPDATE audit_entry SET state = 'refused' WHERE number = 1")
    _, context = open_retention(bot)
    shorter = Retention(
        replace(context, settings=context.settings.model_copy(update={"audit_days": 1})),
        ConversationDocuments(context),
    )
    await shorter.delete_expired(START + timedelta(days=3))
    assert len(await bot.store.audit.list(AuditFilter())) == 1
    assert any("entry 1 was changed" in problem for problem in await bot.engine.maintenance.list_problems())
