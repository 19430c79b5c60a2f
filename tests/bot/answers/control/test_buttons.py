"""Buttons below an answer: feedback, sources, deleting and sharing, each for the people it is meant for."""

from __future__ import annotations

from typing import Any

import pytest
from prometheus_client import generate_latest

from bot import texts
from bot.answers.control.buttons import AnswerButtons
from bot.errors import PermissionDenied, PlatformError
from bot.platform.events import ButtonPressed
from bot.platform.models import Location, Person
from bot.store.channels import FAR_FUTURE
from engine.errors import EngineError, StoreError
from tests.support.bot_fixture import BotFixture, run_before
from tests.support.builders import ROOF
from tests.support.fake_platform import START, RecordedReply

ASKED = "When do the Tiles come?"
pytestmark = pytest.mark.usefixtures("tiles")


async def press(bot: BotFixture, reply: RecordedReply, person: str, action: str) -> str:
    """What the person who presses a button of an answer is shown."""
    before, place = len(bot.platform.private_messages), reply.target.location
    pressed = ButtonPressed("k1", place, person, action, reply.target.answer, "h")
    await AnswerButtons(bot.context, bot.metrics).handle(pressed)
    return " ".join(card.text for _, card in bot.platform.private_messages[before:])


@pytest.mark.parametrize(
    ("private", "person", "action", "shown"),
    [
        pytest.param(False, "bob", "delete", "", id="the asker deletes"),
        pytest.param(False, "max", "delete", "", id="a manager deletes"),
        pytest.param(False, "ada", "delete", texts.NOT_THE_ASKER, id="another person cannot delete"),
        pytest.param(True, "bob", "delete", texts.NO_ANSWER, id="a private answer cannot be deleted"),
        pytest.param(True, "bob", "share", texts.ANSWER_SHARED, id="the asker shares"),
        pytest.param(True, "ada", "share", texts.NOT_THE_ASKER, id="another person cannot share"),
        pytest.param(False, "gus", "sources", texts.NO_ANSWER, id="a guest of another channel sees no sources"),
    ],
)
async def test_each_button_is_for_whom_it_is_meant(
    bot: BotFixture, *, private: bool, person: str, action: str, shown: str
) -> None:
    bot.platform.people["max"] = Person("max", "Max", is_manager=True)
    bot.platform.add_guest("gus")
    reply = await (bot.ask_by_command if private else bot.ask)(ROOF, "bob", ASKED)
    assert await press(bot, reply, person, action) == shown
    assert reply.deleted is (shown == "")
    assert (await bot.store.answers.get(reply.target.answer) is None) is (shown == "")
    kept = await bot.store.answers.list_in_thread(reply.target.location, FAR_FUTURE, 1, asker="bob")
    assert bool(kept) is (shown != "")


async def test_a_button_of_another_workspace_does_nothing(bot: BotFixture) -> None:
    bot.platform.people["max"] = Person("max", "Max", is_manager=True)
    reply = await bot.ask(ROOF, "bob", ASKED)
    foreign = Location("slack", "T2", "ROOF")
    forged = ButtonPressed("k1", foreign, "max", "delete", reply.target.answer, "h")
    await AnswerButtons(bot.context, bot.metrics).handle(forged)
    assert not reply.deleted
    assert bot.platform.private_messages[-1][1].text == texts.NO_ANSWER


async def test_a_forged_vote_of_somebody_who_cannot_read_the_answer_does_not_count(bot: BotFixture) -> None:
    attic = bot.platform.add_channel("ATTIC", "bob", kind="closed")
    closed, private = await bot.ask(attic, "bob", ASKED), await bot.ask_by_command(ROOF, "bob", ASKED)
    for reply, person in ((closed, "ada"), (private, "ada")):
        assert await press(bot, reply, person, "down") == texts.NO_ANSWER
    assert await bot.store.feedback.count("slack", "T1", START) == (0, 0)
    assert await press(bot, closed, "bob", "up") == texts.POSITIVE_FEEDBACK


async def test_feedback_is_kept_once_a_person_and_each_change_is_counted(bot: BotFixture) -> None:
    reply = await bot.ask(ROOF, "bob", ASKED)
    assert await press(bot, reply, "bob", "up") == texts.POSITIVE_FEEDBACK
    assert await press(bot, reply, "bob", "up") == texts.POSITIVE_FEEDBACK
    assert await press(bot, reply, "ada", "up") == texts.POSITIVE_FEEDBACK
    assert await press(bot, reply, "bob", "down") == texts.NEGATIVE_FEEDBACK
    await press(bot, reply, "bob", "down")
    assert await bot.store.feedback.count("slack", "T1", START) == (1, 1)
    counted = generate_latest(bot.metrics.registry).decode()
    assert 'threadlore_feedback_total{platform="slack",rating="up"} 2.0' in counted
    assert 'threadlore_feedback_total{platform="slack",rating="down"} 1.0' in counted


async def test_an_answer_from_the_asker_s_own_file_shows_it_to_them_and_cannot_be_shared(bot: BotFixture) -> None:
    upload = bot.platform.add_file("notes.txt", b"The Nails come on Friday, says Mina.")
    reply = await bot.ask_by_command(ROOF, "bob", "When do the Nails come?", uploads=(upload,))
    assert "Friday" in await press(bot, reply, "bob", "sources")
    assert await press(bot, reply, "bob", "share") == texts.ANSWER_NOT_SHARED


async def test_a_private_answer_is_shared_once_with_its_question_and_sources(bot: BotFixture) -> None:
    private = await bot.ask_by_command(ROOF, "bob", ASKED)
    for _ in range(2):
        assert await press(bot, private, "bob", "share") == texts.ANSWER_SHARED
    assert len(bot.platform.replies) == 2
    shared = bot.last_reply
    assert not shared.target.private
    assert shared.text == f"> **Bob asked:** {ASKED}\n\n{private.text}"
    assert shared.closing is not None
    assert shared.closing.notice == "Shared by Bob. Answered from what everyone in #roof can see."
    assert [source.link for source in shared.closing.sources] == ["https://chat.example/T1/ROOF/m1"]


async def test_an_answer_from_a_secret_cannot_be_shared(bot: BotFixture) -> None:
    vault = await bot.join("VAULT", "ada", kind="closed")
    await bot.post_indexed(vault, "ada", "The Key of Zanzibar is under the Mat.")
    private = await bot.ask_by_command(ROOF, "ada", "Where is the Key of Zanzibar?")
    assert "Mat" in private.text
    assert await press(bot, private, "ada", "share") == texts.ANSWER_NOT_SHARED
    assert bot.platform.replies == [private]


async def close_the_source(bot: BotFixture) -> None:
    bot.change_channel(bot.platform.place("ROOF"), kind="closed")


async def let_a_guest_join(bot: BotFixture) -> None:
    bot.platform.add_channel("HALL", "bob", bot.platform.add_guest("gus"))
    bot.context.audience.invalidate(bot.platform.place("HALL"))


async def let_a_guest_join_meanwhile(bot: BotFixture) -> None:
    bot.context.audience.invalidate(bot.platform.place("HALL"))
    run_before(bot.platform, "fetch_person", lambda: let_a_guest_join(bot))


@pytest.mark.parametrize("change", [close_the_source, let_a_guest_join, let_a_guest_join_meanwhile])
async def test_an_answer_that_not_all_may_read_any_more_is_not_shared_until_they_may(
    bot: BotFixture, hall: Location, change: Any
) -> None:
    private = await bot.ask_by_command(hall, "bob", ASKED)
    await change(bot)
    assert await press(bot, private, "bob", "share") == texts.ANSWER_NOT_SHARED
    assert bot.platform.replies == [private]
    bot.change_channel(bot.platform.place("ROOF"), kind="open")
    bot.change_channel(hall, members=frozenset({"bob"}), guests=frozenset())
    assert await press(bot, private, "bob", "share") == texts.ANSWER_SHARED


async def _fail(*_: object) -> bool:
    raise StoreError("The disk is away.")


@pytest.mark.parametrize("shown", [False, True])
async def test_a_share_that_a_former_run_began_is_withdrawn_if_it_was_shown(
    bot: BotFixture, hall: Location, *, shown: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    private, answers = await bot.ask_by_command(hall, "bob", ASKED), bot.store.answers
    with monkeypatch.context() as patch:
        if shown:
            patch.setattr(answers, "finish", _fail)
        else:
            patch.setitem(bot.platform.failing, "finish", PlatformError("Down."))
        with pytest.raises(EngineError):
            await press(bot, private, "bob", "share")
    await let_a_guest_join(bot)
    assert await press(bot, private, "bob", "share") == texts.ANSWER_NOT_SHARED
    assert [reply.text for reply in bot.platform.replies[1:]] == [texts.ANSWER_WITHDRAWN] * shown
    assert await answers.get_latest(hall.room, "") is None


async def test_where_the_bot_may_not_post_nothing_is_shared_and_the_person_is_told(bot: BotFixture) -> None:
    private = await bot.ask_by_command(ROOF, "bob", ASKED)
    bot.platform.failing["finish"] = PermissionDenied("not_in_channel")
    assert "not allowed to do that in #roof" in await press(bot, private, "bob", "share")
    bot.platform.failing.clear()
    kept = await bot.store.answers.get_latest(ROOF.room, "", "bob")
    assert kept is not None
    assert (kept.id, kept.state) == (private.target.answer, "done")
    assert await press(bot, private, "bob", "share") == texts.ANSWER_SHARED


async def test_a_redacted_answer_has_no_buttons_that_work(bot: BotFixture) -> None:
    private = await bot.ask_by_command(ROOF, "bob", ASKED)
    await bot.delete(bot.platform.messages[0])
    for action in ("share", "sources"):
        assert await press(bot, private, "bob", action) == texts.NO_ANSWER


async def test_buttons_of_unknown_answers_and_of_other_cards(bot: BotFixture) -> None:
    buttons = AnswerButtons(bot.context, bot.metrics)
    await buttons.handle(ButtonPressed("k1", ROOF, "bob", "up", "nowhere"))
    assert [card.text for _, card in bot.platform.private_messages] == [texts.NO_ANSWER]
    assert buttons.is_answer_button(ButtonPressed("k1", ROOF, "bob", "share", "a1"))
    assert not buttons.is_answer_button(ButtonPressed("k1", ROOF, "bob", "forget", "me"))
