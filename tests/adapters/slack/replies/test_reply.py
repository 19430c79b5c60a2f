from __future__ import annotations

import asyncio
from typing import Any

import pytest

from adapters.slack.replies.reply import ABANDONED_AFTER
from bot.platform.models import AnswerFooter, FooterSource
from tests.adapters.slack.scene import BARE, FOOTER, LINK, Question, Scene, locate


async def test_an_answer_is_streamed_into_the_thread_and_ends_with_sources_and_buttons(question: Question) -> None:
    reply = question.reply()
    await reply.show_status("is searching…")
    assert question.root.status.endswith("is searching…")
    await reply.show(["The roof "])
    assert question.replies[0].writing
    assert reply.reply_ref == f"{question.room.id}:{question.replies[0].ts}"
    await reply.show(["The roof leaks [1]"])
    await reply.finish(["The roof leaks [1]."], FOOTER)
    assert question.only.body == "The roof leaks [1]."
    assert "Answered from" in question.only.text
    assert [url for _, url in question.only.sources] == [LINK]
    assert question.only.buttons == ("👍", "👎", "Delete")
    assert not question.root.status


async def test_only_new_text_is_sent(question: Question) -> None:
    reply = question.reply()
    for text in ("one ", "one two ", "one two three "):
        await reply.show([text])
    await reply.finish(["one two three four"], BARE)
    calls = question.slack.calls_to("chat.startStream", "chat.appendStream", "chat.stopStream")
    chunks: list[dict[str, Any]] = [chunk for call in calls for chunk in call.args.get("chunks", ())]
    assert [chunk["text"] for chunk in chunks if "text" in chunk] == ["one ", "two ", "three ", "four"]
    assert not question.slack.calls_to("chat.update", "chat.postMessage")


async def test_an_answer_that_was_never_shown_is_one_post(question: Question) -> None:
    await question.reply().finish(["Because it rained."], FOOTER)
    assert question.only.body == "Because it rained."
    assert not question.slack.calls_to("chat.startStream")


async def test_a_long_answer_has_a_message_for_each_part(question: Question) -> None:
    first, second = "a" * 10_900 + ".", "b" * 4_000 + "."
    reply = question.reply()
    await reply.show([first[:5000]])
    await reply.show([first, second[:10]])
    await reply.finish([first, second], FOOTER)
    assert [entry.body for entry in question.replies] == [first, second]
    assert not any(entry.writing or entry.broken for entry in question.replies)
    assert [len(entry.sources) for entry in question.replies] == [0, 1]


async def test_a_footer_that_does_not_fit_follows_in_a_message(question: Question) -> None:
    title, link = "a document with a rather long name", f"https://x.org/{'p' * 90}"
    sources = tuple(FooterSource(number, f"{title} {number}", f"{link}{number}") for number in range(1, 16))
    reply = question.reply()
    await reply.show(["c" * 10_990])
    await reply.finish(["c" * 10_990], AnswerFooter("a1", sources))
    first, second = question.replies
    assert (first.body, len(second.sources)) == ("c" * 10_990, 15)


async def test_a_part_that_becomes_shorter_is_rewritten(question: Question) -> None:
    reply = question.reply()
    await reply.show(["one two three"])
    await reply.finish(["one two", "three"], BARE)
    assert question.texts == ["one two", "three"]


@pytest.mark.parametrize(("text", "method"), [("one ", "chat.appendStream"), ("", "assistant.threads.setStatus")])
async def test_a_silent_stream_and_a_status_are_kept_alive(question: Question, text: str, method: str) -> None:
    reply = question.reply()
    await reply.show_status("is searching…")
    if text:
        await reply.show([text])
    question.slack.calls.clear()
    for _ in range(100):
        question.slack.clock.advance(1.0)
        await asyncio.sleep(0)
    await question.slack.wait_for(lambda: question.slack.calls_to(method))
    await reply.finish(["one two"], BARE)
    assert question.only.body == "one two"


async def test_an_abandoned_answer_is_not_kept_alive(question: Question) -> None:
    reply = question.reply()
    await reply.show_status("is searching…")
    question.slack.clock.advance(ABANDONED_AFTER)
    await question.slack.wait_for(lambda: not question.scene.context.tasks)


async def test_a_refused_status_becomes_a_reaction_until_the_answer(question: Question) -> None:
    question.slack.fail_next("assistant.threads.setStatus", "missing_scope")
    reply = question.reply()
    await reply.show_status("is searching…")
    assert question.root.reactions == (("eyes", 1),)
    await reply.finish(["found"], BARE)
    assert not question.root.reactions


async def check_streamed(question: Question) -> None:
    reply = question.reply()
    await reply.show_status("is searching…")
    await reply.show(["In "])
    assert question.replies[0].writing
    await reply.finish(["In May."], BARE)
    assert question.only.body == "In May."


async def test_a_direct_question_is_answered_in_its_thread(scene: Scene) -> None:
    await check_streamed(Question(scene, scene.ada, await scene.ada.says(scene.ada.direct, "when?")))


async def test_a_question_in_a_thread_is_answered_there(scene: Scene) -> None:
    root = await scene.ada.says(scene.roof, "it is wet")
    await check_streamed(Question(scene, scene.ada, await scene.ada.mentions(scene.roof, "when?", thread=root)))


async def test_a_stranger_gets_a_stream_too(scene: Scene) -> None:
    eve = scene.slack.stranger("Eve")
    room = scene.slack.channel("deal", members=[eve], shared=True)
    sent = await eve.mentions(room, "when?")
    await scene.platform.fetch_channel(locate(room))
    await check_streamed(Question(scene, eve, sent))
