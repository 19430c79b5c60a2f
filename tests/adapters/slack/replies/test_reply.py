from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from bot.platform.models import AnswerFooter, FooterSource, Location
from tests.adapters.slack.talking import BARE, CLOSING, Talk

if TYPE_CHECKING:
    from tests.adapters.slack.conftest import Desk
    from tests.support.slack_server import FakeSlack


async def test_an_answer_is_streamed_into_the_thread_and_ends_with_sources_and_buttons(desk: Desk, talk: Talk) -> None:
    reply = talk.reply(desk)
    await reply.show_status("is searching…")
    assert talk.slack.sees(talk.ada, talk.room).entries[0].status.endswith("is searching…")
    await reply.show(["The roof "])
    assert talk.replies[0].writing
    assert reply.reply_ref == f"{talk.room.id}:{talk.replies[0].ts}"
    await reply.show(["The roof leaks [1]"])
    await reply.finish(["The roof leaks [1]."], CLOSING)
    assert "The roof leaks [1]." in talk.only.text
    assert "https://smallco.slack.com/archives/C1/p1" in [address for _, address in talk.only.sources]
    assert {"👍", "👎", "Delete"} <= set(talk.only.buttons)
    assert "Answered from" in talk.only.text
    assert not talk.slack.sees(talk.ada, talk.room).entries[0].status


async def test_only_what_is_new_is_sent(desk: Desk, talk: Talk) -> None:
    reply = talk.reply(desk)
    for text in ("one ", "one two ", "one two three "):
        await reply.show([text])
    await reply.finish(["one two three four"], BARE)
    sent = [
        chunk["text"]
        for call in talk.slack.calls_to("chat.startStream", "chat.appendStream", "chat.stopStream")
        for chunk in call.args.get("chunks", ())
        if chunk["type"] == "markdown_text"
    ]
    assert sent == ["one ", "two ", "three ", "four"]
    assert not talk.slack.calls_to("chat.update", "chat.postMessage")


async def test_an_answer_that_was_never_shown_is_one_post(desk: Desk, talk: Talk) -> None:
    await talk.reply(desk).finish(["Because it rained."], CLOSING)
    assert "Because it rained." in talk.only.text
    assert [call.method for call in talk.slack.calls_to("chat.startStream", "chat.postMessage")] == ["chat.postMessage"]


async def test_a_long_answer_has_a_message_for_each_part(desk: Desk, talk: Talk) -> None:
    first, second = "a" * 10_900 + ".", "b" * 4_000 + "."
    reply = talk.reply(desk)
    await reply.show([first[:5000]])
    await reply.show([first, second[:10]])
    await reply.finish([first, second], CLOSING)
    shown = talk.replies
    assert [first in shown[0].text, second in shown[1].text] == [True, True]
    assert not any(entry.writing or entry.broken for entry in shown)
    assert not shown[0].sources
    assert shown[1].sources


async def test_what_does_not_fit_below_a_full_message_follows_it(desk: Desk, talk: Talk) -> None:
    sources = tuple(
        FooterSource(n, f"a document with a rather long name {n}", f"https://x.org/{'p' * 90}{n}") for n in range(1, 16)
    )
    reply = talk.reply(desk)
    await reply.show(["c" * 10_990])
    await reply.finish(["c" * 10_990], AnswerFooter("a1", sources))
    first, second = talk.replies
    assert "c" * 10_990 in first.text
    assert len(second.sources) == 15


async def test_a_part_that_turns_out_shorter_is_rewritten(desk: Desk, talk: Talk) -> None:
    reply = talk.reply(desk)
    await reply.show(["one two three"])
    await reply.finish(["one two", "three"], BARE)
    assert talk.texts == ["one two", "three"]


async def test_a_silent_stream_is_kept_alive(desk: Desk, talk: Talk) -> None:
    reply = talk.reply(desk)
    await reply.show_status("is searching…")
    await reply.show(["one "])
    for _ in range(60):
        talk.slack.clock.advance(1.0)
        await asyncio.sleep(0)
    await talk.slack.wait_for(lambda: talk.slack.calls_to("chat.appendStream"))
    await reply.finish(["one two"], BARE)
    assert "one two" in talk.only.text


async def test_the_status_is_refreshed_before_it_fades(desk: Desk, talk: Talk) -> None:
    reply = talk.reply(desk)
    await reply.show_status("is searching…")
    for _ in range(100):
        talk.slack.clock.advance(1.0)
        await asyncio.sleep(0)
    await talk.slack.wait_for(lambda: len(talk.slack.calls_to("assistant.threads.setStatus")) == 2)
    await reply.finish(["found"], BARE)


async def test_where_there_is_no_status_eyes_look_at_the_question_until_the_answer(desk: Desk, talk: Talk) -> None:
    talk.slack.fail_next("assistant.threads.setStatus", "missing_scope")
    reply = talk.reply(desk)
    await reply.show_status("is searching…")
    assert talk.slack.sees(talk.ada, talk.room).entries[0].reactions == (("eyes", 1),)
    await reply.finish(["found"], BARE)
    assert talk.slack.sees(talk.ada, talk.room).entries[0].reactions == ()


async def test_nobody_is_called_and_nothing_is_unfurled(desk: Desk, talk: Talk) -> None:
    text = f"<!channel> <!here> <@{talk.ada.id}> <!subteam^S1> https://evil.example/x"
    reply = talk.reply(desk)
    for end in range(1, len(text)):
        await reply.show([text[:end]]) if end % 7 == 0 else None
    await reply.finish([text], CLOSING)
    await talk.reply(desk, answer="a2").finish([text], CLOSING)
    bots = {entry.ts for entry in talk.replies}
    assert not [ping for ping in talk.slack.space.pings if ping.ts in bots]
    assert not any(entry.previews for entry in talk.replies)


async def test_a_direct_question_is_answered_in_its_thread(desk: Desk, slack: FakeSlack) -> None:
    ada = slack.user("Ada")
    talk = Talk(slack, ada, ada.direct, await ada.says(ada.direct, "why is it wet?"))
    reply = talk.reply(desk)
    await reply.show_status("is searching…")
    await reply.show(["The roof "])
    assert talk.replies[0].writing
    await reply.finish(["The roof leaks."], CLOSING)
    assert "The roof leaks." in talk.only.text


async def test_somebody_of_another_workspace_is_answered_by_a_stream_too(desk: Desk, slack: FakeSlack) -> None:
    eve = slack.stranger("Eve")
    room = slack.channel("deal", members=[eve], shared=True)
    talk = Talk(slack, eve, room, await eve.mentions(room, "when?"))
    await desk.platform.fetch_channel(Location("slack", slack.space.team, room.id))
    reply = talk.reply(desk)
    await reply.show(["In May"])
    assert talk.replies[0].writing
    await reply.finish(["In May."], BARE)
    assert talk.only.text == "In May."


async def test_a_question_within_a_thread_is_answered_there(desk: Desk, slack: FakeSlack) -> None:
    ada = slack.user("Ada")
    room = slack.channel("roof", members=[ada])
    root = await ada.says(room, "it is wet")
    talk = Talk(slack, ada, room, await ada.mentions(room, "why?", thread=root))
    reply = talk.reply(desk)
    await reply.show(["The roof"])
    await reply.finish(["The roof leaks."], BARE)
    assert talk.only.text == "The roof leaks."
