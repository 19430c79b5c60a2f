"""Hints for people who have no terminal of the bot's machine: what they can do instead of a command there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.capabilities.asking.queries import NO_DOCUMENTS_HINT
from bot.capabilities.document_lookup import UNKNOWN_DOCUMENT_HINT

if TYPE_CHECKING:
    from collections.abc import Mapping

COMMAND = "`threadlore "
ASK_OPERATOR = "Ask whoever runs the bot."
INSTEAD: Mapping[str, str] = {
    NO_DOCUMENTS_HINT: "Upload a file, or invite the bot to a channel that you can read. Then ask again.",
    UNKNOWN_DOCUMENT_HINT: "The list of documents has their keys and titles.",
}


def word_hint(hint: str) -> str:
    """The hint of an error for a person; those without a command of the terminal are as they were."""
    return INSTEAD.get(hint, ASK_OPERATOR) if COMMAND in hint else hint
