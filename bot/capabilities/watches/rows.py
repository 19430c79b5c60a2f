"""The rows of the table of capabilities that are about standing requests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.capabilities.row import Capability, Surface
from bot.capabilities.watches import requests as watches

if TYPE_CHECKING:
    from bot.store import Permission

KEPT = (
    "People are told in their direct messages, whichever door they asked at. A space of the terminal has none: its list"
    " says what was found."
)
_ROWS: tuple[tuple[str, type, Permission, str], ...] = (
    ("watch", watches.AddWatch, "write", "hear about new messages on a topic"),
    ("watches", watches.ListWatches, "read", "what you want to be told of"),
    ("unwatch", watches.EndWatch, "write", "be told no more of something"),
)
WATCH_ROWS = tuple(
    Capability(
        name,
        request,
        f".watches.operations:{name}",
        Surface.CHAT | Surface.CLI | Surface.HTTP | Surface.MCP,
        permission=permission,
        summary=summary,
        derived=Surface.HTTP | Surface.MCP,
        kept=KEPT,
    )
    for name, request, permission, summary in _ROWS
)
