from __future__ import annotations

from adapters.discord.api.calls import Over
from adapters.discord.replies.channel_messages import Posted, Sheet, Way
from adapters.discord.replies.refs import Handle, Mark
from adapters.discord.replies.reply import EVERY, Pace, Writing
from bot.platform.models import Button, Cited, Closing
from bot.store.models import messages_of

CLOSING = Closing("a1", (Cited(1, "Ada", "https://discord.com/channels/1/2/3"),), "", (Button("👍", "up", "a1"),))


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds


class Paper:
    """A channel of messages; `over`: no write is taken any more."""

    def __init__(self, channel: str, clock: Clock, handle: str = "") -> None:
        self.channel = channel
        self.handle = handle
        self.clock = clock
        self.messages: dict[str, Sheet] = {}
        self.writes: list[float] = []
        self.over = False

    async def put(self, part: int, message: str, sheet: Sheet) -> Posted:
        if self.over:
            raise Over("too late")
        message = message or f"{self.channel}{part}"
        self.messages[message] = sheet
        self.writes.append(self.clock())
        return self.channel, message

    async def take(self, message: str) -> None:
        del self.messages[message]

    @property
    def texts(self) -> list[str]:
        return [sheet.content.partition("\n\n**Sources**")[0] for sheet in self.messages.values()]


class Door:
    def __init__(self, way: Paper, other: Paper | None = None, *, private: bool = False, mark: str = "") -> None:
        self.way, self.other, self.private, self.mark = way, other, private, mark

    async def begin(self) -> tuple[Way, Mark]:
        return self.way, Mark.of(self.mark)

    async def instead(self, mark: Mark) -> tuple[Way, Mark]:
        assert self.other is not None
        return self.other, Mark("", ()) if self.private else mark


def writing(door: Door, clock: Clock) -> Writing:
    return Writing(door, door.mark, Pace(clock=clock, sleep=clock.sleep))


async def test_the_mark_of_what_one_person_sees_bears_what_can_change_it() -> None:
    clock = Clock()
    handle = str(Handle("1", "2", "to:k:en", 900.0, private=True, click=False))
    reply = writing(Door(Paper("c", clock, handle), private=True), clock)
    await reply.finish(["The roof leaks [1]"], CLOSING)
    assert reply.mark == f"c:c0:{handle}"
    assert Mark.of(reply.mark) == Mark("c", ("c0",), handle)
    assert messages_of(reply.mark) == ("c0",)


async def test_one_message_goes_from_status_to_answer_with_sources_and_buttons() -> None:
    clock = Clock()
    paper = Paper("c", clock)
    reply = writing(Door(paper), clock)
    assert reply.mark == ""
    await reply.status("is searching…")
    assert paper.texts == ["*is searching…*"]
    assert reply.mark == "c:c0"
    await reply.show(["The"])
    assert paper.texts == ["*is searching…*"]
    clock.now += EVERY
    await reply.show(["The roof"])
    assert paper.texts == ["The roof …"]
    await reply.finish(["The roof leaks [1]"], CLOSING)
    [sheet] = paper.messages.values()
    assert sheet.content == "The roof leaks [1]\n\n**Sources**\n**[1]** [Ada](<https://discord.com/channels/1/2/3>)"
    assert sheet.buttons == CLOSING.buttons


async def test_writes_of_a_message_are_a_pause_apart() -> None:
    clock = Clock()
    paper = Paper("c", clock)
    reply = writing(Door(paper), clock)
    await reply.status("is searching…")
    for words in range(1, 20):
        clock.now += 0.1
        await reply.show(["word " * words])
    await reply.finish(["word " * 20], CLOSING)
    assert all(later - earlier >= EVERY - 1e-9 for earlier, later in zip(paper.writes, paper.writes[1:], strict=False))


async def test_a_status_does_not_cover_the_answer() -> None:
    clock = Clock()
    paper = Paper("c", clock)
    reply = writing(Door(paper), clock)
    await reply.show(["The roof leaks badly. It"])
    clock.now += 10
    await reply.status("is writing…")
    assert paper.texts == ["The roof leaks badly. It …"]


async def test_no_single_word_comes_first_where_no_status_could_be_shown() -> None:
    clock = Clock()
    paper = Paper("c", clock)
    reply = writing(Door(paper), clock)
    for begun in ("From", "From what I "):
        assert await reply.show([begun]) is False
    assert paper.texts == []
    assert await reply.show(["From what I read, yes. "])
    assert paper.texts == ["From what I read, yes. …"]


async def test_only_parts_that_changed_are_written_again() -> None:
    clock = Clock()
    paper = Paper("c", clock)
    reply = writing(Door(paper), clock)
    await reply.show(["one", "tw"])
    clock.now += 10
    await reply.show(["one", "two"])
    assert len(paper.writes) == 3
    await reply.finish(["one", "two"], CLOSING)
    assert ["**Sources**" in sheet.content for sheet in paper.messages.values()] == [False, True]


async def test_sources_that_do_not_fit_below_the_answer_stand_in_a_message_of_their_own() -> None:
    clock = Clock()
    paper = Paper("c", clock)
    await writing(Door(paper), clock).finish(["x" * 1980], CLOSING)
    answer, below = paper.messages.values()
    assert (answer.content, answer.buttons) == ("x" * 1980, ())
    assert below.content.startswith("**Sources**\n")
    assert below.buttons == CLOSING.buttons


async def test_a_resumed_answer_writes_over_what_was_there_and_deletes_the_rest() -> None:
    clock = Clock()
    paper = Paper("c", clock)
    paper.messages = {"c0": Sheet("old"), "c1": Sheet("old"), "c2": Sheet("old")}
    reply = writing(Door(paper, mark="c:c0,c1,c2"), clock)
    await reply.finish(["new"], CLOSING)
    assert paper.texts == ["new"]
    assert reply.mark == "c:c0"


async def test_once_the_token_is_over_the_same_messages_are_changed_on_another_way() -> None:
    clock = Clock()
    paper, channel = Paper("c", clock), Paper("c", clock)
    reply = writing(Door(paper, channel), clock)
    await reply.show(["one", "tw"])
    paper.over, channel.messages = True, dict(paper.messages)
    await reply.finish(["one", "two", "three"], CLOSING)
    assert channel.texts == ["one", "two", "three"]


async def test_a_private_answer_begins_anew_where_only_its_reader_sees_it() -> None:
    clock = Clock()
    paper, direct = Paper("c", clock), Paper("d", clock)
    reply = writing(Door(paper, direct, private=True), clock)
    await reply.show(["one", "tw"])
    paper.over = True
    await reply.finish(["one", "two"], CLOSING)
    assert direct.texts == ["one", "two"]
    assert reply.mark == "d:d0,d1"


async def test_an_answer_is_taken_back_at_once_and_whole() -> None:
    clock = Clock()
    paper = Paper("c", clock)
    reply = writing(Door(paper), clock)
    await reply.show(["secret", "more"])
    now = clock.now
    await reply.replace("I took it back.")
    assert (paper.texts, clock.now) == (["I took it back."], now)


async def test_what_one_person_saw_long_ago_is_left_alone() -> None:
    clock = Clock()
    paper = Paper("c", clock)
    paper.over = True
    await writing(Door(paper, private=True, mark="c:c0"), clock).replace("I took it back.")
    assert paper.messages == {}


def test_the_pause_doubles_with_every_refusal_and_shrinks_again() -> None:
    pace = Pace(clock=Clock())
    pace.wrote(1)
    assert pace.gap == 2 * EVERY
    assert not pace.near
    pace.wrote(2)
    assert pace.gap == 8 * EVERY
    for _ in range(20):
        pace.wrote(0)
    assert pace.gap == EVERY
