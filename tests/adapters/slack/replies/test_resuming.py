from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.adapters.slack.talking import BARE, CLOSING, Talk

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from tests.adapters.slack.conftest import Desk


async def test_after_a_restart_the_message_of_the_mark_is_finished(
    desk: Desk, talk: Talk, restarted: AbstractAsyncContextManager[Desk]
) -> None:
    reply = talk.reply(desk)
    await reply.show(["The first run said "])
    async with restarted as again:
        resumed = talk.reply(again, fresh=False, mark=reply.reply_ref)
        await resumed.show(["The second "])
        await resumed.finish(["The second run says this."], CLOSING)
    assert talk.only.text.startswith("The second run says this.")


@pytest.mark.parametrize("whole", [True, False])
async def test_no_status_stays_below_an_answer_that_was_only_rewritten(
    desk: Desk, talk: Talk, restarted: AbstractAsyncContextManager[Desk], *, whole: bool
) -> None:
    reply = talk.reply(desk)
    await reply.show(["The first run said "])
    async with restarted as again:
        resumed = talk.reply(again, fresh=False, mark=reply.reply_ref)
        await resumed.show_status("is searching…")
        assert talk.status
        await (resumed.finish(["The second run says this."], CLOSING) if whole else resumed.replace("Not for you."))
    assert len(talk.texts) == 1
    assert not talk.status
    assert not talk.slack.calls_to("reactions.add")


@pytest.mark.parametrize("refused", [0, 1])
async def test_after_a_restart_what_was_begun_is_found_without_a_mark(
    desk: Desk, talk: Talk, restarted: AbstractAsyncContextManager[Desk], refused: int
) -> None:
    talk.slack.fail_next("chat.startStream", "unknown_method", times=refused)
    await talk.reply(desk).show(["The first run said "])
    async with restarted as again:
        await talk.reply(again, fresh=False).finish(["The second run says this."], CLOSING)
    assert talk.only.text.startswith("The second run says this.")


async def test_a_restart_finds_all_parts_and_deletes_what_is_too_much(
    desk: Desk, talk: Talk, restarted: AbstractAsyncContextManager[Desk]
) -> None:
    reply = talk.reply(desk)
    await reply.show(["part one", "part two"])
    async with restarted as again:
        await talk.reply(again, fresh=False).finish(["all in one"], BARE)
    assert talk.texts == ["all in one"]


async def test_finished_answers_and_cards_are_never_taken_for_unfinished_ones(
    desk: Desk, talk: Talk, restarted: AbstractAsyncContextManager[Desk]
) -> None:
    await talk.reply(desk, answer="a0").finish(["An earlier answer."], BARE)
    streamed = talk.reply(desk, answer="a00")
    await streamed.show(["Another "])
    await streamed.finish(["Another answer."], BARE)
    async with restarted as again:
        await talk.reply(again, fresh=False).finish(["The new one."], BARE)
    assert talk.texts == ["An earlier answer.", "Another answer.", "The new one."]


async def test_a_finished_answer_that_is_given_again_is_there_once(
    desk: Desk, talk: Talk, restarted: AbstractAsyncContextManager[Desk]
) -> None:
    reply = talk.reply(desk)
    await reply.show(["The "])
    await reply.finish(["The answer."], CLOSING)
    async with restarted as again:
        await talk.reply(again, fresh=False).finish(["The answer."], CLOSING)
    assert talk.only.text.startswith("The answer.")


async def test_two_answers_that_were_begun_in_one_thread_do_not_take_each_other_s_messages(
    desk: Desk, talk: Talk, restarted: AbstractAsyncContextManager[Desk]
) -> None:
    begun = [talk.reply(desk, answer=answer) for answer in ("a1", "a2")]
    for reply in begun:
        await reply.show(["The first run said "])
    async with restarted as again:
        first, second = (
            talk.reply(again, fresh=False, mark=reply.reply_ref, answer=answer)
            for reply, answer in zip(begun, ("a1", "a2"), strict=True)
        )
        await second.show(["The second "])
        await first.finish(["The first answer."], BARE)
        await second.finish(["The second answer."], BARE)
    assert talk.texts == ["The first answer.", "The second answer."]


async def test_everything_shown_can_be_taken_back(desk: Desk, talk: Talk) -> None:
    reply = talk.reply(desk)
    await reply.show(["The secret is", " 1234, and more"])
    await reply.replace("Somebody left; the answer was withdrawn.")
    assert talk.texts == ["Somebody left; the answer was withdrawn."]
    assert "1234" not in str(talk.slack.sees(talk.ada, talk.room))


async def test_a_finished_answer_can_be_taken_back_by_its_mark(
    desk: Desk, talk: Talk, restarted: AbstractAsyncContextManager[Desk]
) -> None:
    reply = talk.reply(desk)
    await reply.finish(["The secret is 1234", "and 5678"], CLOSING)
    async with restarted as again:
        await talk.reply(again, fresh=False, mark=reply.reply_ref).replace("It was forgotten.")
    assert talk.only.text == "It was forgotten."


async def test_words_can_be_taken_back_before_any_were_shown(desk: Desk, talk: Talk) -> None:
    await talk.reply(desk).replace("That went wrong (E123).")
    assert talk.only.text == "That went wrong (E123)."
