"""Platform events, as adapters report them and the event queue stores them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime  # noqa: TC003  - the event queue reads the fields' types at run time
from functools import cache
from typing import Any, get_args

from pydantic import TypeAdapter

from bot.platform.models import Location, Message, Upload  # noqa: TC001  - the event queue reads the fields' types at run time

PRIVATE_WORD = "private"  # argument of the command `learn`: only the caller can find its files


@dataclass(frozen=True, slots=True)
class MessageReceived:
    """A new message. `addressed`: to the bot, by a mention, a reply or in a DM."""

    message: Message
    addressed: bool


@dataclass(frozen=True, slots=True)
class MessageEdited:
    """A message was edited, or perhaps only changed in a preview or a counter: it is compared with the stored one."""

    message: Message


@dataclass(frozen=True, slots=True)
class MessagesDeleted:
    """Messages were deleted."""

    location: Location
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FilesRemoved:
    """Files were removed, from this channel or, if it is empty, everywhere."""

    location: Location
    uploads: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ChannelRemoved:
    """A thread or channel was deleted, or the bot was removed from it: everything of it is forgotten."""

    location: Location


@dataclass(frozen=True, slots=True)
class BotAdded:
    """The bot was added to a channel, or enabled in it."""

    location: Location


@dataclass(frozen=True, slots=True)
class WorkspaceJoined:
    """The bot is in a workspace whose channels must be enabled one by one.

    `location`: where it may announce itself; without a channel if nowhere. `lacking`: missing permissions, as the
    platform calls them. The event may be repeated; the announcement is not.
    """

    location: Location
    lacking: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class VisibilityChanged:
    """A channel's audience changed (visibility, members, roles). Empty channel: any channel of the workspace.

    `members_only`: only the members changed; the kind of channel is the same.
    """

    location: Location
    members_only: bool = False


@dataclass(frozen=True, slots=True)
class QuestionAsked:
    """A question by a command. `private`: only the asker sees the reply. `handle`: the adapter's id to reply to it.

    `may_write`: whether the asker may post messages there, if the platform reports it. `locale`: of their client.
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
    locale: str = ""

    def build_command(self, command: str) -> CommandInvoked:
        """A command of the asker in the place of the question."""
        return CommandInvoked(
            self.id,
            self.location,
            self.person,
            command,
            handle=self.handle,
            time=self.time,
            may_write=self.may_write,
            locale=self.locale,
        )


@dataclass(frozen=True, slots=True)
class CommandInvoked:
    """A command of bot/commands by name, with its arguments; only the caller sees the result.

    `message`: the one whose menu it was chosen from, or that contained it. `time`: when it was sent; None if unknown.
    `may_write`, `locale`: as in QuestionAsked.
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
    locale: str = ""


@dataclass(frozen=True, slots=True)
class ButtonPressed:
    """A button of a reply; the action is one of BUTTON_ACTIONS, else a command. `value`: the answer, or arguments.

    `locale`: as in QuestionAsked. `opens_form`: the platform shows a form as well, so that no confirmation is needed.
    """

    id: str
    location: Location
    person: str
    action: str
    value: str
    handle: str = ""
    locale: str = ""
    opens_form: bool = False


@dataclass(frozen=True, slots=True)
class FormSubmitted:
    """A form of bot.platform.forms was submitted. `form`, `value`, `part` and `parts` are those of the Form.

    `answers`: names of fields with what was filled in. All of it is only a claim, to be checked like a command.
    """

    id: str
    location: Location
    person: str
    form: str
    value: str
    answers: tuple[tuple[str, str], ...]
    time: datetime
    handle: str = ""
    part: int = 1
    parts: int = 1
    locale: str = ""


@dataclass(frozen=True, slots=True)
class WorkspaceLeft:
    """The bot was removed from a workspace, or its tokens were revoked. `purge`: its data is deleted in any case."""

    platform: str
    workspace: str
    reason: str
    purge: bool = False


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
    | FormSubmitted
    | WorkspaceLeft
)


def message_event_key(message: Message) -> str:
    """The idempotency key of the event that a message was received: the same however it is received."""
    location = message.location
    return f"{location.platform}:message:{location.workspace}:{location.channel}:{message.id}"


def platform_of(event: PlatformEvent) -> str:
    """The platform of an event."""
    match event:
        case WorkspaceLeft():
            return event.platform
        case MessageReceived(message) | MessageEdited(message):
            return message.location.platform
        case _:
            return event.location.platform


def workspace_of(event: PlatformEvent) -> str:
    """The key of an event's workspace: `platform:workspace`."""
    match event:
        case WorkspaceLeft():
            return f"{event.platform}:{event.workspace}"
        case MessageReceived(message) | MessageEdited(message):
            return message.location.workspace_key
        case _:
            return event.location.workspace_key


def encode_event(event: PlatformEvent) -> tuple[str, str]:
    """The name of an event's class, and its JSON."""
    kind = type(event).__name__
    return kind, _build_adapters()[kind].dump_json(event).decode()


def decode_event(kind: str, payload: str) -> PlatformEvent:
    """The event. Raises KeyError for an unknown class, and ValueError for other JSON."""
    event: PlatformEvent = _build_adapters()[kind].validate_json(payload)
    return event


@cache
def _build_adapters() -> dict[str, TypeAdapter[Any]]:
    return {kind.__name__: TypeAdapter(kind) for kind in get_args(PlatformEvent)}
