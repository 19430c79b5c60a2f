"""Say what went wrong with documents as the bot says it to people: without details of the models."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from bot import texts
from bot.capabilities.documents.results import DocumentResult, UploadResult
from bot.capabilities.results import DocumentList, StatusResult
from bot.i18n import gettext

if TYPE_CHECKING:
    from bot.capabilities.results import OperationResult
    from engine import DocumentInfo, IndexProblem


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
