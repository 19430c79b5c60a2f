"""Dollars of a month by what reads texts for the graph: `python -m benchmarks.monthly_cost [MODELS…]`.

5,000 messages a day, 300 documents a month, 300 questions a day, at the prices and by the estimates of the program. And
what shared calls save: a day of messages in 20 channels, cut into conversations and calls as the program does it, with
a call for each conversation beside calls that wait. The day is made up; no model is called.
"""

from __future__ import annotations

import argparse
import asyncio
import random
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

from bot.model_setup.monthly_cost import MonthlyUse, price_month
from engine.ingest.extraction_batches import LingeringSpaces, build_batches
from engine.llm.client.client import ModelClient
from engine.llm.client.protocol import ModelTraits
from engine.llm.config import ModelConfig
from engine.options import EXTRACTION_PROMPT_TOKENS
from engine.parsers.chat_export import CONVERSATION_GAP, ChatMessage, group_conversations
from engine.storage.ledger.records.content import UnextractedChunk
from engine.text.tokenizer import O200kTokenizer

MESSAGES = 5_000  # a day
USE = MonthlyUse(MESSAGES, documents=300, questions=300)
MODELS = ("gpt-4o-mini", "anthropic/claude-haiku-4-5")
CHANNELS, HOURS, LINGER_SECONDS, CALL_TOKENS = 20, 10, 900.0, 1600
OTHER_CALL_TOKENS = (800, 1200, 2400, 3200, 6400)
TALKS, PEOPLE, START = 1_000, ("Ada", "Ben", "Eve", "Otto"), datetime(2026, 3, 2, 8, tzinfo=UTC)
WORDS = ("ferry", "roof", "bread", "lamp", "rope", "goat", "tide", "net", "mill", "oven", "sail", "barn")


def simulate_day(seed: int = 7) -> list[tuple[float, int]]:
    """The conversations of a day in the public channels of a workspace: seconds until each ended, and its tokens."""
    chance, count = random.Random(seed), O200kTokenizer().count
    messages = dict[int, list[ChatMessage]]()
    for number in range(TALKS):
        messages.setdefault(number % CHANNELS, []).extend(_simulate_talk(chance, number))
    found = list[tuple[float, int]]()
    for channel in messages.values():
        for conversation in group_conversations(sorted(channel, key=lambda one: one.time), count):
            last = max(passage.time for passage in conversation.passages if passage.time)
            ended = (last - START + CONVERSATION_GAP).total_seconds()
            found.append((ended, sum(count(passage.text) for passage in conversation.passages)))
    return sorted(found)


def _simulate_talk(chance: random.Random, number: int) -> Iterator[ChatMessage]:
    """A few messages, one after another; half of the talks are threads."""
    moment, thread = (
        START + timedelta(seconds=chance.uniform(0, HOURS * 3600)),
        f"{number}-0" * (number // CHANNELS % 2),
    )
    for part in range(chance.randint(1, 2 * MESSAGES // TALKS - 1)):
        text = "I looked after the " + " and the ".join(chance.sample(WORDS, chance.randint(1, 6)))
        yield ChatMessage(f"{number}-{part}", chance.choice(PEOPLE), text, moment, thread, "")
        moment += timedelta(seconds=chance.expovariate(1 / 60))


def count_calls(conversations: Sequence[tuple[float, int]], longest: float, call_tokens: int = CALL_TOKENS) -> int:
    """The calls of a day; `longest`: seconds that a conversation waits for others, which share up to `call_tokens`."""
    calls, waiting, spaces, coming = 0, list[UnextractedChunk](), LingeringSpaces(longest), list(conversations)
    now = 0.0
    while coming or waiting:
        while coming and coming[0][0] <= now:
            tokens = coming.pop(0)[1]
            waiting.append(UnextractedChunk(len(coming), len(coming), "", "", 0, 1, tokens, "conversation"))
        due = spaces.select_due(build_batches(waiting, call_tokens), now, lambda _: False)
        read = {chunk.id for batch in due for chunk in batch.chunks}
        waiting = [chunk for chunk in waiting if chunk.id not in read]
        calls, now = calls + len(due), now + 1.0
    return calls


async def describe(models: Sequence[str]) -> list[ModelTraits]:
    """The traits of the models, with their prices."""
    client = ModelClient()
    try:
        return [await client.describe(ModelConfig(model)) for model in models]
    finally:
        await client.close()


def main() -> None:
    """Print both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="*", default=MODELS)
    models = parser.parse_args().models
    print(f"{'dollars a month':32}{'model':>9}{'auto':>9}{'rules':>9}")
    for name, traits in zip(models, asyncio.run(describe(models)), strict=True):
        cost = price_month(traits, USE)
        dollars = (cost.answers + cost.documents + cost.messages, cost.answers + cost.documents, cost.answers)
        shown = [f"{dollar:9.1f}" if traits.price_known else f"{'unknown':>9}" for dollar in dollars]
        print(f"{name:32}{''.join(shown)}")
    day = simulate_day()
    text = sum(tokens for _, tokens in day)
    print(f"\nabout {MESSAGES:,} messages: {len(day)} conversations, {text:,} tokens")
    for what, seconds in (("a call each", 0.0), ("5 seconds", 5.0), ("15 minutes", LINGER_SECONDS)):
        calls = count_calls(day, seconds) if seconds else len(day)
        print(f"{what:16}{calls:6,} calls{text + calls * EXTRACTION_PROMPT_TOKENS:12,} tokens sent")
    for tokens in OTHER_CALL_TOKENS:
        calls = count_calls(day, LINGER_SECONDS, tokens)
        shared = text + calls * EXTRACTION_PROMPT_TOKENS
        print(f"15 minutes, up to {tokens:,} tokens a call: {calls:,} calls {shared:,} tokens sent")


if __name__ == "__main__":
    main()
