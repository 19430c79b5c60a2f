"""The terminal as a Platform: one user in a direct conversation with the bot."""

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
from bot.platform.traits import PlatformTraits
from bot.text.terminal import strip_control_chars
from engine.errors import DocumentTooLarge

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Collection, Sequence

    from rich.console import Console

    from bot.platform.models import AnswerFooter, Card, ListedChannel
    from bot.platform.ports import Reaction, ReplyTarget

NAME = "console"
USER_ID = "you"
CONSOLE_LOCATION = Location(NAME, "", "terminal")
TRAITS = PlatformTraits(commands_take_files=True, usage_heading="Type a question, or:")
CITATION = re.compile(r"\[(\[\d+\])\]\([^()\s]*\)")
REACTIONS: dict[Reaction, str] = {"working": "⏳", "done": "✅", "failed": "⚠️"}


def parse_line(line: str, number: int) -> MessageReceived | CommandInvoked:
    """Parse a line: `/learn PATH` shares a file, `/ask …` asks, `/word …` is a command, anything else is a question."""
    command, _, rest = line.strip().partition(" ")
    message_id, now = f"{datetime.now(UTC).timestamp():.6f}-{number}", datetime.now(UTC)
    if command == "/learn" and rest.strip():
        return MessageReceived(
            Message(message_id, CONSOLE_LOCATION, USER_ID, "", now, (build_upload(Path(rest.strip()).expanduser()),)),
            addressed=False,
        )
    if command.startswith("/") and command != "/ask":
        return CommandInvoked(message_id, CONSOLE_LOCATION, USER_ID, command[1:], rest.strip(), time=now)
    question = rest if command == "/ask" else line
    return MessageReceived(Message(message_id, CONSOLE_LOCATION, USER_ID, question.strip(), now), addressed=True)


def build_upload(path: Path) -> Upload:
    """Describe a local file. Raises PlatformError if it does not exist."""
    if not path.is_file():
        raise PlatformError(f"File not found: {path}.", hint="Check the path.")
    return Upload(path.name, path.name, path.stat().st_size, "", path.absolute().as_uri())


class ConsolePlatform:
    """Platform on a terminal."""

    name = NAME
    traits = TRAITS
    limits = MessageLimits(max_length=100_000, write_interval=0.05, burst_length=0)
    listable_workspaces: Collection[str] = ()

    def __init__(self, out: Console) -> None:
        self.out = out
        self._numbers = itertools.count(1)

    async def fetch_channel(self, location: Location) -> Channel:
        return Channel(location.without_thread, "terminal", "direct", frozenset({USER_ID}))

    async def list_channels(self, workspace: str, person: str = "") -> Sequence[ListedChannel]:  # noqa: ARG002 - the port's signature
        raise PlatformError("A terminal has no channels to list.")

    async def fetch_person(self, workspace: str, person: str) -> Person:  # noqa: ARG002 - the port's signature
        return Person(person, person, is_manager=True)

    async def to_plain_text(self, workspace: str, text: str) -> str:  # noqa: ARG002 - the port's signature
        return text

    def message_link(self, location: Location, message: str) -> str:  # noqa: ARG002 - typed lines have no URL
        return ""

    async def history(self, location: Location, since: datetime, before: str = "") -> AsyncIterator[Sequence[Message]]:  # noqa: ARG002 - the port's signature
        no_pages: tuple[Sequence[Message], ...] = ()
        for page in no_pages:
            yield page

    async def fetch_thread(self, location: Location, limit: int) -> ThreadPage:  # noqa: ARG002 - the port's signature
        return ThreadPage()

    async def fetch_message(self, location: Location, message: str) -> Message | None:  # noqa: ARG002 - the port's signature
        raise PlatformError("A terminal keeps no messages.")

    async def fetch_file(self, upload: Upload, limit: int) -> bytes:
        path = Path(unquote(urlparse(upload.url).path))
        try:
            data = await asyncio.to_thread(path.read_bytes)
        except OSError as error:
            raise PlatformError(f"{upload.name} cannot be read: {error.strerror}.") from error
        if len(data) > limit:
            raise DocumentTooLarge(f"{upload.name} is too large.")
        return data

    async def set_reaction(self, location: Location, message: str, reaction: Reaction | None) -> None:  # noqa: ARG002 - there is one conversation
        if reaction is not None:
            self.out.print(REACTIONS[reaction])

    async def post(self, location: Location, card: Card) -> str:  # noqa: ARG002 - there is one conversation
        self.out.print(Text(strip_control_chars(card.text)), soft_wrap=True)
        return f"said-{next(self._numbers)}"

    async def send_private(self, target: ReplyTarget, card: Card) -> None:
        await self.post(target.location, card)
        if card.picture is not None:
            self.out.print(Text(strip_control_chars(card.picture.alt_text), "dim"), soft_wrap=True)

    async def replace_answer(self, target: ReplyTarget, text: str) -> None:
        """Do nothing: printed text cannot be changed."""

    async def delete_answer(self, target: ReplyTarget) -> None:
        """Do nothing: printed text cannot be changed."""

    def start_reply(self, target: ReplyTarget) -> ConsoleReply:
        return ConsoleReply(self.out, target.answer)


def strip_citation_links(part: str) -> str:
    """Replace linked citations by bare numbers: a terminal shows Markdown as written."""
    return CITATION.sub(r"\1", part)


@dataclass(slots=True)
class ConsoleReply:
    """Reply on a terminal; prints only the new text."""

    out: Console
    reply_ref: str
    _shown: dict[int, int] = field(default_factory=dict)

    async def show_status(self, status: str) -> None:
        if not self._shown:
            self.out.print(Text(status, "dim"))

    async def show(self, parts: Sequence[str]) -> None:
        for number, part in enumerate(map(strip_citation_links, parts)):
            self.out.print(Text(strip_control_chars(part[self._shown.get(number, 0) :])), end="", soft_wrap=True)
            self._shown[number] = len(part)

    async def finish(self, parts: Sequence[str], footer: AnswerFooter) -> None:
        await self.show(parts)
        self.out.print()
        for source in footer.sources:
            self.out.print(
                Text(strip_control_chars(f"  [{source.number}] {title_with_time(source.title, source.time)}"), "dim"),
                soft_wrap=True,
            )
        if footer.notice:
            self.out.print(Text(strip_control_chars(footer.notice), "dim"), soft_wrap=True)

    async def replace(self, text: str) -> None:
        self._shown.clear()
        self.out.print(Text(f"\n{strip_control_chars(text)}", "bold"), soft_wrap=True)
