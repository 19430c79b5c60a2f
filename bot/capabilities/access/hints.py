"""What callers are told who do not run the bot: no paths of its machine, no commands there, nothing of its models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.capabilities.access.server_paths import hide_paths, hide_paths_of_error
from bot.capabilities.asking.queries import NO_DOCUMENTS_HINT
from bot.capabilities.documents.errors import word_errors
from bot.capabilities.documents.lookup import UNKNOWN_DOCUMENT_HINT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bot.capabilities.caller import Caller
    from bot.capabilities.results import OperationResult
    from engine.errors import EngineError

COMMAND = "`threadlore "
ASK_OPERATOR = "Ask whoever runs the bot."
INSTEAD: Mapping[str, str] = {
    NO_DOCUMENTS_HINT: "Upload a file, or invite the bot to a channel that you can read. Then ask again.",
    UNKNOWN_DOCUMENT_HINT: "The list of documents has their keys and titles.",
}


def word_hint(hint: str) -> str:
    """The hint of an error for a person; those without a command of the terminal are as they were."""
    return INSTEAD.get(hint, ASK_OPERATOR) if COMMAND in hint else hint


def word_result(caller: Caller, result: OperationResult) -> OperationResult:
    """A result as its caller may see it."""
    if caller.is_owner:
        return result
    return hide_paths(result if caller.sees_details else word_errors(result))


def word_refusal(error: EngineError, *, for_person: bool) -> None:
    """Let an error say nothing of the machine to a program; a person has no command there, either."""
    if for_person:
        error.hint = word_hint(error.hint)
    hide_paths_of_error(error)
