"""Questions become replies: cited, once, visible whatever happens, and never more than their readers may know."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from bot import texts
from bot.answers.request import request_from_message
from bot.errors import PermissionDenied, PlatformError
from bot.platform.models import Location, Person
from bot.store import ChannelSettings
from bot.store.channels import FAR_FUTURE
from engine.errors import InvalidApiKey, ModelUnavailable
from tests.support.answering_fixture import AnsweringFixture, CannedLanguage, add_guest, open_answering_bot
from tests.support.fake_platform import START

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

CITED = "[[1]](https://chat.example/T1/ROOF/m1)"  # as it is shown


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[AnsweringFixture]:
    async with open_answering_bot(tmp_path / "home") as opened:
        await opened.context.store.hints.record_if_new("slack", "T1", "model")
        yield opened


@pytest.fixture
async def roof(home: AnsweringFixture) -> Location:
    """A channel in which something is known."""
    place = await home.join_channel("ROOF", "ada", "bob")
    await home.post(place, "ada", "The Tiles come on Monday.")
    await home.wait_until_indexed()
    return place


async def test_a_question_is_answered_with_its_source(home: AnsweringFixture, roof: Location) -> None:
    reply = await home.ask(roof, "bob", "When do the Tiles come?")
    assert "The Tiles come on Monday." in reply.text
    assert reply.closing is not None
    [source] = reply.closing.sources
    assert (source.number, source.link) == (1, "https://chat.example/T1/ROOF/m1")
    assert source.title == "#roof · Ada"
    assert source.excerpt == ""
    assert "[1]" in reply.text


async def test_it_is_answered_in_the_thread_of_the_question(home: AnsweringFixture, roof: Location) -> None:
    reply = await home.ask(roof, "bob", "When do the Tiles come?")
    assert (reply.target.location.thread, reply.target.message, reply.target.person) == ("m2", "m2", "bob")


async def test_a_status_comes_first(home: AnsweringFixture, roof: Location) -> None:
    reply = await home.ask(roof, "bob", "When do the Tiles come?")
    assert reply.statuses == [texts.STATUS_SEARCHING]
    writes = [call for call in home.platform.calls if call in {"status", "show", "finish"}]
    assert writes[0] == "status"
    assert writes[-1] == "finish"


async def test_the_note_says_from_what_it_was_drawn(home: AnsweringFixture, roof: Location) -> None:
    reply = await home.ask(roof, "bob", "When do the Tiles come?")
    assert reply.closing is not None
    assert reply.closing.notice == "Answered from what everyone in #roof can see."


async def test_below_it_are_buttons(home: AnsweringFixture, roof: Location) -> None:
    reply = await home.ask(roof, "bob", "When do the Tiles come?")
    assert reply.closing is not None
    assert [(each.action, each.value) for each in reply.closing.buttons] == [
        (action, reply.target.answer) for action in ("up", "down", "sources", "delete")
    ]


async def test_the_bot_s_name_is_no_part_of_the_question(home: AnsweringFixture, roof: Location) -> None:
    await home.ask(roof, "bob", "does <@ada> know the Tiles?")
    assert home.language.prompts[-1].question == "does @Ada know the Tiles?"


async def test_a_private_answer_can_be_shared_and_says_that_it_is_private(
    home: AnsweringFixture, roof: Location
) -> None:
    reply = await home.ask_by_command(roof, "bob", "When do the Tiles come?")
    assert reply.target.private
    assert reply.closing is not None
    assert reply.closing.notice == "Only you can see this. Answered from what you can read."
    assert [each.action for each in reply.closing.buttons] == ["up", "down", "sources", "share"]


async def test_an_answer_to_a_public_command_carries_its_question_from_the_first_words_on(
    home: AnsweringFixture, roof: Location
) -> None:
    reply = await home.ask_by_command(
        roof, "bob", "When do the Tiles come, <@ada>? https://evil.example", private=False
    )
    head, _, said = reply.text.partition("\n\n")
    assert head.startswith("> **Bob asked:** When do the Tiles come, @")
    assert "https://evil.example" not in head
    assert "Monday" in said
    stored = await home.context.store.answers.get_latest(roof.room, "", "bob")
    assert stored is None or "asked:" not in stored.text


async def test_an_answer_where_the_question_can_be_read_does_not_repeat_it(
    home: AnsweringFixture, roof: Location
) -> None:
    assert "asked:" not in (await home.ask(roof, "bob", "When do the Tiles come?")).text
    assert "asked:" not in (await home.ask_by_command(roof, "bob", "When do the Tiles come?")).text


async def test_an_answer_is_kept_with_all_it_drew_on(home: AnsweringFixture, roof: Location) -> None:
    reply = await home.ask(roof, "bob", "When do the Tiles come?")
    stored = await home.context.store.answers.get(reply.target.answer)
    assert stored is not None
    assert (stored.state, stored.reply_ref) == ("done", reply.reply_ref)
    assert stored.text == "[2026-11-20 10:01] Ada: The Tiles come on Monday. [1]\n"
    assert reply.text == stored.text.replace("[1]", CITED)
    assert stored.spaces == {"slack:T1:open"}
    assert stored.documents == {"slack:T1:ROOF:window:m1", "slack:T1:ROOF:message:m1"}
    assert [each.room for each in stored.sources] == ["slack:T1:ROOF"]


# Nothing is there.


async def test_without_anything_to_answer_from_it_says_so(home: AnsweringFixture) -> None:
    hall = await home.join_channel("HALL", "ada")
    reply = await home.ask(hall, "ada", "When do the Tiles come?")
    assert reply.text == texts.NOTHING_FOUND
    assert reply.closing is not None
    assert reply.closing.sources == ()
    assert home.language.prompts == []


async def test_in_a_direct_message_it_offers_nothing_else(home: AnsweringFixture) -> None:
    talk = home.platform.add_channel("D1", "ada", kind="direct")
    assert (await home.ask(talk, "ada", "When do the Tiles come?")).text == texts.NOTHING_FOUND


async def test_what_no_source_stands_behind_is_marked(tmp_path: Path) -> None:
    async with open_answering_bot(tmp_path / "home", CannedLanguage("I do not know.")) as home:
        hall = await home.join_channel("HALL", "ada")
        await home.post(hall, "ada", "Tea is at Noon.")
        await home.wait_until_indexed()
        reply = await home.ask(hall, "ada", "Who is Noon?")
        assert reply.closing is not None
        assert texts.NO_SOURCE_FOUND in reply.closing.notice


async def test_while_the_past_is_still_read_it_says_so(home: AnsweringFixture, roof: Location) -> None:
    await home.context.store.backfill_cursors.start(roof.room, START)
    reply = await home.ask(roof, "bob", "When do the Tiles come?")
    assert reply.closing is not None
    assert reply.closing.sources
    assert texts.STILL_INDEXING in reply.closing.notice


async def test_a_half_answer_says_that_it_is_one_and_keeps_saying_so(home: AnsweringFixture, roof: Location) -> None:
    home.language.cut_off = True
    reply = await home.ask(roof, "bob", "When do the Tiles come?")
    assert reply.text.endswith(f"\n\n_{texts.ANSWER_CUT_OFF}_")
    assert reply.closing is not None
    assert reply.closing.sources
    stored = await home.context.store.answers.get(reply.target.answer)
    assert stored is not None
    assert texts.ANSWER_CUT_OFF in stored.text


async def test_an_answer_that_a_filter_stopped_says_so(home: AnsweringFixture, roof: Location) -> None:
    home.language.cut_off = home.language.filtered = True
    reply = await home.ask(roof, "bob", "When do the Tiles come?")
    assert reply.text.endswith(f"\n\n_{texts.ANSWER_FILTERED}_")


async def test_an_empty_question_is_answered_too(home: AnsweringFixture, roof: Location) -> None:
    assert (await home.ask(roof, "bob", "")).text == texts.EMPTY_QUESTION


# Once, whatever happens.


async def test_the_same_question_is_not_answered_again(home: AnsweringFixture, roof: Location) -> None:
    message = home.platform.add_message(roof, "bob", "<@BOT> When do the Tiles come?")
    await home.answer(message)
    calls = list(home.platform.calls)
    await home.answer(message)
    assert home.platform.calls == calls


async def test_two_at_once_are_one(home: AnsweringFixture, roof: Location) -> None:
    message = home.platform.add_message(roof, "bob", "<@BOT> When do the Tiles come?")
    await asyncio.gather(home.answer(message), home.answer(message))
    assert home.platform.calls.count("finish") == 1


async def test_what_was_cut_off_is_answered_after_a_restart_into_the_same_reply(tmp_path: Path) -> None:
    language = CannedLanguage("The Tiles ", "come on Monday. [1]")
    language.gate.clear()
    async with open_answering_bot(tmp_path / "home", language) as home:
        roof = await home.join_channel("ROOF", "ada")
        await home.post(roof, "ada", "The Tiles come on Monday.")
        await home.wait_until_indexed()
        question = home.platform.add_message(roof, "ada", "<@BOT> When do the Tiles come?")
        working = asyncio.create_task(home.answer(question))
        await shown(home, "The Tile")
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)
        platform = home.platform
        platform.change_channel("ROOF", name="top")
    async with open_answering_bot(
        tmp_path / "home", CannedLanguage("The Tiles ", "come on Monday. [1]"), platform
    ) as again:
        begun = await again.context.store.answers.get(request_from_message(question).id)
        assert begun is not None
        assert begun.reply_ref == platform.replies[0].reply_ref
        await again.answer(question)
        await again.answer(question)
        assert [each.text for each in platform.replies] == [f"The Tiles come on Monday. {CITED}"]
        finished = await again.context.store.answers.get(begun.id)
        assert finished is not None
        assert finished.state == "done"
        assert platform.calls.count("finish") == 1


async def test_an_end_that_cannot_be_written_is_tried_again_by_whoever_called(
    home: AnsweringFixture, roof: Location
) -> None:
    message = home.platform.add_message(roof, "bob", "<@BOT> When do the Tiles come?")
    home.platform.failing["finish"] = PlatformError("Down.")
    with pytest.raises(PlatformError):
        await home.answer(message)
    del home.platform.failing["finish"]
    await home.answer(message)
    assert len(home.platform.replies) == 1
    assert home.last_reply.closing is not None


async def test_if_it_may_not_be_written_there_the_asker_is_told(home: AnsweringFixture, roof: Location) -> None:
    home.platform.failing["finish"] = PermissionDenied("No.")
    message = home.platform.add_message(roof, "bob", "<@BOT> When do the Tiles come?")
    await home.answer(message)
    [(target, card)] = home.platform.private_messages
    assert target.person == "bob"
    assert "not allowed" in card.text
    stored = await home.context.store.answers.get(request_from_message(message).id)
    assert stored is not None
    assert stored.state == "failed"


async def test_giving_up_is_told_to_the_asker(home: AnsweringFixture, roof: Location) -> None:
    request = request_from_message(home.platform.add_message(roof, "bob", "<@BOT> When do the Tiles come?"))
    await home.answer_service.post_failure(request, PlatformError("Down."))
    [(_, card)] = home.platform.private_messages
    assert request.reference in card.text


async def test_what_was_begun_does_not_stand_there_for_ever_when_it_is_given_up(
    home: AnsweringFixture, roof: Location
) -> None:
    message = home.platform.add_message(roof, "bob", "<@BOT> When do the Tiles come?")
    home.platform.failing["finish"] = PlatformError("Down.")
    with pytest.raises(PlatformError):
        await home.answer(message)
    assert home.last_reply.statuses
    for _ in range(2):  # nobody knows whether the first was the last thing that the process did
        await home.answer_service.post_failure(request_from_message(message), PlatformError("Down."))
    assert request_from_message(message).reference in home.last_reply.replaced
    assert home.platform.private_messages == []
    stored = await home.context.store.answers.get(request_from_message(message).id)
    assert stored is not None
    assert stored.state == "failed"


async def test_if_that_cannot_be_replaced_the_asker_is_told_beside_it(home: AnsweringFixture, roof: Location) -> None:
    message = home.platform.add_message(roof, "bob", "<@BOT> When do the Tiles come?")
    home.platform.failing |= {call: PlatformError("Down.") for call in ("finish", "replace")}
    with pytest.raises(PlatformError):
        await home.answer(message)
    await home.answer_service.post_failure(request_from_message(message), PlatformError("Down."))
    [(_, card)] = home.platform.private_messages
    assert request_from_message(message).reference in card.text


# Failures are visible.


async def test_a_failure_is_a_sentence_with_a_reference(tmp_path: Path) -> None:
    async with open_answering_bot(tmp_path / "home", CannedLanguage(InvalidApiKey("sk-123 is wrong"))) as home:
        roof = await home.join_channel("ROOF", "ada")
        await home.post(roof, "ada", "The Tiles come on Monday.")
        await home.wait_until_indexed()
        reply = await home.ask(roof, "ada", "When do the Tiles come?")
        assert "The API key of my language model is not accepted." in reply.text
        assert f"(reference `{reply.target.answer[:8]}`)" in reply.text
        assert "sk-123" not in reply.text
        assert await home.context.store.answers.list_in_thread(replace(roof, thread="m2"), FAR_FUTURE, 1) == []


@pytest.mark.parametrize("error", [ModelUnavailable("Gone."), ZeroDivisionError("a bug")])
async def test_an_answer_that_breaks_off_keeps_what_was_said(tmp_path: Path, error: Exception) -> None:
    async with open_answering_bot(tmp_path / "home", CannedLanguage("The Tiles come [1] on", error)) as home:
        roof = await home.join_channel("ROOF", "ada")
        await home.post(roof, "ada", "The Tiles come on Monday.")
        await home.wait_until_indexed()
        reply = await home.ask(roof, "ada", "When do the Tiles come?")
        assert reply.text.startswith(f"The Tiles come {CITED} on\n\n{texts.BROKEN_OFF} ")
        assert reply.target.answer[:8] in reply.text
        assert reply.closing is not None
        assert [each.number for each in reply.closing.sources] == [1]


async def test_a_platform_that_fails_in_the_middle_still_shows_all_in_the_end(
    home: AnsweringFixture, roof: Location
) -> None:
    home.platform.failing["show"] = PlatformError("Too fast.")
    home.platform.failing["status"] = PlatformError("Too fast.")
    reply = await home.ask(roof, "bob", "When do the Tiles come?")
    assert "The Tiles come on Monday." in reply.text


# Guards.


async def test_too_many_questions_are_declined_to_the_asker_alone(tmp_path: Path) -> None:
    async with open_answering_bot(tmp_path / "home", questions_per_minute=1) as home:
        hall = await home.join_channel("HALL", "ada")
        await home.ask(hall, "ada", "Who is Noon?")
        message = home.platform.add_message(hall, "ada", "<@BOT> And who is Dusk?")
        await home.answer(message)
        assert [card.text for _, card in home.platform.private_messages] == [texts.TOO_MANY_QUESTIONS]
        await home.answer(message)
        assert len(home.platform.private_messages) == len(home.platform.replies) == 1


async def test_a_refusal_that_cannot_be_told_is_told_later(tmp_path: Path) -> None:
    async with open_answering_bot(tmp_path / "home", questions_per_minute=1) as home:
        hall = await home.join_channel("HALL", "ada")
        await home.ask(hall, "ada", "Who is Noon?")
        message = home.platform.add_message(hall, "ada", "<@BOT> And who is Dusk?")
        home.platform.failing["whisper"] = PlatformError("Down.")
        with pytest.raises(PlatformError):
            await home.answer(message)
        del home.platform.failing["whisper"]
        await home.answer(message)
        assert [card.text for _, card in home.platform.private_messages] == [texts.TOO_MANY_QUESTIONS]


async def test_a_question_whose_end_could_not_be_written_is_not_counted_once_more(tmp_path: Path) -> None:
    async with open_answering_bot(tmp_path / "home", questions_per_minute=1) as home:
        roof = await home.join_channel("ROOF", "ada")
        await home.post(roof, "ada", "The Tiles come on Monday.")
        await home.wait_until_indexed()
        home.platform.failing |= {call: PlatformError("Down.") for call in ("status", "show", "finish")}
        with pytest.raises(PlatformError):
            await home.ask_by_command(roof, "ada", "When do the Tiles come?")
        assert home.platform.replies == []
        home.platform.failing.clear()
        assert "Monday" in (await home.ask_by_command(roof, "ada", "When do the Tiles come?")).text
        assert home.platform.private_messages == []


async def test_what_an_answer_takes_is_put_on_the_bill(tmp_path: Path) -> None:
    async with open_answering_bot(tmp_path / "home", daily_token_budget=100) as home:
        roof = await home.join_channel("ROOF", "ada")
        await home.post(roof, "ada", "The Tiles come on Monday.")
        await home.wait_until_indexed()
        await home.ask(roof, "ada", "When do the Tiles come?")
        await home.answer(home.platform.add_message(roof, "ada", "<@BOT> And the Nails?"))
        assert [card.text for _, card in home.platform.private_messages] == [texts.BUDGET_SPENT]


# Readers.


@pytest.fixture
async def vault(home: AnsweringFixture) -> Location:
    """A closed channel in which ada said a secret."""
    place = await home.join_channel("VAULT", "ada", "cy", kind="closed")
    await home.post(place, "ada", "The Key of Zanzibar is under the Mat.")
    await home.wait_until_indexed()
    return place


async def test_a_secret_never_leaves_its_channel(home: AnsweringFixture, roof: Location, vault: Location) -> None:
    for reply in (
        await home.ask(roof, "ada", "Where is the Key of Zanzibar?"),
        await home.ask_by_command(roof, "bob", "Where is the Key of Zanzibar?"),
    ):
        assert "Mat" not in "".join(reply.states) + str(reply.closing)
    assert all("Mat" not in str(prompt.context) for prompt in home.language.prompts)
    assert "Mat" in (await home.ask(vault, "cy", "Where is the Key of Zanzibar?")).text


async def test_its_members_are_told_privately_wherever_they_are(
    home: AnsweringFixture, roof: Location, vault: Location
) -> None:
    assert "Mat" in (await home.ask_by_command(roof, "ada", "Where is the Key of Zanzibar?")).text


async def test_a_guest_narrows_an_open_channel_to_what_he_may_read(home: AnsweringFixture, roof: Location) -> None:
    hall = await home.join_channel("HALL", "ada", add_guest(home.platform, "gus"))
    await home.post(hall, "ada", "The Nails come on Friday.")
    await home.wait_until_indexed()
    reply = await home.ask(hall, "ada", "When do the Tiles come? When do the Nails come?")
    assert "Friday" in reply.text
    assert "Monday" not in reply.text
    stored = await home.context.store.answers.get(reply.target.answer)
    assert stored is not None
    assert not stored.spaces
    assert stored.rooms == {"slack:T1:HALL"}


async def test_readers_who_cannot_be_known_are_told_of_the_room_alone(home: AnsweringFixture, roof: Location) -> None:
    hall = await home.join_channel("HALL", "ada")
    await home.post(hall, "ada", "The Nails come on Friday.")
    await home.wait_until_indexed()
    home.context.audience.invalidate(Location("slack", "T1", ""))
    home.platform.failing["channel"] = PlatformError("Down.")
    reply = await home.ask(hall, "ada", "When do the Tiles come? When do the Nails come?")
    assert "Friday" in reply.text
    assert "Monday" not in reply.text


async def test_somebody_who_leaves_while_it_is_written_sees_the_answer_taken_back(tmp_path: Path) -> None:
    language = CannedLanguage("The Key is ", "under the Mat. [1]", " Take it.")
    language.gate.clear()
    async with open_answering_bot(tmp_path / "home", language) as home:
        vault = await home.join_channel("VAULT", "ada", kind="closed")
        await home.post(vault, "ada", "The Key is under the Mat.")
        await home.wait_until_indexed()
        hall = await home.join_channel("HALL", "ada")
        working = asyncio.create_task(home.ask_by_command(hall, "ada", "Where is the Key?"))
        await shown(home, "The Key i")
        home.platform.change_channel("VAULT", members=frozenset({"cy"}))
        home.context.audience.invalidate(vault)
        language.gate.set()
        reply = await working
        assert reply.text == texts.ANSWER_WITHDRAWN
        assert all("Mat" not in state for state in reply.states)
        assert (await home.context.store.answers.get(reply.target.answer)).state == "failed"  # type: ignore[union-attr]


async def test_a_source_that_turns_private_while_it_is_written_takes_the_answer_back(tmp_path: Path) -> None:
    language = CannedLanguage("The Key is ", "under the Mat. [1]")
    language.gate.clear()
    async with open_answering_bot(tmp_path / "home", language) as home:
        roof = await home.join_channel("ROOF", "ada")
        await home.post(roof, "ada", "The Key is under the Mat.")
        await home.wait_until_indexed()
        hall = await home.join_channel("HALL", "ada", "bob")
        question = home.platform.add_message(hall, "bob", "<@BOT> Where is the Key?")
        working = asyncio.create_task(home.answer(question))
        await shown(home, "The Key i")
        home.platform.change_channel("ROOF", kind="closed")
        home.context.audience.invalidate(roof)
        language.gate.set()
        await working
        assert home.last_reply.text == texts.ANSWER_WITHDRAWN


async def test_what_is_forgotten_while_it_is_written_is_taken_back(tmp_path: Path) -> None:
    language = CannedLanguage("The Key is ", "under the Mat. [1]")
    language.gate.clear()
    async with open_answering_bot(tmp_path / "home", language) as home:
        roof = await home.join_channel("ROOF", "ada")
        secret = await home.post(roof, "ada", "The Key is under the Mat.")
        await home.wait_until_indexed()
        question = home.platform.add_message(roof, "ada", "<@BOT> Where is the Key?")
        working = asyncio.create_task(home.answer(replace(question, time=secret.time)))
        await shown(home, "The Key i")
        await home.delete(secret)
        language.gate.set()
        await working
        assert home.last_reply.text == texts.SOURCE_REMOVED


# What was said before.


async def test_a_follow_up_knows_what_was_answered_before(home: AnsweringFixture, roof: Location) -> None:
    first = await home.ask(roof, "bob", "When do the Tiles come?")
    thread = replace(roof, thread=first.target.message)
    home.platform.add_message(thread, "ada", "I thought on Tuesday.")
    await home.ask(thread, "bob", "And who said so?")
    turns = [(turn.role, turn.text) for turn in home.language.prompts[-1].history]
    assert turns == [
        ("user", "When do the Tiles come?"),
        ("assistant", first.text.replace(f" {CITED}", "")),
        ("user", "Ada: I thought on Tuesday."),
    ]


async def test_a_private_answer_is_history_only_for_who_saw_it(
    home: AnsweringFixture, roof: Location, vault: Location
) -> None:
    first = await home.ask(roof, "bob", "When do the Tiles come?")
    thread = replace(roof, thread=first.target.message)
    await home.ask_by_command(thread, "ada", "Where is the Key of Zanzibar?")
    await home.ask(thread, "bob", "And the Nails?")
    assert all("Zanzibar" not in turn.text for turn in home.language.prompts[-1].history)


async def test_a_former_answer_is_history_only_while_its_spaces_are_in_scope(
    home: AnsweringFixture, vault: Location
) -> None:
    first = await home.ask(vault, "ada", "Where is the Key of Zanzibar?")
    thread = replace(vault, thread=first.target.message)
    home.platform.change_channel("VAULT", kind="open")
    home.context.audience.invalidate(vault)
    await home.ask(thread, "cy", "What of the Key?")
    told = [turn.text for turn in home.language.prompts[-1].history] if len(home.language.prompts) > 1 else []
    assert all("Mat" not in text for text in told)


# Files.


async def test_a_question_with_a_file_asks_that_first(home: AnsweringFixture, roof: Location) -> None:
    upload = home.platform.add_file("notes.txt", b"The Nails come on Friday, says Mina.")
    reply = await home.ask(roof, "bob", "When do the Tiles and the Nails come?", (upload,))
    assert "Friday" in reply.text
    assert "Monday" not in reply.text
    assert texts.STATUS_READING_FILE in reply.statuses
    assert home.platform.reactions[reply.target.message] == ["working", "done"]


async def test_a_file_without_a_question_is_taken(home: AnsweringFixture, roof: Location) -> None:
    upload = home.platform.add_file("notes.txt", b"The Nails come on Friday, says Mina.")
    assert (await home.ask(roof, "bob", "", (upload,))).text == texts.FILE_RECEIVED
    assert "Friday" in (await home.ask(roof, "ada", "When do the Nails come?")).text


async def test_or_it_is_said_why_not(home: AnsweringFixture, roof: Location) -> None:
    upload = home.platform.add_file("song.mp3", b"la la", kind="audio/mpeg")
    assert "I couldn't read song.mp3: It is sound." in (await home.ask(roof, "bob", "", (upload,))).text


async def test_if_the_file_says_nothing_everything_is_asked_and_it_says_so(tmp_path: Path) -> None:
    async with open_answering_bot(tmp_path / "home") as home:
        roof = await home.join_channel("ROOF", "ada")
        await home.post(roof, "ada", "The Tiles come on Monday.")
        await home.wait_until_indexed()
        upload = home.platform.add_file("void.bin.txt", b"   ")
        reply = await home.ask(roof, "ada", "When do the Tiles come?", (upload,))
        assert "Monday" in reply.text
        assert reply.closing is not None
        assert "void.bin.txt" in reply.closing.notice


async def test_a_file_that_takes_too_long_is_not_waited_for(tmp_path: Path) -> None:
    async with open_answering_bot(tmp_path / "home", attachment_wait_seconds=0.0) as home:
        roof = await home.join_channel("ROOF", "ada")
        await home.post(roof, "ada", "The Tiles come on Monday.")
        await home.wait_until_indexed()
        upload = home.platform.add_file("notes.txt", b"The Nails come on Friday, says Mina.")
        reply = await home.ask(roof, "ada", "When do the Tiles come?", (upload,))
        assert reply.closing is not None
        assert texts.FILE_NOT_READY in reply.closing.notice
        assert "Monday" in reply.text
        assert home.platform.reactions[reply.target.message][-1] == "done"


async def test_a_file_of_a_private_question_stays_private(home: AnsweringFixture, roof: Location) -> None:
    upload = home.platform.add_file("notes.txt", b"The Nails come on Friday, says Mina.")
    reply = await home.ask_by_command(roof, "bob", "When do the Nails come?", uploads=(upload,))
    assert "Friday" in reply.text
    assert "Friday" not in (await home.ask(roof, "ada", "When do the Nails come?")).text


# Settings, and safety.


async def test_a_channel_s_mode_style_and_language_are_used(home: AnsweringFixture, roof: Location) -> None:
    await home.context.store.channel_settings.save(roof.room, ChannelSettings("naive", "a haiku", "Finnish"))
    await home.ask(roof, "bob", "When do the Tiles come?")
    prompt = home.language.prompts[-1]
    assert (prompt.context.mode, prompt.style, prompt.instructions) == ("naive", "a haiku", "Answer in Finnish.")


async def test_a_planted_title_calls_nobody_and_is_no_link(tmp_path: Path) -> None:
    async with open_answering_bot(tmp_path / "home") as home:
        roof = await home.join_channel("ROOF", "ada")
        name = "@everyone [see](https://evil.example/?q=1) <!channel>.txt"
        upload = home.platform.add_file(name, b"The Tiles come on Monday <@U1> https://evil.example/x @here.")
        await home.ingest_service.files.ingest_and_confirm(
            home.platform.add_message(roof, "ada", "", uploads=(upload,))
        )
        await home.wait_until_indexed()
        reply = await home.ask(roof, "ada", "When do the Tiles come?")
        assert reply.closing is not None
        [source] = reply.closing.sources
        for text in (source.title, source.excerpt):
            assert not any(bad in text for bad in ("@everyone", "https://", "<!channel>", "<@U1>", "@here"))


async def test_it_is_counted(home: AnsweringFixture, roof: Location) -> None:
    home.platform.people["bob"] = Person("bob", "Bob")
    await home.ask(roof, "bob", "When do the Tiles come?")
    count = home.metrics.registry.get_sample_value
    assert count("threadlore_questions_total", {"platform": "slack", "outcome": "answered"}) == 1
    assert count("threadlore_time_to_first_token_seconds_count", {"platform": "slack"}) == 1
    assert count("threadlore_llm_tokens_total", {"purpose": "answer", "type": "output"}) == 10


async def shown(home: AnsweringFixture, text: str) -> None:
    """Return once the latest reply shows this."""
    async with asyncio.timeout(20):
        while not home.platform.replies or home.last_reply.text.strip() != text.strip():  # noqa: ASYNC110 - the platform has no bell
            await asyncio.sleep(0.005)
