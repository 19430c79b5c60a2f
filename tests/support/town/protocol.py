"""What both towns share. A town is a platform with people and channels, called by their names, on a fake server.

An empty channel name is the person's conversation with the bot.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from bot.texts.control import STOP_BUTTON

Way = Literal["mention", "private", "command"]
HANGING = 99  # calls that a fault stops: more than there will be


@dataclass(frozen=True, slots=True)
class TownFile:
    """A file that somebody shares; `data` in place of a text if it is none."""

    name: str = "manual.md"
    text: str = "# The safe\n\nThe password of the safe is emerald.\n"
    mimetype: str = "text/markdown"
    data: bytes = b""

    @property
    def content(self) -> bytes:
        return self.data or self.text.encode()


@dataclass(frozen=True, slots=True)
class Asked:
    """A question or command: the platform's own record of it, and the posts that its asker saw before."""

    person: str
    channel: str
    handle: Any
    seen_before: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class ShownForm:
    """A form on a screen: its title, the text above the fields, and what these contain, by name."""

    person: str
    channel: str
    title: str
    text: str
    values: dict[str, str]
    handle: Any = field(repr=False)


@dataclass(frozen=True, slots=True)
class BotPost:
    """A message of the bot on a screen. `text`: all that can be read; `body`: without sources and buttons."""

    text: str
    body: str
    sources: str
    buttons: tuple[str, ...]
    is_complete: bool
    handle: Any = field(repr=False)


def is_finished(buttons: Sequence[str]) -> bool:
    """Whether the buttons of a finished answer are among these, not only those of one in progress."""
    return any(button != STOP_BUTTON for button in buttons)
