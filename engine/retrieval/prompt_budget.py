"""What the prompt of an answer is made of, and how many tokens of it are left for sources."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import accumulate
from typing import TYPE_CHECKING

from engine.models import Prompt

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

    from engine.models import ChatTurn, Context, Question
    from engine.runtime import Runtime
    from engine.text.tokenizer import O200kTokenizer

SOURCE_NUMBER_TOKENS = 3  # tokens that a number of a source takes in a row of the graph, with what stands around it
JOIN_TOKENS = 1  # tokens between two rows or blocks
RESERVED_TOKENS = 200  # tokens that are left free: text that is joined may have a few more tokens than its parts


def build_prompt(question: Question, found: Context) -> Prompt:
    """All that an answer to a question is made of."""
    return Prompt(
        question.text,
        found,
        question.history,
        question.instructions,
        question.style,
        question.model,
        question.asker,
        current_day(),
        token_budget=question.max_total_tokens,
    )


def count_prompt_tokens(runtime: Runtime, prompt: Prompt) -> int:
    """The tokens of the messages that a model would be sent."""
    return sum(runtime.tokenizer.count(message.content) for message in runtime.language.build_answer_messages(prompt))


def current_day() -> date:
    """The day that a model is told, and that usage is booked on."""
    return datetime.now(UTC).date()


def count_fitting_sizes(sizes: Sequence[int], budget: int) -> int:
    """How many of the sizes, from the first on, fit into a budget together."""
    return sum(total <= budget for total in accumulate(sizes))


def newest_turns(history: Sequence[ChatTurn], tokens: int, tokenizer: O200kTokenizer) -> tuple[ChatTurn, ...]:
    """As many of the newest turns as fit, in order."""
    kept: list[ChatTurn] = []
    for turn in reversed(history):
        tokens -= tokenizer.count(turn.text)
        if tokens < 0:
            break
        kept.append(turn)
    return tuple(reversed(kept))
