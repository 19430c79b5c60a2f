"""Whether a question can be asked as it stands."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from engine.bounds import QUESTION_BOUNDS, check_numbers
from engine.errors import InvalidQuestion
from engine.models import RetrievalMode

if TYPE_CHECKING:
    from engine.models import Question

MAX_QUESTION_CHARACTERS = 8_000  # characters
MODES = frozenset(get_args(RetrievalMode))


def check_question(question: Question) -> None:
    """InvalidQuestion for what cannot be asked."""
    if not isinstance(question.text, str):
        raise InvalidQuestion(f"A question must be text, not {type(question.text).__name__}.", hint="Ask in words.")
    if not question.text.strip():
        raise InvalidQuestion("The question is empty.", hint="Ask something in words.")
    if len(question.text) > MAX_QUESTION_CHARACTERS:
        raise InvalidQuestion(
            f"The question has {len(question.text):,} characters; {MAX_QUESTION_CHARACTERS:,} are allowed.",
            hint="Share a long text as a file and ask about it.",
        )
    if question.mode not in MODES:
        raise InvalidQuestion(f"There is no mode “{question.mode}”.", hint=f"One of: {', '.join(sorted(MODES))}.")
    check_numbers(question, QUESTION_BOUNDS)
