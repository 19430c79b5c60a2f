"""Estimate what a model costs in a month, before it is used."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine import ModelClient
from engine.errors import EngineError
from engine.ingest.estimate import DESCRIBE_SECONDS, estimate_indexing
from engine.llm.client.protocol import ModelTraits
from engine.llm.client.subprocess import SubprocessProvider
from engine.options import DEFAULT_PROMPT_TOKENS

if TYPE_CHECKING:
    from engine import ModelConfig

DAYS = 30
MESSAGE_TOKENS, DOCUMENT_TOKENS = 30, 5_000  # of a line with its time and author; of ten pages
REWRITE_TOKENS, REPLY_TOKENS = 700, 400  # of a question: the call that rewrites it, and what is said in both


@dataclass(frozen=True, slots=True)
class MonthlyUse:
    """What a team writes and asks: messages and questions of a day, documents of a month."""

    messages: int
    documents: int
    questions: int


TEAM = MonthlyUse(messages=500, documents=50, questions=30)  # of about twenty people


@dataclass(frozen=True, slots=True)
class MonthlyCost:
    """About the US dollars of a month: of answers, and of reading documents and messages for the graph."""

    answers: float
    documents: float
    messages: float


def price_month(traits: ModelTraits, use: MonthlyUse) -> MonthlyCost:
    """The cost of a month at the prices of a model."""
    sent, said = DEFAULT_PROMPT_TOKENS + REWRITE_TOKENS, REPLY_TOKENS
    answers = DAYS * use.questions * (sent * traits.input_price + said * traits.output_price)
    documents, messages = use.documents * DOCUMENT_TOKENS, DAYS * use.messages * MESSAGE_TOKENS
    read = (estimate_indexing(amount, "", traits, 1).dollars or 0.0 for amount in (documents, messages))
    return MonthlyCost(answers, *read)


async def estimate_month(model: ModelConfig, use: MonthlyUse) -> MonthlyCost | None:
    """The cost of a month with a model; None if its price is not known."""
    client, traits = ModelClient(provider=SubprocessProvider()), ModelTraits()
    try:
        with suppress(EngineError, TimeoutError):
            async with asyncio.timeout(DESCRIBE_SECONDS):
                traits = await client.describe(model)
    finally:
        await client.close()
    return price_month(traits, use) if traits.price_known else None
