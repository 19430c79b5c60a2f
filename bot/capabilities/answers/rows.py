"""The rows of the table of capabilities that are about answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.capabilities.answers import requests as answers
from bot.capabilities.management import requests as management
from bot.capabilities.row import Capability, Surface

if TYPE_CHECKING:
    from bot.store import Permission

KEPT = (
    "The chat has buttons below each answer, for those who see it there; other doors name an answer by its id. An"
    " answer of the page is in no channel: it is verified, and an expert asked, in one that its reader names."
)
_SHARING = ".answers.sharing"
_MANAGE = ".management.operations:manage"
_ROWS: tuple[tuple[str, type, str, Permission, str], ...] = (
    ("rate-answer", answers.RateAnswer, ".answers.rating:rate_answer", "ask", "say whether an answer helped"),
    ("share-answer", answers.ShareAnswer, f"{_SHARING}:share_answer", "ask", "share an answer by a link"),
    ("unshare-answer", answers.UnshareAnswer, f"{_SHARING}:unshare_answer", "ask", "end the link to an answer"),
    ("shared-answers", answers.ListSharedAnswers, f"{_SHARING}:list_shared_answers", "ask", "answers that you share"),
    ("shared-answer", answers.GetSharedAnswer, f"{_SHARING}:get_shared_answer", "read", "show a shared answer"),
    ("answer-actions", management.GetAnswerActions, _MANAGE, "read", "what you may do with an answer of yours"),
    ("ask-expert", management.AskExpert, _MANAGE, "write", "ask an expert what was not answered well"),
)
ANSWER_ROWS = tuple(
    Capability(
        name,
        request,
        handler,
        Surface.HTTP | Surface.PAGE,
        permission=permission,
        summary=summary,
        derived=Surface.HTTP,
        kept=KEPT,
    )
    for name, request, handler, permission, summary in _ROWS
)
