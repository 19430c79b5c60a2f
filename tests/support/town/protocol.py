"""A town: a platform with people and channels, called by their names. Slack and Discord implement it on fake servers.

An empty channel name is the person's conversation with the bot.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, Self

import pytest

from bot.bot import Bot
from bot.platform.models import Location
from tests.support.verbatim_language import QUESTION

Way = Literal["mention", "private", "command"]
HANGING = 99  # calls that a fault stops: more than there will be


@dataclass(frozen=True, slots=True)
class TownFile:
    """A file that somebody shares."""

    name: str = "manual.md"
    text: str = "# The safe\n\nThe password of the safe is emerald.\n"
    mimetype: str = "text/markdown"


@dataclass(frozen=True, slots=True)
class Asked:
    """A question or command: the platform's own record of it, and the posts that its asker saw before."""

    person: str
    channel: str
    handle: Any
    seen_before: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class BotPost:
    """A message of the bot on a screen. `text`: all that can be read; `body`: without sources and buttons."""

    text: str
    body: str
    sources: str
    buttons: tuple[str, ...]
    is_complete: bool
    handle: Any = field(repr=False)


class Town(Protocol):
    """What people do on a platform, what they see, and what can go wrong there."""

    platform: str

    async def __aenter__(self) -> Self: ...

    async def __aexit__(self, *how: object) -> None: ...

    @property
    def adapter_settings(self) -> dict[str, str]:
        """The settings with which a bot finds this town."""

    @property
    def is_connected(self) -> bool:
        """Whether a bot is connected."""

    def speed_up(self, patch: pytest.MonkeyPatch) -> None:
        """Shorten the pauses of the adapter of a bot in this process."""

    async def wait_until_received(self, bot: Bot) -> None:
        """Wait until the bot has received all events."""

    def drop_events(self) -> None:
        """Never deliver the events that no bot has received."""

    async def wait_for(self, condition: Callable[[], Any]) -> None:
        """Wait until something is true on the platform."""

    # People and channels.

    def add_person(self, name: str, **facts: Any) -> Any: ...

    def add_channel(self, name: str, members: str = "", kind: str = "public", **facts: Any) -> Any:
        """A channel with these people; only they read a private one."""

    async def enable(self, channel: str) -> None:
        """Have the bot index a channel; on Slack it does so once it is in."""

    def mention_of(self, person: str) -> str:
        """How somebody is mentioned in a text."""

    def channel_mention_of(self, channel: str) -> str: ...

    def location(self, channel: str) -> Location:
        """A channel as the bot calls it."""

    async def add_member(self, person: str, channel: str) -> None:
        """Let somebody into a private channel."""

    async def remove_member(self, person: str, channel: str) -> None:
        """Put somebody out of a private channel."""

    async def make_private(self, channel: str, *people: str) -> None:
        """Hide a public channel from everybody else."""

    async def make_public(self, channel: str) -> None: ...

    async def delete_channel(self, channel: str) -> None: ...

    # What people do.

    async def say(
        self, person: str, channel: str, text: str = "", *, files: Sequence[TownFile] = (), thread: Any = None
    ) -> Any:
        """Post a message; `thread`: a message or a question below which it is posted."""

    async def say_fact(self, channel: str, text: str) -> Any:
        """Post a message as somebody who may write there."""

    async def edit(self, said: Any, text: str) -> None: ...

    async def delete(self, said: Any) -> None: ...

    async def ask(self, person: str, channel: str = "", text: str = QUESTION, way: Way = "mention") -> Asked: ...

    async def follow_up(self, person: str, asked: Asked, text: str = QUESTION) -> Asked:
        """Ask again in the thread of an answer, without a mention."""

    async def run_command(self, person: str, channel: str, command: str, **options: Any) -> Asked: ...

    async def click(self, person: str, post: BotPost, button: str) -> Asked: ...

    # What people see.

    def posts(self, asked: Asked) -> list[BotPost]:
        """What the bot answered, as the asker sees it now."""

    def bot_posts(self, person: str, channel: str) -> list[BotPost]:
        """All that somebody sees of the bot in a channel, threads included."""

    def bot_text(self, person: str) -> str:
        """All that somebody can read of the bot anywhere."""

    def reactions(self, said: Any) -> list[str]: ...

    @property
    def pings(self) -> Sequence[object]:
        """Whom the bot notified."""

    # What goes wrong.

    def hang_first_reply(self) -> Callable[[], bool]:
        """Never finish the call that shows the start of an answer; gives whether it was tried."""

    def hang_download(self) -> None: ...

    def hang_reactions(self) -> Callable[[], bool]:
        """Never finish a call that adds or removes a reaction; gives whether one was tried."""

    def lose_last_write(self) -> None:
        """Perform the last write of an answer, but never confirm it."""

    def clear_faults(self) -> None: ...
