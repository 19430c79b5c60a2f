"""What the bot needs from a platform. Adapters implement these Protocols and make no decisions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Collection, Sequence
    from datetime import datetime

    from bot.platform.models import AnswerFooter, Card, Channel, ListedChannel, Location, Message, Person, Upload
    from bot.platform.traits import PlatformTraits


@dataclass(frozen=True, slots=True)
class ReplyTarget:
    """Where an answer goes. `message`: the question's message, empty for commands; `mark`: as Reply has it."""

    answer: str
    location: Location
    person: str
    message: str = ""
    private: bool = False
    handle: str = ""
    reply_ref: str = ""
    asked_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class ThreadPage:
    """The newest messages of a thread, oldest first.

    `whole`: nothing of the thread was left out for want of room. `there`: false only where the platform is sure that
    there is no such thread.
    """

    messages: Sequence[Message] = ()
    is_complete: bool = True
    thread_exists: bool = True


class Reply(Protocol):
    """One answer in progress. Calls come one after another, never concurrently."""

    @property
    def reply_ref(self) -> str:
        """What is needed to find it again after a restart; empty until something was posted.

        Messages stand in it behind a colon, separated by commas.
        """

    async def show_status(self, words: str) -> None:
        """Show at once that the answer is in progress; may be called again."""

    async def show(self, parts: Sequence[str]) -> bool | None:
        """The answer so far, in parts no longer than `Limits.part`; all but the last one stay as they are.

        False if not all of it could be written now: then it is shown again soon, and not only with the next word.
        """

    async def finish(self, parts: Sequence[str], closing: AnswerFooter) -> None:
        """Show the whole answer and its footer."""

    async def replace(self, text: str) -> None:
        """Replace everything shown so far by this text."""


@dataclass(frozen=True, slots=True)
class MessageLimits:
    """Characters of a message, seconds between two writes, and characters that are written without waiting."""

    max_length: int
    write_interval: float
    burst_length: int


Reaction = Literal["working", "done", "failed"]


class Platform(Protocol):
    """A chat platform. Raises PlatformError (bot/errors.py) for everything that fails."""

    name: str
    traits: PlatformTraits
    limits: MessageLimits

    async def fetch_channel(self, location: Location) -> Channel:
        """The facts of a channel, as they are now. Raises if they cannot be known.

        ChannelGone and WorkspaceGone only where the platform is sure: what was said there is forgotten then.
        """

    @property
    def listable_workspaces(self) -> Collection[str]:
        """The workspaces whose channels can be listed: there a list costs less than many single look-ups."""

    async def list_channels(self, workspace: str, person: str = "") -> Sequence[ListedChannel]:
        """The channels of a workspace that the bot is in, or those that a person is in, as far as the bot sees them.

        Complete when it returns. Raises PlatformError if it cannot be, also where only its end is lacking.
        """

    async def fetch_person(self, workspace: str, person: str) -> Person:
        """A person as the workspace knows them."""

    async def to_plain_text(self, workspace: str, text: str) -> str:
        """A text with its mentions of people and channels as names (@Ada, #roof), and no markup of the platform."""

    def message_link(self, location: Location, message: str) -> str:
        """The permalink of a message."""

    def history(self, location: Location, since: datetime, before: str = "") -> AsyncIterator[Sequence[Message]]:
        """Pages of a channel's messages with those of its threads, newest first, older than message `before`.

        Raises Withheld where the platform would show less than there is, as far as it says so.
        """

    async def fetch_thread(self, location: Location, limit: int) -> ThreadPage:
        """The newest messages of a thread, also the one to which its first one replies. Raises as `history` does."""

    async def fetch_message(self, location: Location, message: str) -> Message | None:
        """A message as it is now; None only if it was certainly deleted. Raises if that is unknown."""

    async def fetch_file(self, upload: Upload, limit: int) -> bytes:
        """The bytes of a file, from the platform's own hosts only. Raises InvalidDocument if it is too large."""

    async def set_reaction(self, location: Location, message: str, sign: Reaction | None) -> None:
        """Replace the reaction of the bot on a message; None removes it."""

    async def post(self, location: Location, card: Card) -> str:
        """Post a card in a location; returns the message's id."""

    async def send_private(self, target: ReplyTarget, card: Card) -> None:
        """Send a card to one person: the result of a command or a button, or a notice about their message.

        Where a channel has no private messages, a card without `target.private` is posted below their message.
        """

    async def replace_answer(self, target: ReplyTarget, text: str) -> None:
        """Show this instead of a finished answer, of which all messages stand in the mark; nothing is posted anew.

        What somebody deleted meanwhile stays deleted.
        """

    async def delete_answer(self, target: ReplyTarget) -> None:
        """Delete all messages of a finished answer, and its thread if nothing else is in it."""

    def start_reply(self, target: ReplyTarget) -> Reply:
        """Start an answer; with a reply reference, or if its messages are found, continue the one started before."""
