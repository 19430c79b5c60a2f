"""A manager gets the week in numbers, of what they can read, and once a week if they want it."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.capabilities.management.requests import GetReport, ScheduleReport
from bot.capabilities.results import ExportLine
from bot.commands.management.report import WEEK, ReportSender
from bot.commands.management.table import perform_management
from bot.errors import PlatformError
from bot.platform.models import Location, Person
from bot.store import AnswerResult, Subject
from bot.store.review.experts import Expert
from tests.bot.commands.conftest import RecordingAnswers, Workspace
from tests.support.bot_fixture import BotFixture, run_before
from tests.support.builders import make_answer
from tests.support.clock import ManualClock
from tests.support.fake_platform import RecordedReply

ADA = Subject("slack", "T1", "ada")


async def write(bot: BotFixture, person: str = "ada") -> str:
    workspace = Workspace(bot, bot.context, RecordingAnswers())
    results = perform_management(workspace, Subject("slack", "T1", person), GetReport())  # type: ignore[arg-type]
    [page] = [each async for each in results]
    assert isinstance(page, ExportLine)
    return page.text


async def ask_in_vain(bot: BotFixture, place: Location, id_: str, question: str) -> None:
    message = await bot.post(place, "bob", question)
    asked = make_answer(id_, location=place, question=question, time=message.time, asker="bob", message_id=message.id)
    await bot.store.answers.begin(asked)
    await bot.store.answers.finish(id_, AnswerResult("I found nothing."))


async def test_it_counts_and_quotes_only_what_the_manager_may_read(bot: BotFixture) -> None:
    yard = await bot.join("YARD", "ada", "bob")
    vault = await bot.join("VAULT", "bob", kind="closed")
    await ask_in_vain(bot, yard, "a1", "Where is the ladder?")
    await ask_in_vain(bot, yard, "a2", "Where is the ladder?")
    await ask_in_vain(bot, vault, "a3", "Where is the gold?")
    await bot.store.experts.begin_request("a1", Expert(yard, "cleo", "ladders"), "bob", bot.clock.time())
    await bot.store.experts.begin_request("a3", Expert(vault, "cleo", "gold"), "bob", bot.clock.time())
    alone = make_answer("p1", location=yard, question="Is it safe?", asker="bob", private=True)
    await bot.store.answers.begin(alone)
    await bot.store.experts.begin_request("p1", Expert(yard, "dan", "ladders"), "bob", bot.clock.time())
    report = await write(bot)
    assert "- 2 questions were asked" in report
    assert "- an expert was asked 1 time" in report
    assert "- 0 pairs of statements disagree" in report
    assert "- 0 files were not read" in report
    assert "Where is the ladder?" in report
    assert "– 2 times" in report
    assert "gold" not in report


def told(bot: BotFixture) -> list[RecordedReply]:
    return [reply for reply in bot.platform.replies if reply.target.location.channel == "Dada"]


def sender(bot: BotFixture, later: timedelta) -> ReportSender:
    context = replace(bot.context, clock=ManualClock(bot.platform.current_time() + later))
    return ReportSender(Workspace(bot, context, RecordingAnswers()))  # type: ignore[arg-type]


async def schedule(bot: BotFixture) -> None:
    bot.platform.people["ada"] = Person("ada", "Ada", is_manager=True)
    workspace = Workspace(bot, bot.context, RecordingAnswers())
    results = perform_management(workspace, ADA, ScheduleReport("weekly"))  # type: ignore[arg-type]
    assert [each async for each in results]


async def test_a_manager_who_wants_it_gets_it_once_a_week(bot: BotFixture) -> None:
    await bot.join("YARD", "ada", "bob")
    await schedule(bot)
    counts = []
    for days in (0, 7.1, 7.2, 14.3):
        await sender(bot, timedelta(days=days)).send_due()
        counts.append(len(told(bot)))
    assert counts == [0, 1, 1, 2]


async def test_what_could_not_be_posted_is_posted_once_later(bot: BotFixture) -> None:
    await bot.join("YARD", "ada", "bob")
    await schedule(bot)
    bot.platform.fail_after("finish", 0, PlatformError("busy"))
    await sender(bot, WEEK * 1.01).send_due()
    bot.platform.failing.clear()
    for _ in range(2):
        await sender(bot, WEEK * 1.02).send_due()
    assert len([each for each in told(bot) if each.closing]) == 1


async def test_a_process_that_ended_after_it_posted_does_not_post_again(bot: BotFixture) -> None:
    await bot.join("YARD", "ada", "bob")
    await schedule(bot)

    async def end() -> None:
        raise KeyboardInterrupt

    run_before(bot.store.reports, "schedule", end)
    with pytest.raises(KeyboardInterrupt):
        await sender(bot, WEEK * 1.01).send_due()
    await sender(bot, WEEK * 1.02).send_due()
    assert len(told(bot)) == 1


async def test_a_question_that_is_deleted_goes_from_the_report(bot: BotFixture) -> None:
    yard = await bot.join("YARD", "ada", "bob")
    await schedule(bot)
    await ask_in_vain(bot, yard, "a1", "Where is the ladder?")
    await bot.store.reports.schedule(Location("slack", "T1", ""), "ada", bot.platform.current_time())
    await sender(bot, timedelta(hours=1)).send_due()
    [reply] = told(bot)
    assert "ladder" in reply.text
    [message] = [each for each in bot.platform.messages if "ladder" in each.text]
    await bot.delete(message)
    await bot.correct_answers()
    assert "ladder" not in told(bot)[0].text


async def test_a_question_goes_from_the_report_with_who_asked_it(bot: BotFixture) -> None:
    yard = await bot.join("YARD", "ada", "bob")
    await schedule(bot)
    await bot.ask(yard, "bob", "Where is the zeppelin of uncle Otto?")  # a mention is no stored message
    await bot.store.reports.schedule(Location("slack", "T1", ""), "ada", bot.platform.current_time())
    await sender(bot, timedelta(hours=1)).send_due()
    assert "zeppelin" in told(bot)[0].text
    await bot.forget_person("bob")
    await bot.correct_answers()
    assert told(bot)[0].text == "What this quoted was removed or changed. `/threadlore report` shows what is current."


async def test_who_was_forgotten_gets_none(bot: BotFixture) -> None:
    await bot.join("YARD", "ada", "bob")
    await schedule(bot)
    await bot.forget_person("ada")
    await sender(bot, WEEK * 1.01).send_due()
    assert told(bot) == []
