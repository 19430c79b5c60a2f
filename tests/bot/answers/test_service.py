"""Questions become replies: cited, once, visible whatever happens, and never more than their readers may know."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot import texts
from bot.answers.question import request_from_message
from bot.errors import PermissionDenied, PlatformError
from bot.platform.models import Location, Message
from bot.store.channels import FAR_FUTURE
from engine.errors import InvalidApiKey, ModelUnavailable
from tests.support.bot_fixture import BotFixture, open_bot, run_before, with_settings
from tests.support.builders import ROOF
from tests.support.canned_language import CannedLanguage
from tests.support.fake_platform import START

CITED = "[[1]](https://chat.example/T1/ROOF/m1)"  # as it is shown
ASKED = "When do the Tiles come?"
SECRET = "Where is the Key of Zanzibar?"
NAILS = b"The Nails come on Friday, says Mina."
DOWN = PlatformError("Down.")
started_with_tiles = pytest.mark.usefixtures("tiles")


def notice(bot: BotFixture) -> str:
    assert bot.last_reply.closing is not None
    return bot.last_reply.closing.notice


def private_texts(bot: BotFixture) -> list[str]:
    return [card.text for _, card in bot.platform.private_messages]


@started_with_tiles
async def test_a_question_is_answered_in_its_thread_with_source_notice_and_buttons(bot: BotFixture) -> None:
    reply = await bot.ask(ROOF, "bob", ASKED)
    target = reply.target
    assert (target.location.thread, target.message, target.person) == ("m2", "m2", "bob")
    assert reply.closing is not None
    [source] = reply.closing.sources
    assert (source.number, source.link) == (1, "https://chat.example/T1/ROOF/m1")
    assert (source.title, source.excerpt) == ("#roof · Ada", "")
    assert notice(bot) == "Answered from what everyone in #roof can see."
    buttons = {button.action: button.value for button in reply.closing.buttons}
    assert list(buttons) == ["up", "down", "sources", "improve"]
    assert buttons.pop("improve") == f"{target.answer}:0"
    assert set(buttons.values()) == {target.answer}
    assert reply.statuses == [texts.STATUS_SEARCHING]
    writes = [call for call in bot.platform.calls if call in {"status", "show", "finish"}]
    assert (writes[0], writes[-1]) == ("status", "finish")
    stored = await bot.stored(reply)
    assert (stored.state, stored.reply_ref) == ("done", reply.reply_ref)
    assert stored.text == "[2026-11-20 10:01] Ada: The Tiles come on Monday. [1]\n"
    assert reply.text == stored.text.replace("[1]", CITED)
    assert stored.spaces == {"slack:T1:open"}
    assert stored.documents == {"slack:T1:ROOF:window:m1", "slack:T1:ROOF:message:m1"}
    assert [each.room for each in stored.sources] == ["slack:T1:ROOF"]
    count = bot.metrics.registry.get_sample_value
    assert count("threadlore_questions_total", {"platform": "slack", "outcome": "answered"}) == 1
    assert count("threadlore_time_to_first_token_seconds_count", {"platform": "slack"}) == 1
    assert count("threadlore_llm_tokens_total", {"purpose": "answer", "type": "output"}) == 10


@started_with_tiles
async def test_only_an_answer_to_a_public_command_repeats_its_question(bot: BotFixture) -> None:
    assert "asked:" not in (await bot.ask(ROOF, "bob", ASKED)).text
    assert "asked:" not in (await bot.ask_by_command(ROOF, "bob", ASKED)).text
    reply = await bot.ask_by_command(
        ROOF, "bob", f"{ASKED[:-1]}, <@ada>? https://evil.example", private=False, id_="c2"
    )
    head, _, answer = reply.text.partition("\n\n")
    assert head.startswith("> **Bob asked:** When do the Tiles come, @")
    assert "https://evil.example" not in head
    assert "Monday" in answer
    assert "asked:" not in (await bot.stored(reply)).text


@pytest.mark.parametrize("kind", ["open", "direct"])
async def test_without_anything_to_answer_from_it_says_so(bot: BotFixture, kind: Any) -> None:
    reply = await bot.ask(bot.platform.add_channel("HALL", "ada", kind=kind), "ada", ASKED)
    assert reply.text == texts.NOTHING_FOUND
    assert reply.closing is not None
    assert reply.closing.sources == ()
    assert bot.language.prompts == []


@started_with_tiles
async def test_while_the_index_is_rebuilt_it_says_so(bot: BotFixture) -> None:
    await bot.engine._ledger.settings.set("reindexing", 1)
    await bot.ask(ROOF, "bob", ASKED)
    assert texts.REBUILDING in notice(bot)


@started_with_tiles
async def test_while_the_history_is_still_being_read_it_says_so(bot: BotFixture) -> None:
    await bot.store.backfill_cursors.start(ROOF.room, START)
    reply = await bot.ask(ROOF, "bob", ASKED)
    assert reply.closing is not None
    assert reply.closing.sources
    assert texts.STILL_INDEXING in notice(bot)


@started_with_tiles
@pytest.mark.parametrize(("filtered", "ending"), [(False, texts.ANSWER_CUT_OFF), (True, texts.ANSWER_FILTERED)])
async def test_half_an_answer_says_so_and_keeps_saying_so(bot: BotFixture, *, filtered: bool, ending: str) -> None:
    bot.language.cut_off, bot.language.filtered = True, filtered
    reply = await bot.ask(ROOF, "bob", ASKED)
    assert reply.text.endswith(f"\n\n_{ending}_")
    assert reply.closing is not None
    assert reply.closing.sources
    assert ending in (await bot.stored(reply)).text


@started_with_tiles
async def test_an_answer_as_of_a_day_says_so_and_one_of_a_day_to_come_is_refused(bot: BotFixture) -> None:
    await bot.ask(ROOF, "bob", f"{ASKED} as of today")
    assert notice(bot).startswith("As of November 20, 2026: what was written later is left out.")
    assert (await bot.ask(ROOF, "bob", f"{ASKED} as of 2026-11-19")).text == texts.NOTHING_FOUND
    assert notice(bot).startswith("As of November 19, 2026:")
    reply = await bot.ask(ROOF, "bob", f"{ASKED} as of tomorrow")
    assert "tomorrow is still to come" in reply.text


@started_with_tiles
async def test_an_empty_question_is_answered_too(bot: BotFixture) -> None:
    assert (await bot.ask(ROOF, "bob", "")).text == texts.EMPTY_QUESTION


@started_with_tiles
async def test_the_same_question_is_answered_once_also_if_it_comes_twice_at_a_time(bot: BotFixture) -> None:
    message = bot.platform.add_message(ROOF, "bob", f"<@BOT> {ASKED}")
    await asyncio.gather(bot.answer(message), bot.answer(message))
    assert bot.platform.calls.count("finish") == 1
    calls = list(bot.platform.calls)
    await bot.answer(message)
    assert bot.platform.calls == calls


async def test_an_interrupted_answer_is_finished_after_a_restart_in_the_same_reply(tmp_path: Path) -> None:
    pieces = ("The Tiles ", "come on Monday. [1]")
    async with open_bot(tmp_path / "home", language=CannedLanguage(*pieces)) as bot:
        roof = await bot.join("ROOF", "ada")
        await bot.post_indexed(roof, "ada", "The Tiles come on Monday.")
        question = bot.platform.add_message(roof, "ada", f"<@BOT> {ASKED}")
        bot.language.answer_gate.clear()
        working = asyncio.create_task(bot.answer(question))
        await bot.wait_for_reply("The Tile")
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)
        platform = bot.platform
        platform.change_channel("ROOF", name="top")
    async with open_bot(tmp_path / "home", platform, CannedLanguage(*pieces)) as bot:
        assert (await bot.stored(bot.last_reply)).reply_ref == bot.last_reply.reply_ref
        await bot.answer(question)
        await bot.answer(question)
        assert [reply.text for reply in platform.replies] == [f"The Tiles come on Monday. {CITED}"]
        assert (await bot.stored(bot.last_reply)).state == "done"
        assert platform.calls.count("finish") == 1


@started_with_tiles
async def test_an_end_that_cannot_be_written_is_tried_again(bot: BotFixture) -> None:
    message = bot.platform.add_message(ROOF, "bob", f"<@BOT> {ASKED}")
    bot.platform.failing["finish"] = DOWN
    with pytest.raises(PlatformError):
        await bot.answer(message)
    bot.platform.failing.clear()
    await bot.answer(message)
    assert len(bot.platform.replies) == 1
    assert bot.last_reply.closing is not None


@started_with_tiles
async def test_where_it_may_not_be_written_the_asker_hears_so_in_private(bot: BotFixture) -> None:
    bot.platform.failing["finish"] = PermissionDenied("No.")
    reply = await bot.ask(ROOF, "bob", ASKED)
    [(target, card)] = bot.platform.private_messages
    assert target.person == "bob"
    assert "not allowed" in card.text
    assert (await bot.stored(reply)).state == "failed"


async def given_up(bot: BotFixture, roof: Location, *failing: str, times: int = 1) -> str:
    """An answer is tried while these calls fail, and given up; gives the reference of the failure."""
    message = bot.platform.add_message(roof, "bob", f"<@BOT> {ASKED}")
    bot.platform.failing |= dict.fromkeys(failing, DOWN)
    if failing:
        with pytest.raises(PlatformError):
            await bot.answer(message)
    for _ in range(times):
        await bot.answer_service.post_failure(request_from_message(message), DOWN)
    return request_from_message(message).reference


@started_with_tiles
@pytest.mark.parametrize("failing", [(), ("finish", "replace")], ids=["nothing begun", "reply not replaced"])
async def test_a_failure_is_sent_to_the_asker_where_no_reply_can_show_it(
    bot: BotFixture, failing: tuple[str, ...]
) -> None:
    reference = await given_up(bot, ROOF, *failing)
    [text] = private_texts(bot)
    assert reference in text


@started_with_tiles
async def test_a_failure_replaces_the_reply_that_was_begun(bot: BotFixture) -> None:
    reference = await given_up(bot, ROOF, "finish", times=2)  # the process may have died after the first
    assert bot.last_reply.statuses
    assert reference in bot.last_reply.replaced
    assert bot.platform.private_messages == []
    assert (await bot.stored(bot.last_reply)).state == "failed"


@started_with_tiles
async def test_a_failure_is_a_sentence_with_a_reference_and_no_history(bot: BotFixture) -> None:
    bot.language.reply = (InvalidApiKey("sk-123 is wrong"),)
    reply = await bot.ask(ROOF, "ada", ASKED)
    assert "The provider of my language model doesn't let me in." in reply.text
    assert f"(reference `{reply.target.answer[:8]}`)" in reply.text
    assert "sk-123" not in reply.text
    assert await bot.store.answers.list_in_thread(replace(ROOF, thread="m2"), FAR_FUTURE, 1) == []


@started_with_tiles
@pytest.mark.parametrize("error", [ModelUnavailable("Gone."), ZeroDivisionError("a bug")])
async def test_an_answer_that_breaks_off_keeps_its_text(bot: BotFixture, error: Exception) -> None:
    bot.language.reply = ("The Tiles come [1] on", error)
    reply = await bot.ask(ROOF, "ada", ASKED)
    assert reply.text.startswith(f"The Tiles come {CITED} on\n\n{texts.BROKEN_OFF} ")
    assert reply.target.answer[:8] in reply.text
    assert reply.closing is not None
    assert [source.number for source in reply.closing.sources] == [1]


@with_settings(questions_per_minute=1)
async def test_too_many_questions_are_declined_once_to_the_asker_alone(bot: BotFixture, hall: Location) -> None:
    await bot.ask(hall, "ada", "Who is Noon?")
    message = bot.platform.add_message(hall, "ada", "<@BOT> And who is Dusk?", after=1)
    bot.platform.failing["whisper"] = DOWN
    with pytest.raises(PlatformError):
        await bot.answer(message)
    bot.platform.failing.clear()
    for _ in range(2):
        await bot.answer(message)
    assert private_texts(bot) == [texts.TOO_MANY_QUESTIONS]
    assert len(bot.platform.replies) == 1


@with_settings(questions_per_minute=1)
@started_with_tiles
async def test_a_question_whose_answer_could_not_be_written_counts_once(bot: BotFixture) -> None:
    bot.platform.failing |= dict.fromkeys(("status", "show", "finish"), DOWN)
    with pytest.raises(PlatformError):
        await bot.ask_by_command(ROOF, "ada", ASKED)
    assert bot.platform.replies == []
    bot.platform.failing.clear()
    assert "Monday" in (await bot.ask_by_command(ROOF, "ada", ASKED)).text
    assert bot.platform.private_messages == []


@with_settings(daily_token_budget=100)
@started_with_tiles
async def test_the_tokens_of_an_answer_count_against_the_budget(bot: BotFixture) -> None:
    await bot.ask(ROOF, "ada", ASKED)
    await bot.answer(bot.platform.add_message(ROOF, "ada", "<@BOT> And the Nails?"))
    assert private_texts(bot) == [texts.BUDGET_SPENT.format(duration="14 hours")]


@pytest.fixture
async def vault(bot: BotFixture) -> Location:
    """A closed channel with a secret."""
    place = await bot.join("VAULT", "ada", "cy", kind="closed")
    await bot.post_indexed(place, "ada", "The Key of Zanzibar is under the Mat.")
    return place


async def test_a_secret_is_answered_in_its_channel_and_to_its_members_in_private_only(
    bot: BotFixture, roof: Location, vault: Location
) -> None:
    for reply in (await bot.ask(roof, "ada", SECRET), await bot.ask_by_command(roof, "bob", SECRET)):
        assert "Mat" not in "".join(reply.states) + str(reply.closing)
    assert all("Mat" not in str(prompt.context) for prompt in bot.language.prompts)
    assert "Mat" in (await bot.ask(vault, "cy", SECRET)).text
    assert "Mat" in (await bot.ask_by_command(vault, "ada", SECRET, handle="h")).text


@started_with_tiles
@pytest.mark.parametrize("readers", ["a guest", "unknown"])
async def test_guests_and_unknown_readers_are_answered_from_the_channel_alone(bot: BotFixture, readers: str) -> None:
    bot.platform.add_guest("gus")
    hall = await bot.join("HALL", "ada", *(["gus"] if readers == "a guest" else []))
    await bot.post_indexed(hall, "ada", "The Nails come on Friday.")
    if readers == "unknown":
        bot.context.audience.invalidate(Location("slack", "T1", ""))
        bot.platform.failing["channel"] = DOWN
    reply = await bot.ask(hall, "ada", "When do the Tiles come? When do the Nails come?")
    assert "Friday" in reply.text
    assert "Monday" not in reply.text
    stored = await bot.stored(reply)
    assert (stored.spaces, stored.rooms) == (frozenset(), frozenset({"slack:T1:HALL"}))


async def test_a_source_that_is_closed_before_the_search_but_moved_after_it_is_not_shown(bot: BotFixture) -> None:
    hall, roof = await bot.join("HALL", "ada"), await bot.join("ROOF", "ada", "cy")
    await bot.post_indexed(roof, "cy", "The Tiles come on Monday.")

    async def close() -> None:
        bot.change_channel(roof, kind="closed", members=frozenset({"cy"}))

    run_before(bot.answer_service.writer_parts.history, "load_history", close)
    reply = await bot.ask(hall, "ada", "When do the Tiles come?")
    assert not any("Monday" in state for state in reply.states)


async def leave_the_channel(bot: BotFixture, secret: Message) -> str:
    bot.change_channel(secret.location, kind="closed", members=frozenset({"cy"}))
    return texts.ANSWER_WITHDRAWN


async def forget_the_source(bot: BotFixture, secret: Message) -> str:
    await bot.delete(secret)
    return texts.SOURCE_REMOVED


@pytest.mark.parametrize("change", [leave_the_channel, forget_the_source])
async def test_what_readers_may_no_longer_read_while_it_is_written_is_withdrawn(
    bot: BotFixture, roof: Location, hall: Location, change: Any
) -> None:
    bot.language.reply = ("The Key is ", "under the Mat. [1]", " Take it.")
    secret = await bot.post_indexed(roof, "ada", "The Key is under the Mat.")
    bot.language.answer_gate.clear()
    working = asyncio.create_task(bot.ask(hall, "bob", "Where is the Key?"))
    await bot.wait_for_reply("The Key i")
    notice = await change(bot, secret)
    bot.language.answer_gate.set()
    reply = await working
    assert reply.text == notice
    assert "Mat" not in reply.text
    assert change is forget_the_source or all("Mat" not in state for state in reply.states)
    assert (await bot.stored(reply)).state in {"failed", "redacted"}


@started_with_tiles
async def test_a_follow_up_has_the_thread_as_history_without_private_answers(bot: BotFixture, vault: Location) -> None:
    first = await bot.ask(ROOF, "bob", ASKED)
    thread = replace(ROOF, thread=first.target.message)
    bot.platform.add_message(thread, "ada", "I thought on Tuesday.")
    await bot.ask_by_command(thread, "ada", SECRET)
    await bot.ask(thread, "bob", "And who said so?")
    assert [(turn.role, turn.text) for turn in bot.language.prompts[-1].history] == [
        ("user", ASKED),
        ("assistant", first.text.replace(CITED, "[1]")),
        ("user", "Ada: I thought on Tuesday."),
    ]


@started_with_tiles
async def test_a_question_with_a_file_is_answered_from_it(bot: BotFixture) -> None:
    upload = bot.platform.add_file("notes.txt", NAILS)
    reply = await bot.ask(ROOF, "bob", "When do the Tiles and the Nails come?", (upload,))
    assert "Friday" in reply.text
    assert "Monday" not in reply.text
    assert texts.STATUS_READING_FILE in reply.statuses
    assert bot.platform.reactions[reply.target.message] == ["working", "done"]


@started_with_tiles
async def test_a_file_without_a_question_is_indexed_or_refused_in_words(bot: BotFixture) -> None:
    upload, song = bot.platform.add_file("notes.txt", NAILS), bot.platform.add_file("song.mp3", b"l", kind="audio/mpeg")
    assert (await bot.ask(ROOF, "bob", "", (upload,))).text == texts.FILE_RECEIVED
    assert "Friday" in (await bot.ask(ROOF, "ada", "When do the Nails come?")).text
    assert (await bot.ask(ROOF, "bob", "", (song,))).text == texts.FILE_REFUSED


@with_settings(attachment_wait_seconds=0.0)
@started_with_tiles
async def test_a_file_that_takes_too_long_is_not_waited_for(bot: BotFixture) -> None:
    reply = await bot.ask(ROOF, "ada", ASKED, (bot.platform.add_file("notes.txt", NAILS),))
    assert texts.FILE_NOT_READY in notice(bot)
    assert "Monday" in reply.text
    assert bot.platform.reactions[reply.target.message][-1] == "done"


async def test_a_file_of_a_private_question_stays_private(bot: BotFixture, roof: Location) -> None:
    upload, question = bot.platform.add_file("notes.txt", NAILS), "When do the Nails come?"
    assert "Friday" in (await bot.ask_by_command(roof, "bob", question, uploads=(upload,))).text
    assert "Friday" not in (await bot.ask(roof, "ada", question)).text
