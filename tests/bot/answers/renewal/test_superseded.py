"""Posted answers whose cited message a newer one replaces."""

from __future__ import annotations

import pytest

from bot.answers.renewal.superseded import SupersessionFinder
from bot.errors import PlatformError
from bot.platform.events import VisibilityChanged
from bot.platform.models import Location, Message
from engine.errors import ModelUnavailable
from tests.bot.answers.renewal.test_renewer import edits, renew
from tests.support.bot_fixture import BotFixture, with_settings
from tests.support.fake_platform import RecordedReply

KILN = "The kiln is lit on Monday."
DOWN = (ModelUnavailable("Down."),)
MOVED = "Correction: the kiln is lit on Thursday, not on Monday."


@pytest.fixture
async def reply(bot: BotFixture, roof: Location) -> RecordedReply:
    """A posted answer that cites one message."""
    await bot.post_indexed(roof, "ada", KILN)
    return await bot.ask(roof, "bob", "When is the kiln lit?")


async def say(bot: BotFixture, place: Location, text: str) -> None:
    """Post a message, and compare answers with it as the dispatcher does."""
    await SupersessionFinder(bot.context).check(await bot.post_indexed(place, "ada", text))
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


@with_settings(renew_answers="off")
async def test_nothing_is_compared_where_no_answer_is_written_anew(
    bot: BotFixture, roof: Location, reply: RecordedReply
) -> None:
    await say(bot, roof, MOVED)
    assert edits(bot) == 0


async def assert_marked(bot: BotFixture, reply: RecordedReply) -> None:
    """The old text is there with its sources, and says that a newer message says otherwise."""
    assert reply.text.startswith("_A newer message says otherwise: [its message](")
    assert KILN in reply.text
    assert (await bot.stored(reply)).state == "done"
    assert (await bot.store.answer_renewals.count_outcomes())["marked"] == 1


@with_settings(renew_answers="sentences")
async def test_where_no_model_is_asked_the_old_text_gets_a_mark(
    bot: BotFixture, roof: Location, reply: RecordedReply
) -> None:
    await say(bot, roof, MOVED)
    await assert_marked(bot, reply)
    assert edits(bot) == 1


@with_settings(renew_answers_tokens=5)
async def test_after_the_tokens_of_a_day_the_old_text_gets_a_mark(
    bot: BotFixture, roof: Location, reply: RecordedReply
) -> None:
    stored = await bot.stored(reply)
    await bot.store.answer_renewals.record(stored.location, stored.id, "renewed", 5)
    await say(bot, roof, MOVED)
    await assert_marked(bot, reply)


async def test_without_a_model_the_old_text_gets_a_mark_once_for_each_newer_message(
    bot: BotFixture, roof: Location, reply: RecordedReply
) -> None:
    bot.language.reply = DOWN
    moved = await bot.post_indexed(roof, "ada", MOVED)
    for _ in range(3):
        await SupersessionFinder(bot.context).check(moved)
        await renew(bot)
    await assert_marked(bot, reply)
    assert edits(bot) == 1
    bot.language.reply = ()
    await say(bot, roof, "Correction: the kiln is lit on Friday, not on Monday.")
    assert (edits(bot), "Friday" in reply.text, "newer message" in reply.text) == (2, True, False)


async def test_the_old_text_is_posted_until_the_new_one_is_there(
    bot: BotFixture, roof: Location, reply: RecordedReply
) -> None:
    await SupersessionFinder(bot.context).check(await bot.post_indexed(roof, "ada", MOVED))
    stored = await bot.stored(reply)
    assert (stored.state, "Monday" in stored.text, "Monday" in reply.text) == ("done", True, True)
    await renew(bot)
    assert ("Thursday" in reply.text, "newer message" in reply.text, edits(bot)) == (True, False, 1)


async def test_a_newer_message_that_is_deleted_before_changes_nothing(
    bot: BotFixture, roof: Location, reply: RecordedReply
) -> None:
    moved = await bot.post_indexed(roof, "ada", MOVED)
    await SupersessionFinder(bot.context).check(moved)
    await bot.delete(moved)
    await renew(bot)
    assert edits(bot) == 0
    assert await bot.store.superseded_answers.get(reply.target.answer) is None
    assert await bot.store.answer_corrections.list_workspaces() == []


async def test_a_mark_goes_with_the_newer_message(bot: BotFixture, roof: Location, reply: RecordedReply) -> None:
    bot.language.reply = DOWN
    moved = await bot.post_indexed(roof, "ada", MOVED)
    await SupersessionFinder(bot.context).check(moved)
    await renew(bot)
    await assert_marked(bot, reply)
    bot.language.reply = ()
    await bot.delete(moved)
    await renew(bot)
    assert ("newer message" in reply.text, "Monday" in reply.text) == (False, True)


async def supersede_twice(bot: BotFixture, roof: Location) -> list[Message]:
    """Post two messages, each of which supersedes the answer, while no model can be asked."""
    bot.language.reply = DOWN
    posted = list[Message]()
    for day in ("Thursday", "Friday"):
        message = await bot.post_indexed(roof, "ada", f"Correction: the kiln is lit on {day}, not on Monday.")
        await SupersessionFinder(bot.context).check(message)
        await renew(bot)
        posted.append(message)
    return posted


async def test_without_the_newest_message_the_one_before_supersedes_the_answer_again(
    bot: BotFixture, roof: Location, reply: RecordedReply
) -> None:
    first, second = await supersede_twice(bot, roof)
    await assert_marked(bot, reply)
    await bot.delete(second)
    await renew(bot)
    await assert_marked(bot, reply)
    newer = await bot.store.superseded_answers.get(reply.target.answer)
    assert newer is not None
    assert newer.message == first.id
    await bot.delete(first)
    await renew(bot)
    assert "newer message" not in reply.text
    assert KILN in reply.text


async def test_an_earlier_message_that_goes_leaves_the_mark_as_it_is(
    bot: BotFixture, roof: Location, reply: RecordedReply
) -> None:
    first, _ = await supersede_twice(bot, roof)
    count = edits(bot)
    await bot.delete(first)
    await renew(bot)
    await assert_marked(bot, reply)
    assert edits(bot) == count


@with_settings(renew_answers="sentences")
@pytest.mark.parametrize("change", ["delete", "edit"])
async def test_with_a_mark_goes_nothing_else(
    bot: BotFixture, roof: Location, reply: RecordedReply, change: str
) -> None:
    moved = await bot.post_indexed(roof, "ada", MOVED)
    await SupersessionFinder(bot.context).check(moved)
    await renew(bot)
    await assert_marked(bot, reply)
    if change == "delete":
        await bot.delete(moved)
    else:
        await bot.edit(moved, MOVED + " Thanks!")
    await renew(bot)
    assert (KILN in reply.text, "newer message" in reply.text, "Changed since" in reply.text) == (True, False, False)
    assert (await bot.stored(reply)).state == "done"


@with_settings(renew_answers="sentences")
async def test_a_mark_goes_alone_where_its_message_may_be_read_no_more(
    bot: BotFixture, roof: Location, reply: RecordedReply
) -> None:
    attic = await bot.join("ATTIC", "ada", "bob")
    await say(bot, attic, MOVED)
    await assert_marked(bot, reply)
    bot.change_channel(attic, kind="closed", members=frozenset({"ada"}))
    await bot.ingest_service.handle(VisibilityChanged(attic))
    await renew(bot)
    bot.platform.advance(60.0)
    await renew(bot)
    assert (KILN in reply.text, "newer message" in reply.text) == (True, False)


async def test_a_source_that_is_removed_meanwhile_is_redacted_first(
    bot: BotFixture, roof: Location, reply: RecordedReply
) -> None:
    kiln = next(message for message in bot.platform.messages if message.text == KILN)
    await SupersessionFinder(bot.context).check(await bot.post_indexed(roof, "ada", MOVED))
    await bot.delete(kiln)
    assert (await bot.stored(reply)).text == ""
    await renew(bot)
    assert ("Monday" not in reply.text.partition("not on")[0], edits(bot)) == (True, 1)


@pytest.mark.parametrize("call", ["save", "mark"])
async def test_after_a_kill_what_was_stored_is_posted_and_nothing_is_asked_twice(
    bot: BotFixture, roof: Location, reply: RecordedReply, call: str
) -> None:
    if call == "mark":
        bot.language.reply = DOWN
    await SupersessionFinder(bot.context).check(await bot.post_indexed(roof, "ada", MOVED))
    bot.platform.failing["replace_answer"] = PlatformError("Killed.")
    await renew(bot)
    bot.platform.failing.clear()
    asked, bot.language.reply = len(bot.language.prompts), ()
    bot.platform.advance(60.0)
    await renew(bot)
    assert len(bot.language.prompts) == asked
    assert ("newer message" in reply.text) is (call == "mark")
    assert ("Thursday" in reply.text) is (call == "save")


async def test_an_edit_can_supersede_what_another_message_said(
    bot: BotFixture, roof: Location, reply: RecordedReply
) -> None:
    note = await bot.post_indexed(roof, "ada", "The kiln is clean.")
    edited = await bot.edit(note, MOVED)
    await bot.engine.wait_until_indexed()
    await SupersessionFinder(bot.context).check(edited)
    await renew(bot)
    assert "Thursday" in reply.text


async def test_what_a_newer_message_replaces_does_not_stay_without_its_mark(bot: BotFixture, roof: Location) -> None:
    await bot.post_indexed(roof, "ada", KILN)
    loom = await bot.post_indexed(roof, "ada", "The loom is oiled on Tuesday.")
    await bot.post_indexed(roof, "ada", "The kiln is red.")
    reply = await bot.ask(roof, "bob", "When is the kiln lit, and when is the loom oiled?")
    assert all(word in reply.text for word in ("Monday", "Tuesday", "red"))
    bot.language.reply = DOWN
    await say(bot, roof, MOVED)
    assert "newer message" in reply.text
    await bot.delete(loom)
    await renew(bot)
    assert "red" in reply.text
    assert "Tuesday" not in reply.text
    assert "Monday" not in reply.text
