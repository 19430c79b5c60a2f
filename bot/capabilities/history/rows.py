"""The rows of the table of capabilities that are about the life of a fact."""

from __future__ import annotations

from bot.capabilities.history import requests as history
from bot.capabilities.row import Capability, Surface, Who

KEPT = "The chat links each step to its message; programs get the passages besides."
HISTORY_ROWS = (
    Capability(
        "history",
        history.GetHistory,
        ".history.queries:get_history",
        Surface.CHAT | Surface.CLI | Surface.HTTP | Surface.MCP,
        Who.ANYONE,
        "read",
        summary="what was said about something in the order of time, and what replaced it",
        derived=Surface.HTTP | Surface.MCP,
        kept=KEPT,
        searches=True,
    ),
)
