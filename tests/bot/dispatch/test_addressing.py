"""Follow-ups without a mention: answered in threads where the bot answered, unless the channel says otherwise."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from bot import texts
from bot.answers.history import Historian
from bot.dispatch.addressing import Following
from bot.store import ChannelSettings
from bot.store.channels import FAR
from tests.support.asking import Asking, asking

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from bot.platform.models import Place


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[Asking]:
    async with asking(tmp_path / "home") as opened:
        yield opened


@pytest.fixture
def following(home: Asking) -> Following:
    return Following(home.house, Historian(home.house))


@pytest.fixture
async def roof(home: Asking) -> Place:
    place = await home.joined("ROOF", "ada", "bob")
    await home.say(place, "ada", "The Tiles come on Monday.")
    await home.learnt()
    return place


@pytest.fixture
async def answered(home: Asking, roof: Place) -> Place:
    """A thread in which the bot answered."""
    reply = await home.ask(roof, "bob", "When do the Tiles come?")
    return replace(roof, thread=reply.target.message)


async def test_a_follow_up_in_a_thread_is_answered(home: Asking, following: Following, answered: Place) -> None:
    assert await following.answers(home.platform.say(answered, "bob", "And the Nails?"))
    assert await following.answers(home.platform.say(answered, "bob", "who pays"))


async def test_one_of_somebody_who_asked_nothing_there_is_not(
    home: Asking, following: Following, answered: Place
) -> None:
    assert not await following.answers(home.platform.say(answered, "ada", "And the Nails?"))
    message = home.platform.say(answered, "ada", "<@BOT> When do the Tiles come?")
    await home.answer(message)
    assert await following.answers(home.platform.say(answered, "ada", "And the Nails?"))


@pytest.mark.parametrize("text", ["thanks!", "lol", "👍", "Good to know.", "I bring the ladder.", "who cares?"])
async def test_nor_one_that_asks_nothing(home: Asking, following: Following, answered: Place, text: str) -> None:
    assert not await following.answers(home.platform.say(answered, "bob", text))


@pytest.mark.parametrize("text", ["Ada, who pays?", "Ada can you call them?", "can you call them, ada?", "Ada?"])
async def test_nor_one_to_somebody_of_the_thread_by_name(
    home: Asking, following: Following, answered: Place, text: str
) -> None:
    await home.say(answered, "ada", "I wonder about the Nails.")
    assert not await following.answers(home.platform.say(answered, "bob", text))


async def test_after_somebody_else_spoke_a_whole_question_is_needed(
    home: Asking, following: Following, answered: Place
) -> None:
    await home.say(answered, "ada", "The Nails were dear.")
    assert not await following.answers(home.platform.say(answered, "bob", "and the Glue?"))
    assert await following.answers(home.platform.say(answered, "bob", "When does the Glue come?"))


async def test_nor_one_that_replies_to_the_message_of_another(
    home: Asking, following: Following, answered: Place
) -> None:
    said = await home.say(answered, "ada", "The Nails were dear.")
    reply = home.platform.say(answered, "bob", "When do the Nails come?", replies_to=said.id)
    assert not await following.answers(reply)


async def test_with_a_model_that_decides_what_the_rules_cannot(home: Asking, answered: Place) -> None:
    house = replace(home.house, settings=home.house.settings.model_copy(update={"model": "openai/some"}))
    following = Following(house, Historian(house))
    assert await following.answers(home.platform.say(answered, "bob", "the glue then"))
    assert not await following.answers(home.platform.say(answered, "bob", "thanks!"))
    assert not await following.answers(home.platform.say(answered, "bob", "<@ada> when?"))


async def test_so_is_one_after_an_answer_that_was_forgotten_since(
    home: Asking, following: Following, answered: Place
) -> None:
    [given] = await home.house.store.answers.turns(answered, FAR, 2)
    await home.house.store.answers.blank(list(given.documents))
    assert await home.house.store.answers.turns(answered, FAR, 2) == []
    assert await following.answers(home.platform.say(answered, "bob", "And the Nails?"))


async def test_one_in_another_thread_is_not(home: Asking, following: Following, roof: Place) -> None:
    assert not await following.answers(home.platform.say(replace(roof, thread="m1"), "bob", "And the Nails?"))


async def test_nor_one_outside_of_threads(home: Asking, following: Following, roof: Place, answered: Place) -> None:
    assert not await following.answers(home.platform.say(roof, "bob", "And the Nails?"))


@pytest.mark.parametrize("text", ["<@ada> what do you think?", " <@!123> hm?", "<@&7> look", "<@U1|ada>, see"])
async def test_nor_one_that_is_spoken_to_somebody_else(
    home: Asking, following: Following, answered: Place, text: str
) -> None:
    assert not await following.answers(home.platform.say(answered, "bob", text))


async def test_nor_one_by_another_bot(home: Asking, following: Following, answered: Place) -> None:
    assert not await following.answers(home.platform.say(answered, "robo", "And the Nails?", by_bot=True))


async def test_nor_what_the_bot_itself_says(home: Asking, following: Following, answered: Place) -> None:
    assert not await following.answers(replace(home.platform.say(answered, "me", "And the Nails?"), own=True))


async def test_nor_where_a_private_answer_was_the_only_one(home: Asking, following: Following, roof: Place) -> None:
    thread = replace(roof, thread="m1")
    await home.command(thread, "ada", "When do the Tiles come?")
    assert not await following.answers(home.platform.say(thread, "ada", "And the Nails?"))


async def test_a_channel_may_want_mentions_always(home: Asking, following: Following, answered: Place) -> None:
    await home.house.store.channels.put(answered.room, ChannelSettings(answers="mention"))
    assert not await following.answers(home.platform.say(answered, "bob", "And the Nails?"))


async def test_or_an_answer_to_everything(home: Asking, following: Following, roof: Place) -> None:
    await home.house.store.channels.put(roof.room, ChannelSettings(answers="all"))
    assert await following.answers(home.platform.say(roof, "ada", "When do the Nails come?"))
    assert not await following.answers(home.platform.say(roof, "ada", "<@bob> do you know?"))
    assert not await following.answers(home.platform.say(roof, "ada", "  "))
    assert not await following.answers(home.platform.say(roof, "ada", "thanks!"))


@pytest.mark.parametrize(
    "text", ["Ada - when do the Nails come?", "When do the Nails come Ada?", "The glue then.", "Ada?"]
)
async def test_even_then_without_a_model_only_questions_to_nobody_else(
    home: Asking, following: Following, roof: Place, answered: Place, text: str
) -> None:
    await home.house.store.channels.put(roof.room, ChannelSettings(answers="all"))
    await home.say(answered, "ada", "The Nails were dear.")
    for place in (roof, answered):
        assert not await following.answers(home.platform.say(place, "bob", text))
        assert await following.answers(home.platform.say(place, "bob", "When do the Nails come?"))


@pytest.mark.parametrize("text", ["<@BOT> stop", "<@BOT> Stop!", "stop"])
async def test_told_to_stop_it_stays_quiet_in_that_thread(
    home: Asking, following: Following, answered: Place, text: str
) -> None:
    assert await following.stop(home.platform.say(answered, "ada", text))
    assert [card.text for _, card in home.platform.whispers] == [texts.QUIET]
    assert not await following.answers(home.platform.say(answered, "bob", "And the Nails?"))
    assert not await following.follows(answered)


async def test_and_goes_on_in_others(home: Asking, following: Following, answered: Place, roof: Place) -> None:
    await following.stop(home.platform.say(answered, "ada", "<@BOT> stop"))
    reply = await home.ask(roof, "bob", "When do the Tiles come?")
    assert await following.follows(replace(roof, thread=reply.target.message))


async def test_a_question_about_stopping_is_a_question(home: Asking, following: Following, answered: Place) -> None:
    assert not await following.stop(home.platform.say(answered, "ada", "<@BOT> where does the bus stop?"))
