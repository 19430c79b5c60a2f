"""The rows of the table of capabilities that are about statements that disagree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.capabilities.contradictions import requests
from bot.capabilities.row import Capability, Surface

if TYPE_CHECKING:
    from bot.store import Permission

KEPT = (
    "The authors of both statements decide, and managers and experts who can read both; no model does, so that MCP only"
    " lists. The chat has one command for all three. A space of the terminal has no verified answers: there it is only"
    " noted which statement is wrong."
)
LISTED, DECIDED = Surface.HTTP | Surface.MCP, Surface.HTTP
_ROWS: tuple[tuple[str, type, Permission, Surface, str], ...] = (
    ("contradictions", requests.ListContradictions, "read", LISTED, "statements that disagree"),
    ("settle-contradiction", requests.SettleContradiction, "write", DECIDED, "say which of two statements is right"),
    (
        "dismiss-contradiction",
        requests.DismissContradiction,
        "write",
        DECIDED,
        "say that two statements do not disagree",
    ),
)
CONTRADICTION_ROWS = tuple(
    Capability(
        name,
        request,
        f".contradictions.operations:{name.partition('-')[0]}",
        Surface.CHAT | Surface.CLI | derived,
        permission=permission,
        summary=summary,
        derived=derived,
        kept=KEPT,
    )
    for name, request, permission, derived, summary in _ROWS
)
