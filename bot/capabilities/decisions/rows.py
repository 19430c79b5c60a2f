"""The row of the table of capabilities that is about decisions and tasks."""

from __future__ import annotations

from bot.capabilities.decisions.requests import ListDecisions
from bot.capabilities.row import Capability, Surface

KEPT = "The chat shows the newest ones, and takes the filters of questions."
DECISION_ROWS = (
    Capability(
        "decisions",
        ListDecisions,
        ".decisions.operations:list_decisions",
        Surface.CHAT | Surface.CLI | Surface.HTTP | Surface.MCP | Surface.PAGE,
        permission="read",
        summary="decisions and tasks, with who, until when and what replaced them",
        derived=Surface.HTTP | Surface.MCP,
        kept=KEPT,
    ),
)
