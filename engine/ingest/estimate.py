"""Estimate what a language model takes to read texts for the graph, before it reads them. Pure.

`python -m benchmarks.chat_cost` measures what is sent. How much a model says, and how fast, is assumed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.llm.client.protocol import ModelTraits

SENT_PER_TOKEN = 2.9  # tokens sent for each token of text, the instructions of shared calls and summaries included
SAID_PER_TOKEN = 1.0  # tokens of the replies for each token of text
CALL_TEXT_TOKENS = 1200  # of a shared call
CALL_SECONDS = 12.0  # of one call, at a usual speed of a hosted model


@dataclass(frozen=True, slots=True)
class IndexingEstimate:
    """About what indexing takes: tokens, seconds, and US dollars; `dollars` is None if the price is not known."""

    model: str
    text_tokens: int
    input_tokens: int
    output_tokens: int
    seconds: float
    dollars: float | None

    @property
    def tokens(self) -> int:
        """Tokens in both directions."""
        return self.input_tokens + self.output_tokens


def estimate_indexing(text_tokens: int, model: str, traits: ModelTraits, concurrency: int) -> IndexingEstimate:
    """About what a model takes to read texts of so many tokens, with so many calls at once."""
    sent, said = round(text_tokens * SENT_PER_TOKEN), round(text_tokens * SAID_PER_TOKEN)
    calls = -(-text_tokens // CALL_TEXT_TOKENS)
    seconds = -(-calls // concurrency) * CALL_SECONDS
    price = sent * traits.input_price + said * traits.output_price if traits.price_known else None
    return IndexingEstimate(model, text_tokens, sent, said, seconds, price)
