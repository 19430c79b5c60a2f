"""Records of a chat: locations, people, channels and messages, and what the bot shows.

Ids are the strings of the platform. Texts are standard Markdown; an adapter renders what its platform supports.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime  # noqa: TC003  - the event queue reads the fields' types at run time
from typing import TYPE_CHECKING, Literal

from bot.text.format import find_zone_or_utc, format_utc

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import tzinfo


@dataclass(frozen=True, slots=True)
class Location:
    """A channel or a thread. A private thread, which has an audience of its own, is a channel itself.

    `workspace`: the team or server, empty where direct messages belong to none. `thread`: the id of the thread's first
    message, empty outside of threads.
    """

    platform: str
    workspace: str
    channel: str
    thread: str = ""

    @classmethod
    def from_room(cls, room: str) -> Location:
        """The channel with this room name, the inverse of `room`."""
        platform, _, rest = room.partition(":")
        workspace, _, channel = rest.partition(":")
        return cls(platform, workspace, channel)

    @property
    def room(self) -> str:
        """The room's name in the engine."""
        return f"{self.platform}:{self.workspace}:{self.channel}"

    @property
    def workspace_key(self) -> str:
        """The workspace among those of all platforms."""
        return f"{self.platform}:{self.workspace}"

    @property
    def without_thread(self) -> Location:
        """The channel itself."""
        return Location(self.platform, self.workspace, self.channel)


@dataclass(frozen=True, slots=True)
class Person:
    """A person. `is_guest`: may not read every open channel (an invited guest, or a person of another workspace).

    `is_manager`: may change settings and forget what others wrote. `locale`: of their client, such as pt-BR; empty if
    the platform does not report it. `is_deactivated`: their account is closed, or they are in the workspace no more.
    `time_zone`: its IANA name; empty if the platform does not report it.
    """

    id: str
    name: str
    is_guest: bool = False
    is_bot: bool = False
    is_manager: bool = False
    locale: str = ""
    is_deactivated: bool = False
    time_zone: str = ""

    @property
    def zone(self) -> tzinfo:
        """The time zone in which their days begin; UTC if the platform reports none."""
        return find_zone_or_utc(self.time_zone)


@dataclass(frozen=True, slots=True)
class Channel:
    """The current facts of a channel.

    `kind`: open to every full member of the workspace; closed: only to `members`; direct: a conversation of one person
    with the bot. `members` are the people who can read a closed or direct channel; in an open channel, those who
    joined it, where the platform has such a list. `guests` are the guests among them. `shared`: with another workspace.
    `adult`: age-restricted. `has_bot`: the bot is a member; false only if the platform says so. `space`: that of its
    documents, where an import decided it.
    """

    location: Location
    name: str
    kind: Literal["open", "closed", "direct"]
    members: frozenset[str] = frozenset()
    guests: frozenset[str] = frozenset()
    shared: bool = False
    adult: bool = False
    has_bot: bool = True
    space: str = ""


def select_guests(members: Iterable[str], people: Mapping[str, Person]) -> frozenset[str]:
    """The members of a channel who are guests, as unknown people count."""
    return frozenset(id_ for id_ in members if id_ not in people or people[id_].is_guest)


@dataclass(frozen=True, slots=True)
class ListedChannel:
    """A channel in a list of channels, without its members. Fields as in Channel.

    `archived`: nobody can post in it anymore.
    """

    location: Location
    name: str
    kind: Literal["open", "closed"]
    shared: bool = False
    adult: bool = False
    archived: bool = False

    def with_members(self, people: Iterable[str]) -> Channel:
        """The channel with some known members."""
        return Channel(self.location, self.name, self.kind, frozenset(people), shared=self.shared, adult=self.adult)


@dataclass(frozen=True, slots=True)
class Upload:
    """A file as the platform announces it. `kind` is its media type, `size` in bytes (0: unknown)."""

    id: str
    name: str
    size: int
    kind: str
    url: str


@dataclass(frozen=True, slots=True)
class Message:
    """A message with the platform's markup, which `Platform.to_plain_text` resolves.

    `edited` changes when the author edits it, and not when a preview is added. `title`: of a forum post. `own`: the
    bot is the author. `addressed`: to the bot, as in MessageReceived; messages of a history have it too.
    `calls_another`: it begins with a mention of somebody else, and mentions the bot only later.
    `replies_to`: the message outside of its thread that it answers, on platforms with such replies.
    `forwarded`: messages of others that the author shared, each with its author and place. `previews`: what the
    platform shows of the pages behind its links, often later.
    """

    id: str
    location: Location
    author: str
    text: str
    time: datetime
    uploads: tuple[Upload, ...] = ()
    edited: str = ""
    by_bot: bool = False
    title: str = ""
    own: bool = False
    addressed: bool = False
    calls_another: bool = False
    replies_to: str = ""
    forwarded: str = ""
    previews: str = ""

    @property
    def posted(self) -> str:
        """What the author posted: the title of a post, own words, and messages of others."""
        title = "" if self.title in self.text else self.title
        return "\n".join(filter(None, (title, self.text, self.forwarded)))

    @property
    def content(self) -> str:
        """Everything that its readers see."""
        return "\n".join(filter(None, (self.posted, self.previews)))

    @property
    def reply_thread(self) -> str:
        """The thread in which the bot answers it."""
        return self.location.thread or self.id


# What the bot shows.


SUGGESTION_ACTION = "suggestion"  # of a button whose label is a question; an adapter shows these in a row of their own


@dataclass(frozen=True, slots=True)
class Button:
    """A button; `action` and `value` come back in a ButtonPressed."""

    label: str
    action: str
    value: str


@dataclass(frozen=True, slots=True)
class Picture:
    """A PNG with its description, or another file that is sent with a card."""

    name: str
    data: bytes
    alt_text: str

    @property
    def is_image(self) -> bool:
        """Whether it is shown as a picture."""
        return self.name.endswith(".png")


@dataclass(frozen=True, slots=True)
class Card:
    """A message of the bot that is not a streamed answer; Markdown. `mentions`: ids of people whom it notifies."""

    text: str
    picture: Picture | None = None
    buttons: tuple[Button, ...] = ()
    mentions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FooterSource:
    """A source in a footer: number, title and link (empty: none).

    `time`: of a message; an adapter shows it in the time zone of the reader if its platform can.
    """

    number: int
    title: str
    link: str
    excerpt: str = ""
    time: datetime | None = None


def title_with_time(title: str, time: datetime | None) -> str:
    """A title with its time as text, in UTC."""
    return f"{title}, {format_utc(time)}" if time else title


@dataclass(frozen=True, slots=True)
class AnswerFooter:
    """What is shown below a finished answer; `answer` is the answer's id."""

    answer: str
    sources: tuple[FooterSource, ...] = ()
    notice: str = ""
    buttons: tuple[Button, ...] = ()
