"""The FAQ page has the verified answers and open questions that its readers may read, and is never older than they."""

from __future__ import annotations

from dataclasses import replace

from bot.capabilities.faq.requests import GetFaq
from bot.capabilities.results import ExportLine
from bot.commands.management.table import perform_management
from bot.platform.models import Location
from bot.store import AnswerResult, AnswerSource, Subject, VerifiedAnswer
from bot.store.models import message_key
from tests.bot.commands.conftest import RecordingAnswers, Workspace
from tests.support.bot_fixture import BotFixture
from tests.support.builders import make_answer


async def write(bot: BotFixture, person: str, room: str = "") -> str:
    workspace = Workspace(bot, bot.context, RecordingAnswers())
    results = perform_management(workspace, Subject("slack", "T1", person), GetFaq(room))  # type: ignore[arg-type]
    [page] = [each async for each in results]
    assert isinstance(page, ExportLine)
    return page.text


async def verify(bot: BotFixture, place: Location, question: str, text: str, message: str) -> None:
    link = bot.platform.message_link(place, message)
    source = AnswerSource(1, "#yard · Ada", link, text, "", message, "", place.room, bot.platform.current_time())
    keys = frozenset({message_key(place.room, message)})
    now = bot.platform.current_time()
    kept = VerifiedAnswer(
        question[:9], place, message, question, f"{text} [1]", "bob", "", "ada", now, sources=(source,), keys=keys
    )
    assert await bot.store.verified_answers.save(replace(kept, rooms=frozenset({place.room})))


async def test_each_answer_cites_its_sources_and_only_for_those_who_may_read_them(bot: BotFixture) -> None:
    yard = await bot.join("YARD", "ada", "bob")
    vault = await bot.join("VAULT", "ada", kind="closed")
    said = await bot.post_indexed(yard, "ada", "The tiles come on Friday.")
    await verify(bot, yard, "When do the tiles come?", "On Friday.", said.id)
    await verify(bot, vault, "What is the alarm word?", "Heron.", "m9")
    page = await write(bot, "ada")
    assert "## When do the tiles come?" in page
    assert f"On Friday. [[1]]({bot.platform.message_link(yard, said.id)})" in page
    assert "Heron" in page
    assert "Heron" not in await write(bot, "bob")
    assert "Heron" not in await write(bot, "ada", yard.room)
    assert "On Friday" in await write(bot, "ada", yard.room)


async def test_an_answer_goes_with_its_source(bot: BotFixture) -> None:
    yard = await bot.join("YARD", "ada", "bob")
    said = await bot.post_indexed(yard, "ada", "The tiles come on Friday.")
    await verify(bot, yard, "When do the tiles come?", "On Friday.", said.id)
    await bot.delete(said)
    assert "tiles" not in await write(bot, "bob")


async def ask_in_vain(bot: BotFixture, place: Location, id_: str, question: str) -> None:
    now = bot.platform.current_time()
    await bot.store.answers.begin(make_answer(id_, location=place, question=question, time=now, asker="cleo"))
    await bot.store.answers.finish(id_, AnswerResult("I found nothing."))


async def test_the_page_of_a_channel_has_no_words_and_no_count_of_another(bot: BotFixture) -> None:
    yard = await bot.join("YARD", "ada", "bob")
    hall = await bot.join("HALL", "ada", "bob")
    for id_, place, question in (("a1", yard, "where is the ladder?"), ("a2", hall, "WHERE IS THE LADDER?")):
        await ask_in_vain(bot, place, id_, question)
    await ask_in_vain(bot, hall, "a3", "Who has the paint?")
    page = await write(bot, "ada", yard.room)
    assert "- where is the ladder? (1 time)" in page
    assert "WHERE" not in page
    assert "paint" not in page


async def test_open_questions_are_grouped_without_who_asked_them(bot: BotFixture) -> None:
    yard = await bot.join("YARD", "ada", "bob")
    for number in range(2):
        await ask_in_vain(bot, yard, f"a{number}", "Where is the ladder?")
    page = await write(bot, "bob")
    assert "- Where is the ladder? (2 times)" in page
    assert "cleo" not in page.casefold()
