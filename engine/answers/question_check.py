"""Whether a question can be asked as it stands."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from engine.bounds import QUESTION, check_numbers
from engine.errors import BadQuestion
from engine.models import Mode

if TYPE_CHECKING:
    from engine.models import Question

LONGEST_QUESTION = 8_000  # characters
MODES = frozenset(get_args(Mode))


def check_question(question: Question) -> None:
    """BadQuestion for what cannot be asked."""
    if not isinstance(question.text, str):
        raise BadQuestion(f"A question must be text, not {type(question.text).__name__}.", hint="Ask in words.")
    if not question.text.strip():
        raise BadQuestion("The question is empty.", hint="Ask something in words.")
    if len(question.text) > LONGEST_QUESTION:
        raise BadQuestion(
            f"The question has {len(question.text):,} characters; {LONGEST_QUESTION:,} are allowed.",
            hint="Share a long text as a file and ask about it.",
        )
    if question.mode not in MODES:
        raise BadQuestion(f"There is no mode “{question.mode}”.", hint=f"One of: {', '.join(sorted(MODES))}.")
    check_numbers(question, QUESTION)
