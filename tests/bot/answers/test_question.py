"""A question as the engine is asked it: its words, its scope, the channel's settings, and what an overview is of."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from bot import texts
from bot.answers.question import build_question, request_from_message
from bot.errors import PlatformError
from bot.platform.models import Location, Person
from bot.text.search_filters import UNKNOWN_ROOM
from bot.texts import search_notices
from engine.errors import InvalidQuestion
from engine.llm.base import RewriteRequest
from engine.models import Filters, Overview, ProposedFilters, Question, SearchQuery
from engine.usage import UsageMeter
from tests.support.bot_fixture import BotFixture, open_bot, with_settings
from tests.support.builders import HALL, ROOF, make_question
from tests.support.canned_language import CannedLanguage
from tests.support.fake_platform import START

ROOM, THREAD = frozenset({HALL.room}), frozenset({f"{HALL.room}:thread:m1"})


@pytest.fixture(autouse=True)
async def _hall(bot: BotFixture) -> None:
    await bot.join("HALL", "ada", "bob")


async def build(bot: BotFixture, text: str = "<@BOT> does <@bob> know?", **changes: Any) -> Question:
    return await build_question(bot.context, make_question(text, **changes))


async def test_names_replace_ids_unless_the_platform_fails(bot: BotFixture) -> None:
    question = await build(bot, person="bob")
    assert (question.text, question.asker) == ("does @Bob know?", "Bob")
    bot.platform.failing["readable"] = PlatformError("Down.")
    question = await build(bot)
    assert (question.text, question.asker) == ("does <@bob> know?", "")


async def test_its_scope_is_that_of_its_readers(bot: BotFixture) -> None:
    audience = bot.context.audience
    assert (await build(bot)).scope == await audience.scope_for_channel(HALL)
    assert (await build(bot, private=True)).scope == await audience.scope_for_person(HALL, "ada")


@with_settings(retrieval_mode="hybrid")
async def test_mode_style_and_language_are_those_of_the_question_the_channel_or_the_bot(bot: BotFixture) -> None:
    assert (await build(bot)).mode == "hybrid"
    await bot.save_settings(HALL, mode="naive", style="a haiku", language="Finnish")
    question = await build(bot)
    assert (question.mode, question.style, question.instructions) == ("naive", "a haiku", "Answer in Finnish.")
    assert (await build(bot, mode="local")).mode == "local"


@with_settings(llm_model="a/default", answer_models="a/small, b/large")
async def test_a_channel_has_its_own_model_while_the_bot_allows_it(bot: BotFixture) -> None:
    for chosen, used in (("", ""), ("b/large", "b/large"), ("c/removed", "")):
        await bot.save_settings(HALL, model=chosen)
        assert (await build(bot)).model == used


async def test_what_was_missed_is_asked_of_this_room_since_then(bot: BotFixture) -> None:
    assert (await build(bot, since=START)).filters == Filters(rooms=ROOM, since=START)
    message = await bot.post(HALL, "ada", "Good night.")
    await bot.post(HALL, "bob", "The Tiles came.")
    asked = await bot.receive(bot.platform.add_message(HALL, "ada", "<@BOT> What did I miss?"), addressed=True)
    question = await build_question(bot.context, request_from_message(asked))
    assert question.filters == Filters(rooms=ROOM, since=message.time)


@pytest.mark.share(2)
@pytest.mark.parametrize(
    ("text", "thread", "filters"),
    [
        ("Summarise <#ROOF>", "", Filters(rooms=frozenset({"slack:T1:ROOF"}))),
        ("Summarise this channel", "", Filters(rooms=ROOM)),
        ("Summarise this channel", "m1", Filters(rooms=ROOM)),
        ("Summarise this thread", "m1", Filters(documents=THREAD)),
        ("tldr", "m1", Filters(documents=THREAD)),
        pytest.param("tldr", "m9", Filters(rooms=ROOM), id="the question begins the thread"),
        ("What was decided lately?", "", Filters()),
        ("What is new everywhere?", "", Filters()),
        ("Summarise #somewhere", "", None),
        ("What was decided about the roof?", "", None),
    ],
)
async def test_an_overview_is_of_what_the_question_names(
    bot: BotFixture, text: str, thread: str, filters: Filters | None
) -> None:
    bot.platform.add_channel("ROOF", "ada", "bob")
    question = await build(bot, f"<@BOT> {text}", location=replace(HALL, thread=thread), message="m9")
    assert (question.filters if question.overview else None) == filters


async def test_an_overview_of_a_time_is_of_the_channel_or_in_a_direct_message_of_everything(bot: BotFixture) -> None:
    here = (await build(bot, "What happened since Monday?")).filters
    assert (here.rooms, here.since is not None) == (ROOM, True)
    direct = bot.platform.add_channel("TALK", "ada", kind="direct")
    alone = (await build(bot, "What happened this week?", location=direct)).filters
    assert (alone.rooms, alone == Filters()) == (frozenset(), False)


async def test_filters_in_a_question_narrow_it_to_channels_people_times_and_files(bot: BotFixture) -> None:
    roof = await bot.join("ROOF", "ada")
    question = await build(bot, "<@BOT> in:<#ROOF> from:<@bob> after:2026-05 before:2026-06 has:file who laid tiles?")
    assert question.text == "who laid tiles?"
    assert question.writers == ("Bob",)
    assert question.filters == Filters(
        rooms=frozenset({roof.room}),
        since=datetime(2026, 5, 1, tzinfo=UTC),
        until=datetime(2026, 5, 31, 23, 59, 59, 999999, tzinfo=UTC),
        kinds=frozenset({"file"}),
    )


async def test_a_channel_is_found_by_name_and_an_unknown_one_contains_nothing(bot: BotFixture) -> None:
    assert (await build(bot, "in:#hall tiles")).filters.rooms == ROOM
    rooms = (await build(bot, "in:#nowhere tiles")).filters.rooms
    assert len(rooms) == 1
    assert rooms != ROOM
    alone = Location("slack", "", "TALK")  # direct messages that belong to no workspace
    for text in ("in:#hall tiles", "in:<#HALL> tiles"):
        assert (await build(bot, text, location=alone)).filters.rooms == ROOM


async def test_filters_without_a_question_ask_for_an_overview(bot: BotFixture) -> None:
    question = await build(bot, "<@BOT> in:#hall after:2026-05")
    assert question.overview == Overview("summary", widens=True)
    assert (question.filters.rooms, question.filters.since) == (ROOM, datetime(2026, 5, 1, tzinfo=UTC))


@pytest.mark.parametrize(
    ("text", "rooms", "since"),
    [
        ("What was said yesterday in:#roof?", {ROOF.room}, True),  # where it was asked is no filter
        ("Summarize this channel in:#roof", {UNKNOWN_ROOM}, False),  # filters that exclude each other
        ("Summarize this channel in:#hall", {HALL.room}, False),
        ("Catch me up since:2026-11-01 in:#roof", {ROOF.room}, True),
        ("What was said yesterday after:2020-01-01?", {HALL.room}, True),
    ],
)
async def test_what_a_question_names_twice_is_in_both(
    bot: BotFixture, text: str, rooms: set[str], *, since: bool
) -> None:
    await bot.join("ROOF", "ada")
    question = await build(bot, f"<@BOT> {text}")
    assert question.filters.rooms == frozenset(rooms)
    assert (question.filters.since is not None) is since
    assert question.filters.since is None or question.filters.since >= datetime(2026, 11, 1, tzinfo=UTC)


async def test_a_filter_does_not_open_what_the_asker_may_not_read(bot: BotFixture) -> None:
    vault = await bot.join("VAULT", "bob", kind="closed")
    await bot.post_indexed(vault, "bob", "The secret key is under the mat.")
    reply = await bot.ask(HALL, "ada", "in:#vault where is the secret key?")
    assert "mat" not in reply.text
    reply = await bot.ask(vault, "bob", "in:#vault where is the secret key?")
    assert "mat" in reply.text


@pytest.mark.parametrize("place", ["#nowhere", "#vault", "<#VAULT>"])
async def test_an_unknown_channel_and_one_that_is_not_readable_are_told_alike(bot: BotFixture, place: str) -> None:
    vault = await bot.join("VAULT", "bob", kind="closed")
    await bot.post_indexed(vault, "bob", "The secret key is under the mat.")
    await bot.post_indexed(HALL, "bob", "The tiles come on Friday.")
    told = (await bot.ask(HALL, "ada", f"in:{place} where is the secret key?")).text
    named = "" if "<" in place else f" Check the name `{place}`."
    assert told.startswith(f"{search_notices.NOTHING_IN_CHANNEL}{named} {search_notices.WHEN_SEARCHED}")
    found = (await bot.ask(HALL, "ada", "in:#hall before:1999-01-01 where is the secret key?")).text
    assert found.startswith(texts.NOTHING_FOUND)


class ProposingLanguage(CannedLanguage):
    """Proposes the same filters for every question."""

    proposed = ProposedFilters(channels=("old roof",), authors=("Ada",))

    async def rewrite_query_with_filters(self, request: RewriteRequest, meter: UsageMeter) -> SearchQuery:
        query = await self.rewrite_query(request.text, request.history, meter)
        return replace(query, proposed=self.proposed)


@pytest.mark.long
async def test_a_model_narrows_a_question_and_its_readers_learn_by_what(tmp_path: Path) -> None:
    language = ProposingLanguage()
    async with open_bot(tmp_path, language=language, llm_model="a/b") as bot:
        hall, roof = await bot.join("HALL", "ada", "bob"), await bot.join("old-roof", "ada", "bob")
        await bot.post_indexed(hall, "ada", "The Tiles are grey.")
        await bot.post_indexed(roof, "bob", "The Tiles are blue.")
        await bot.post_indexed(roof, "ada", "The Tiles are red.")
        question = "<@BOT> In the old roof channel, has Ada spoken of Tiles?"

        async def ask(text: str) -> tuple[str, str]:
            reply = await bot.ask(hall, "bob", text)
            assert reply.closing is not None
            return reply.text, reply.closing.notice

        text, notice = await ask(question)
        assert "red" in text
        assert not any(color in text for color in ("grey", "blue"))
        assert '`in:#"old roof" from:@Ada`' in notice
        assert "`filter:none`" in notice
        text, notice = await ask(f"{question} filter:none")
        assert all(color in text for color in ("red", "grey", "blue"))
        assert "filter" not in notice
        language.proposed = ProposedFilters(authors=("Ada",), file_words="a file")
        text, notice = await ask("<@BOT> What has Ada put in a file on Tiles?")
        assert "grey" in text
        assert "Nothing was found with `from:@Ada has:file`" in notice


@with_settings(llm_model="a/b")
async def test_days_are_those_of_the_asker(bot: BotFixture) -> None:
    zones = []
    for number, zone in enumerate(("", "America/Lima", "Nowhere/Land", "../etc/passwd")):
        bot.platform.people[f"p{number}"] = Person(f"p{number}", "Pia", time_zone=zone)
        zones.append(str((await build(bot, person=f"p{number}")).zone))
    assert zones == ["UTC", "America/Lima", "UTC", "UTC"]


async def test_as_of_a_day_it_is_limited_to_that_day_in_the_zone_of_who_asks(bot: BotFixture) -> None:
    question = await build(bot, "<@BOT> as of 2020-05-03, who leads it?", time=START)
    assert question.text == "who leads it?"
    assert question.filters == Filters(
        until=datetime(2020, 5, 3, 23, 59, 59, 999999, tzinfo=UTC), as_of=date(2020, 5, 3)
    )


async def test_as_of_a_day_to_come_it_is_refused(bot: BotFixture) -> None:
    with pytest.raises(InvalidQuestion, match="tomorrow is still to come"):
        await build(bot, "<@BOT> who leads it as of tomorrow?", time=START)
