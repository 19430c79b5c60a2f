"""The canvases of an export of Slack, as messages that share them in their channels. Pure."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from adapters.common.json_fields import get_rows, get_text

if TYPE_CHECKING:
    from collections.abc import Mapping

TIME_KEYS = ("created", "timestamp", "updated")


def list_shares(canvas: Mapping[str, Any]) -> list[str]:
    """The ids of the channels in which a canvas is shared, each once."""
    shares = (get_text(share, "channel") for share in get_rows(canvas, "shares"))
    return list(dict.fromkeys(filter(None, shares)))


def share_canvas(canvas: Mapping[str, Any]) -> dict[str, Any] | None:
    """The message that shares a canvas, of the time at which it was created; None if the export does not say when."""
    seconds = next((canvas[key] for key in TIME_KEYS if isinstance(canvas.get(key), int | float)), 0)
    if seconds <= 0:
        return None
    author = get_text(canvas, "user", "creator")
    return {"type": "message", "subtype": "file_share", "ts": f"{seconds:.6f}", "user": author, "files": [canvas]}


def day_of(payload: Mapping[str, Any]) -> str:
    """The day of a message, such as 2026-05-01, in Coordinated Universal Time; "" if its time is none."""
    try:
        return f"{datetime.fromtimestamp(float(str(payload['ts'])), UTC):%Y-%m-%d}"
    except (ValueError, OverflowError, OSError):
        return ""
