"""The row of the table of capabilities that is about the page of frequent questions."""

from __future__ import annotations

from bot.capabilities.faq.requests import GetFaq
from bot.capabilities.row import Capability, Surface

KEPT = (
    "The chat and the page of questions give it as a file. A space of the terminal has no verified answers, so that"
    " there it has questions only."
)
FAQ_ROWS = (
    Capability(
        "faq",
        GetFaq,
        ".faq.operations:get_faq",
        Surface.CHAT | Surface.CLI | Surface.PROGRAMS,
        permission="read",
        summary="a FAQ page in Markdown, of verified answers and open questions",
        derived=Surface.HTTP | Surface.MCP,
        kept=KEPT,
    ),
)
