"""What callers are told who do not run the bot: no paths or commands there, what is left out, and who verified it."""

from __future__ import annotations

import re
from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from bot import texts
from bot.capabilities.documents.lookup import FILE_LINK, NO_DOCUMENTS_HINT, UNKNOWN_DOCUMENT_HINT, public_key
from bot.capabilities.documents.requests import DocumentResult, UploadResult
from bot.capabilities.results import DocumentList, StatusResult
from bot.i18n import gettext
from bot.text.times.as_of import describe_as_of
from engine import ManualCorrection

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import date

    from bot.capabilities.caller import Caller
    from bot.capabilities.results import AnswerEnd, ContextResult, OperationResult
    from engine import DocumentInfo, IndexProblem
    from engine.errors import EngineError


COMMAND = "`threadlore "
ASK_OPERATOR = "Ask whoever runs the bot."
INSTEAD: Mapping[str, str] = {
    NO_DOCUMENTS_HINT: "Upload a file, or invite the bot to a channel that you can read. Then ask again.",
    UNKNOWN_DOCUMENT_HINT: "The list of documents has their keys and titles.",
}
UNDATED_NOTICE = "Documents without a date are excluded from this period."
Value = TypeVar("Value")
MESSAGE_FIELDS = frozenset({"error", "hint", "trouble", "reasons", "embedding_error", "background"})
KEY_FIELDS = frozenset({"key", "document"})
PATH = re.compile(r"(?<![\w:/.~])(?:file:/+|~)?(?:/[^\s/“”\"'’`:,;]+)*/([^\s/“”\"'’`:,;]+)")


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


def word_errors(result: OperationResult) -> OperationResult:
    """The result, with the errors of documents in the words of the chat."""
    if isinstance(result, StatusResult):
        status = replace(
            result.status,
            trouble=_word_trouble(result.status.trouble),
            spent_budget=gettext(texts.INDEXING_BUDGET_SPENT) if result.status.spent_budget else "",
        )
        problems = result.problems and tuple(map(_word_problem, result.problems))
        return replace(result, status=status, problems=problems)
    if isinstance(result, DocumentList | UploadResult):
        return replace(result, documents=tuple(map(_word_error, result.documents)))
    if isinstance(result, DocumentResult):
        return replace(result, document=_word_error(result.document))
    return result


def _word_error(document: DocumentInfo) -> DocumentInfo:
    if not document.error:
        return document
    sentence = texts.EMBEDDING_REFUSED if document.status == "failed" else texts.MODEL_TROUBLE
    return replace(document, error=_to_sentence(sentence), hint="")


def _word_problem(problem: IndexProblem) -> IndexProblem:
    return replace(problem, error=_word_trouble(problem.error), hint="")


def _word_trouble(error: str) -> str:
    return _to_sentence(texts.MODEL_TROUBLE) if error else ""


def _to_sentence(text: str) -> str:
    worded = gettext(text)
    return worded[:1].upper() + worded[1:]


def hide_paths(value: Value) -> Value:
    """A result in which links to files are empty, keys of files have no path, and messages name files alone."""
    hidden: Any = _hide_in(value, "")
    return hidden  # type: ignore[no-any-return]


def hide_paths_of_error(error: EngineError) -> None:
    """Let an error name files without their folders."""
    error.args = (strip_folders(str(error)), *error.args[1:])
    error.hint = strip_folders(error.hint)


def strip_folders(text: str) -> str:
    """A message in which a path is the name of its file; addresses of the web are as they were."""
    return PATH.sub(r"\1", text)


def _hide_in(value: Any, name: str) -> Any:
    if isinstance(value, str):
        return _hide_text(value, name)
    if isinstance(value, tuple | list):
        found = [_hide_in(item, name) for item in value]
        is_same = all(new is old for new, old in zip(found, value, strict=True))
        return value if is_same or hasattr(value, "_fields") else type(value)(found)
    if isinstance(value, ManualCorrection) and value.kind == "split":
        kind, _, key = value.description.partition(" ")  # "document KEY", or a type
        return replace(value, description=f"{kind} {public_key(key)}")
    if is_dataclass(value) and not isinstance(value, type):
        parts = {field.name: getattr(value, field.name) for field in fields(value) if field.init}
        hidden = {each: _hide_in(part, each) for each, part in parts.items()}
        changes = {each: part for each, part in hidden.items() if part is not parts[each]}
        return replace(value, **changes) if changes else value
    return value


def _hide_text(text: str, name: str) -> str:
    if name == "link":
        return "" if text.startswith(FILE_LINK) else text
    if name in KEY_FIELDS:
        return public_key(text)
    return strip_folders(text) if name in MESSAGE_FIELDS else text


def list_end_notices(end: AnswerEnd) -> list[str]:
    """Who verified an answer, and what it leaves out."""
    return [
        *list_as_of_notices(end.as_of),
        *([end.verified] if end.verified else []),
        *_list_gap_notices(end.gap),
        *([UNDATED_NOTICE] if end.undated else []),
        *texts.list_span_notices(truncated=end.truncated, since=end.since),
        *([gettext(texts.REBUILDING)] if end.rebuilding else []),
        *texts.list_helper_notices(end.failed_helpers),
    ]


def list_context_notices(result: ContextResult) -> list[str]:
    """What a retrieved context leaves out."""
    return [
        *list_as_of_notices(result.context.as_of),
        *_list_gap_notices(result.gap),
        *([UNDATED_NOTICE] if result.context.undated else []),
        *([gettext(texts.REBUILDING)] if result.context.rebuilding else []),
        *texts.list_helper_notices(result.context.failed_helpers),
    ]


def list_as_of_notices(day: date | None) -> list[str]:
    """The day as of which an answer is given, if it is not now."""
    return [describe_as_of(day)] if day is not None else []


def _list_gap_notices(gap: str) -> list[str]:
    return [gettext(texts.GAP_NOTICES[gap])] if gap else []
