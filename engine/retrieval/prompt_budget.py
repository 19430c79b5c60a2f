"""Prompt budget: builds the prompt of an answer and counts how many tokens are left for graph rows and sources."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, TypeVar

from engine.llm.source_lines import cite_history
from engine.models import Prompt
from engine.text.tokenizer import count_fitting

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from engine.models import ChatTurn, Context, Question
    from engine.runtime import Runtime
    from engine.text.tokenizer import Tokenizer

Item = TypeVar("Item")

SOURCE_NUMBER_TOKENS = 3  # tokens of one source number in a row of the graph, punctuation included
JOIN_TOKENS = 1  # tokens between two rows or blocks
_OFFSET_LENGTH = len("+00:00")
RESERVED_TOKENS = 200  # tokens kept free: joined text may have a few more tokens than its parts


def build_prompt(question: Question, context: Context, now: datetime) -> Prompt:
    """The prompt of an answer: question, history, settings, context, and the day where the person asking is.

    What was said before a question as of a day may be of later days: such a question is given without its history, as
    it stands alone.
    """
    local, as_of = now.astimezone(question.zone), question.filters.as_of
    return Prompt(
        context.question.question if as_of and question.history else question.text,
        context,
        () if as_of else cite_history(question.history, context.sources),
        question.instructions,
        question.style,
        question.model,
        question.asker,
        local.date(),
        token_budget=question.max_total_tokens,
        utc_offset=local.isoformat()[-_OFFSET_LENGTH:],
        zone=question.zone,
    )


def count_prompt_tokens(runtime: Runtime, prompt: Prompt) -> int:
    """The tokens of the messages that the prompt sends to the model."""
    return sum(runtime.tokenizer.count(message.content) for message in runtime.language.build_answer_messages(prompt))


def count_fitting_sizes(sizes: Sequence[int], budget: int) -> int:
    """How many of the sizes, from the first on, fit into a budget together."""
    return sum(total <= budget for total in accumulate(sizes))


def truncate_to_budget(
    items: Sequence[Item], rows: Iterable[str], budget: int, tokenizer: Tokenizer
) -> tuple[list[Item], int]:
    """The first items whose rows, joined by newlines, fit into the budget (tokens), and the tokens of these rows."""
    sizes = count_fitting(rows, budget, tokenizer)
    return list(items[: len(sizes)]), sum(sizes)


def tokens_for_sources(total: int, prompt: int, graph: int) -> int:
    """Tokens left for sources in addition to a prompt (with its history) and graph rows; 0 if these fill the total."""
    return max(0, total - prompt - graph - RESERVED_TOKENS)


def newest_turns(history: Sequence[ChatTurn], tokens: int, tokenizer: Tokenizer) -> tuple[ChatTurn, ...]:
    """The newest turns that fit into the tokens, in order; an answer is counted with the titles of its sources."""
    kept: list[ChatTurn] = []
    for turn, titled in zip(reversed(history), reversed(cite_history(history, ())), strict=True):
        tokens -= tokenizer.count(titled.text)
        if tokens < 0:
            break
        kept.append(turn)
    return tuple(reversed(kept))
