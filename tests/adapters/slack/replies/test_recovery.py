"""Messages of an earlier run: found by their reference or by their metadata, and finished or replaced."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from bot.errors import PermissionDenied
from bot.platform.models import Card
from bot.platform.ports import Reply, ReplyTarget
from tests.adapters.slack.scene import BARE, FOOTER, Question, Scene, locate
from tests.support.slack_server import Fault, Person, Room


@pytest.mark.parametrize("by_ref", [True, False], ids=["by its reference", "by its metadata"])
@pytest.mark.parametrize("refused", [0, 1], ids=["streamed", "posted"])
async def test_a_message_of_the_first_run_is_finished(question: Question, refused: int, *, by_ref: bool) -> None:
    question.slack.fail_next("chat.startStream", "unknown_method", times=refused)
    first = question.reply()
    await first.show(["The first run said. "])
    async with question.scene.restart() as again:
        second = question.reply(again, ref=first.reply_ref if by_ref else "")
        await second.show(["The second "])
        await second.finish(["The second run says this."], FOOTER)
    assert question.only.body == "The second run says this."


@pytest.mark.parametrize("whole", [True, False], ids=["finished", "replaced"])
async def test_no_status_stays_below_an_answer_that_is_only_rewritten(question: Question, *, whole: bool) -> None:
    first = question.reply()
    await first.show(["The first run said "])
    async with question.scene.restart() as again:
        second = question.reply(again, ref=first.reply_ref)
        await second.show_status("is searching…")
        assert question.root.status
        await (second.finish(["The second run says this."], FOOTER) if whole else second.replace("Not for you."))
    assert len(question.texts) == 1
    assert not question.root.status
    assert not question.slack.calls_to("reactions.add")


async def test_all_parts_are_found_and_superfluous_ones_deleted(question: Question) -> None:
    await question.reply().show(["part one", "part two"])
    async with question.scene.restart() as again:
        await question.reply(again).finish(["all in one"], BARE)
    assert question.texts == ["all in one"]


async def test_finished_answers_are_not_taken_for_unfinished_ones(question: Question) -> None:
    await question.reply(answer="a0").finish(["An earlier answer."], BARE)
    streamed = question.reply(answer="a00")
    await streamed.show(["Another "])
    await streamed.finish(["Another answer."], BARE)
    async with question.scene.restart() as again:
        await question.reply(again).finish(["The new one."], BARE)
    assert question.texts == ["An earlier answer.", "Another answer.", "The new one."]


async def test_a_finished_answer_that_is_given_again_is_there_once(question: Question) -> None:
    first = question.reply()
    await first.show(["The "])
    await first.finish(["The answer."], FOOTER)
    async with question.scene.restart() as again:
        await question.reply(again).finish(["The answer."], FOOTER)
    assert question.only.body == "The answer."


async def test_two_answers_in_one_thread_keep_their_messages(question: Question) -> None:
    first_run = {answer: question.reply(answer=answer) for answer in ("a1", "a2")}
    for reply in first_run.values():
        await reply.show(["The first run said "])
    async with question.scene.restart() as again:
        first, second = (
            question.reply(again, ref=reply.reply_ref, answer=answer) for answer, reply in first_run.items()
        )
        await second.show(["The second "])
        await first.finish(["The first answer."], BARE)
        await second.finish(["The second answer."], BARE)
    assert question.texts == ["The first answer.", "The second answer."]


# Replacing.


async def test_everything_shown_is_replaced(question: Question) -> None:
    reply = question.reply()
    await reply.show(["The secret is", " 1234, and more"])
    await reply.replace("Somebody left; the answer was withdrawn.")
    assert question.texts == ["Somebody left; the answer was withdrawn."]


async def test_a_finished_answer_is_replaced_by_its_reference(question: Question) -> None:
    first = question.reply()
    await first.finish(["The secret is 1234", "and 5678"], FOOTER)
    async with question.scene.restart() as again:
        await question.reply(again, ref=first.reply_ref).replace("It was forgotten.")
    assert question.only.text == "It was forgotten."


async def test_an_answer_is_replaced_before_anything_is_shown(question: Question) -> None:
    await question.reply().replace("That went wrong (E123).")
    assert question.only.text == "That went wrong (E123)."


# Answers that are shared in a channel, without a question to search below.


def share(question: Question, again: Scene | None = None, *, answer: str = "a1", room: Room | None = None) -> Reply:
    """An answer for all readers of a channel to a question that was asked privately."""
    asked_at = datetime.fromtimestamp(float(question.sent.ts), UTC)
    target = ReplyTarget(answer, locate(room or question.room), question.asker.id, asked_at=asked_at)
    return (again or question.scene).platform.start_reply(target)


def own_texts(question: Question) -> list[str]:
    """The bot's messages in the channel."""
    entries = question.slack.sees(question.asker, question.room).entries
    return [entry.text.partition("\n")[0] for entry in entries if entry.author == question.slack.space.bot.name]


async def test_a_shared_answer_is_there_once_after_a_restart_and_after_a_lost_call(question: Question) -> None:
    question.slack.fail_next("chat.postMessage", Fault("lost"))
    await share(question).finish(["Because it rained."], FOOTER)
    async with question.scene.restart() as again:
        reply = share(question, again)
        await reply.finish(["Because it rained."], FOOTER)
    assert own_texts(question) == ["Because it rained."]
    assert reply.reply_ref


async def test_all_messages_of_a_shared_answer_are_found_and_nothing_else(question: Question, ada: Person) -> None:
    await question.scene.platform.post(locate(question.room), Card("Hello!"))
    await share(question, answer="a0").finish(["Another answer."], BARE)
    await share(question).finish(["part one", "part two"], BARE)
    for _ in range(3):
        await ada.says(question.room, "and then?")
    question.slack.page = 2
    async with question.scene.restart() as again:
        await share(question, again).finish(["all in one"], BARE)
    assert own_texts(question) == ["Hello!", "Another answer.", "all in one"]


async def test_an_answer_cannot_be_shared_where_the_bot_is_not(question: Question, ada: Person) -> None:
    hall = question.slack.channel("hall", members=[ada], bot=False)
    with pytest.raises(PermissionDenied, match="not_in_channel"):
        await share(question, room=hall).finish(["Because it rained."], FOOTER)


@pytest.mark.parametrize("refused", [0, 1], ids=["streamed", "posted"])
async def test_a_program_sees_that_an_answer_was_written_automatically(question: Question, refused: int) -> None:
    question.slack.fail_next("chat.startStream", "unknown_method", times=refused)
    reply = question.reply()
    await reply.show(["The tiles "])
    await reply.finish(["The tiles come on Monday."], FOOTER)
    marked = [call.args["metadata"] for call in question.slack.calls if call.args.get("metadata")]
    assert {each["event_type"] for each in marked} == {"threadlore_answer"}
    assert all(each["event_payload"]["ai_generated"] for each in marked)
