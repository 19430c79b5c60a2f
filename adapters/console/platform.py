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
from bot.platform.events import Called, Heard
from bot.platform.models import Channel, Message, Person, Place, Upload, dated
from bot.platform.ports import Limits, Listing
from bot.text.terminal import harmless
from engine.errors import TooLarge

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Collection, Sequence

    from rich.console import Console

    from bot.platform.models import Card, Closing, ListedChannel
    from bot.platform.ports import Sign, Target

NAME = "console"
YOU = "you"
PLACE = Place(NAME, "", "terminal")
CITATION = re.compile(r"\[(\[\d+\])\]\([^()\s]*\)")
SIGNS: dict[Sign, str] = {"working": "⏳", "done": "✅", "failed": "⚠️"}


def happening(line: str, number: int) -> Heard | Called:
    """What a line means: `/learn PATH` shares a file, `/ask …` asks, `/word …` is a command, all else is a question."""
    word, _, rest = line.strip().partition(" ")
    id_, now = f"{datetime.now(UTC).timestamp():.6f}-{number}", datetime.now(UTC)
    if word == "/learn" and rest.strip():
        return Heard(Message(id_, PLACE, YOU, "", now, (upload(Path(rest.strip()).expanduser()),)), addressed=False)
    if word.startswith("/") and word != "/ask":
        return Called(id_, PLACE, YOU, word[1:], rest.strip(), time=now)
    question = rest if word == "/ask" else line
    return Heard(Message(id_, PLACE, YOU, question.strip(), now), addressed=True)


def upload(path: Path) -> Upload:
    """A file of this machine. Raises PlatformError if there is none."""
    if not path.is_file():
        raise PlatformError(f"There is no file {path}.", hint="Check the path.")
    return Upload(path.name, path.name, path.stat().st_size, "", path.absolute().as_uri())


class Terminal:
    """Platform on a terminal."""

    name = NAME
    limits = Limits(part=100_000, every=0.05, burst=0)
    listable: Collection[str] = ()

    def __init__(self, out: Console) -> None:
        self.out = out
        self._numbers = itertools.count(1)

    async def channel(self, place: Place) -> Channel:
        return Channel(place.main, "terminal", "direct", frozenset({YOU}))

    async def channel_list(self, workspace: str, person: str = "") -> Sequence[ListedChannel]:  # noqa: ARG002 - the port's signature
        raise PlatformError("Channels are not listed here.")

    async def person(self, workspace: str, person: str) -> Person:  # noqa: ARG002 - the port's signature
        return Person(person, person, manager=True)

    async def readable(self, workspace: str, text: str) -> str:  # noqa: ARG002 - the port's signature
        return text

    def link(self, place: Place, message: str) -> str:  # noqa: ARG002 - what was typed has no address
        return ""

    async def history(self, place: Place, since: datetime, before: str = "") -> AsyncIterator[Sequence[Message]]:  # noqa: ARG002 - the port's signature
        nothing: tuple[Sequence[Message], ...] = ()
        for page in nothing:
            yield page

    async def thread(self, place: Place, limit: int) -> Listing:  # noqa: ARG002 - the port's signature
        return Listing()

    async def message(self, place: Place, message: str) -> Message | None:  # noqa: ARG002 - the port's signature
        raise PlatformError("A terminal does not know what was typed before.")

    async def fetch(self, upload: Upload, limit: int) -> bytes:
        path = Path(unquote(urlparse(upload.url).path))
        try:
            data = await asyncio.to_thread(path.read_bytes)
        except OSError as error:
            raise PlatformError(f"{upload.name} cannot be read: {error.strerror}.") from error
        if len(data) > limit:
            raise TooLarge(f"{upload.name} is too large.")
        return data

    async def sign(self, place: Place, message: str, sign: Sign | None) -> None:  # noqa: ARG002 - one person sees all
        if sign is not None:
            self.out.print(SIGNS[sign])

    async def post(self, place: Place, card: Card) -> str:  # noqa: ARG002 - there is one place
        self.out.print(Text(harmless(card.text)), soft_wrap=True)
        return f"said-{next(self._numbers)}"

    async def whisper(self, target: Target, card: Card) -> None:
        await self.post(target.place, card)
        if card.picture is not None:
            self.out.print(Text(harmless(card.picture.words), "dim"), soft_wrap=True)

    async def replace_answer(self, target: Target, text: str) -> None:
        """Nothing: what a terminal shows cannot be changed."""

    async def delete_answer(self, target: Target) -> None:
        """Nothing: what a terminal shows cannot be changed."""

    def reply(self, target: Target) -> Written:
        return Written(self.out, target.answer)


def plain(part: str) -> str:
    """A part of an answer with mere numbers for its citations: a terminal shows Markdown as it is written."""
    return CITATION.sub(r"\1", part)


@dataclass(slots=True)
class Written:
    """Reply on a terminal: only what is new is written."""

    out: Console
    mark: str
    _shown: dict[int, int] = field(default_factory=dict)

    async def status(self, words: str) -> None:
        if not self._shown:
            self.out.print(Text(words, "dim"))

    async def show(self, parts: Sequence[str]) -> None:
        for number, part in enumerate(map(plain, parts)):
            self.out.print(Text(harmless(part[self._shown.get(number, 0) :])), end="", soft_wrap=True)
            self._shown[number] = len(part)

    async def finish(self, parts: Sequence[str], closing: Closing) -> None:
        await self.show(parts)
        self.out.print()
        for source in closing.sources:
            self.out.print(
                Text(harmless(f"  [{source.number}] {dated(source.title, source.time)}"), "dim"), soft_wrap=True
            )
        if closing.note:
            self.out.print(Text(harmless(closing.note), "dim"), soft_wrap=True)

    async def replace(self, text: str) -> None:
        self._shown.clear()
        self.out.print(Text(f"\n{harmless(text)}", "bold"), soft_wrap=True)
