"""Answers while Slack limits, refuses, loses or ends what is written."""

from __future__ import annotations

import asyncio

import pytest

from bot.platform.models import AnswerFooter
from tests.adapters.slack.scene import BARE, FOOTER, LINK, Question
from tests.support.slack_server import Fault, PayloadLimits


@pytest.mark.parametrize("shown", [["one two "], []], ids=["while it grows", "before its end"])
async def test_an_expired_stream_is_completed_by_an_update(question: Question, shown: list[str]) -> None:
    reply = question.reply()
    await reply.show(["one "])
    question.slack.expires(question.replies[0].ts)
    for text in shown:
        await reply.show([text])
    await reply.finish(["one two three"], FOOTER)
    assert question.only.body == "one two three"
    assert question.only.sources


async def test_a_rate_limited_answer_is_written_once_and_whole(question: Question) -> None:
    reply = question.reply()
    await reply.show(["one "])
    question.slack.fail_next("chat.appendStream", Fault("ratelimited", seconds=5))
    await reply.show(["one two "])
    question.slack.clock.advance(4)
    await reply.show(["one two three"])
    assert "two" not in question.replies[0].text
    question.slack.clock.advance(2)
    await reply.show(["one two three four"])
    assert question.replies[0].body == "one two three four"
    question.slack.fail_next("chat.stopStream", Fault("ratelimited", seconds=0))
    await reply.finish(["one two three four five"], BARE)
    assert question.only.text == "one two three four five"


@pytest.mark.parametrize("error", ["unknown_method", "channel_type_not_supported", "internal_error", "ratelimited"])
async def test_without_streams_an_answer_is_posted_and_rewritten(question: Question, error: str) -> None:
    fault = Fault("ratelimited", seconds=60) if error == "ratelimited" else error
    question.slack.fail_next("chat.startStream", fault, times=9)
    reply = question.reply()
    for begun in ("From", "From what ", "From what is said, "):
        assert await reply.show([begun]) is False
    assert question.texts == []  # a notification shows the first words
    first, second = "From what is said, yes.", "From what is said, yes. But"
    for text, seconds, shown in ((first, 0.0, first), (second, 0.0, first), (second, 2.0, second)):
        question.slack.clock.advance(seconds)  # a message is rewritten at most every two seconds
        await reply.show([f"{text} "])
        assert question.texts == [shown]
    await reply.finish([f"{second} not all."], FOOTER)
    assert question.only.body == f"{second} not all."
    assert question.only.sources


async def test_a_workspace_without_streams_is_not_asked_again(question: Question) -> None:
    question.slack.fail_next("chat.startStream", "unknown_method")
    for answer in ("a1", "a2"):
        await question.reply(answer=answer).show(["one "])
    assert len(question.slack.calls_to("chat.startStream")) == 1


async def test_a_server_without_tasks_streams_without_them(question: Question) -> None:
    question.slack.fail_next("chat.startStream", "invalid_chunks")
    reply = question.reply()
    await reply.show_status("is searching…")
    await reply.show(["one "])
    assert question.replies[0].writing
    await reply.finish(["one two"], FOOTER)
    assert question.only.body == "one two"


STREAMED = ("chat.startStream", "chat.appendStream", "chat.stopStream", "chat.update")


@pytest.mark.parametrize("method", [*STREAMED, "chat.postMessage"])
@pytest.mark.parametrize("kind", ["lost", "reset", "server"])
async def test_a_call_without_an_answer_leaves_one_whole_answer(question: Question, method: str, kind: str) -> None:
    if method == "chat.update":
        question.slack.fail_next("chat.startStream", "unknown_method")
    question.slack.fail_next(method, Fault(kind))  # type: ignore[arg-type]
    reply = question.reply()
    if method in STREAMED:
        await reply.show(["one "])
        question.slack.clock.advance(3)
        await reply.show(["one two "])
    await reply.finish(["one two three"], FOOTER)
    assert question.only.body.strip() == "one two three"


@pytest.mark.parametrize("begun", [True, False], ids=["streamed", "posted"])
async def test_refused_blocks_are_shown_in_a_plainer_format(question: Question, *, begun: bool) -> None:
    """A stream ends with plain sections; a post that is refused twice is plain text with its sources."""
    question.slack.fail_next("chat.stopStream" if begun else "chat.postMessage", "invalid_blocks", 1 if begun else 2)
    reply = question.reply()
    if begun:
        await reply.show(["one "])
    await reply.finish(["one two"], FOOTER)
    assert question.only.text.startswith("one two")
    assert "#roof · 2026-05-01" in question.only.text
    assert LINK in question.only.text
    assert question.only.buttons == (("👍", "👎", "Delete") if begun else ())


async def test_a_text_that_slack_finds_too_long_continues_below(question: Question) -> None:
    question.slack.limits = PayloadLimits(streamed=4000, markdown=4000, all_blocks=4500)
    lines = [f"line {number} of a long answer" for number in range(230)]
    text = "\n".join(lines)
    reply = question.reply()
    await reply.show([text[:3000]])
    await reply.show([text[:6000]])
    await reply.finish([text], FOOTER)
    shown = "\n".join(entry.text for entry in question.replies)
    assert all(line in shown for line in lines)
    assert not any(entry.writing or entry.broken for entry in question.replies)


async def test_fifty_answers_share_the_rate_limits_and_all_are_whole(question: Question) -> None:
    slack, ada = question.slack, question.asker
    rooms = [slack.channel(f"room-{number}", members=[ada]) for number in range(10)]
    questions = [Question(question.scene, ada, await ada.mentions(room, "why?")) for room in rooms * 5]

    async def answer(number: int) -> None:
        reply, text = questions[number].reply(answer=f"a{number}"), ""
        for word in range(12):
            text += f"word{word} "
            await reply.show([text])
            await slack.clock.sleep(1.0)
        await reply.finish([text + f"end of {number}"], AnswerFooter(f"a{number}"))

    work = asyncio.gather(*map(answer, range(50)))
    while not work.done():
        slack.clock.advance(0.25)
        await asyncio.sleep(0.005)
    await work
    assert all(each.only.text.endswith(f"end of {number}") for number, each in enumerate(questions))
    assert len(slack.calls_to("chat.startStream")) >= 20
    assert not slack.buckets.limited
