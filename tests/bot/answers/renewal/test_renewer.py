"""Posted answers that are written anew in place when a source of them changes."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest

from bot import texts
from bot.answers.corrections import GIVE_UP_AFTER, AnswerCorrector
from bot.answers.renewal.renewer import AnswerRenewer
from bot.errors import PermissionDenied, PlatformError
from bot.platform.events import VisibilityChanged
from bot.platform.models import Location, Message
from bot.platform.ports import ReplyTarget
from bot.store import StoredAnswer
from tests.support.bot_fixture import BotFixture, run_before, with_settings
from tests.support.fake_platform import RecordedReply

KILN, CLAY = "The kiln is lit on Monday.", "The clay comes from Zadar."
ASKED = "When is the kiln lit, and where does the clay come from?"
THURSDAY = "The kiln is lit on Thursday."


@dataclass(frozen=True, slots=True)
class Pottery:
    """An answer that cites two messages, one in each sentence."""

    bot: BotFixture
    reply: RecordedReply
    kiln: Message
    clay: Message

    async def stored(self) -> StoredAnswer:
        return await self.bot.stored(self.reply)


@pytest.fixture
async def pottery(bot: BotFixture, roof: Location) -> Pottery:
    kiln = await bot.post_indexed(roof, "ada", KILN)
    clay = await bot.post_indexed(roof, "ada", CLAY)
    first = await bot.stored(await bot.ask(roof, "bob", f"Please, {ASKED}"))
    cited = {source.passage: source.number for source in first.sources}
    await bot.store.answers.delete(first.id)
    bot.language.reply = (f"{KILN} [{cited[kiln.id]}]\n{CLAY} [{cited[clay.id]}]",)
    reply = await bot.ask(roof, "bob", ASKED)
    assert len((await bot.stored(reply)).sources) == 2
    bot.language.reply = ()
    return Pottery(bot, reply, kiln, clay)


async def renew(bot: BotFixture) -> None:
    """Correct the posted answers as the running bot does, once everything is searchable."""
    await bot.engine.wait_until_indexed()
    renewer = AnswerRenewer(bot.context, bot.answer_service)
    await AnswerCorrector(bot.context, renewer=renewer).process_due()


def edits(bot: BotFixture) -> int:
    return bot.platform.calls.count("replace_answer")


def stored_bytes(home: Path) -> str:
    with closing(sqlite3.connect(home / "home" / "bot.db")) as connection:
        return "\n".join(connection.iterdump())


async def test_an_edited_source_renews_the_answer_in_one_edit(bot: BotFixture, roof: Location) -> None:
    kiln = await bot.post_indexed(roof, "ada", KILN)
    reply = await bot.ask(roof, "bob", "When is the kiln lit?")
    assert "Monday" in reply.text
    await bot.edit(kiln, "The kiln is lit on Thursday.")
    await renew(bot)
    assert "Thursday" in reply.text
    assert "Monday" not in reply.text
    assert reply.text.startswith("_Changed since November 20, 2026:")
    assert (await bot.stored(reply)).state == "done"
    await renew(bot)
    assert edits(bot) == 1
    assert await bot.store.answer_renewals.count_outcomes() == {"renewed": 1}


async def test_sentences_on_other_sources_stay_and_the_changed_one_is_renewed(pottery: Pottery) -> None:
    bot = pottery.bot
    await bot.edit(pottery.kiln, THURSDAY)
    await renew(bot)
    assert CLAY in pottery.reply.text
    assert "Thursday" in pottery.reply.text
    assert "Monday" not in pottery.reply.text
    stored = await pottery.stored()
    assert {source.passage for source in stored.sources} == {pottery.kiln.id, pottery.clay.id}
    assert stored.question.endswith(ASKED)
    assert edits(bot) == 1


async def test_a_deleted_source_takes_its_sentence_alone(pottery: Pottery, tmp_path: Path) -> None:
    await pottery.bot.delete(pottery.kiln)
    waiting = await pottery.stored()
    assert (waiting.state, waiting.text.partition(" [")[0]) == ("redacted", CLAY)
    assert "Monday" not in stored_bytes(tmp_path)
    await renew(pottery.bot)
    assert CLAY in pottery.reply.text
    assert "Monday" not in pottery.reply.text + stored_bytes(tmp_path)
    assert edits(pottery.bot) == 1


async def test_an_answer_without_any_source_left_is_replaced_by_the_notice(pottery: Pottery) -> None:
    await pottery.bot.delete(pottery.kiln, pottery.clay)
    await renew(pottery.bot)
    assert pottery.reply.text == texts.SOURCE_REMOVED
    assert (await pottery.stored()).text == ""
    assert await pottery.bot.store.answer_renewals.count_outcomes() == {"nothing": 1}


@with_settings(renew_answers="sentences")
async def test_sentences_alone_ask_no_model(pottery: Pottery) -> None:
    pottery.bot.language.prompts.clear()
    await pottery.bot.edit(pottery.kiln, THURSDAY)
    await renew(pottery.bot)
    assert CLAY in pottery.reply.text
    assert "Thursday" not in pottery.reply.text
    assert pottery.bot.language.prompts == []
    assert await pottery.bot.store.answer_renewals.count_outcomes() == {"shortened": 1}


@with_settings(renew_answers="off")
async def test_without_renewals_the_notice_replaces_the_answer(pottery: Pottery, tmp_path: Path) -> None:
    await pottery.bot.delete(pottery.kiln)
    await renew(pottery.bot)
    assert pottery.reply.text == texts.SOURCE_REMOVED
    assert "Zadar" not in (await pottery.stored()).text


@with_settings(renew_answers_tokens=10)
async def test_after_the_tokens_of_a_day_only_sentences_stay(pottery: Pottery) -> None:
    bot = pottery.bot
    await bot.edit(pottery.kiln, THURSDAY)
    await renew(bot)
    assert await bot.store.answer_renewals.count_tokens(pottery.reply.target.location) >= 10
    await bot.edit(pottery.clay, "The clay comes from Pula.")
    await renew(bot)
    assert "Thursday" in pottery.reply.text
    assert "Pula" not in pottery.reply.text
    assert edits(bot) == 2


async def test_an_old_answer_is_replaced_by_the_notice(pottery: Pottery) -> None:
    pottery.bot.platform.advance(timedelta(days=31).total_seconds())
    await pottery.bot.delete(pottery.kiln)
    await renew(pottery.bot)
    assert pottery.reply.text == texts.SOURCE_REMOVED
    assert await pottery.bot.store.answer_renewals.count_outcomes() == {"old": 1}


async def test_a_private_answer_is_never_renewed(bot: BotFixture, roof: Location) -> None:
    kiln = await bot.post_indexed(roof, "ada", KILN)
    reply = await bot.ask_by_command(roof, "bob", "When is the kiln lit?")
    await bot.edit(kiln, THURSDAY)
    await renew(bot)
    assert "Thursday" not in reply.text
    assert (await bot.stored(reply)).text == ""
    assert await bot.store.answer_renewals.count_outcomes() == {"private": 1}


async def test_a_source_removed_while_the_answer_waits_is_gone_too(pottery: Pottery, tmp_path: Path) -> None:
    await pottery.bot.delete(pottery.kiln)
    await pottery.bot.delete(pottery.clay)
    assert "Zadar" not in stored_bytes(tmp_path)
    await renew(pottery.bot)
    assert pottery.reply.text == texts.SOURCE_REMOVED


async def test_a_source_removed_while_the_question_is_asked_again_is_not_posted(pottery: Pottery) -> None:
    bot = pottery.bot
    await bot.edit(pottery.kiln, THURSDAY)
    run_before(bot.store.answer_renewals, "save", lambda: bot.delete(pottery.clay))
    await renew(bot)
    bot.platform.advance(60)
    await renew(bot)
    assert "Zadar" not in pottery.reply.text
    assert "Thursday" in pottery.reply.text
    assert edits(bot) == 1


async def test_what_was_stored_before_a_failure_is_posted_without_asking_again(pottery: Pottery) -> None:
    bot = pottery.bot
    await bot.edit(pottery.kiln, THURSDAY)
    bot.platform.failing["replace_answer"] = PlatformError("Down.")
    await renew(bot)
    bot.language.prompts.clear()
    del bot.platform.failing["replace_answer"]
    bot.platform.advance(60)
    await renew(bot)
    assert "Thursday" in pottery.reply.text
    assert bot.language.prompts == []


async def test_a_failing_model_leaves_the_notice(pottery: Pottery) -> None:
    bot = pottery.bot
    bot.language.reply = (PlatformError("unforeseen"),)
    await bot.delete(pottery.kiln, pottery.clay)
    await renew(bot)
    assert pottery.reply.text == texts.SOURCE_REMOVED


async def test_a_room_that_closes_leaves_what_the_others_may_read(bot: BotFixture, roof: Location) -> None:
    hall = await bot.join("HALL", "bob", "cleo")
    await bot.post_indexed(roof, "ada", KILN)
    await bot.post_indexed(hall, "bob", CLAY)
    reply = await bot.ask(hall, "bob", ASKED)
    assert "Monday" in reply.text
    assert "Zadar" in reply.text
    bot.platform.change_channel("ROOF", kind="closed")
    await bot.ingest_service.handle(VisibilityChanged(roof))
    await bot.ingest_service.run_sync()
    await renew(bot)
    assert "Zadar" in reply.text
    assert "Monday" not in reply.text


async def test_what_was_asked_where_it_was_closed_is_renewed_where_it_is_open_again(
    bot: BotFixture, roof: Location
) -> None:
    hall = await bot.join("HALL", "ada", "bob", kind="closed")
    kiln = await bot.post_indexed(roof, "ada", KILN)
    await bot.post_indexed(hall, "ada", CLAY)
    reply = await bot.ask(hall, "bob", ASKED)
    bot.platform.change_channel("HALL", kind="open")
    await bot.ingest_service.handle(VisibilityChanged(hall))
    await bot.ingest_service.run_sync()
    await bot.edit(kiln, THURSDAY)
    await renew(bot)
    assert "Zadar" in reply.text
    assert "Thursday" in reply.text


async def test_a_refusal_for_long_is_counted(pottery: Pottery) -> None:
    bot = pottery.bot
    await bot.delete(pottery.kiln)
    bot.platform.failing["replace_answer"] = PermissionDenied("Never.")
    await renew(bot)
    bot.platform.advance(GIVE_UP_AFTER + 1)
    await renew(bot)
    assert await bot.store.answer_renewals.count_outcomes() == {"failed": 1}
    assert await bot.store.answer_corrections.list_workspaces() == []


async def test_who_loses_access_while_an_answer_is_posted_does_not_keep_it(
    bot: BotFixture, roof: Location, monkeypatch: pytest.MonkeyPatch
) -> None:
    hall, post = await bot.join("HALL", "bob", "cleo"), bot.platform.replace_answer
    kiln = await bot.post_indexed(roof, "ada", KILN)
    reply = await bot.ask(hall, "bob", "When is the kiln lit?")
    await bot.edit(kiln, THURSDAY)

    async def close_meanwhile(target: ReplyTarget, text: str) -> None:
        if not edits(bot):
            bot.platform.change_channel("ROOF", kind="closed")
            await bot.ingest_service.handle(VisibilityChanged(roof))
        await post(target, text)

    monkeypatch.setattr(bot.platform, "replace_answer", close_meanwhile)
    await renew(bot)
    bot.platform.clock.advance(4000)
    await renew(bot)
    assert reply.text == texts.SOURCE_REMOVED
