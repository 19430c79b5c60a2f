"""The terminal as a platform: one person in a conversation with the bot, by the same ports as Slack and Discord."""

from __future__ import annotations

import asyncio
import itertools
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlparse

from rich.text import Text

from bot.errors import PlatformError
from bot.platform.events import CommandInvoked, MessageReceived
from bot.platform.models import Channel, Location, Message, Person, Upload, title_with_time
from bot.platform.ports import MessageLimits, ThreadPage
from bot.text.terminal import strip_control_chars
from engine.errors import DocumentTooLarge

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Collection, Sequence

    from rich.console import Console

    from bot.platform.models import AnswerFooter, Card, ListedChannel
    from bot.platform.ports import Reaction, ReplyTarget

NAME = "console"
USER_ID = "you"
CONSOLE_PLACE = Location(NAME, "", "terminal")
CITATION = re.compile(r"\[(\[\d+\])\]\([^()\s]*\)")
REACTIONS: dict[Reaction, str] = {"working": "⏳", "done": "✅", "failed": "⚠️"}


def parse_line(line: str, number: int) -> MessageReceived | CommandInvoked:
    """What a line means: `/learn PATH` shares a file, `/ask …` asks, `/word …` is a command, all else is a question."""
    word, _, rest = line.strip().partition(" ")
    id_, now = f"{datetime.now(UTC).timestamp():.6f}-{number}", datetime.now(UTC)
    if word == "/learn" and rest.strip():
        return MessageReceived(
            Message(id_, CONSOLE_PLACE, USER_ID, "", now, (build_upload(Path(rest.strip()).expanduser()),)),
            addressed=False,
        )
    if word.startswith("/") and word != "/ask":
        return CommandInvoked(id_, CONSOLE_PLACE, USER_ID, word[1:], rest.strip(), time=now)
    question = rest if word == "/ask" else line
    return MessageReceived(Message(id_, CONSOLE_PLACE, USER_ID, question.strip(), now), addressed=True)


def build_upload(path: Path) -> Upload:
    """A file of this machine. Raises PlatformError if there is none."""
    if not path.is_file():
        raise PlatformError(f"There is no file {path}.", hint="Check the path.")
    return Upload(path.name, path.name, path.stat().st_size, "", path.absolute().as_uri())


class ConsolePlatform:
    """Platform on a terminal."""

    name = NAME
    limits = MessageLimits(max_length=100_000, write_interval=0.05, burst_length=0)
    listable_workspaces: Collection[str] = ()

    def __init__(self, out: Console) -> None:
        self.out = out
        self._numbers = itertools.count(1)

    async def fetch_channel(self, place: Location) -> Channel:
        return Channel(place.without_thread, "terminal", "direct", frozenset({USER_ID}))

    async def list_channels(self, workspace: str, person: str = "") -> Sequence[ListedChannel]:  # noqa: ARG002 - the port's signature
        raise PlatformError("Channels are not listed here.")

    async def fetch_person(self, workspace: str, person: str) -> Person:  # noqa: ARG002 - the port's signature
        return Person(person, person, is_manager=True)

    async def to_plain_text(self, workspace: str, text: str) -> str:  # noqa: ARG002 - the port's signature
        return text

    def message_link(self, place: Location, message: str) -> str:  # noqa: ARG002 - what was typed has no address
        return ""

    async def history(self, place: Location, since: datetime, before: str = "") -> AsyncIterator[Sequence[Message]]:  # noqa: ARG002 - the port's signature
        nothing: tuple[Sequence[Message], ...] = ()
        for page in nothing:
            yield page

    async def fetch_thread(self, place: Location, limit: int) -> ThreadPage:  # noqa: ARG002 - the port's signature
        return ThreadPage()

    async def fetch_message(self, place: Location, message: str) -> Message | None:  # noqa: ARG002 - the port's signature
        raise PlatformError("A terminal does not know what was typed before.")

    async def fetch_file(self, upload: Upload, limit: int) -> bytes:
        path = Path(unquote(urlparse(upload.url).path))
        try:
            data = await asyncio.to_thread(path.read_bytes)
        except OSError as error:
            raise PlatformError(f"{upload.name} cannot be read: {error.strerror}.") from error
        if len(data) > limit:
            raise DocumentTooLarge(f"{upload.name} is too large.")
        return data

    async def set_reaction(self, place: Location, message: str, sign: Reaction | None) -> None:  # noqa: ARG002 - one person sees all
        if sign is not None:
            self.out.print(REACTIONS[sign])

    async def post(self, place: Location, card: Card) -> str:  # noqa: ARG002 - there is one place
        self.out.print(Text(strip_control_chars(card.text)), soft_wrap=True)
        return f"said-{next(self._numbers)}"

    async def send_private(self, target: ReplyTarget, card: Card) -> None:
        await self.post(target.location, card)
        if card.picture is not None:
            self.out.print(Text(strip_control_chars(card.picture.alt_text), "dim"), soft_wrap=True)

    async def replace_answer(self, target: ReplyTarget, text: str) -> None:
        """Nothing: what a terminal shows cannot be changed."""

    async def delete_answer(self, target: ReplyTarget) -> None:
        """Nothing: what a terminal shows cannot be changed."""

    def start_reply(self, target: ReplyTarget) -> ConsoleReply:
        return ConsoleReply(self.out, target.answer)


def strip_citation_links(part: str) -> str:
    """A part of an answer with mere numbers for its citations: a terminal shows Markdown as it is written."""
    return CITATION.sub(r"\1", part)


@dataclass(slots=True)
class ConsoleReply:
    """Reply on a terminal: only what is new is written."""

    out: Console
    reply_ref: str
    _shown: dict[int, int] = field(default_factory=dict)

    async def show_status(self, words: str) -> None:
        if not self._shown:
            self.out.print(Text(words, "dim"))

    async def show(self, parts: Sequence[str]) -> None:
        for number, part in enumerate(map(strip_citation_links, parts)):
            self.out.print(Text(strip_control_chars(part[self._shown.get(number, 0) :])), end="", soft_wrap=True)
            self._shown[number] = len(part)

    async def finish(self, parts: Sequence[str], closing: AnswerFooter) -> None:
        await self.show(parts)
        self.out.print()
        for source in closing.sources:
            self.out.print(
                Text(strip_control_chars(f"  [{source.number}] {title_with_time(source.title, source.time)}"), "dim"),
                soft_wrap=True,
            )
        if closing.notice:
            self.out.print(Text(strip_control_chars(closing.notice), "dim"), soft_wrap=True)

    async def replace(self, text: str) -> None:
        self._shown.clear()
        self.out.print(Text(f"\n{strip_control_chars(text)}", "bold"), soft_wrap=True)
