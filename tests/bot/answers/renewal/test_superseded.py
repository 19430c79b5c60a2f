"""Posted answers whose cited message a newer one replaces."""

from __future__ import annotations

import pytest

from bot.answers.renewal.superseded import SupersededAnswers
from bot.platform.models import Location
from tests.bot.answers.renewal.test_renewer import edits, renew
from tests.support.bot_fixture import BotFixture, with_settings
from tests.support.fake_platform import RecordedReply

KILN = "The kiln is lit on Monday."
MOVED = "Correction: the kiln is lit on Thursday, not on Monday."


@pytest.fixture
async def reply(bot: BotFixture, roof: Location) -> RecordedReply:
    """A posted answer that cites one message."""
    await bot.post_indexed(roof, "ada", KILN)
    return await bot.ask(roof, "bob", "When is the kiln lit?")


async def say(bot: BotFixture, place: Location, text: str) -> None:
    """Post a message, and compare answers with it as the dispatcher does."""
    await SupersededAnswers(bot.context).check(await bot.post_indexed(place, "ada", text))
    await renew(bot)


@pytest.mark.parametrize("text", [MOVED, "The kiln is lit on Thursday instead.", "The kiln is now lit on Thursday."])
async def test_a_newer_statement_renews_the_answer_once(
    bot: BotFixture, roof: Location, reply: RecordedReply, text: str
) -> None:
    await say(bot, roof, text)
    assert "Thursday" in reply.text
    assert edits(bot) == 1
    await say(bot, roof, "Bring gloves to the kiln, please.")
    assert edits(bot) == 1


@pytest.mark.parametrize(
    "text",
    [
        "Is the kiln lit on Thursday?",
        "The kiln might be lit on Thursday.",
        "The loom is oiled on Thursday.",
        "The kiln is lit on Monday.",
        "Thursday is a holiday.",
    ],
)
async def test_other_messages_leave_the_answer(
    bot: BotFixture, roof: Location, reply: RecordedReply, text: str
) -> None:
    await say(bot, roof, text)
    assert edits(bot) == 0


async def test_a_message_that_its_readers_may_not_read_leaves_the_answer(
    bot: BotFixture, roof: Location, reply: RecordedReply
) -> None:
    attic = await bot.join("ATTIC", "ada", kind="closed")
    await say(bot, attic, MOVED)
    assert edits(bot) == 0


@with_settings(renew_answers="sentences")
async def test_sentences_alone_are_not_dropped_for_a_newer_statement(
    bot: BotFixture, roof: Location, reply: RecordedReply
) -> None:
    await say(bot, roof, MOVED)
    assert edits(bot) == 0


@with_settings(renew_answers_tokens=5)
async def test_after_the_tokens_of_a_day_a_newer_statement_leaves_the_answer(
    bot: BotFixture, roof: Location, reply: RecordedReply
) -> None:
    stored = await bot.stored(reply)
    await bot.store.answer_renewals.record(stored.location, stored.id, "renewed", 5)
    await say(bot, roof, MOVED)
    assert (edits(bot), (await bot.stored(reply)).state) == (0, "done")
    assert "Monday" in reply.text
