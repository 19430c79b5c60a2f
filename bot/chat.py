"""The words of chat, and what the bot wants from a platform: adapters fill these Protocols and decide nothing.

Ids are the platform's own strings. Texts go out as standard Markdown; an adapter renders what its platform shows.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime  # noqa: TC003  - the inbox reads the fields' types at run time
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence


@dataclass(frozen=True, slots=True)
class Place:
    """Where something is said. `channel` is what has readers of its own: a private thread is a channel itself.

    `workspace`: a Slack team or a Discord guild, empty in a Discord DM. `thread`: empty outside of threads; a thread
    bears the id of the message it began with.
    """

    platform: str
    workspace: str
    channel: str
    thread: str = ""

    @property
    def room(self) -> str:
        """The room's name in the engine."""
        return f"{self.platform}:{self.workspace}:{self.channel}"

    @property
    def main(self) -> Place:
        """The channel itself."""
        return Place(self.platform, self.workspace, self.channel)


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody. `guest`: may not read every open channel (a Slack guest, or a person of another workspace).

    `manager`: may change settings and forget what others said.
    """

    id: str
    name: str
    guest: bool = False
    bot: bool = False
    manager: bool = False


@dataclass(frozen=True, slots=True)
class Channel:
    """What the platform says of a channel now.

    `kind`: open to every full member of the workspace; closed: to `members` alone; direct: a conversation of one
    person with the bot. `members` are the people who can read a closed or direct channel, and of an open Slack
    channel those who joined it. `guests` are the guests among them. `shared`: with another workspace. `adult`:
    age-restricted.
    """

    place: Place
    name: str
    kind: Literal["open", "closed", "direct"]
    members: frozenset[str] = frozenset()
    guests: frozenset[str] = frozenset()
    shared: bool = False
    adult: bool = False


@dataclass(frozen=True, slots=True)
class Upload:
    """A file as the platform announces it. `kind` is its media type, `size` in bytes (0: not told)."""

    id: str
    name: str
    size: int
    kind: str
    url: str


@dataclass(frozen=True, slots=True)
class Message:
    """What somebody said, as the platform wrote it (`Platform.readable` resolves its names).

    `edited` changes when the author edits it, and not when a preview is added. `title`: of a forum post.
    `own`: the bot itself said it. `addressed`: to the bot, as in Heard, so that a history tells it too.
    """

    id: str
    place: Place
    author: str
    text: str
    time: datetime
    uploads: tuple[Upload, ...] = ()
    edited: str = ""
    by_bot: bool = False
    title: str = ""
    own: bool = False
    addressed: bool = False

    @property
    def thread(self) -> str:
        """The thread in which it is answered."""
        return self.place.thread or self.id


# What happens, as the inbox keeps it.


@dataclass(frozen=True, slots=True)
class Heard:
    """A new message; `addressed`: to the bot, by a mention, a reply or in a DM."""

    message: Message
    addressed: bool


@dataclass(frozen=True, slots=True)
class Edited:
    """A message was edited, or only looks so (a preview, a counter): it is compared with what is known."""

    message: Message


@dataclass(frozen=True, slots=True)
class Deleted:
    """Messages are gone."""

    place: Place
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Unshared:
    """Files were taken back; in this channel, or everywhere if it is empty."""

    place: Place
    uploads: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Gone:
    """A thread or a whole channel was deleted, or the bot was put out of it: nothing of it is known any more."""

    place: Place


@dataclass(frozen=True, slots=True)
class Joined:
    """The bot was taken into a channel, or switched on there, by somebody."""

    place: Place
    by: str = ""


@dataclass(frozen=True, slots=True)
class Changed:
    """Who may read a channel has changed: its visibility, its members, roles. An empty channel: of any."""

    place: Place


@dataclass(frozen=True, slots=True)
class Asked:
    """A question by a command. `private`: only the asker sees the reply. `handle`: the adapter's way to answer it."""

    id: str
    place: Place
    person: str
    text: str
    time: datetime
    uploads: tuple[Upload, ...] = ()
    private: bool = True
    mode: str = ""
    handle: str = ""


@dataclass(frozen=True, slots=True)
class Called:
    """A command of bot/commands.py by name, with the words behind it; only the caller sees what comes back."""

    id: str
    place: Place
    person: str
    command: str
    words: str = ""
    uploads: tuple[Upload, ...] = ()
    handle: str = ""


@dataclass(frozen=True, slots=True)
class Clicked:
    """A button of a reply: "up" and "down" (feedback), "sources", "delete", "share", "forget". `value`: its answer."""

    id: str
    place: Place
    person: str
    action: str
    value: str
    handle: str = ""


@dataclass(frozen=True, slots=True)
class Ended:
    """The bot was taken out of a workspace, or its tokens were."""

    platform: str
    workspace: str
    reason: str


Happening = (
    Heard | Edited | Deleted | Unshared | Gone | Joined | Changed | Asked | Called | Clicked | Ended
)


# What the bot shows.


@dataclass(frozen=True, slots=True)
class Button:
    """Something to press; `action` and `value` come back in a Clicked."""

    label: str
    action: str
    value: str


@dataclass(frozen=True, slots=True)
class Picture:
    """A PNG, and what it shows in words."""

    name: str
    data: bytes
    words: str


@dataclass(frozen=True, slots=True)
class Card:
    """Something the bot says that is not a streamed answer; Markdown."""

    text: str
    picture: Picture | None = None
    buttons: tuple[Button, ...] = ()


@dataclass(frozen=True, slots=True)
class Cited:
    """A source below an answer: [number], what it is called, and where it leads (empty: nowhere)."""

    number: int
    title: str
    link: str
    words: str = ""


@dataclass(frozen=True, slots=True)
class Closing:
    """What stands below a finished answer; `answer` is its id, which buttons bring back."""

    answer: str
    sources: tuple[Cited, ...] = ()
    note: str = ""
    buttons: tuple[Button, ...] = ()


@dataclass(frozen=True, slots=True)
class Target:
    """Where an answer goes. `message`: the question's message, empty for commands; `mark`: as Reply has it."""

    answer: str
    place: Place
    person: str
    message: str = ""
    private: bool = False
    handle: str = ""
    mark: str = ""
    asked: datetime | None = None


class Reply(Protocol):
    """One answer on its way to its readers. Calls come one after another, never two at once."""

    @property
    def mark(self) -> str:
        """What is needed to find it again after a restart; empty until something was posted."""

    async def status(self, words: str) -> None:
        """Show at once that it is worked on; may be called again with other words."""

    async def show(self, parts: Sequence[str]) -> None:
        """The answer so far, in parts no longer than `Limits.part`; all but the last one stay as they are."""

    async def finish(self, parts: Sequence[str], closing: Closing) -> None:
        """The whole answer, and what stands below it."""

    async def replace(self, text: str) -> None:
        """Take back everything shown so far, and say this instead."""


@dataclass(frozen=True, slots=True)
class Limits:
    """`part`: characters of a message; `every`: seconds between two writes; `burst`: characters that do not wait."""

    part: int
    every: float
    burst: int


Sign = Literal["working", "done", "failed"]


class Platform(Protocol):
    """What the bot wants from a chat platform. Raises PlatformError (bot/errors.py) for what cannot be done."""

    name: str
    limits: Limits

    async def channel(self, place: Place) -> Channel:
        """The facts of a channel, as they are now. Raises if they cannot be known."""

    async def person(self, workspace: str, person: str) -> Person:
        """Somebody, as the workspace knows him."""

    async def readable(self, workspace: str, text: str) -> str:
        """A text with its mentions of people and channels as names (@Ada, #roof), and no markup of the platform."""

    def link(self, place: Place, message: str) -> str:
        """The address of a message."""

    def history(self, place: Place, since: datetime, before: str = "") -> AsyncIterator[Sequence[Message]]:
        """Pages of a channel's messages with those of its threads, newest first, older than message `before`."""

    async def thread(self, place: Place, limit: int) -> Sequence[Message]:
        """The newest messages of a thread, oldest first."""

    async def fetch(self, upload: Upload, limit: int) -> bytes:
        """The bytes of a file, from the platform's own hosts alone. Raises BadInput if it is none, or too large."""

    async def sign(self, place: Place, message: str, sign: Sign | None) -> None:
        """Put a reaction on a message in place of the one before; None takes it away."""

    async def post(self, place: Place, card: Card) -> str:
        """Say something to all readers of a place; gives the message's id."""

    async def whisper(self, target: Target, card: Card) -> None:
        """Say something to one person alone: the answer to a command, a button, or a line about his file."""

    def reply(self, target: Target) -> Reply:
        """An answer to be written; with a mark, or if its traces are found, the one that was begun before."""

    async def remove(self, place: Place, message: str) -> None:
        """Delete a message of the bot."""
