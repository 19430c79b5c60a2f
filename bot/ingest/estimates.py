"""Estimate what it takes to index a history, before it is read, and say it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import suppress
from typing import TYPE_CHECKING

from bot.i18n import gettext
from bot.text.format import format_duration, format_number, round_figure
from engine.errors import EngineError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import datetime

    from bot.context import BotContext
    from bot.platform.models import Location, Message
    from engine.ingest.estimate import IndexingEstimate

LINE_TOKENS = 14  # the time and the author that stand before a message
SAMPLE_PAGES = 2  # of a history, from which the rest is estimated
SAMPLE_SECONDS = 10.0  # to read them, at most
MIN_SPAN_SECONDS = 3600.0  # of a sample


def count_message_tokens(messages: Iterable[Message], count_tokens: Callable[[str], int]) -> int:
    """About the tokens of messages as they are indexed."""
    return sum(
        LINE_TOKENS + count_tokens(message.text) for message in messages if not message.own and message.text.strip()
    )


def extrapolate(tokens: int, sampled: float, whole: float) -> int:
    """The tokens of a whole time, from those of its newest part; both in seconds. Pure."""
    return tokens if sampled >= whole else round(tokens * whole / max(sampled, MIN_SPAN_SECONDS))


async def estimate_history(context: BotContext, location: Location, since: datetime) -> IndexingEstimate | None:
    """About what the history of a channel takes, by its newest pages; None without a model, or if it is not known."""
    estimator = context.engine_context.estimator
    if estimator is None or not estimator.reads_messages:
        return None
    with suppress(EngineError, TimeoutError):
        async with asyncio.timeout(SAMPLE_SECONDS):
            messages, is_whole = await _read_sample(context, location, since)
            tokens = count_message_tokens(messages, context.engine_context.count_tokens)
            if tokens and not is_whole:
                now, oldest = context.clock.now(), min(message.time for message in messages)
                tokens = extrapolate(tokens, (now - oldest).total_seconds(), (now - since).total_seconds())
            return await estimator.estimate(tokens) if tokens else None
    return None


async def _read_sample(context: BotContext, location: Location, since: datetime) -> tuple[Sequence[Message], bool]:
    """The newest messages of a channel, and whether they are all of them."""
    pages, found, number = context.platform_for(location).history(location, since), list["Message"](), 0
    try:
        async for page in pages:
            if number == SAMPLE_PAGES:
                return found, False
            found, number = [*found, *page], number + 1
        return found, True
    finally:
        if isinstance(pages, AsyncGenerator):
            await pages.aclose()


def describe_estimate(estimate: IndexingEstimate) -> str:
    """The estimate as a sentence."""
    price = gettext("price unknown") if estimate.dollars is None else f"${estimate.dollars:,.2f}"
    return gettext("For the graph, {model} takes about {tokens} tokens ({price}) and {time}.").format(
        model=f"`{estimate.model}`",
        tokens=format_number(round_figure(estimate.tokens)),
        price=price,
        time=format_duration(estimate.seconds),
    )
