"""The platform as the bot sees it: look-ups, files, reactions, messages and streamed answers."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from bot.errors import PlatformError
from bot.platform.models import Channel, ListedChannel, Location, Message, Person
from bot.platform.ports import MessageLimits, ThreadPage
from bot.platform.traits import PlatformTraits
from engine.errors import DocumentTooLarge, InvalidDocument

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Collection, Sequence
    from datetime import datetime
    from pathlib import Path

    from bot.platform.models import AnswerFooter, Card, Upload
    from bot.platform.ports import Reaction, ReplyTarget

NAME = "jsonl"
WORKSPACE = "local"


class JsonlPlatform:
    """Implements `bot.platform.ports.Platform`; it knows the channels and messages of this run only."""

    name = NAME
    traits = PlatformTraits()
    limits = MessageLimits(max_length=4000, write_interval=0.1)
    listable_workspaces: Collection[str] = ()

    def __init__(self, files: Path, write: Callable[[dict[str, object]], None]) -> None:
        self.channels: dict[str, Channel] = {}
        self.messages: dict[str, Message | None] = {}  # None: deleted
        self.write = write
        self._files = files
        self._post_count = 0

    def locate(self, channel: str, thread: str = "") -> Location:
        """A location of the platform."""
        return Location(NAME, WORKSPACE, channel, thread)

    def serves(self, workspace: str) -> bool:
        return workspace == WORKSPACE

    def forget_cached(self, location: Location) -> None:
        """Do nothing: no facts are cached beside those of this run."""

    async def fetch_channel(self, location: Location) -> Channel:
        try:
            return self.channels[location.channel]
        except KeyError:
            raise PlatformError(f"The channel {location.channel} is not known in this run.") from None

    async def list_channels(self, workspace: str, person: str = "") -> Sequence[ListedChannel]:
        raise PlatformError(f"Channels of {workspace} cannot be listed for {person or 'the bot'}.")

    async def fetch_person(self, workspace: str, person: str) -> Person:  # noqa: ARG002  - the port's signature
        return Person(person, person.title())

    async def is_in_group(self, workspace: str, person: str, group: str) -> bool:
        raise PlatformError(f"There is no group {group} of people in {workspace}, with or without {person}.")

    async def open_direct(self, workspace: str, person: str) -> Location:  # noqa: ARG002  - the port's signature
        return self.locate(f"direct-{person}")

    async def to_plain_text(self, workspace: str, text: str) -> str:  # noqa: ARG002  - the port's signature
        return text

    def message_link(self, location: Location, message: str) -> str:
        return f"https://chat.example/{location.channel}/{message}"

    async def history(self, location: Location, since: datetime, before: str = "") -> AsyncIterator[Sequence[Message]]:
        messages = [each for each in self._list_messages(location) if each.time >= since]
        known = [each.id for each in messages]
        yield messages[: known.index(before) if before in known else None][::-1]

    async def fetch_thread(self, location: Location, limit: int) -> ThreadPage:
        messages = [
            each for each in self._list_messages(location) if location.thread in {each.location.thread, each.id}
        ]
        return ThreadPage(messages[-limit:], is_complete=len(messages) <= limit)

    async def fetch_message(self, location: Location, message: str) -> Message | None:
        if message not in self.messages:
            raise PlatformError(f"The message {message} in {location.channel} is not known in this run.")
        return self.messages[message]

    async def fetch_file(self, location: Location, upload: Upload, limit: int) -> bytes:  # noqa: ARG002
        path = (self._files / upload.url).resolve()
        if not path.is_relative_to(self._files) or not path.is_file():
            raise InvalidDocument(f"{upload.name} is not a file of this platform.")
        if path.stat().st_size > limit:
            raise DocumentTooLarge(f"{upload.name} is too large.")
        return await asyncio.to_thread(path.read_bytes)

    async def set_reaction(self, location: Location, message: str, sign: Reaction | None) -> None:
        self.write({"type": "reaction", "channel": location.channel, "message": message, "reaction": sign})

    async def post(self, location: Location, card: Card) -> str:
        self._post_count += 1
        self.write({"type": "post", "channel": location.channel, "thread": location.thread, "text": card.text})
        return f"post-{self._post_count}"

    async def send_private(self, target: ReplyTarget, card: Card) -> None:
        self.write({"type": "private", "to": target.person, "text": card.text})

    async def replace_answer(self, target: ReplyTarget, text: str) -> None:
        await JsonlReply(target, self.write).replace(text)

    async def delete_answer(self, target: ReplyTarget) -> None:
        self.write({"type": "delete", "id": target.answer})

    def start_reply(self, target: ReplyTarget) -> JsonlReply:
        return JsonlReply(target, self.write)

    def _list_messages(self, location: Location) -> list[Message]:
        return [each for each in self.messages.values() if each and each.location.channel == location.channel]


class JsonlReply:
    """Implements `bot.platform.ports.Reply`: each line shows the whole answer so far."""

    def __init__(self, target: ReplyTarget, write: Callable[[dict[str, object]], None]) -> None:
        self.reply_ref = target.answer
        self._write = write
        self._target = target

    async def show_status(self, words: str) -> None:
        self._show("status", words)

    async def show(self, parts: Sequence[str]) -> None:
        self._show("partial", "".join(parts))

    async def finish(self, parts: Sequence[str], footer: AnswerFooter) -> None:
        sources = [{"number": each.number, "title": each.title, "link": each.link} for each in footer.sources]
        self._show("done", "".join(parts), sources=sources, notice=footer.notice)

    async def replace(self, text: str) -> None:
        self._show("replaced", text)

    def _show(self, state: str, text: str, **more: object) -> None:
        location, reader = self._target.location, self._target.person if self._target.private else ""
        address = {"channel": location.channel, "thread": location.thread, "to": reader}
        self._write({"type": "answer", "id": self.reply_ref, "state": state, **address, "text": text, **more})
