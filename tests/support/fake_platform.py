"""A platform in memory: channels, people, messages and files as facts that a test sets, and all that the bot did."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Literal

from bot.errors import PlatformError, Withheld
from bot.platform.models import Channel, ListedChannel, Message, Person, Place, Upload
from bot.platform.ports import Limits, Listing, Sign
from engine.errors import BadInput, TooLarge

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from bot.platform.models import Card, Closing
    from bot.platform.ports import Target

START = datetime(2026, 11, 20, 10, tzinfo=UTC)
_MENTION = re.compile(r"<@(\w+)>")
_CHANNEL = re.compile(r"<#(\w+)>")


@dataclass(slots=True)
class Written:
    """A reply of the bot, as its readers see it. `states`: every text that it ever showed, a part a line."""

    target: Target
    mark: str
    parts: list[str] = field(default_factory=list)
    statuses: list[str] = field(default_factory=list)
    states: list[str] = field(default_factory=list)
    closing: Closing | None = None
    replaced: str = ""
    deleted: bool = False

    @property
    def text(self) -> str:
        """What is there now."""
        return self.replaced or "\n".join(self.parts)


class FakeReply:
    """Writes into one `Written`."""

    def __init__(self, platform: FakePlatform, target: Target) -> None:
        self._platform = platform
        self._target = target
        self._written = platform.written_as(target)

    @property
    def mark(self) -> str:
        return self._written.mark if self._written else ""

    async def status(self, words: str) -> None:
        self._now("status").statuses.append(words)

    async def show(self, parts: Sequence[str]) -> None:
        self._put(self._now("show"), parts)

    async def finish(self, parts: Sequence[str], closing: Closing) -> None:
        written = self._now("finish")
        self._put(written, parts)
        written.closing = closing

    async def replace(self, text: str) -> None:
        written = self._now("replace")
        written.replaced = text
        written.states.append(text)

    def _now(self, call: str) -> Written:
        self._platform.may(call)
        if self._written is None:
            mark = f"{self._target.place.channel}:r{len(self._platform.replies) + 1}"
            lasting = self._platform.marks_private or not self._target.private
            self._written = Written(self._target, mark if lasting else "")
            self._platform.replies.append(self._written)
        return self._written

    def _put(self, written: Written, parts: Sequence[str]) -> None:
        assert all(len(part) <= self._platform.limits.part for part in parts), "a part is too long"
        written.replaced = ""
        written.parts = list(parts)
        written.states.append(written.text)


class FakePlatform:
    """A `Platform` whose facts are attributes. Every call named in `failing` raises what stands there.

    `posts` are (place, card), `whispers` (target, card), `signs` by message the reactions it ever had, in order,
    `replies` all answers, `calls` the names of the calls that were made. A history has `page` messages a page; the
    first one is said a minute after `start`. `listed`: what lists show, if that is less than there is, or older.
    `marks_private`: what one person alone is shown can be changed later.
    """

    def __init__(self, name: str = "slack", workspace: str = "T1") -> None:
        self.name = name
        self.workspace = workspace
        self.limits = Limits(part=2000, every=0.0, burst=256)
        self.channels: dict[str, Channel] = {}
        self.people: dict[str, Person] = {}
        self.messages: list[Message] = []
        self.listed: list[Message] | None = None
        self.files: dict[str, bytes] = {}
        self.failing: dict[str, Exception] = {}
        self.page = 50
        self.marks_private = True
        self.start = START
        self.posts: list[tuple[Place, Card]] = []
        self.whispers: list[tuple[Target, Card]] = []
        self.signs: dict[str, list[Sign | None]] = {}
        self.replies: list[Written] = []
        self.calls: list[str] = []
        self.listable: set[str] = set()
        self._still: dict[str, tuple[int, Exception]] = {}
        self._count = 0
        self._waited = timedelta()

    # What a test says.

    def present(self) -> datetime:
        """The time of the latest message, or so much later as was waited since."""
        return (self.messages[-1].time if self.messages else self.start) + self._waited

    def wait(self, seconds: float) -> None:
        """Nobody says anything for so long."""
        self._waited += timedelta(seconds=seconds)

    def place(self, channel: str, thread: str = "") -> Place:
        """A place in the workspace."""
        return Place(self.name, self.workspace, channel, thread)

    def open(
        self,
        channel: str,
        *members: str,
        kind: Literal["open", "closed", "direct"] = "open",
        shared: bool = False,
        adult: bool = False,
    ) -> Place:
        """A channel named as its id in lower case; its members are known as people, guests among them as guests."""
        place = self.place(channel)
        for member in members:
            self.people.setdefault(member, Person(member, member.title()))
        guests = frozenset(member for member in members if self.people[member].guest)
        self.channels[channel] = Channel(place, channel.lower(), kind, frozenset(members), guests, shared, adult)
        return place

    def change(self, channel: str, **facts: object) -> None:
        """Other facts of a channel."""
        self.channels[channel] = replace(self.channels[channel], **facts)  # type: ignore[arg-type]

    def say(
        self,
        place: Place,
        author: str,
        text: str,
        *,
        after: float = 60.0,
        uploads: Sequence[Upload] = (),
        by_bot: bool = False,
        title: str = "",
        replies_to: str = "",
    ) -> Message:
        """Somebody says something, `after` seconds later than the last one; it stands in the history from now on."""
        self._count += 1
        time = self.present() + timedelta(seconds=after)
        made = Message(f"m{self._count}", place, author, text, time, tuple(uploads), "", by_bot, title)
        made = replace(made, replies_to=replies_to)
        self.people.setdefault(author, Person(author, author.title(), bot=by_bot))
        self.messages.append(made)
        self._waited = timedelta()
        return made

    def upload(self, name: str, data: bytes, *, size: int | None = None, kind: str = "text/plain") -> Upload:
        """A file that can be fetched; `size` is what the platform says of it."""
        self._count += 1
        id_ = f"F{self._count}"
        self.files[id_] = data
        return Upload(id_, name, len(data) if size is None else size, kind, f"https://files.example/{id_}")

    def edit(self, message: Message, text: str) -> Message:
        """The author edits a message."""
        return self._instead(message, replace(message, text=text, edited=f"{message.edited}+"))

    def unfurl(self, message: Message) -> Message:
        """A message as the platform tells it again when it added a preview."""
        return self._instead(message, replace(message))

    def delete(self, message: Message) -> None:
        """A message is gone."""
        self.messages = [each for each in self.messages if (each.place.channel, each.id) != _where(message)]

    def _instead(self, old: Message, new: Message) -> Message:
        self.messages = [new if (each.place.channel, each.id) == _where(old) else each for each in self.messages]
        return new

    def fail_after(self, call: str, times: int, error: Exception) -> None:
        """Let a call succeed so many times from now on, and fail afterwards."""
        self._still[call] = (times, error)

    def may(self, call: str) -> None:
        """Note a call, and fail it if the test wants that."""
        self.calls.append(call)
        if call in self._still:
            times, error = self._still.pop(call)
            if times:
                self._still[call] = (times - 1, error)
            else:
                self.failing[call] = error
        if call in self.failing:
            raise self.failing[call]

    def written_as(self, target: Target) -> Written | None:
        """The reply that was begun for this answer before."""
        return next((each for each in self.replies if each.target.answer == target.answer), None)

    # What the bot asks.

    async def channel(self, place: Place) -> Channel:
        self.may("channel")
        if place.channel not in self.channels:
            raise Withheld(f"There is no channel {place.channel}.")
        return self.channels[place.channel]

    async def channel_list(self, workspace: str, person: str = "") -> list[ListedChannel]:
        self.may("channel_list")
        mine = [each for each in self.channels.values() if each.kind != "direct"]
        return [
            ListedChannel(each.place, each.name, "open" if each.kind == "open" else "closed", each.shared, each.adult)
            for each in mine
            if each.place.workspace == workspace and (person in each.members if person else each.inside)
        ]

    async def person(self, workspace: str, person: str) -> Person:
        self.may("person")
        if person not in self.people:
            raise PlatformError(f"There is no person {person}.")
        return self.people[person]

    async def readable(self, workspace: str, text: str) -> str:
        self.may("readable")
        named = _MENTION.sub(lambda m: f"@{self._name(m[1])}", text)
        return _CHANNEL.sub(lambda m: f"#{self.channels[m[1]].name if m[1] in self.channels else m[1]}", named)

    def _name(self, person: str) -> str:
        return self.people[person].name if person in self.people else person

    def link(self, place: Place, message: str) -> str:
        return f"https://chat.example/{place.workspace}/{place.channel}/{message}"

    async def history(self, place: Place, since: datetime, before: str = "") -> AsyncIterator[Sequence[Message]]:
        self.may("history")
        here = self._listed(place)
        edge = next((each.time for each in here if each.id == before), None)
        roots = [m for m in here if m.place.thread in {"", m.id} and m.time >= since and (not edge or m.time < edge)]
        roots.sort(key=lambda m: m.time, reverse=True)
        for start in range(0, len(roots), self.page):
            self.may("page")
            page = []
            for root in roots[start : start + self.page]:
                page += [each for each in reversed(here) if each.place.thread == root.id and each.id != root.id]
                page.append(root)
            yield page

    async def thread(self, place: Place, limit: int) -> Listing:
        self.may("thread")
        main = self._listed(place)
        inside = [m for m in main if place.thread in {m.place.thread, m.id}]
        quoted = {each.replies_to for each in inside}
        found = [m for m in main if m in inside or m.id in quoted]
        there = bool(inside) or self.listed is not None
        return Listing(found[-limit:], whole=len(found) <= limit, there=there)

    def _listed(self, place: Place) -> list[Message]:
        messages = self.messages if self.listed is None else self.listed
        return [each for each in messages if each.place.main == place.main]

    async def message(self, place: Place, message: str) -> Message | None:
        self.may("message")
        return next((each for each in self.messages if _where(each) == (place.channel, message)), None)

    async def fetch(self, upload: Upload, limit: int) -> bytes:
        self.may("fetch")
        data = self.files.get(upload.id)
        if data is None:
            raise BadInput(f"{upload.name} cannot be had.")
        if len(data) > limit:
            raise TooLarge(f"{upload.name} is too large.")
        return data

    # What the bot does.

    async def sign(self, place: Place, message: str, sign: Sign | None) -> None:
        self.may("sign")
        self.signs.setdefault(message, []).append(sign)

    async def post(self, place: Place, card: Card) -> str:
        self.may("post")
        self.posts.append((place, card))
        return f"b{len(self.posts)}"

    async def whisper(self, target: Target, card: Card) -> None:
        self.may("whisper")
        self.whispers.append((target, card))

    async def replace_answer(self, target: Target, text: str) -> None:
        self.may("replace_answer")
        if (written := self.written_as(target)) and not written.deleted:
            written.replaced = text
            written.states.append(text)

    async def delete_answer(self, target: Target) -> None:
        self.may("delete_answer")
        if written := self.written_as(target):
            written.deleted = True

    def reply(self, target: Target) -> FakeReply:
        return FakeReply(self, target)


def _where(message: Message) -> tuple[str, str]:
    return message.place.channel, message.id
