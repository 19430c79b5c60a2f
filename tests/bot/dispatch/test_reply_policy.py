"""Follow-ups without a mention: which messages are answered, and where the bot is told to stop."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bot import texts
from bot.answers.control.stops import StopRequests
from bot.answers.history import ThreadHistory
from bot.context import BotContext
from bot.dispatch.reply_policy import ReplyPolicy
from bot.platform.models import Location
from bot.store import ChannelSettings
from bot.store.channels import FAR_FUTURE
from tests.support.bot_fixture import BotFixture
from tests.support.builders import ROOF

THREAD = replace(ROOF, thread="m2")  # in which Bob asked and the bot answered
NAILS, WHOLE = "And the Nails?", "When do the Nails come?"
ALL: dict[str, Any] = {"reply_to": "all"}
MENTION: dict[str, Any] = {"reply_to": "mention"}


@pytest.fixture(autouse=True)
async def _answered(bot: BotFixture, tiles: object) -> None:
    await bot.ask(ROOF, "bob", "When do the Tiles come?")
    assert bot.last_reply.target.location == THREAD


class WritingStops(StopRequests):
    """Everybody has an answer that is being written, or nobody has."""

    def __init__(self, context: BotContext, *, is_writing: bool) -> None:
        super().__init__(context)
        self._is_writing = is_writing

    async def is_answering(self, location: Location, asker: str) -> bool:
        return self._is_writing

    async def stop_in_thread(self, location: Location, asker: str) -> bool:
        return self._is_writing


def policy(bot: BotFixture, **settings: Any) -> ReplyPolicy:
    context = bot.with_settings(**settings)
    return ReplyPolicy(context, ThreadHistory(context), StopRequests(context))


async def answers(bot: BotFixture, text: str, author: str = "bob", *, place: Any = THREAD, **facts: Any) -> bool:
    own = facts.pop("own", False)
    message = replace(bot.platform.add_message(place, author, text, **facts), own=own)
    return await policy(bot).should_answer(message)


@pytest.mark.share(2)
@pytest.mark.parametrize(
    ("text", "facts", "answered"),
    [
        (NAILS, {}, True),
        ("who pays", {}, True),
        (NAILS, {"author": "ada"}, False),  # she asked nothing there
        (NAILS, {"place": ROOF}, False),
        (NAILS, {"place": replace(ROOF, thread="m1")}, False),
        (NAILS, {"author": "robo", "by_bot": True}, False),
        (NAILS, {"author": "me", "own": True}, False),
        (WHOLE, {"replies_to": "m1"}, False),
        *((text, {}, False) for text in ("thanks!", "👍", "Good to know.", "I bring the ladder.", "who cares?")),
        *((text, {}, False) for text in ("<@ada> what do you think?", " <@!123> hm?", "<@&7> look", "<@U1|ada>, see")),
    ],
)
async def test_a_question_of_who_asked_in_the_thread_is_answered(
    bot: BotFixture, text: str, facts: dict[str, Any], *, answered: bool
) -> None:
    assert await answers(bot, text, **facts) is answered


@pytest.mark.parametrize(
    ("text", "alone", "beside"),
    [
        *((text, True, False) for text in ("can you send me the list as well", "dame más detalles")),
        *((text, False, False) for text in ("then I tell the roofer", "really?", "Ada, can you call them?")),
    ],
)
async def test_where_nobody_else_wrote_a_question_is_for_the_bot(
    bot: BotFixture, text: str, *, alone: bool, beside: bool
) -> None:
    assert await answers(bot, text) is alone
    await bot.post(THREAD, "ada", "The Nails were dear.")
    assert await answers(bot, text) is beside


@pytest.mark.parametrize(
    ("text", "answered"),
    [
        *((text, False) for text in ("Ada, who pays?", "Ada can you call them?", "can you call them, ada?", "Ada?")),
        ("and the Glue?", False),
        ("When does the Glue come?", True),
    ],
)
async def test_after_somebody_else_posted_only_a_whole_question_to_nobody_by_name_is_answered(
    bot: BotFixture, text: str, *, answered: bool
) -> None:
    await bot.post(THREAD, "ada", "The Nails were dear.")
    assert await answers(bot, text) is answered


async def test_only_later_messages_of_the_thread_itself_interrupt_it(bot: BotFixture) -> None:
    _, latest = await ThreadHistory(bot.context).get_askers(THREAD)
    assert latest is not None
    await bot.post(ROOF, "ada", "Lunch?")
    await bot.receive(replace(bot.platform.add_message(THREAD, "ada", "The Nails were dear."), time=latest))
    assert await answers(bot, "and the Glue?")


async def test_a_reply_to_the_bot_is_for_nobody_else(bot: BotFixture) -> None:
    [own, *_] = (await bot.stored(bot.last_reply)).reply_message_ids
    assert await answers(bot, NAILS, replies_to=own)
    assert not await answers(bot, NAILS, replies_to="m1")


async def test_what_others_post_after_a_question_does_not_interrupt_it(bot: BotFixture) -> None:
    question = bot.platform.add_message(THREAD, "bob", "and the Glue?")
    await bot.post(THREAD, "ada", "The Nails were dear.")
    assert await policy(bot).should_answer(question)


async def test_what_the_author_posts_before_a_question_does_not_interrupt_it_either(bot: BotFixture) -> None:
    await bot.post(THREAD, "bob", "Good to know.")
    assert await answers(bot, "and the Glue?")


@pytest.mark.parametrize(("hours", "answered"), [(23, False), (25, True)])
async def test_a_question_may_be_for_who_posted_in_the_channel_within_a_day(
    bot: BotFixture, hours: int, *, answered: bool
) -> None:
    await bot.save_settings(ROOF, **ALL)
    await bot.post(ROOF, "eve", "The Nails were dear.")
    bot.platform.advance(hours * 3600)
    assert await answers(bot, "When do the Nails come Eve?", place=ROOF) is answered


async def test_a_person_who_asks_in_the_thread_is_answered_from_then_on(bot: BotFixture) -> None:
    await bot.answer(bot.platform.add_message(THREAD, "ada", "<@BOT> When do the Tiles come?"))
    assert await answers(bot, NAILS, "ada")


@pytest.mark.parametrize(
    ("text", "answered"), [("the glue then", True), (WHOLE, True), ("thanks!", False), ("<@ada> when?", False)]
)
async def test_with_a_model_the_unclear_ones_are_passed_on(bot: BotFixture, text: str, *, answered: bool) -> None:
    message = bot.platform.add_message(THREAD, "bob", text)
    assert await policy(bot, llm_model="openai/some").should_answer(message) is answered


async def test_a_thread_whose_answer_was_redacted_is_still_one_of_the_bot(bot: BotFixture) -> None:
    [given] = await bot.store.answers.list_in_thread(THREAD, FAR_FUTURE, 2)
    await bot.store.answers.redact(list(given.documents))
    assert await bot.store.answers.list_in_thread(THREAD, FAR_FUTURE, 2) == []
    assert await answers(bot, NAILS)


async def test_a_thread_with_a_private_answer_alone_is_not(bot: BotFixture) -> None:
    thread = replace(ROOF, thread="m1")
    await bot.ask_by_command(thread, "ada", "When do the Tiles come?")
    assert not await answers(bot, NAILS, "ada", place=thread)


@pytest.mark.share(2)
@pytest.mark.parametrize(
    ("settings", "text", "author", "answered"),
    [
        (MENTION, NAILS, "bob", False),
        (ALL, WHOLE, "ada", True),
        *((ALL, text, "ada", False) for text in ("<@bob> do you know?", "  ", "thanks!")),
        *((ALL, text, "bob", False) for text in ("Ada - when do the Nails come?", "When do the Nails come Ada?")),
        *((ALL, text, "bob", False) for text in ("The glue then.", "Ada?")),
        (ALL, WHOLE, "bob", True),
    ],
)
async def test_a_channel_may_want_mentions_always_or_answers_to_all_questions(
    bot: BotFixture, settings: dict[str, Any], text: str, author: str, *, answered: bool
) -> None:
    await bot.save_settings(ROOF, **settings)
    await bot.post(THREAD, "ada", "The Nails were dear.")
    for place in (THREAD,) if settings is MENTION else (ROOF, THREAD):
        assert await answers(bot, text, author, place=place) is answered


async def test_a_thread_without_an_answer_cannot_be_muted_by_a_word(bot: BotFixture) -> None:
    elsewhere = replace(ROOF, thread="m1")
    assert not await policy(bot).can_answer_unmentioned(elsewhere)
    assert not await answers(bot, "stop", "ada", place=elsewhere)


@pytest.mark.parametrize("facts", [{"by_bot": True}, {"own": True}], ids=["another bot", "the bot itself"])
async def test_bots_are_never_answered(bot: BotFixture, facts: dict[str, Any]) -> None:
    await bot.save_settings(ROOF, **ALL)
    for place in (ROOF, THREAD):
        assert not await answers(bot, WHOLE, "robo", place=place, **facts)
    assert await answers(bot, WHOLE, "eve", place=ROOF)


@pytest.mark.parametrize("text", ["<@BOT> stop", "<@BOT> Stop!", "stop"])
async def test_the_bot_can_be_stopped_in_one_thread(bot: BotFixture, text: str) -> None:
    assert await policy(bot).handle_stop(bot.platform.add_message(THREAD, "ada", text))
    assert [card.text for _, card in bot.platform.private_messages] == [texts.THREAD_MUTED]
    assert not await answers(bot, NAILS)
    assert not await policy(bot).can_answer_unmentioned(THREAD)
    reply = await bot.ask(ROOF, "bob", "When do the Tiles come?")
    assert await policy(bot).can_answer_unmentioned(reply.target.location)


@pytest.mark.parametrize("is_writing", [True, False])
async def test_some_words_stop_an_answer_that_is_written_and_some_mute_a_thread(
    bot: BotFixture, *, is_writing: bool
) -> None:
    policy = ReplyPolicy(bot.context, ThreadHistory(bot.context), WritingStops(bot.context, is_writing=is_writing))
    message = bot.platform.add_message(THREAD, "bob", "")
    both, only_stop = {"stop", "be quiet", "quiet"}, {"stop it", "cancel", "abort", "enough"}
    only_stop |= {"stopp", "halt", "arrête", "alto", "pare", "止めて"}
    for word in sorted(both | only_stop | {"well"}):
        await bot.store.channel_settings.save(f"{ROOF.room}:m2", ChannelSettings())  # the thread is not muted
        spoken = replace(message, text=f"{word}!")
        expected = word in both or (is_writing and word in only_stop)
        assert (word, await policy.should_answer(spoken)) == (word, expected)
        assert (word, await policy.handle_stop(spoken)) == (word, expected)


async def test_outside_of_threads_a_word_alone_is_no_reason_to_answer(bot: BotFixture) -> None:
    await bot.save_settings(ROOF, **ALL)
    policy = ReplyPolicy(bot.context, ThreadHistory(bot.context), WritingStops(bot.context, is_writing=True))
    assert not await policy.should_answer(bot.platform.add_message(ROOF, "bob", "stop"))


async def test_a_question_about_stopping_is_a_question(bot: BotFixture) -> None:
    assert not await policy(bot).handle_stop(bot.platform.add_message(THREAD, "ada", "<@BOT> where does the bus stop?"))
