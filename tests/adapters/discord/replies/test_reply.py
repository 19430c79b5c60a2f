from __future__ import annotations

from adapters.discord.api.calls import TokenExpired
from adapters.discord.replies.channel_messages import MessageSink, OutgoingMessage, PostedIds
from adapters.discord.replies.refs import InteractionHandle, ReplyRef
from adapters.discord.replies.reply import EDIT_INTERVAL, DiscordReply, EditThrottle
from bot.platform.models import AnswerFooter, Button, FooterSource
from bot.store.models import parse_message_ids

CLOSING = AnswerFooter(
    "a1", (FooterSource(1, "Ada", "https://discord.com/channels/1/2/3"),), "", (Button("👍", "up", "a1"),)
)


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds


class FakeSink:
    """A channel of messages; `over`: no write is taken any more."""

    def __init__(self, channel: str, clock: Clock, handle: str = "") -> None:
        self.channel = channel
        self.handle = handle
        self.clock = clock
        self.messages: dict[str, OutgoingMessage] = {}
        self.writes: list[float] = []
        self.over = False

    async def write_part(self, part: int, message: str, sheet: OutgoingMessage) -> PostedIds:
        if self.over:
            raise TokenExpired("too late")
        message = message or f"{self.channel}{part}"
        self.messages[message] = sheet
        self.writes.append(self.clock())
        return self.channel, message

    async def delete_part(self, message: str) -> None:
        del self.messages[message]

    @property
    def texts(self) -> list[str]:
        return [sheet.content.partition("\n\n**Sources**")[0] for sheet in self.messages.values()]


class FakeDestination:
    def __init__(
        self, way: FakeSink, other: FakeSink | None = None, *, is_private: bool = False, mark: str = ""
    ) -> None:
        self.way, self.other, self.is_private, self.mark = way, other, is_private, mark

    async def find(self) -> tuple[MessageSink, ReplyRef]:
        return self.way, ReplyRef.parse(self.mark)

    async def find_fallback(self, mark: ReplyRef) -> tuple[MessageSink, ReplyRef]:
        assert self.other is not None
        return self.other, ReplyRef("", ()) if self.is_private else mark


def writing(door: FakeDestination, clock: Clock) -> DiscordReply:
    return DiscordReply(door, door.mark, EditThrottle(clock=clock, sleep=clock.sleep))


async def test_the_mark_of_what_one_person_sees_bears_what_can_change_it() -> None:
    clock = Clock()
    handle = str(InteractionHandle("1", "2", "to:k:en", 900.0, is_private=True, is_button=False))
    reply = writing(FakeDestination(FakeSink("c", clock, handle), is_private=True), clock)
    await reply.finish(["The roof leaks [1]"], CLOSING)
    assert reply.reply_ref == f"c:c0:{handle}"
    assert ReplyRef.parse(reply.reply_ref) == ReplyRef("c", ("c0",), handle)
    assert parse_message_ids(reply.reply_ref) == ("c0",)


async def test_one_message_goes_from_status_to_answer_with_sources_and_buttons() -> None:
    clock = Clock()
    paper = FakeSink("c", clock)
    reply = writing(FakeDestination(paper), clock)
    assert reply.reply_ref == ""
    await reply.show_status("is searching…")
    assert paper.texts == ["*is searching…*"]
    assert reply.reply_ref == "c:c0"
    await reply.show(["The"])
    assert paper.texts == ["*is searching…*"]
    clock.now += EDIT_INTERVAL
    await reply.show(["The roof"])
    assert paper.texts == ["The roof …"]
    await reply.finish(["The roof leaks [1]"], CLOSING)
    [sheet] = paper.messages.values()
    assert sheet.content == "The roof leaks [1]\n\n**Sources**\n**[1]** [Ada](<https://discord.com/channels/1/2/3>)"
    assert sheet.buttons == CLOSING.buttons


async def test_writes_of_a_message_are_a_pause_apart() -> None:
    clock = Clock()
    paper = FakeSink("c", clock)
    reply = writing(FakeDestination(paper), clock)
    await reply.show_status("is searching…")
    for words in range(1, 20):
        clock.now += 0.1
        await reply.show(["word " * words])
    await reply.finish(["word " * 20], CLOSING)
    assert all(
        later - earlier >= EDIT_INTERVAL - 1e-9 for earlier, later in zip(paper.writes, paper.writes[1:], strict=False)
    )


async def test_a_status_does_not_cover_the_answer() -> None:
    clock = Clock()
    paper = FakeSink("c", clock)
    reply = writing(FakeDestination(paper), clock)
    await reply.show(["The roof leaks badly. It"])
    clock.now += 10
    await reply.show_status("is writing…")
    assert paper.texts == ["The roof leaks badly. It …"]


async def test_no_single_word_comes_first_where_no_status_could_be_shown() -> None:
    clock = Clock()
    paper = FakeSink("c", clock)
    reply = writing(FakeDestination(paper), clock)
    for begun in ("From", "From what I "):
        assert await reply.show([begun]) is False
    assert paper.texts == []
    assert await reply.show(["From what I read, yes. "])
    assert paper.texts == ["From what I read, yes. …"]


async def test_only_parts_that_changed_are_written_again() -> None:
    clock = Clock()
    paper = FakeSink("c", clock)
    reply = writing(FakeDestination(paper), clock)
    await reply.show(["one", "tw"])
    clock.now += 10
    await reply.show(["one", "two"])
    assert len(paper.writes) == 3
    await reply.finish(["one", "two"], CLOSING)
    assert ["**Sources**" in sheet.content for sheet in paper.messages.values()] == [False, True]


async def test_sources_that_do_not_fit_below_the_answer_stand_in_a_message_of_their_own() -> None:
    clock = Clock()
    paper = FakeSink("c", clock)
    await writing(FakeDestination(paper), clock).finish(["x" * 1980], CLOSING)
    answer, below = paper.messages.values()
    assert (answer.content, answer.buttons) == ("x" * 1980, ())
    assert below.content.startswith("**Sources**\n")
    assert below.buttons == CLOSING.buttons


async def test_a_resumed_answer_writes_over_what_was_there_and_deletes_the_rest() -> None:
    clock = Clock()
    paper = FakeSink("c", clock)
    paper.messages = {"c0": OutgoingMessage("old"), "c1": OutgoingMessage("old"), "c2": OutgoingMessage("old")}
    reply = writing(FakeDestination(paper, mark="c:c0,c1,c2"), clock)
    await reply.finish(["new"], CLOSING)
    assert paper.texts == ["new"]
    assert reply.reply_ref == "c:c0"


async def test_once_the_token_is_over_the_same_messages_are_changed_on_another_way() -> None:
    clock = Clock()
    paper, channel = FakeSink("c", clock), FakeSink("c", clock)
    reply = writing(FakeDestination(paper, channel), clock)
    await reply.show(["one", "tw"])
    paper.over, channel.messages = True, dict(paper.messages)
    await reply.finish(["one", "two", "three"], CLOSING)
    assert channel.texts == ["one", "two", "three"]


async def test_a_private_answer_begins_anew_where_only_its_reader_sees_it() -> None:
    clock = Clock()
    paper, direct = FakeSink("c", clock), FakeSink("d", clock)
    reply = writing(FakeDestination(paper, direct, is_private=True), clock)
    await reply.show(["one", "tw"])
    paper.over = True
    await reply.finish(["one", "two"], CLOSING)
    assert direct.texts == ["one", "two"]
    assert reply.reply_ref == "d:d0,d1"


async def test_an_answer_is_taken_back_at_once_and_whole() -> None:
    clock = Clock()
    paper = FakeSink("c", clock)
    reply = writing(FakeDestination(paper), clock)
    await reply.show(["secret", "more"])
    now = clock.now
    await reply.replace("I took it back.")
    assert (paper.texts, clock.now) == (["I took it back."], now)


async def test_what_one_person_saw_long_ago_is_left_alone() -> None:
    clock = Clock()
    paper = FakeSink("c", clock)
    paper.over = True
    await writing(FakeDestination(paper, is_private=True, mark="c:c0"), clock).replace("I took it back.")
    assert paper.messages == {}


def test_the_pause_doubles_with_every_refusal_and_shrinks_again() -> None:
    pace = EditThrottle(clock=Clock())
    pace.record_write(1)
    assert pace.interval == 2 * EDIT_INTERVAL
    assert not pace.can_write_soon
    pace.record_write(2)
    assert pace.interval == 8 * EDIT_INTERVAL
    for _ in range(20):
        pace.record_write(0)
    assert pace.interval == EDIT_INTERVAL
