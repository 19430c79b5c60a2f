from __future__ import annotations

from itertools import pairwise

import pytest

from adapters.discord.calls import TokenExpired
from adapters.discord.replies.channel_messages import MessageContent, MessageSink, PostedIds
from adapters.discord.replies.refs import InteractionHandle, ReplyRef
from adapters.discord.replies.reply import EDIT_INTERVAL, DiscordReply, EditThrottle
from bot.platform.models import AnswerFooter, Button, FooterSource
from bot.store.models import parse_message_ids
from tests.support.clock import ManualClock

FOOTER = AnswerFooter(
    "a1", (FooterSource(1, "Ada", "https://discord.com/channels/1/2/3"),), "", (Button("👍", "up", "a1"),)
)


class FakeSink:
    """A channel of messages; `expired`: it refuses writes."""

    def __init__(self, channel: str, clock: ManualClock) -> None:
        self.channel, self.clock, self.handle = channel, clock, ""
        self.messages: dict[str, MessageContent] = {}
        self.writes: list[float] = []
        self.expired = False

    async def write_part(self, part: int, message: str, outgoing: MessageContent) -> PostedIds:
        if self.expired:
            raise TokenExpired("too late")
        message = message or f"{self.channel}{part}"
        self.messages[message] = outgoing
        self.writes.append(self.clock.monotonic())
        return self.channel, message

    async def delete_part(self, message: str) -> None:
        del self.messages[message]

    @property
    def texts(self) -> list[str]:
        return [message.content.partition("\n\n**Sources**")[0] for message in self.messages.values()]


class FakeDestination:
    """A first sink and the one that follows once it expired."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.sink, self.fallback = FakeSink("c", self.clock), FakeSink("d", self.clock)
        self.is_private = False

    async def find(self) -> tuple[MessageSink, ReplyRef]:
        return self.sink, ReplyRef.parse(self.ref)

    async def find_fallback(self, ref: ReplyRef) -> tuple[MessageSink, ReplyRef]:
        return self.fallback, ReplyRef("", ()) if self.is_private else ref

    def start(self, ref: str = "", *buttons: Button) -> DiscordReply:
        self.ref = ref
        return DiscordReply(self, EditThrottle(self.clock, sleep=self.clock.sleep), ref, buttons)


@pytest.fixture
def to() -> FakeDestination:
    return FakeDestination()


async def test_one_message_goes_from_status_to_answer_with_sources_and_buttons(to: FakeDestination) -> None:
    reply = to.start()
    assert reply.reply_ref == ""
    await reply.show_status("is searching…")
    assert (to.sink.texts, reply.reply_ref) == (["*is searching…*"], "c:c0")
    await reply.show(["The"])
    assert to.sink.texts == ["*is searching…*"]
    to.clock.advance(EDIT_INTERVAL)
    await reply.show(["The roof"])
    assert to.sink.texts == ["The roof …"]
    to.clock.advance(10)
    await reply.show_status("is writing…")
    assert to.sink.texts == ["The roof …"]
    await reply.finish(["The roof leaks [1]"], FOOTER)
    [message] = to.sink.messages.values()
    assert message.content == "The roof leaks [1]\n\n**Sources**\n**[1]** [Ada](<https://discord.com/channels/1/2/3>)"
    assert message.buttons == FOOTER.buttons


async def test_an_answer_in_progress_has_buttons_below_its_last_message_alone(to: FakeDestination) -> None:
    stop = Button("Stop", "stop", "a1")
    reply = to.start("", stop)
    await reply.show_status("is searching…")
    assert [message.buttons for message in to.sink.messages.values()] == [(stop,)]
    to.clock.advance(EDIT_INTERVAL)
    await reply.show(["The roof leaks.", "It rains"])
    assert [message.buttons for message in to.sink.messages.values()] == [(), (stop,)]
    await reply.finish(["The roof leaks.", "It rains in."], FOOTER)
    assert [message.buttons for message in to.sink.messages.values()] == [(), FOOTER.buttons]


async def test_writes_of_a_message_are_an_interval_apart(to: FakeDestination) -> None:
    reply = to.start()
    await reply.show_status("is searching…")
    for words in range(1, 20):
        to.clock.advance(0.1)
        await reply.show(["word " * words])
    await reply.finish(["word " * 20], FOOTER)
    assert all(later - earlier >= EDIT_INTERVAL - 1e-9 for earlier, later in pairwise(to.sink.writes))


async def test_a_single_word_is_not_shown_where_no_status_could_be(to: FakeDestination) -> None:
    reply = to.start()
    shown = [await reply.show([text]) for text in ("From", "From what I ", "From what I read, yes. ")]
    assert (shown, to.sink.texts) == ([False, False, True], ["From what I read, yes. …"])


async def test_only_parts_that_changed_are_written_again(to: FakeDestination) -> None:
    reply = to.start()
    await reply.show(["one", "tw"])
    to.clock.advance(10)
    await reply.show(["one", "two"])
    assert len(to.sink.writes) == 3
    await reply.finish(["one", "two"], FOOTER)
    assert ["**Sources**" in message.content for message in to.sink.messages.values()] == [False, True]


async def test_sources_that_do_not_fit_below_the_answer_are_a_message_of_their_own(to: FakeDestination) -> None:
    await to.start().finish(["x" * 1980], FOOTER)
    answer, below = to.sink.messages.values()
    assert (answer.content, answer.buttons) == ("x" * 1980, ())
    assert (below.content.partition("\n")[0], below.buttons) == ("**Sources**", FOOTER.buttons)


async def test_a_resumed_answer_replaces_what_was_there_and_deletes_the_rest(to: FakeDestination) -> None:
    to.sink.messages = {name: MessageContent("old") for name in ("c0", "c1", "c2")}
    reply = to.start("c:c0,c1,c2")
    await reply.finish(["new"], FOOTER)
    assert (to.sink.texts, reply.reply_ref) == (["new"], "c:c0")


@pytest.mark.parametrize(("is_private", "ref"), [(False, "d:c0,c1,d2"), (True, "d:d0,d1,d2")])
async def test_once_the_token_expired_the_fallback_continues(to: FakeDestination, is_private: bool, ref: str) -> None:  # noqa: FBT001
    to.is_private = is_private
    reply = to.start()
    await reply.show(["one", "tw"])
    to.sink.expired = True
    await reply.finish(["one", "two", "three"], FOOTER)
    assert reply.reply_ref == ref
    assert to.fallback.texts == ["one", "two", "three"]


async def test_an_answer_is_replaced_at_once_and_whole(to: FakeDestination) -> None:
    reply = to.start()
    await reply.show(["secret", "more"])
    now = to.clock.monotonic()
    await reply.replace("I took it back.")
    assert (to.sink.texts, to.clock.monotonic()) == (["I took it back."], now)


async def test_an_expired_private_answer_is_not_replaced(to: FakeDestination) -> None:
    to.is_private = to.sink.expired = True
    await to.start("c:c0").replace("I took it back.")
    assert (to.sink.messages, to.fallback.messages) == ({}, {})


async def test_the_ref_of_a_private_answer_has_the_handle_that_can_change_it(to: FakeDestination) -> None:
    to.is_private = True
    to.sink.handle = str(InteractionHandle("1", "2", "to:k:en", 900.0, is_private=True, is_button=False))
    reply = to.start()
    await reply.finish(["The roof leaks [1]"], FOOTER)
    assert reply.reply_ref == f"c:c0:{to.sink.handle}"
    assert parse_message_ids(reply.reply_ref) == ("c0",)


def test_the_interval_doubles_with_every_refusal_and_shrinks_again() -> None:
    throttle = EditThrottle(ManualClock())
    throttle.record_write(1)
    assert (throttle.interval, throttle.can_write_soon) == (2 * EDIT_INTERVAL, False)
    throttle.record_write(2)
    assert throttle.interval == 8 * EDIT_INTERVAL
    for _ in range(20):
        throttle.record_write(0)
    assert throttle.interval == EDIT_INTERVAL
