"""Follow-ups without a mention: answered in threads where the bot answered, unless the channel says otherwise."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from bot import texts
from bot.answers.history import ThreadHistory
from bot.dispatch.addressing import ReplyPolicy
from bot.store import ChannelSettings
from bot.store.channels import FAR_FUTURE
from tests.support.answering_fixture import AnsweringFixture, open_answering_bot

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from bot.platform.models import Location


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[AnsweringFixture]:
    async with open_answering_bot(tmp_path / "home") as opened:
        yield opened


@pytest.fixture
def following(home: AnsweringFixture) -> ReplyPolicy:
    return ReplyPolicy(home.context, ThreadHistory(home.context))


@pytest.fixture
async def roof(home: AnsweringFixture) -> Location:
    place = await home.join_channel("ROOF", "ada", "bob")
    await home.post(place, "ada", "The Tiles come on Monday.")
    await home.wait_until_indexed()
    return place


@pytest.fixture
async def answered(home: AnsweringFixture, roof: Location) -> Location:
    """A thread in which the bot answered."""
    reply = await home.ask(roof, "bob", "When do the Tiles come?")
    return replace(roof, thread=reply.target.message)


async def test_a_follow_up_in_a_thread_is_answered(
    home: AnsweringFixture, following: ReplyPolicy, answered: Location
) -> None:
    assert await following.should_answer(home.platform.add_message(answered, "bob", "And the Nails?"))
    assert await following.should_answer(home.platform.add_message(answered, "bob", "who pays"))


async def test_one_of_somebody_who_asked_nothing_there_is_not(
    home: AnsweringFixture, following: ReplyPolicy, answered: Location
) -> None:
    assert not await following.should_answer(home.platform.add_message(answered, "ada", "And the Nails?"))
    message = home.platform.add_message(answered, "ada", "<@BOT> When do the Tiles come?")
    await home.answer(message)
    assert await following.should_answer(home.platform.add_message(answered, "ada", "And the Nails?"))


@pytest.mark.parametrize("text", ["thanks!", "lol", "👍", "Good to know.", "I bring the ladder.", "who cares?"])
async def test_nor_one_that_asks_nothing(
    home: AnsweringFixture, following: ReplyPolicy, answered: Location, text: str
) -> None:
    assert not await following.should_answer(home.platform.add_message(answered, "bob", text))


@pytest.mark.parametrize("text", ["Ada, who pays?", "Ada can you call them?", "can you call them, ada?", "Ada?"])
async def test_nor_one_to_somebody_of_the_thread_by_name(
    home: AnsweringFixture, following: ReplyPolicy, answered: Location, text: str
) -> None:
    await home.post(answered, "ada", "I wonder about the Nails.")
    assert not await following.should_answer(home.platform.add_message(answered, "bob", text))


async def test_after_somebody_else_spoke_a_whole_question_is_needed(
    home: AnsweringFixture, following: ReplyPolicy, answered: Location
) -> None:
    await home.post(answered, "ada", "The Nails were dear.")
    assert not await following.should_answer(home.platform.add_message(answered, "bob", "and the Glue?"))
    assert await following.should_answer(home.platform.add_message(answered, "bob", "When does the Glue come?"))


async def test_nor_one_that_replies_to_the_message_of_another(
    home: AnsweringFixture, following: ReplyPolicy, answered: Location
) -> None:
    said = await home.post(answered, "ada", "The Nails were dear.")
    reply = home.platform.add_message(answered, "bob", "When do the Nails come?", replies_to=said.id)
    assert not await following.should_answer(reply)


async def test_with_a_model_that_decides_what_the_rules_cannot(home: AnsweringFixture, answered: Location) -> None:
    house = replace(home.context, settings=home.context.settings.model_copy(update={"llm_model": "openai/some"}))
    following = ReplyPolicy(house, ThreadHistory(house))
    assert await following.should_answer(home.platform.add_message(answered, "bob", "the glue then"))
    assert not await following.should_answer(home.platform.add_message(answered, "bob", "thanks!"))
    assert not await following.should_answer(home.platform.add_message(answered, "bob", "<@ada> when?"))


async def test_so_is_one_after_an_answer_that_was_forgotten_since(
    home: AnsweringFixture, following: ReplyPolicy, answered: Location
) -> None:
    [given] = await home.context.store.answers.list_in_thread(answered, FAR_FUTURE, 2)
    await home.context.store.answers.redact(list(given.documents))
    assert await home.context.store.answers.list_in_thread(answered, FAR_FUTURE, 2) == []
    assert await following.should_answer(home.platform.add_message(answered, "bob", "And the Nails?"))


async def test_one_in_another_thread_is_not(home: AnsweringFixture, following: ReplyPolicy, roof: Location) -> None:
    assert not await following.should_answer(
        home.platform.add_message(replace(roof, thread="m1"), "bob", "And the Nails?")
    )


async def test_nor_one_outside_of_threads(
    home: AnsweringFixture, following: ReplyPolicy, roof: Location, answered: Location
) -> None:
    assert not await following.should_answer(home.platform.add_message(roof, "bob", "And the Nails?"))


@pytest.mark.parametrize("text", ["<@ada> what do you think?", " <@!123> hm?", "<@&7> look", "<@U1|ada>, see"])
async def test_nor_one_that_is_spoken_to_somebody_else(
    home: AnsweringFixture, following: ReplyPolicy, answered: Location, text: str
) -> None:
    assert not await following.should_answer(home.platform.add_message(answered, "bob", text))


async def test_nor_one_by_another_bot(home: AnsweringFixture, following: ReplyPolicy, answered: Location) -> None:
    assert not await following.should_answer(home.platform.add_message(answered, "robo", "And the Nails?", by_bot=True))


async def test_nor_what_the_bot_itself_says(home: AnsweringFixture, following: ReplyPolicy, answered: Location) -> None:
    assert not await following.should_answer(
        replace(home.platform.add_message(answered, "me", "And the Nails?"), own=True)
    )


async def test_nor_where_a_private_answer_was_the_only_one(
    home: AnsweringFixture, following: ReplyPolicy, roof: Location
) -> None:
    thread = replace(roof, thread="m1")
    await home.ask_by_command(thread, "ada", "When do the Tiles come?")
    assert not await following.should_answer(home.platform.add_message(thread, "ada", "And the Nails?"))


async def test_a_channel_may_want_mentions_always(
    home: AnsweringFixture, following: ReplyPolicy, answered: Location
) -> None:
    await home.context.store.channel_settings.save(answered.room, ChannelSettings(reply_to="mention"))
    assert not await following.should_answer(home.platform.add_message(answered, "bob", "And the Nails?"))


async def test_or_an_answer_to_everything(home: AnsweringFixture, following: ReplyPolicy, roof: Location) -> None:
    await home.context.store.channel_settings.save(roof.room, ChannelSettings(reply_to="all"))
    assert await following.should_answer(home.platform.add_message(roof, "ada", "When do the Nails come?"))
    assert not await following.should_answer(home.platform.add_message(roof, "ada", "<@bob> do you know?"))
    assert not await following.should_answer(home.platform.add_message(roof, "ada", "  "))
    assert not await following.should_answer(home.platform.add_message(roof, "ada", "thanks!"))


@pytest.mark.parametrize(
    "text", ["Ada - when do the Nails come?", "When do the Nails come Ada?", "The glue then.", "Ada?"]
)
async def test_even_then_without_a_model_only_questions_to_nobody_else(
    home: AnsweringFixture, following: ReplyPolicy, roof: Location, answered: Location, text: str
) -> None:
    await home.context.store.channel_settings.save(roof.room, ChannelSettings(reply_to="all"))
    await home.post(answered, "ada", "The Nails were dear.")
    for place in (roof, answered):
        assert not await following.should_answer(home.platform.add_message(place, "bob", text))
        assert await following.should_answer(home.platform.add_message(place, "bob", "When do the Nails come?"))


@pytest.mark.parametrize("text", ["<@BOT> stop", "<@BOT> Stop!", "stop"])
async def test_told_to_stop_it_stays_quiet_in_that_thread(
    home: AnsweringFixture, following: ReplyPolicy, answered: Location, text: str
) -> None:
    assert await following.handle_stop(home.platform.add_message(answered, "ada", text))
    assert [card.text for _, card in home.platform.private_messages] == [texts.THREAD_MUTED]
    assert not await following.should_answer(home.platform.add_message(answered, "bob", "And the Nails?"))
    assert not await following.can_answer_unmentioned(answered)


async def test_and_goes_on_in_others(
    home: AnsweringFixture, following: ReplyPolicy, answered: Location, roof: Location
) -> None:
    await following.handle_stop(home.platform.add_message(answered, "ada", "<@BOT> stop"))
    reply = await home.ask(roof, "bob", "When do the Tiles come?")
    assert await following.can_answer_unmentioned(replace(roof, thread=reply.target.message))


async def test_a_question_about_stopping_is_a_question(
    home: AnsweringFixture, following: ReplyPolicy, answered: Location
) -> None:
    assert not await following.handle_stop(
        home.platform.add_message(answered, "ada", "<@BOT> where does the bus stop?")
    )
