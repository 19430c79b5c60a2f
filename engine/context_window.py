"""How much a model takes at once, and the budgets that follow from it. All in o200k_base tokens."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from engine.errors import TooLong

if TYPE_CHECKING:
    from engine.ingest.chunking import Packing
    from engine.knowledge.summary_plan import Limits
    from engine.models import Question

LEAST = 2048  # a model with less cannot be given what extraction asks for
SAFETY = 0.9  # models count in tokens of their own; of most texts these are a few more
MOST_RESERVE = 2000
RESERVE_SHARE = 4
EXTRACTION_PROMPT, SUMMARY_PROMPT = 900, 300  # instructions that stand beside the text
OVERLAP_SHARE, SOFT_SHARE, JOIN_SHARE = 12, 2, 4  # of a chunk, and of a summary call
LETTERS, MOST_LETTERS = 3, 8  # of a token in most texts, at least and at most
SHORT_ANSWER, LONG_ANSWER, LONGEST_ANSWER = 1_000, 16_000, 100_000  # characters


@dataclass(frozen=True, slots=True)
class ContextWindow:
    """`size`: tokens of a prompt and its reply together, 0 if not known; `reserve`: those kept for the reply.

    With a reserve of 0 it is a fourth of the size, 2,000 at most. Budgets are left as they are if nothing is known.
    `reply`: the longest reply that the model is asked for, 0 for its own choice.
    """

    size: int = 0
    reserve: int = 0
    reply: int = 0

    def __post_init__(self) -> None:
        if self.size and self.prompt < EXTRACTION_PROMPT + SUMMARY_PROMPT:
            raise ValueError(f"{self.size:,} tokens are too few for a prompt and {self.kept:,} tokens of reply")

    @property
    def kept(self) -> int:
        """The tokens that are kept for the reply."""
        return self.reserve or min(MOST_RESERVE, self.size // RESERVE_SHARE)

    @property
    def answer(self) -> int:
        """The characters after which an answer is stopped: more than a model writes that keeps to its limit."""
        tokens = max(self.kept, self.reply)
        return min(max(SHORT_ANSWER, tokens * MOST_LETTERS), LONGEST_ANSWER) if tokens else LONG_ANSWER

    @property
    def prompt(self) -> int:
        """The longest prompt, 0 if that is not known."""
        return int((self.size - self.kept) * SAFETY)

    @property
    def excerpt(self) -> int:
        """The longest text that an extraction call has room for, 0 if that is not known."""
        return self.prompt - EXTRACTION_PROMPT if self.size else 0

    def check(self, tokens: int, model: str) -> None:
        """Raise TooLong for a prompt that the model has no room for."""
        if self.size and tokens > self.size - self.kept:
            raise TooLong(
                f"The prompt has {tokens:,} tokens, and {model} takes {self.size:,},"
                f" of which {self.kept:,} are kept for its reply.",
                hint="If the model takes more, raise THREADLORE_CONTEXT_TOKENS (and THREADLORE_NUM_CTX with Ollama);"
                " else choose a model with a larger context, or ask for less at once.",
            )

    def question(self, question: Question) -> Question:
        """The question with budgets that fit."""
        if not self.size or question.max_total_tokens <= self.prompt:
            return question
        share = self.prompt / question.max_total_tokens
        return replace(
            question,
            max_total_tokens=self.prompt,
            max_entity_tokens=int(share * question.max_entity_tokens),
            max_relation_tokens=int(share * question.max_relation_tokens),
        )

    def packing(self, packing: Packing) -> Packing:
        """Chunks that an extraction call has room for."""
        if not self.size or packing.size <= self.excerpt:
            return packing
        size = self.excerpt
        overlap, soft = min(packing.overlap, size // OVERLAP_SHARE), min(packing.soft, size // SOFT_SHARE)
        return replace(packing, size=size, overlap=overlap, soft=soft)

    def describing(self, limits: Limits) -> Limits:
        """Summaries whose calls fit."""
        if not self.size or limits.call_tokens <= self.prompt - SUMMARY_PROMPT:
            return limits
        tokens = self.prompt - SUMMARY_PROMPT
        return replace(
            limits,
            call_tokens=tokens,
            join_tokens=min(limits.join_tokens, tokens // JOIN_SHARE),
            together_letters=min(limits.together_letters, tokens * LETTERS),
        )
