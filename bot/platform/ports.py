"""What the bot needs from a platform. Adapters implement these Protocols and make no decisions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Collection, Sequence
    from datetime import datetime

    from bot.platform.events import ButtonPressed
    from bot.platform.models import (
        AnswerFooter,
        Button,
        Card,
        Channel,
        ListedChannel,
        Location,
        Message,
        Person,
        Upload,
    )
    from bot.platform.traits import PlatformTraits


@dataclass(frozen=True, slots=True)
class ReplyTarget:
    """Where an answer goes. `message`: the question's message, empty for commands; `reply_ref`: that of its Reply.

    `is_new`: no process began to answer before, so that there is nothing of it to continue. `progress_buttons`: shown
    below the answer until it is finished.
    """

    answer: str
    location: Location
    person: str
    message: str = ""
    private: bool = False
    handle: str = ""
    reply_ref: str = ""
    asked_at: datetime | None = None

    @classmethod
    def of_presser(cls, pressed: ButtonPressed, answer: str = "") -> ReplyTarget:
        """Where the person who pressed a button alone sees what is said to it."""
        return cls(answer, pressed.location, pressed.person, private=True, handle=pressed.handle)

    is_new: bool = False
    progress_buttons: tuple[Button, ...] = ()


@dataclass(frozen=True, slots=True)
class ThreadPage:
    """The newest messages of a thread, oldest first.

    `is_complete`: no message was left out because of the limit. `thread_exists`: false only if the platform is sure
    that there is no such thread.
    """

    messages: Sequence[Message] = ()
    is_complete: bool = True
    thread_exists: bool = True


class Reply(Protocol):
    """One answer in progress. Calls come one after another, never concurrently."""

    @property
    def reply_ref(self) -> str:
        """What finds its messages after a restart: `channel:message,message…`; empty until one is posted."""

    async def show_status(self, words: str) -> None:
        """Show at once that the answer is in progress; may be called again."""

    async def show(self, parts: Sequence[str]) -> bool | None:
        """Show the answer so far, in parts of at most `limits.max_length`; only the last part still changes.

        False if not all of it could be written now: the bot calls again soon, even without new text.
        """

    async def finish(self, parts: Sequence[str], footer: AnswerFooter) -> None:
        """Show the whole answer and its footer."""

    async def replace(self, text: str) -> None:
        """Replace everything shown so far by this text."""


@dataclass(frozen=True, slots=True)
class MessageLimits:
    """Characters of a message, and seconds between two writes."""

    max_length: int
    write_interval: float


Reaction = Literal["working", "done", "failed"]


class WorkspacePlatform(Protocol):
    """The calls that concern one workspace. Raises PlatformError (bot/errors.py) for everything that fails."""

    async def fetch_channel(self, location: Location) -> Channel:
        """The current facts of a channel. Raises PlatformError if they cannot be known.

        Raises ChannelGone or WorkspaceGone only if the platform is sure: the bot then forgets the channel.
        """

    async def list_channels(self, workspace: str, person: str = "") -> Sequence[ListedChannel]:
        """The channels of a workspace that the bot is in, or those visible to it that a person is in.

        Complete when it returns. Raises PlatformError if the list cannot be complete.
        """

    async def fetch_person(self, workspace: str, person: str) -> Person:
        """A person as the workspace knows them."""

    async def is_in_group(self, workspace: str, person: str, group: str) -> bool:
        """Whether a person is in a group of people that can be mentioned. Raises PlatformError if that is unknown."""

    async def open_direct(self, workspace: str, person: str) -> Location:
        """The direct messages of a person with the bot."""

    async def to_plain_text(self, workspace: str, text: str) -> str:
        """A text with its mentions of people and channels as names (@Ada, #roof), and no markup of the platform."""

    def message_link(self, location: Location, message: str) -> str:
        """The permalink of a message."""

    def history(self, location: Location, since: datetime, before: str = "") -> AsyncIterator[Sequence[Message]]:
        """Pages of a channel's messages with those of its threads, newest first, older than message `before`.

        Raises PermissionDenied if the platform reports that it withholds messages.
        """

    async def fetch_thread(self, location: Location, limit: int) -> ThreadPage:
        """The newest messages of a thread, and the message that its first one replies to. Raises as `history` does."""

    async def fetch_message(self, location: Location, message: str) -> Message | None:
        """The current message; None only if it was certainly deleted. Raises PlatformError if that is unknown."""

    async def fetch_file(self, location: Location, upload: Upload, limit: int) -> bytes:
        """The bytes of a file that was shared in a location, from the platform's own hosts only.

        Raises InvalidDocument if it is too large or can never be read, PlatformError to be called again later.
        """

    async def set_reaction(self, location: Location, message: str, sign: Reaction | None) -> None:
        """Replace the reaction of the bot on a message; None removes it."""

    async def post(self, location: Location, card: Card) -> str:
        """Post a card in a location; returns the message's id."""

    async def send_private(self, target: ReplyTarget, card: Card) -> None:
        """Send a card to one person: the result of a command or a button, or a notice about their message.

        In a channel without private messages, a card without `target.private` is posted below their message.
        """

    async def replace_answer(self, target: ReplyTarget, text: str) -> None:
        """Replace a finished answer, whose messages `target.reply_ref` names; post nothing new.

        Messages that somebody deleted stay deleted.
        """

    async def delete_answer(self, target: ReplyTarget) -> None:
        """Delete all messages of a finished answer, and its thread if nothing else is in it."""

    def start_reply(self, target: ReplyTarget) -> Reply:
        """Start an answer; with a reply reference, or if its messages are found, continue the one started before."""


class Platform(WorkspacePlatform, Protocol):
    """A chat platform with all of its workspaces."""

    name: str
    traits: PlatformTraits
    limits: MessageLimits

    def serves(self, workspace: str) -> bool:
        """Whether this process can handle events of a workspace, and another one need not."""

    def forget_cached(self, location: Location) -> None:
        """Look up again what is cached of a location: another process received a change of its audience."""

    @property
    def listable_workspaces(self) -> Collection[str]:
        """The workspaces whose channels can be listed, which costs less than many single look-ups."""
