from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from bot.platform.models import AnswerFooter
from tests.adapters.slack.conftest import opened
from tests.adapters.slack.talking import BARE, CLOSING, Talk
from tests.support.slack_server import FakeSlack, Fault, PayloadLimits, RateSettings

if TYPE_CHECKING:
    from tests.adapters.slack.conftest import Desk


async def test_a_stream_that_expired_is_completed_by_an_update(desk: Desk, talk: Talk) -> None:
    reply = talk.reply(desk)
    await reply.show(["The first half, "])
    talk.slack.expires(talk.replies[0].ts)
    await reply.show(["The first half, more, "])
    await reply.finish(["The first half, more, and the rest."], CLOSING)
    assert "The first half, more, and the rest." in talk.only.text


async def test_a_stream_that_expired_before_its_end_is_completed_by_an_update(desk: Desk, talk: Talk) -> None:
    reply = talk.reply(desk)
    await reply.show(["The first half, "])
    talk.slack.expires(talk.replies[0].ts)
    await reply.finish(["The first half, and the rest."], CLOSING)
    assert "The first half, and the rest." in talk.only.text
    assert talk.only.sources


async def test_told_to_slow_down_the_text_comes_once_and_whole(desk: Desk, talk: Talk) -> None:
    reply = talk.reply(desk)
    await reply.show(["one "])
    talk.slack.fail_next("chat.appendStream", Fault("ratelimited", seconds=1))
    await reply.show(["one two "])
    talk.slack.fail_next("chat.stopStream", Fault("ratelimited", seconds=1))
    await reply.finish(["one two three"], BARE)
    assert talk.only.text == "one two three"


async def test_what_had_to_wait_comes_with_the_next_words(desk: Desk, talk: Talk) -> None:
    reply = talk.reply(desk)
    await reply.show(["one "])
    talk.slack.fail_next("chat.appendStream", Fault("ratelimited", seconds=5))
    await reply.show(["one two"])
    talk.slack.clock.advance(4)
    await reply.show(["one two three"])
    assert "two" not in talk.replies[0].text
    talk.slack.clock.advance(2)
    await reply.show(["one two three four"])
    assert "one two three four" in talk.replies[0].text
    await reply.finish(["one two three four"], BARE)


@pytest.mark.parametrize("error", ["unknown_method", "channel_type_not_supported", "internal_error", "ratelimited"])
async def test_without_streams_it_is_posted_and_rewritten(desk: Desk, talk: Talk, error: str) -> None:
    fault = Fault("ratelimited", seconds=60) if error == "ratelimited" else error
    talk.slack.fail_next("chat.startStream", fault, times=9)
    reply = talk.reply(desk)
    for begun in ("From", "From what ", "From what is said, "):
        assert await reply.show([begun]) is False
    assert talk.texts == []  # a notification shows the first words
    await reply.show(["From what is said, yes. "])
    assert talk.texts == ["From what is said, yes."]
    await reply.show(["From what is said, yes. But "])
    assert talk.texts == ["From what is said, yes."]  # a message is not rewritten more often than every two seconds
    talk.slack.clock.advance(2.0)
    await reply.show(["From what is said, yes. But "])
    assert talk.texts == ["From what is said, yes. But"]
    await reply.finish(["From what is said, yes. But not all."], CLOSING)
    assert "But not all." in talk.only.text
    assert talk.only.sources


async def test_a_workspace_without_streams_is_not_asked_again(desk: Desk, talk: Talk) -> None:
    talk.slack.fail_next("chat.startStream", "unknown_method")
    await talk.reply(desk).show(["one "])
    await talk.reply(desk, answer="a2").show(["two "])
    assert len(talk.slack.calls_to("chat.startStream")) == 1


async def test_a_server_that_knows_no_tasks_streams_without_them(desk: Desk, talk: Talk) -> None:
    talk.slack.fail_next("chat.startStream", "invalid_chunks")
    reply = talk.reply(desk)
    await reply.show_status("is searching…")
    await reply.show(["one "])
    assert talk.replies[0].writing
    await reply.finish(["one two"], CLOSING)
    assert "one two" in talk.only.text


@pytest.mark.parametrize("method", ["chat.startStream", "chat.appendStream", "chat.stopStream", "chat.update"])
@pytest.mark.parametrize("kind", ["lost", "reset", "server"])
async def test_a_call_that_was_lost_leaves_one_whole_answer(desk: Desk, talk: Talk, method: str, kind: str) -> None:
    if method == "chat.update":
        talk.slack.fail_next("chat.startStream", "unknown_method")
    talk.slack.fail_next(method, Fault(kind))  # type: ignore[arg-type]
    reply = talk.reply(desk)
    await reply.show(["one "])
    talk.slack.clock.advance(3)
    await reply.show(["one two "])
    await reply.finish(["one two three"], CLOSING)
    assert talk.only.text.startswith("one two three")
    assert talk.only.text.count("one two") == 1


@pytest.mark.parametrize("kind", ["lost", "reset", "server"])
async def test_a_post_that_was_lost_is_there_once(desk: Desk, talk: Talk, kind: str) -> None:
    talk.slack.fail_next("chat.postMessage", Fault(kind))  # type: ignore[arg-type]
    await talk.reply(desk).finish(["one two three"], CLOSING)
    assert talk.only.text.startswith("one two three")


async def test_refused_blocks_are_shown_in_a_plainer_form(desk: Desk, talk: Talk) -> None:
    talk.slack.fail_next("chat.stopStream", "invalid_blocks")
    reply = talk.reply(desk)
    await reply.show(["one "])
    await reply.finish(["one two"], CLOSING)
    assert talk.only.text.startswith("one two")
    assert "#roof · 2026-05-01" in talk.only.text
    assert {"👍", "👎", "Delete"} <= set(talk.only.buttons)


async def test_a_server_without_blocks_gets_the_text_with_its_sources(desk: Desk, talk: Talk) -> None:
    talk.slack.fail_next("chat.postMessage", "invalid_blocks", times=2)
    await talk.reply(desk).finish(["one **two**"], CLOSING)
    assert "one" in talk.only.text
    assert "https://smallco.slack.com/archives/C1/p1" in str(talk.only)


async def test_a_text_that_slack_finds_too_long_goes_on_below(talk: Talk, slack: FakeSlack) -> None:
    tight = PayloadLimits(streamed=4000, markdown=4000, all_blocks=4500)
    slack.limits = tight
    text = "\n".join(f"line {n} of a long answer" for n in range(400))
    async with opened(slack) as desk:
        reply = talk.reply(desk)
        await reply.show([text[:3000]])
        await reply.show([text[:6000]])
        await reply.finish([text], CLOSING)
    shown = "\n".join(entry.text for entry in talk.replies)
    assert all(f"line {n} of a long answer" in shown for n in range(400))
    assert not any(entry.writing or entry.broken for entry in talk.replies)


async def test_fifty_answers_share_the_turns_and_all_of_them_are_whole() -> None:
    async with FakeSlack(rates=RateSettings()) as slack:
        ada = slack.user("Ada")
        rooms = [slack.channel(f"room-{n}", members=[ada]) for n in range(10)]
        talks = [Talk(slack, ada, rooms[n % 10], await ada.mentions(rooms[n % 10], f"question {n}")) for n in range(50)]
        async with opened(slack) as desk:

            async def answered(number: int, talk: Talk) -> None:
                reply = talk.reply(desk, answer=f"a{number}")
                text = ""
                for word in range(12):
                    text += f"word{word} "
                    await reply.show([text])
                    await slack.clock.sleep(1.0)
                await reply.finish([text + f"end of {number}"], AnswerFooter(f"a{number}"))

            work = asyncio.gather(*(answered(number, talk) for number, talk in enumerate(talks)))
            while not work.done():
                slack.clock.advance(0.25)
                await asyncio.sleep(0.005)
            await work
        assert [talk.only.text.endswith(f"end of {n}") for n, talk in enumerate(talks)] == [True] * 50
        assert len(slack.calls_to("chat.startStream")) >= 20
        assert not slack.buckets.limited
