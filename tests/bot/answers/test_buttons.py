"""Buttons below an answer: feedback, sources, deleting, sharing; each for whom it is meant."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from prometheus_client import generate_latest

from bot import texts
from bot.answers.buttons import AnswerButtons
from bot.errors import PermissionDenied, PlatformError
from bot.platform.events import ButtonPressed
from bot.platform.models import Location, Person
from bot.store.channels import FAR_FUTURE
from engine.errors import EngineError, StoreError
from tests.support.answering_fixture import AnsweringFixture, add_guest, open_answering_bot
from tests.support.fake_platform import START

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.support.fake_platform import RecordedReply


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[AnsweringFixture]:
    async with open_answering_bot(tmp_path / "home") as opened:
        yield opened


@pytest.fixture
async def roof(home: AnsweringFixture) -> Location:
    place = await home.join_channel("ROOF", "ada", "bob")
    await home.post(place, "ada", "The Tiles come on Monday.")
    vault = await home.join_channel("VAULT", "ada", kind="closed")
    await home.post(vault, "ada", "The Key of Zanzibar is under the Mat.")
    await home.wait_until_indexed()
    return place


async def click(home: AnsweringFixture, reply: RecordedReply, person: str, action: str) -> str:
    """What somebody is told who presses a button of an answer."""
    before = len(home.platform.private_messages)
    place = reply.target.location
    await AnswerButtons(home.context, home.metrics).handle(
        ButtonPressed("k1", place, person, action, reply.target.answer, "h")
    )
    return " ".join(card.text for _, card in home.platform.private_messages[before:])


async def test_feedback_is_kept_and_one_s_last_word_counts(home: AnsweringFixture, roof: Location) -> None:
    reply = await home.ask(roof, "bob", "When do the Tiles come?")
    assert await click(home, reply, "bob", "up") == texts.POSITIVE_FEEDBACK
    assert await click(home, reply, "ada", "up") == texts.POSITIVE_FEEDBACK
    assert await click(home, reply, "bob", "down") == texts.NEGATIVE_FEEDBACK
    assert await home.context.store.feedback.count("slack", "T1", START) == (1, 1)


async def test_each_change_of_mind_is_counted_and_no_repetition(home: AnsweringFixture, roof: Location) -> None:
    reply = await home.ask(roof, "bob", "When do the Tiles come?")
    for action in ("up", "up", "down", "down"):
        await click(home, reply, "bob", action)
    counted = generate_latest(home.metrics.registry).decode()
    assert 'threadlore_feedback_total{platform="slack",rating="up"} 1.0' in counted
    assert 'threadlore_feedback_total{platform="slack",rating="down"} 1.0' in counted


async def test_sources_are_told_in_full(home: AnsweringFixture, roof: Location) -> None:
    reply = await home.ask(roof, "bob", "When do the Tiles come?")
    told = await click(home, reply, "ada", "sources")
    assert "[1] [#roof · Ada, 2026-11-20 10:01 UTC](https://chat.example/T1/ROOF/m1)" in told
    assert "> The Tiles come on Monday." in told


async def test_but_not_to_somebody_who_may_not_read_them(home: AnsweringFixture, roof: Location) -> None:
    reply = await home.ask(roof, "bob", "When do the Tiles come?")
    assert await click(home, reply, add_guest(home.platform, "gus"), "sources") == texts.NO_SOURCES


async def test_what_rests_on_one_s_own_file_is_told_to_him(home: AnsweringFixture, roof: Location) -> None:
    upload = home.platform.add_file("notes.txt", b"The Nails come on Friday, says Mina.")
    reply = await home.ask_by_command(roof, "bob", "When do the Nails come?", uploads=(upload,))
    assert "Friday" in await click(home, reply, "bob", "sources")
    assert await click(home, reply, "bob", "share") == texts.ANSWER_NOT_SHARED


async def test_the_asker_may_delete_an_answer(home: AnsweringFixture, roof: Location) -> None:
    reply = await home.ask(roof, "bob", "When do the Tiles come?")
    assert await click(home, reply, "bob", "delete") == ""
    assert reply.deleted
    assert await home.context.store.answers.get(reply.target.answer) is None
    assert await home.context.store.answers.list_in_thread(reply.target.location, FAR_FUTURE, 1) == []


async def test_what_one_alone_saw_cannot_be_deleted(home: AnsweringFixture, roof: Location) -> None:
    reply = await home.ask_by_command(roof, "bob", "When do the Tiles come?")
    assert await click(home, reply, "bob", "delete") == texts.NO_ANSWER


async def test_so_may_a_manager(home: AnsweringFixture, roof: Location) -> None:
    reply = await home.ask(roof, "bob", "When do the Tiles come?")
    home.platform.people["max"] = Person("max", "Max", is_manager=True)
    assert await click(home, reply, "max", "delete") == ""


async def test_others_may_not(home: AnsweringFixture, roof: Location) -> None:
    reply = await home.ask(roof, "bob", "When do the Tiles come?")
    assert await click(home, reply, "ada", "delete") == texts.NOT_THE_ASKER
    assert not reply.deleted


async def test_a_private_answer_from_what_all_may_read_can_be_shared(home: AnsweringFixture, roof: Location) -> None:
    private = await home.ask_by_command(roof, "bob", "When do the Tiles come?")
    assert await click(home, private, "bob", "share") == texts.ANSWER_SHARED
    shared = home.last_reply
    assert not shared.target.private
    assert shared.text == f"> **Bob asked:** When do the Tiles come?\n\n{private.text}"
    assert shared.closing is not None
    assert shared.closing.notice == "Shared by Bob. Answered from what everyone in #roof can see."
    assert [each.link for each in shared.closing.sources] == ["https://chat.example/T1/ROOF/m1"]


async def test_only_once(home: AnsweringFixture, roof: Location) -> None:
    private = await home.ask_by_command(roof, "bob", "When do the Tiles come?")
    await click(home, private, "bob", "share")
    assert await click(home, private, "bob", "share") == texts.ANSWER_SHARED
    assert len(home.platform.replies) == 2


async def test_one_that_draws_on_a_secret_cannot(home: AnsweringFixture, roof: Location) -> None:
    private = await home.ask_by_command(roof, "ada", "Where is the Key of Zanzibar?")
    assert "Mat" in private.text
    assert await click(home, private, "ada", "share") == texts.ANSWER_NOT_SHARED
    assert home.platform.replies == [private]


async def test_nor_one_whose_source_has_turned_private(home: AnsweringFixture, roof: Location) -> None:
    hall = await home.join_channel("HALL", "bob", "cy")
    private = await home.ask_by_command(hall, "bob", "When do the Tiles come?")
    home.platform.change_channel("ROOF", kind="closed")
    home.context.audience.invalidate(roof)
    assert await click(home, private, "bob", "share") == texts.ANSWER_NOT_SHARED


async def test_nor_where_a_guest_has_come(home: AnsweringFixture, roof: Location) -> None:
    hall = await home.join_channel("HALL", "bob")
    private = await home.ask_by_command(hall, "bob", "When do the Tiles come?")
    home.platform.add_channel("HALL", "bob", add_guest(home.platform, "gus"))
    home.context.audience.invalidate(hall)
    assert await click(home, private, "bob", "share") == texts.ANSWER_NOT_SHARED


async def test_nor_if_one_comes_while_it_is_being_shared(home: AnsweringFixture, roof: Location) -> None:
    hall = await home.join_channel("HALL", "bob")
    private = await home.ask_by_command(hall, "bob", "When do the Tiles come?")
    home.context.audience.invalidate(hall)
    add_guest(home.platform, "gus")
    looked_up = home.platform.fetch_person

    async def slowly(workspace: str, person: str) -> Person:
        home.platform.fetch_person = looked_up  # type: ignore[method-assign]
        home.platform.add_channel("HALL", "bob", "gus")
        home.context.audience.invalidate(hall)
        return await looked_up(workspace, person)

    home.platform.fetch_person = slowly  # type: ignore[method-assign]
    assert await click(home, private, "bob", "share") == texts.ANSWER_NOT_SHARED
    assert home.platform.fetch_person == looked_up
    assert home.platform.replies == [private]
    home.platform.change_channel("HALL", members=frozenset({"bob"}), guests=frozenset())
    home.context.audience.invalidate(hall)
    assert await click(home, private, "bob", "share") == texts.ANSWER_SHARED


@pytest.mark.parametrize("shown", [False, True])
async def test_what_a_former_run_began_to_share_is_taken_back_then_as_far_as_it_was_shown(
    home: AnsweringFixture, roof: Location, *, shown: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    hall = await home.join_channel("HALL", "bob")
    private = await home.ask_by_command(hall, "bob", "When do the Tiles come?")
    answers = home.context.store.answers
    with monkeypatch.context() as patch:
        if shown:
            patch.setattr(answers, "finish", _away)
        else:
            patch.setitem(home.platform.failing, "finish", PlatformError("Down."))
        with pytest.raises(EngineError):
            await click(home, private, "bob", "share")
    home.platform.add_channel("HALL", "bob", add_guest(home.platform, "gus"))
    home.context.audience.invalidate(hall)
    assert await click(home, private, "bob", "share") == texts.ANSWER_NOT_SHARED
    assert [each.text for each in home.platform.replies[1:]] == [texts.ANSWER_WITHDRAWN] * shown
    assert await answers.get_latest(hall.room, "") is None


async def _away(*_: object) -> bool:
    raise StoreError("The disk is away.")


async def test_where_the_bot_may_not_speak_nothing_is_shared_and_that_is_told_at_once(
    home: AnsweringFixture, roof: Location
) -> None:
    private = await home.ask_by_command(roof, "bob", "When do the Tiles come?")
    home.platform.failing["finish"] = PermissionDenied("not_in_channel")
    assert "I was invited" in await click(home, private, "bob", "share")
    del home.platform.failing["finish"]
    kept = await home.context.store.answers.get_latest(roof.room, "", "bob")
    assert kept is not None
    assert (kept.id, kept.state) == (private.target.answer, "done")
    assert await click(home, private, "bob", "share") == texts.ANSWER_SHARED


async def test_nobody_else_can_share_it(home: AnsweringFixture, roof: Location) -> None:
    private = await home.ask_by_command(roof, "bob", "When do the Tiles come?")
    assert await click(home, private, "ada", "share") == texts.NOT_THE_ASKER


async def test_what_was_forgotten_cannot_be_shared(home: AnsweringFixture, roof: Location) -> None:
    private = await home.ask_by_command(roof, "bob", "When do the Tiles come?")
    await home.delete(home.platform.messages[0])
    assert await click(home, private, "bob", "share") == texts.NO_ANSWER
    assert await click(home, private, "bob", "sources") == texts.NO_ANSWER


async def test_an_answer_that_is_not_known_is_told_so(home: AnsweringFixture, roof: Location) -> None:
    await AnswerButtons(home.context, home.metrics).handle(ButtonPressed("k1", roof, "bob", "up", "nowhere"))
    assert [card.text for _, card in home.platform.private_messages] == [texts.NO_ANSWER]


async def test_other_buttons_are_somebody_else_s(home: AnsweringFixture, roof: Location) -> None:
    clicks = AnswerButtons(home.context, home.metrics)
    assert clicks.is_answer_button(ButtonPressed("k1", roof, "bob", "share", "a1"))
    assert not clicks.is_answer_button(ButtonPressed("k1", roof, "bob", "forget", "me"))
