"""Estimate what a language model takes to read texts for the graph, before it reads them.

`python -m benchmarks.chat_cost` measures what is sent. How much a model says, and how fast, is assumed.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.errors import EngineError
from engine.llm.client.protocol import ModelTraits

if TYPE_CHECKING:
    from engine.llm.client.client import ModelClient
    from engine.llm.config import ModelConfig

SENT_PER_TOKEN = 2.9  # tokens sent for each token of text, the instructions of shared calls and summaries included
SAID_PER_TOKEN = 1.0  # tokens of the replies for each token of text
CALL_TEXT_TOKENS = 1200  # of a shared call
MUCH_DOLLARS, MUCH_TOKENS, MUCH_SECONDS = 1.0, 2_000_000, 1800.0  # from which a person is asked
DESCRIBE_SECONDS = 30.0  # to learn the price of a model; the first call loads a library
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


@dataclass(frozen=True, slots=True)
class IndexingEstimator:
    """Estimates what the model for extraction takes. `concurrency`: its calls at once.

    `reads_messages`: whether it reads conversations, too.
    """

    client: ModelClient
    model: ModelConfig
    concurrency: int
    reads_messages: bool = True

    async def estimate(self, text_tokens: int) -> IndexingEstimate:
        """About what texts of so many tokens take; without a price if the provider does not say it soon."""
        traits = ModelTraits()
        with suppress(EngineError, TimeoutError):
            async with asyncio.timeout(DESCRIBE_SECONDS):
                traits = await self.client.describe(self.model)
        return estimate_indexing(text_tokens, self.model.model, traits, self.concurrency)


def is_much(tokens: int, dollars: float | None, seconds: float) -> bool:
    """Whether a person is asked before a model takes so much; tokens count where the price is not known. Pure."""
    costs = tokens >= MUCH_TOKENS if dollars is None else dollars >= MUCH_DOLLARS
    return costs or seconds >= MUCH_SECONDS
