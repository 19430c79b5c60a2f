"""Chat messages as lines of text: `[2026-05-18 09:20] Ada: …` (pure)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

MINUTE_FORMAT = "%Y-%m-%d %H:%M"
# Regular expression of the time between the brackets, without a group.
MESSAGE_TIME = r"\d{4}-\d\d-\d\d \d\d:\d\d"


def render_message_line(time: datetime, user: str, text: str) -> str:
    """A message as one line, or several if its text has them."""
    return f"[{time:{MINUTE_FORMAT}}] {user}: {text}"


def message_text(line: str) -> str:
    """The text of a message that `render_message_line` rendered."""
    return line.partition(": ")[2]
