from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from bot.chat import Button, Cited, Closing, Place, Target
from tests.fakes.slack import FakeSlack, Fault, Limits, Rates

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from bot.chat import Reply
    from tests.adapters.slack.conftest import Desk
    from tests.fakes.slack import Entry, Person, Room, Said

CLOSING = Closing(
    "a1",
    (Cited(1, "#roof · 2026-05-01", "https://smallco.slack.com/archives/C1/p1", "it leaks"),),
    "Answered from what everyone in #roof can see.",
    (Button("👍", "up", "a1"), Button("👎", "down", "a1"), Button("Delete", "delete", "a1")),
)
BARE = Closing("a1")


class Talk:
    """A question in a channel, and what becomes of it."""

    def __init__(self, slack: FakeSlack, ada: Person, room: Room, said: Said) -> None:
        self.slack = slack
        self.ada = ada
        self.room = room
        self.said = said

    def reply(self, desk: Desk, *, fresh: bool = True, mark: str = "", answer: str = "a1") -> Reply:
        if fresh:
            desk.platform.heard(self.room.id, self.said.ts)
        place = Place("slack", self.slack.space.team, self.room.id, self.said.message.thread_ts)
        return desk.platform.reply(Target(answer, place, self.ada.id, self.said.ts, mark=mark))

    @property
    def replies(self) -> list[Entry]:
        return self.slack.replies(self.ada, self.room, self.said.root)

    @property
    def texts(self) -> list[str]:
        return [entry.text.strip() for entry in self.replies]

    @property
    def only(self) -> Entry:
        (entry,) = self.replies
        assert not entry.writing
        assert not entry.broken
        return entry


@pytest.fixture
async def talk(slack: FakeSlack) -> Talk:
    ada = slack.user("Ada")
    room = slack.channel("roof", members=[ada])
    return Talk(slack, ada, room, await ada.mentions(room, "why is it wet?"))


async def test_an_answer_is_streamed_into_the_thread_and_ends_with_sources_and_buttons(desk: Desk, talk: Talk) -> None:
    reply = talk.reply(desk)
    await reply.status("is searching…")
    assert talk.slack.sees(talk.ada, talk.room).entries[0].status.endswith("is searching…")
    await reply.show(["The roof "])
    assert talk.replies[0].writing
    assert reply.mark == f"{talk.room.id}:{talk.replies[0].ts}"
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
        for call in talk.slack.called("chat.startStream", "chat.appendStream", "chat.stopStream")
        for chunk in call.args.get("chunks", ())
        if chunk["type"] == "markdown_text"
    ]
    assert sent == ["one ", "two ", "three ", "four"]
    assert not talk.slack.called("chat.update", "chat.postMessage")


async def test_an_answer_that_was_never_shown_is_one_post(desk: Desk, talk: Talk) -> None:
    await talk.reply(desk).finish(["Because it rained."], CLOSING)
    assert "Because it rained." in talk.only.text
    assert [call.method for call in talk.slack.called("chat.startStream", "chat.postMessage")] == ["chat.postMessage"]


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
        Cited(n, f"a document with a rather long name {n}", f"https://x.org/{'p' * 90}{n}") for n in range(1, 16)
    )
    reply = talk.reply(desk)
    await reply.show(["c" * 10_990])
    await reply.finish(["c" * 10_990], Closing("a1", sources))
    first, second = talk.replies
    assert "c" * 10_990 in first.text
    assert len(second.sources) == 15


async def test_a_part_that_turns_out_shorter_is_rewritten(desk: Desk, talk: Talk) -> None:
    reply = talk.reply(desk)
    await reply.show(["one two three"])
    await reply.finish(["one two", "three"], BARE)
    assert talk.texts == ["one two", "three"]


async def test_told_to_slow_down_the_text_comes_once_and_whole(desk: Desk, talk: Talk) -> None:
    reply = talk.reply(desk)
    await reply.show(["one "])
    talk.slack.fails("chat.appendStream", Fault("ratelimited", seconds=1))
    await reply.show(["one two "])
    talk.slack.fails("chat.stopStream", Fault("ratelimited", seconds=1))
    await reply.finish(["one two three"], BARE)
    assert talk.only.text == "one two three"


async def test_what_had_to_wait_is_written_as_soon_as_it_may_be(desk: Desk, talk: Talk) -> None:
    reply = talk.reply(desk)
    await reply.show(["one "])
    talk.slack.fails("chat.appendStream", Fault("ratelimited", seconds=5))
    await reply.show(["one two"])
    assert "two" not in talk.replies[0].text
    for _ in range(10):
        talk.slack.clock.advance(1.0)
        await asyncio.sleep(0)
    await talk.slack.until(lambda: "one two" in talk.replies[0].text)
    await reply.finish(["one two"], BARE)


@pytest.mark.parametrize("error", ["unknown_method", "channel_type_not_supported", "internal_error", "ratelimited"])
async def test_without_streams_it_is_posted_and_rewritten(desk: Desk, talk: Talk, error: str) -> None:
    fault = Fault("ratelimited", seconds=60) if error == "ratelimited" else error
    talk.slack.fails("chat.startStream", fault, times=9)
    reply = talk.reply(desk)
    await reply.show(["one "])
    assert talk.texts == ["one"]
    await reply.show(["one two "])
    assert talk.texts == ["one"]  # not yet: a message is not rewritten more often than every two seconds
    talk.slack.clock.advance(2.0)
    await reply.show(["one two "])
    assert talk.texts == ["one two"]
    await reply.finish(["one two three"], CLOSING)
    assert "one two three" in talk.only.text
    assert talk.only.sources


async def test_a_workspace_without_streams_is_not_asked_again(desk: Desk, talk: Talk) -> None:
    talk.slack.fails("chat.startStream", "unknown_method")
    await talk.reply(desk).show(["one "])
    await talk.reply(desk, answer="a2").show(["two "])
    assert len(talk.slack.called("chat.startStream")) == 1


async def test_a_server_that_knows_no_tasks_streams_without_them(desk: Desk, talk: Talk) -> None:
    talk.slack.fails("chat.startStream", "invalid_chunks")
    reply = talk.reply(desk)
    await reply.status("is searching…")
    await reply.show(["one "])
    assert talk.replies[0].writing
    await reply.finish(["one two"], CLOSING)
    assert "one two" in talk.only.text


@pytest.mark.parametrize("method", ["chat.startStream", "chat.appendStream", "chat.stopStream", "chat.update"])
@pytest.mark.parametrize("kind", ["lost", "reset", "server"])
async def test_a_call_that_was_lost_leaves_one_whole_answer(desk: Desk, talk: Talk, method: str, kind: str) -> None:
    if method == "chat.update":
        talk.slack.fails("chat.startStream", "unknown_method")
    talk.slack.fails(method, Fault(kind))  # type: ignore[arg-type]
    reply = talk.reply(desk)
    await reply.show(["one "])
    talk.slack.clock.advance(3)
    await reply.show(["one two "])
    await reply.finish(["one two three"], CLOSING)
    assert talk.only.text.startswith("one two three")
    assert talk.only.text.count("one two") == 1


@pytest.mark.parametrize("kind", ["lost", "reset", "server"])
async def test_a_post_that_was_lost_is_there_once(desk: Desk, talk: Talk, kind: str) -> None:
    talk.slack.fails("chat.postMessage", Fault(kind))  # type: ignore[arg-type]
    await talk.reply(desk).finish(["one two three"], CLOSING)
    assert talk.only.text.startswith("one two three")


async def test_after_a_restart_the_message_of_the_mark_is_finished(
    desk: Desk, talk: Talk, restarted: AbstractAsyncContextManager[Desk]
) -> None:
    reply = talk.reply(desk)
    await reply.show(["The first run said "])
    async with restarted as again:
        resumed = talk.reply(again, fresh=False, mark=reply.mark)
        await resumed.show(["The second "])
        await resumed.finish(["The second run says this."], CLOSING)
    assert talk.only.text.startswith("The second run says this.")


@pytest.mark.parametrize("refused", [0, 1])
async def test_after_a_restart_what_was_begun_is_found_without_a_mark(
    desk: Desk, talk: Talk, restarted: AbstractAsyncContextManager[Desk], refused: int
) -> None:
    talk.slack.fails("chat.startStream", "unknown_method", times=refused)
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
        await talk.reply(again, fresh=False, mark=reply.mark).replace("It was forgotten.")
    assert talk.only.text == "It was forgotten."


async def test_words_can_be_taken_back_before_any_were_shown(desk: Desk, talk: Talk) -> None:
    await talk.reply(desk).replace("That went wrong (E123).")
    assert talk.only.text == "That went wrong (E123)."


async def test_refused_blocks_are_shown_in_a_plainer_form(desk: Desk, talk: Talk) -> None:
    talk.slack.fails("chat.stopStream", "invalid_blocks")
    reply = talk.reply(desk)
    await reply.show(["one "])
    await reply.finish(["one two"], CLOSING)
    assert talk.only.text.startswith("one two")
    assert "#roof · 2026-05-01" in talk.only.text
    assert {"👍", "👎", "Delete"} <= set(talk.only.buttons)


async def test_a_server_without_blocks_gets_the_text_with_its_sources(desk: Desk, talk: Talk) -> None:
    talk.slack.fails("chat.postMessage", "invalid_blocks", times=2)
    await talk.reply(desk).finish(["one **two**"], CLOSING)
    assert "one" in talk.only.text
    assert "https://smallco.slack.com/archives/C1/p1" in str(talk.only)


async def test_a_text_that_slack_finds_too_long_goes_on_below(talk: Talk, slack: FakeSlack) -> None:
    tight = Limits(streamed=4000, markdown=4000, all_blocks=4500)
    slack.limits = tight
    from tests.adapters.slack.conftest import opened  # noqa: PLC0415

    text = "\n".join(f"line {n} of a long answer" for n in range(400))
    async with opened(slack) as desk:
        reply = talk.reply(desk)
        await reply.show([text[:3000]])
        await reply.show([text[:6000]])
        await reply.finish([text], CLOSING)
    shown = "\n".join(entry.text for entry in talk.replies)
    assert all(f"line {n} of a long answer" in shown for n in range(400))
    assert not any(entry.writing or entry.broken for entry in talk.replies)


async def test_a_silent_stream_is_kept_alive(desk: Desk, talk: Talk) -> None:
    reply = talk.reply(desk)
    await reply.status("is searching…")
    await reply.show(["one "])
    for _ in range(60):
        talk.slack.clock.advance(1.0)
        await asyncio.sleep(0)
    await talk.slack.until(lambda: talk.slack.called("chat.appendStream"))
    await reply.finish(["one two"], BARE)
    assert "one two" in talk.only.text


async def test_the_status_is_refreshed_before_it_fades(desk: Desk, talk: Talk) -> None:
    reply = talk.reply(desk)
    await reply.status("is searching…")
    for _ in range(100):
        talk.slack.clock.advance(1.0)
        await asyncio.sleep(0)
    await talk.slack.until(lambda: len(talk.slack.called("assistant.threads.setStatus")) == 2)
    await reply.finish(["found"], BARE)


async def test_where_there_is_no_status_eyes_look_at_the_question_until_the_answer(desk: Desk, talk: Talk) -> None:
    talk.slack.fails("assistant.threads.setStatus", "missing_scope")
    reply = talk.reply(desk)
    await reply.status("is searching…")
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


async def test_fifty_answers_share_the_turns_and_all_of_them_are_whole() -> None:
    async with FakeSlack(rates=Rates()) as slack:
        from tests.adapters.slack.conftest import opened  # noqa: PLC0415

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
                await reply.finish([text + f"end of {number}"], Closing(f"a{number}"))

            work = asyncio.gather(*(answered(number, talk) for number, talk in enumerate(talks)))
            while not work.done():
                slack.clock.advance(0.25)
                await asyncio.sleep(0.005)
            await work
        assert [talk.only.text.endswith(f"end of {n}") for n, talk in enumerate(talks)] == [True] * 50
        assert len(slack.called("chat.startStream")) >= 20
        assert not slack.buckets.limited
