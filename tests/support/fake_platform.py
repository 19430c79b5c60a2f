"""A platform in memory: a test sets its channels, people, messages and files, and sees what the bot did."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Literal

from adapters.discord import settings as discord_settings
from adapters.slack import settings as slack_settings
from bot.errors import PermissionDenied, PlatformError
from bot.platform.models import AnswerFooter, Card, Channel, ListedChannel, Location, Message, Person, Upload
from bot.platform.ports import MessageLimits, Reaction, ReplyTarget, ThreadPage
from bot.platform.traits import PlatformTraits
from bot.text.speech.mentions import calls_another
from engine.errors import DocumentTooLarge, InvalidDocument
from tests.support.clock import ManualClock, ShiftedClock

TRAITS = {"slack": slack_settings.TRAITS, "discord": discord_settings.TRAITS}
START = datetime(2026, 11, 20, 10, tzinfo=UTC)
_MENTION = re.compile(r"<@(\w+)>")
_CHANNEL = re.compile(r"<#(\w+)>")


@dataclass(slots=True)
class RecordedReply:
    """A reply of the bot, as its readers see it. `states`: every text that it showed, a part a line."""

    target: ReplyTarget
    reply_ref: str
    parts: list[str] = field(default_factory=list)
    statuses: list[str] = field(default_factory=list)
    states: list[str] = field(default_factory=list)
    closing: AnswerFooter | None = None
    replaced: str = ""
    deleted: bool = False

    @property
    def text(self) -> str:
        """What readers see now."""
        return self.replaced or "\n".join(self.parts)


class FakeReply:
    """Writes into one RecordedReply."""

    def __init__(self, platform: FakePlatform, target: ReplyTarget) -> None:
        self._platform = platform
        self._target = target
        self._written = platform.find_reply(target)

    @property
    def reply_ref(self) -> str:
        return self._written.reply_ref if self._written else ""

    async def show_status(self, words: str) -> None:
        self._record_call("status").statuses.append(words)

    async def show(self, parts: Sequence[str]) -> None:
        self._set_parts(self._record_call("show"), parts)

    async def finish(self, parts: Sequence[str], footer: AnswerFooter) -> None:
        written = self._record_call("finish")
        self._set_parts(written, parts)
        written.closing = footer

    async def replace(self, text: str) -> None:
        written = self._record_call("replace")
        written.replaced = text
        written.states.append(text)

    def _record_call(self, call: str) -> RecordedReply:
        self._platform.record_call(call)
        if self._written is None:
            mark = f"{self._target.location.channel}:r{len(self._platform.replies) + 1}"
            lasting = self._platform.can_edit_private or not self._target.private
            self._written = RecordedReply(self._target, mark if lasting else "")
            self._platform.replies.append(self._written)
        return self._written

    def _set_parts(self, written: RecordedReply, parts: Sequence[str]) -> None:
        assert all(len(part) <= self._platform.limits.max_length for part in parts), "a part is too long"
        written.replaced = ""
        written.parts = list(parts)
        written.states.append(written.text)


class FakePlatform:
    """A `Platform` whose facts are attributes. A call that is named in `failing` raises the error there.

    `posts` are (place, card), `private_messages` (target, card); `reactions`: by message, in order; `calls`: the names
    of all calls. `posted`: each message as it was posted first. A history has `page_size` messages a page; the first
    message is posted a minute after `start_time`. `listed_messages`: what lists show, if they lack messages or are old.
    `can_edit_private`: private answers can be changed later. `clock`: for all bots on it; it moves ahead with the
    messages, and starts at START and runs unless another is given.
    """

    def __init__(
        self, name: str = "slack", workspace: str = "T1", clock: ManualClock | ShiftedClock | None = None
    ) -> None:
        self.name = name
        self.traits = TRAITS.get(name, PlatformTraits())
        self.workspace = workspace
        self.limits = MessageLimits(max_length=2000, write_interval=0.0)
        self.channels: dict[str, Channel] = {}
        self.people: dict[str, Person] = {}
        self.groups: dict[str, set[str]] = {}
        self.messages: list[Message] = []
        self.posted: dict[str, Message] = {}
        self.listed_messages: list[Message] | None = None
        self.files: dict[str, bytes] = {}
        self.failing: dict[str, Exception] = {}
        self.page_size = 50
        self.can_edit_private = True
        self.clock = clock or ShiftedClock(START)
        self.start_time = self._time = self.clock.now() if clock else START
        self.posts: list[tuple[Location, Card]] = []
        self.private_messages: list[tuple[ReplyTarget, Card]] = []
        self.reactions: dict[str, list[Reaction | None]] = {}
        self.replies: list[RecordedReply] = []
        self.calls: list[str] = []
        self.listable_workspaces: set[str] = set()
        self.unserved: set[str] = set()
        self._fail_after: dict[str, tuple[int, Exception]] = {}
        self._count = 0

    def serves(self, workspace: str) -> bool:
        return workspace not in self.unserved

    def forget_cached(self, location: Location) -> None:
        self.calls.append(f"forget_cached {location.room}")

    def current_time(self) -> datetime:
        """The time of the latest message, and what a test let pass since; a running clock is a little ahead."""
        return self._time

    def advance(self, seconds: float) -> None:
        """Let time pass without a message, also by the clock."""
        self._time += timedelta(seconds=seconds)
        self.clock.advance(seconds)

    def place(self, channel: str, thread: str = "") -> Location:
        return Location(self.name, self.workspace, channel, thread)

    def add_channel(
        self,
        channel: str,
        *members: str,
        kind: Literal["open", "closed", "direct"] = "open",
        shared: bool = False,
        adult: bool = False,
    ) -> Location:
        """A channel whose name is its id in lower case. Its members become people; known guests stay guests."""
        place = self.place(channel)
        for member in members:
            self.people.setdefault(member, Person(member, member.title()))
        guests = frozenset(member for member in members if self.people[member].is_guest)
        self.channels[channel] = Channel(place, channel.lower(), kind, frozenset(members), guests, shared, adult)
        return place

    def add_guest(self, person: str) -> str:
        """A person who may not read every open channel."""
        self.people[person] = Person(person, person.title(), is_guest=True)
        return person

    def change_channel(self, channel: str, **facts: object) -> None:
        self.channels[channel] = replace(self.channels[channel], **facts)  # type: ignore[arg-type]

    def add_message(
        self,
        place: Location,
        author: str,
        text: str,
        *,
        after: float = 60.0,
        uploads: Sequence[Upload] = (),
        by_bot: bool = False,
        title: str = "",
        replies_to: str = "",
    ) -> Message:
        """Somebody posts a message, `after` seconds later than the last one."""
        self._count += 1
        self.advance(after)
        made = Message(f"m{self._count}", place, author, text, self._time, tuple(uploads), "", by_bot, title)
        made = replace(made, replies_to=replies_to, addressed=_mentions_bot(made))
        made = replace(made, calls_another=calls_another(text, ("BOT",)))
        self.people.setdefault(author, Person(author, author.title(), is_bot=by_bot))
        self.messages.append(made)
        self.posted[made.id] = made
        return made

    def add_file(self, name: str, data: bytes, *, size: int | None = None, kind: str = "text/plain") -> Upload:
        """A file that can be fetched; `size` is the announced one."""
        self._count += 1
        id_ = f"F{self._count}"
        self.files[id_] = data
        return Upload(id_, name, len(data) if size is None else size, kind, f"https://files.example/{id_}")

    def edit_message(self, message: Message, text: str) -> Message:
        edited = replace(message, text=text, edited=f"{message.edited}+")
        return self._replace_message(message, replace(edited, addressed=_mentions_bot(edited)))

    def add_preview(self, message: Message) -> Message:
        """A message as it is sent again when the platform added a preview."""
        return self._replace_message(message, replace(message))

    def delete_message(self, message: Message) -> None:
        self.messages = [each for each in self.messages if (each.location.channel, each.id) != _message_key(message)]

    def _replace_message(self, old: Message, new: Message) -> Message:
        self.messages = [
            new if (message.location.channel, message.id) == _message_key(old) else message for message in self.messages
        ]
        return new

    def fail_after(self, call: str, times: int, error: Exception) -> None:
        """Let a call succeed so many times, and fail afterwards."""
        self._fail_after[call] = (times, error)

    def record_call(self, call: str) -> None:
        """Record a call, and fail it if that is set."""
        self.calls.append(call)
        if call in self._fail_after:
            times, error = self._fail_after.pop(call)
            if times:
                self._fail_after[call] = (times - 1, error)
            else:
                self.failing[call] = error
        if call in self.failing:
            raise self.failing[call]

    def find_reply(self, target: ReplyTarget) -> RecordedReply | None:
        """The reply of an answer that was begun before."""
        return next((reply for reply in self.replies if reply.target.answer == target.answer), None)

    async def fetch_channel(self, place: Location) -> Channel:
        self.record_call("channel")
        if not place.channel:
            raise ValueError("A channel has an id.")  # as Discord's ids are read
        if place.channel not in self.channels:
            raise PermissionDenied(f"There is no channel {place.channel}.")
        return self.channels[place.channel]

    async def list_channels(self, workspace: str, person: str = "") -> list[ListedChannel]:
        self.record_call("channel_list")
        mine = [channel for channel in self.channels.values() if channel.kind != "direct"]
        return [
            ListedChannel(
                channel.location,
                channel.name,
                "open" if channel.kind == "open" else "closed",
                channel.shared,
                channel.adult,
            )
            for channel in mine
            if channel.location.workspace == workspace and (person in channel.members if person else channel.has_bot)
        ]

    async def fetch_person(self, workspace: str, person: str) -> Person:
        self.record_call("person")
        if person not in self.people:
            raise PlatformError(f"There is no person {person}.")
        return self.people[person]

    async def is_in_group(self, workspace: str, person: str, group: str) -> bool:
        self.record_call("group")
        if group not in self.groups:
            raise PermissionDenied(f"There is no group {group}.")
        return person in self.groups[group]

    async def open_direct(self, workspace: str, person: str) -> Location:
        self.record_call("open_direct")
        return self.add_channel(f"D{person}", person, kind="direct")

    async def to_plain_text(self, workspace: str, text: str) -> str:
        self.record_call("readable")
        named = _MENTION.sub(lambda m: f"@{self._name(m[1])}", text)
        return _CHANNEL.sub(lambda m: f"#{self.channels[m[1]].name if m[1] in self.channels else m[1]}", named)

    def _name(self, person: str) -> str:
        return self.people[person].name if person in self.people else person

    def message_link(self, place: Location, message: str) -> str:
        return f"https://chat.example/{place.workspace}/{place.channel}/{message}"

    async def history(self, place: Location, since: datetime, before: str = "") -> AsyncIterator[Sequence[Message]]:
        self.record_call("history")
        here = self._list_messages(place)
        edge = next((message.time for message in here if message.id == before), None)
        roots = [m for m in here if m.location.thread in {"", m.id} and m.time >= since and (not edge or m.time < edge)]
        roots.sort(key=lambda m: m.time, reverse=True)
        for start in range(0, len(roots), self.page_size):
            self.record_call("page")
            page = []
            for root in roots[start : start + self.page_size]:
                page += [
                    message
                    for message in reversed(here)
                    if message.location.thread == root.id and message.id != root.id
                ]
                page.append(root)
            yield page

    async def fetch_thread(self, place: Location, limit: int) -> ThreadPage:
        self.record_call("thread")
        main = self._list_messages(place)
        inside = [m for m in main if place.thread in {m.location.thread, m.id}]
        quoted = {m.replies_to for m in inside}
        found = [m for m in main if m in inside or m.id in quoted]
        there = bool(inside) or self.listed_messages is not None
        return ThreadPage(found[-limit:], is_complete=len(found) <= limit, thread_exists=there)

    def _list_messages(self, place: Location) -> list[Message]:
        messages = self.messages if self.listed_messages is None else self.listed_messages
        return [message for message in messages if message.location.without_thread == place.without_thread]

    async def fetch_message(self, place: Location, message: str) -> Message | None:
        self.record_call("message")
        return next((each for each in self.messages if _message_key(each) == (place.channel, message)), None)

    async def fetch_file(self, location: Location, upload: Upload, limit: int) -> bytes:
        self.record_call("fetch")
        data = self.files.get(upload.id)
        if data is None:
            raise InvalidDocument(f"{upload.name} cannot be had.")
        if len(data) > limit:
            raise DocumentTooLarge(f"{upload.name} is too large.")
        return data

    async def set_reaction(self, place: Location, message: str, sign: Reaction | None) -> None:
        self.record_call("sign")
        self.reactions.setdefault(message, []).append(sign)

    async def post(self, place: Location, card: Card) -> str:
        self.record_call("post")
        self.posts.append((place, card))
        return f"b{len(self.posts)}"

    async def send_private(self, target: ReplyTarget, card: Card) -> None:
        self.record_call("whisper")
        self.private_messages.append((target, card))

    async def replace_answer(self, target: ReplyTarget, text: str) -> None:
        self.record_call("replace_answer")
        if (written := self.find_reply(target)) and not written.deleted:
            written.replaced = text
            written.states.append(text)

    async def delete_answer(self, target: ReplyTarget) -> None:
        self.record_call("delete_answer")
        if written := self.find_reply(target):
            written.deleted = True

    def start_reply(self, target: ReplyTarget) -> FakeReply:
        return FakeReply(self, target)


def _mentions_bot(message: Message) -> bool:
    return "<@BOT>" in message.text and not message.by_bot


def _message_key(message: Message) -> tuple[str, str]:
    return message.location.channel, message.id
