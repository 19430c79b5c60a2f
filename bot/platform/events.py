"""What happens on a platform, as adapters tell it and as the inbox keeps it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime  # noqa: TC003  - the inbox reads the fields' types at run time

from bot.platform.models import Location, Message, Upload  # noqa: TC001  - the inbox reads the fields' types at run time


@dataclass(frozen=True, slots=True)
class MessageReceived:
    """A new message; `addressed`: to the bot, by a mention, a reply or in a DM."""

    message: Message
    addressed: bool


@dataclass(frozen=True, slots=True)
class MessageEdited:
    """A message was edited, or only looks so (a preview, a counter): it is compared with what is known."""

    message: Message


@dataclass(frozen=True, slots=True)
class MessagesDeleted:
    """Messages are gone."""

    location: Location
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FilesRemoved:
    """Files were taken back; in this channel, or everywhere if it is empty."""

    location: Location
    uploads: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ChannelRemoved:
    """A thread or a whole channel was deleted, or the bot was put out of it: nothing of it is known any more."""

    location: Location


@dataclass(frozen=True, slots=True)
class BotAdded:
    """The bot was taken into a channel, or switched on there, by somebody."""

    location: Location
    by: str = ""


@dataclass(frozen=True, slots=True)
class WorkspaceJoined:
    """The bot is in a workspace in which it reads only channels that somebody switches on.

    `place`: where it may say so; without a channel if that is nowhere. `lacking`: permissions that it needs and does
    not have, as the platform calls them. It may be told again: the bot says it once.
    """

    location: Location
    lacking: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class VisibilityChanged:
    """Who may read a channel has changed: its visibility, its members, roles. An empty channel: of any.

    `members_only`: people came or went, or are guests now; what kind of channel it is stays as it was.
    """

    location: Location
    members_only: bool = False


@dataclass(frozen=True, slots=True)
class QuestionAsked:
    """A question by a command. `private`: only the asker sees the reply. `handle`: the adapter's way to answer it.

    `may_write`: whether the asker may write messages there, as far as the platform says so.
    """

    id: str
    location: Location
    person: str
    text: str
    time: datetime
    uploads: tuple[Upload, ...] = ()
    private: bool = True
    mode: str = ""
    handle: str = ""
    may_write: bool = True


@dataclass(frozen=True, slots=True)
class CommandInvoked:
    """A command of bot/commands by name, with the words behind it; only the caller sees what comes back.

    `message`: the one from whose menu it was chosen, or in which it was said. `time`: when it was given; None: nobody
    noted that. `may_write`: as of a question.
    """

    id: str
    location: Location
    person: str
    command: str
    words: str = ""
    uploads: tuple[Upload, ...] = ()
    handle: str = ""
    message: Message | None = None
    time: datetime | None = None
    may_write: bool = True


@dataclass(frozen=True, slots=True)
class ButtonPressed:
    """A button of a reply: "up" and "down" (feedback), "sources", "delete", "share", "forget". `value`: its answer."""

    id: str
    location: Location
    person: str
    action: str
    value: str
    handle: str = ""


@dataclass(frozen=True, slots=True)
class WorkspaceLeft:
    """The bot was taken out of a workspace, or its tokens were."""

    platform: str
    workspace: str
    reason: str


PlatformEvent = (
    MessageReceived
    | MessageEdited
    | MessagesDeleted
    | FilesRemoved
    | ChannelRemoved
    | BotAdded
    | WorkspaceJoined
    | VisibilityChanged
    | QuestionAsked
    | CommandInvoked
    | ButtonPressed
    | WorkspaceLeft
)


def platform_of(happening: PlatformEvent) -> str:
    """The name of the platform on which it happened."""
    match happening:
        case WorkspaceLeft():
            return happening.platform
        case MessageReceived(message) | MessageEdited(message):
            return message.location.platform
        case _:
            return happening.location.platform
