"""Validate questions before they are answered."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from engine.bounds import QUESTION_BOUNDS, check_numbers
from engine.errors import InvalidQuestion
from engine.models import RetrievalMode

if TYPE_CHECKING:
    from engine.models import Question

MAX_QUESTION_CHARACTERS = 8_000
MODES = frozenset(get_args(RetrievalMode))


def check_question(question: Question) -> None:
    """Raise InvalidQuestion if the text is missing, empty or too long, or a field is out of bounds."""
    if not isinstance(question.text, str):
        raise InvalidQuestion(
            f"A question must be text, not {type(question.text).__name__}.", hint="Pass the question as a string."
        )
    if not question.text.strip():
        raise InvalidQuestion("The question is empty.", hint="Enter a question.")
    if len(question.text) > MAX_QUESTION_CHARACTERS:
        raise InvalidQuestion(
            f"The question has {len(question.text):,} characters; the limit is {MAX_QUESTION_CHARACTERS:,}.",
            hint="Share the long text as a file and ask about it.",
        )
    if question.mode not in MODES:
        raise InvalidQuestion(
            f"There is no retrieval mode “{question.mode}”.", hint=f"Use one of: {', '.join(sorted(MODES))}."
        )
    check_numbers(question, QUESTION_BOUNDS)
