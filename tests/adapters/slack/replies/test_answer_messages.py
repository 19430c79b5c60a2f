"""Answers while Slack limits, refuses, loses or ends what is written."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from adapters.slack.replies.sender import OutgoingMessage
from adapters.slack.replies.streaming import UNSUPPORTED_ERRORS
from bot.platform.models import AnswerFooter
from bot.platform.ports import Reply
from tests.adapters.slack.scene import BARE, FOOTER, LINK, Question
from tests.support.slack_server import Fault, PayloadLimits

WHOLE = "one two three"
GROWING = ("one ", "one two ")
STREAMING = ("chat.startStream", "chat.appendStream", "chat.stopStream")
UNANSWERED = [Fault("lost"), Fault("reset"), Fault("server")]


async def write(question: Question, *texts: str) -> Reply:
    """Show the start of an answer, with a status before and three seconds after each text."""
    reply = question.reply()
    await reply.show_status("is searching…")
    for text in texts:
        await reply.show([text])
        question.slack.clock.advance(3)
    return reply


@pytest.mark.parametrize("texts", [GROWING, GROWING[:1]], ids=["while it grows", "before its end"])
async def test_an_expired_stream_is_completed_by_an_update(question: Question, texts: tuple[str, ...]) -> None:
    reply = await write(question, texts[0])
    question.slack.expires(question.replies[0].ts)
    for text in texts[1:]:
        await reply.show([text])
    await reply.finish([WHOLE], FOOTER)
    assert question.only.body == WHOLE
    assert question.only.sources


@pytest.mark.parametrize("refused", ["", "unknown_method", "invalid_chunks"])
async def test_an_answer_in_progress_has_a_button_that_goes_when_it_is_finished(
    question: Question, refused: str
) -> None:
    """Streamed or edited; a workspace that refuses blocks in streams shows none."""
    if refused:
        question.slack.fail_next("chat.startStream", refused)
    reply = question.reply(stop=True)
    for text in ("One sentence is here. ", "One sentence is here. Another one follows. "):
        await reply.show([text])
        question.slack.clock.advance(3)
        assert question.replies[0].buttons == (() if refused == "invalid_chunks" else ("Stop",))
    await reply.finish([WHOLE], FOOTER)
    assert question.only.body == WHOLE
    assert "Stop" not in question.only.buttons
    assert question.only.sources


async def test_the_button_goes_from_each_message_of_a_long_answer(question: Question) -> None:
    reply, first = question.reply(stop=True), "One sentence is here. " * 400
    await reply.show([first])
    question.slack.clock.advance(3)
    await reply.show([first, "And the rest. "])
    question.slack.clock.advance(3)
    assert "Stop" in question.replies[-1].buttons
    await reply.finish([first, "And the rest."], FOOTER)
    assert [("Stop" in each.buttons, each.writing) for each in question.replies] == [(False, False)] * 2


async def test_the_message_of_an_interrupted_answer_loses_its_button(question: Question) -> None:
    await question.reply(stop=True).show(["One sentence is here. "])
    async with question.scene.restart() as again:
        await question.reply(again, stop=True).finish([WHOLE], FOOTER)
    assert question.only.body == WHOLE
    assert "Stop" not in question.only.buttons


@pytest.mark.parametrize(
    ("faults", "texts"),
    [
        *(
            pytest.param({name: fault}, GROWING, id=f"{name}-{fault.kind}")
            for name in STREAMING
            for fault in UNANSWERED
        ),
        *(
            pytest.param(
                {"chat.startStream": "unknown_method", "chat.update": fault}, GROWING, id=f"update-{fault.kind}"
            )
            for fault in UNANSWERED
        ),
        *(pytest.param({"chat.postMessage": fault}, (), id=f"post-{fault.kind}") for fault in UNANSWERED),
        pytest.param({"chat.startStream": "invalid_chunks"}, GROWING, id="no tasks"),
        pytest.param({"chat.stopStream": Fault("ratelimited", seconds=0)}, GROWING, id="rate limited at the end"),
    ],
)
async def test_an_answer_is_written_once_and_whole(
    question: Question, faults: dict[str, Any], texts: tuple[str, ...]
) -> None:
    for method, fault in faults.items():
        question.slack.fail_next(method, fault)
    reply = await write(question, *texts)
    await reply.finish([WHOLE], FOOTER)
    assert question.only.body.strip() == WHOLE


async def test_rate_limited_text_waits_for_the_next_words(question: Question) -> None:
    reply = await write(question, "one ")
    question.slack.fail_next("chat.appendStream", Fault("ratelimited", seconds=5))
    for seconds, text, shown in ((0, "one two ", "one "), (4, WHOLE, "one "), (2, f"{WHOLE} four", f"{WHOLE} four")):
        question.slack.clock.advance(seconds)
        await reply.show([text])
        assert question.replies[0].body == shown
    await reply.finish([f"{WHOLE} four"], BARE)


@pytest.mark.parametrize(
    ("error", "starts"),
    [("unknown_method", 1), ("channel_type_not_supported", 5), ("internal_error", 5), ("ratelimited", 1)],
)
async def test_without_streams_an_answer_is_posted_and_rewritten(question: Question, error: str, starts: int) -> None:
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
    await question.reply(answer="a2").show(["one "])
    assert len(question.slack.calls_to("chat.startStream")) == starts


@pytest.mark.parametrize("refusal", sorted(UNSUPPORTED_ERRORS))
async def test_a_refused_stream_is_tried_again_ever_more_rarely(question: Question, refusal: str) -> None:
    question.slack.fail_next("chat.startStream", refusal, times=2)
    for number, (seconds, starts) in enumerate(((0, 1), (1, 1), (60, 2), (60, 2), (61, 3), (0, 4))):
        question.slack.clock.advance(seconds)
        reply = question.reply(answer=f"a{number}")
        await reply.show(["From what is said, yes. "])
        await reply.finish([WHOLE], BARE)
        assert len(question.slack.calls_to("chat.startStream")) == starts
    assert len(question.texts) == 6


async def test_refused_buttons_and_tasks_of_a_stream_come_back(question: Question) -> None:
    question.slack.fail_next("chat.startStream", "invalid_chunks", times=2)
    kinds = list[set[str]]()
    for number, seconds in enumerate((0, 10, 61)):
        question.slack.clock.advance(seconds)
        reply = question.reply(answer=f"a{number}", stop=True)
        await reply.show_status("is searching…")
        await reply.show(["From what is said, yes. "])
        kinds.append({chunk["type"] for chunk in question.slack.calls_to("chat.startStream")[-1].args["chunks"]})
        await reply.finish([WHOLE], BARE)
    assert kinds == [{"markdown_text"}, {"markdown_text"}, {"markdown_text", "task_update", "blocks"}]


async def test_a_refused_format_comes_back(question: Question) -> None:
    sender, room = question.scene.context.sender, question.room.id
    for seconds, refused, forms in ((0, 1, 2), (0, 1, 2), (0, 1, 2), (30, 0, 1), (31, 1, 2), (61, 0, 1), (60, 0, 1)):
        question.slack.clock.advance(seconds)
        before = len(question.slack.calls_to("chat.postMessage"))
        question.slack.fail_next("chat.postMessage", "invalid_blocks", times=refused)
        await sender.post(room, "", OutgoingMessage("It leaks.", footer=FOOTER))
        assert len(question.slack.calls_to("chat.postMessage")) - before == forms
    last, *_ = question.slack.calls_to("chat.postMessage")[::-1]
    assert last.args["blocks"] == question.slack.calls_to("chat.postMessage")[0].args["blocks"]


@pytest.mark.parametrize(
    ("method", "times", "texts", "buttons"),
    [("chat.stopStream", 1, GROWING, ("👍", "👎", "Delete")), ("chat.postMessage", 2, (), ())],
    ids=["a stream ends with plain sections", "a post refused twice is plain text"],
)
async def test_refused_blocks_are_shown_in_a_plainer_format(
    question: Question, method: str, times: int, texts: tuple[str, ...], buttons: tuple[str, ...]
) -> None:
    question.slack.fail_next(method, "invalid_blocks", times)
    reply = await write(question, *texts)
    await reply.finish([WHOLE], FOOTER)
    assert WHOLE in question.only.text
    assert "#roof · 2026-05-01" in question.only.text
    assert LINK in question.only.text
    assert question.only.buttons == buttons


TABLE = "Two kilns:\n\n| Kiln | Bricks |\n|---|---|\n| North | 310 |\n\nBoth are old."


@pytest.mark.parametrize("texts", [(), ("Two kilns:\n\n| Kiln | Bri",)], ids=["posted", "streamed"])
@pytest.mark.parametrize("refused", [0, 1], ids=["taken", "refused"])
async def test_a_table_is_one_of_slack_unless_it_is_refused(
    question: Question, texts: tuple[str, ...], refused: int
) -> None:
    question.slack.fail_next("chat.update" if texts else "chat.postMessage", "invalid_blocks", times=refused)
    reply = await write(question, *texts)
    await reply.finish([TABLE], FOOTER)
    call = question.slack.calls_to("chat.update" if texts else "chat.postMessage")[-1]
    kinds = [block["type"] for block in call.args["blocks"]]
    assert ("table" in kinds) == (not refused)
    assert ("North  310" if not refused else "| North | 310 |") in question.only.text
    assert "Both are old." in question.only.body
    assert question.only.sources


async def test_a_text_that_slack_finds_too_long_continues_below(question: Question) -> None:
    question.slack.limits = PayloadLimits(streamed=4000, markdown=4000, all_blocks=4500)
    lines = [f"line {number} of a long answer" for number in range(230)]
    text = "\n".join(lines)
    reply = await write(question, text[:3000], text[:6000])
    await reply.finish([text], FOOTER)
    shown = "\n".join(entry.text for entry in question.replies)
    assert all(line in shown for line in lines)
    assert not any(entry.writing or entry.broken for entry in question.replies)


@pytest.mark.long
async def test_more_answers_than_may_stream_share_the_rate_limits_and_all_are_whole(question: Question) -> None:
    slack, ada = question.slack, question.asker
    rooms = [slack.channel(f"room-{number}", members=[ada]) for number in range(8)]
    questions = [Question(question.scene, ada, await ada.mentions(room, "why?")) for room in rooms * 3]

    async def answer(number: int) -> None:
        reply, text = questions[number].reply(answer=f"a{number}"), ""
        for word in range(12):
            text += f"word{word} "
            await reply.show([text])
            await slack.clock.sleep(1.0)
        await reply.finish([text + f"end of {number}"], AnswerFooter(f"a{number}"))

    work = asyncio.gather(*map(answer, range(24)))
    while not work.done():
        slack.clock.advance(0.25)
        await asyncio.sleep(0.005)
    await work
    assert all(each.only.text.endswith(f"end of {number}") for number, each in enumerate(questions))
    assert len(slack.calls_to("chat.startStream")) >= 20
    assert not slack.buckets.limited
