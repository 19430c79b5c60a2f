"""One long thread of which message after message is deleted: each deletion is read anew in at most two chunks."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from functools import cache

import pytest

from engine import Engine
from engine.ingest.chunking import build_chunks
from engine.models import Document, Passage
from engine.options import ChunkingOptions
from engine.storage.ledger.content.chunks import chunks_by_key
from engine.text.tokenizer import O200kTokenizer
from tests.support.engine_fixture import HERE, canonical_export
from tests.support.toy_language import ToyLanguage

START = datetime(2026, 11, 20, 9, tzinfo=UTC)
MESSAGES, WORDS = 400, 20
VOCABULARY = [f"{a}{b}{c}" for a in ("ka", "lo", "mi", "ru") for b in ("na", "te", "so") for c in ("l", "n", "r", "s")]
NAMES = ("Ada", "Bob", "Carla", "Dora")


def build_messages() -> tuple[Passage, ...]:
    """Messages of twenty words, some of which name somebody."""
    dice = random.Random(400)
    made = []
    for n in range(MESSAGES):
        words = dice.choices(VOCABULARY, k=WORDS)
        if n % 10 == 0:
            words[:2] = dice.sample(NAMES, 2)
        time = START + timedelta(minutes=n)
        text = f"[{time:%Y-%m-%d %H:%M}] Ada: {' '.join(words)}."
        made.append(Passage(f"m{n:03}", text, f"{time:%H:%M}", author="Ada", time=time, position=n))
    return tuple(made)


class CachingTokenizer(O200kTokenizer):
    """Counts every text once."""

    encode = cache(O200kTokenizer.encode)


def count_calls_by_message(thread: tuple[Passage, ...]) -> dict[int, int]:
    """For every fourth message, the chunks that are new once it is deleted from the thread: each is one call."""
    tokenizer, packing = CachingTokenizer(), ChunkingOptions()
    before = chunks_by_key("thread", build_chunks(thread, tokenizer, packing)).keys()
    rests = {n: thread[:n] + thread[n + 1 :] for n in range(0, len(thread), 4)}
    return {
        n: len(chunks_by_key("thread", build_chunks(rest, tokenizer, packing)).keys() - before)
        for n, rest in rests.items()
    }


@pytest.mark.long
async def test_deleting_any_message_costs_two_calls_at_most_on_average(light: Engine, language: ToyLanguage) -> None:
    thread = build_messages()
    expected = count_calls_by_message(thread)
    assert sum(expected.values()) / len(expected) <= 2
    await light.documents.add(Document("thread", "here", "hall", "A long thread", thread, START, kind="conversation"))
    await light.wait_until_indexed()
    assert (await light.maintenance.get_status(HERE)).chunks >= 10
    before = await canonical_export(light)
    dice = random.Random(1)
    for n in [*dice.sample([*expected], 4), max(expected, key=expected.__getitem__)]:
        language.calls.clear()
        await light.documents.amend("thread", remove=[thread[n].key])
        await light.wait_until_indexed()
        assert language.calls["extract"] == expected[n]
        await light.documents.amend("thread", upsert=[thread[n]])
        await light.wait_until_indexed()
    assert await canonical_export(light) == before


@pytest.mark.long
async def test_deleting_one_message_after_the_other_costs_no_more(light: Engine, language: ToyLanguage) -> None:
    thread = build_messages()[:100]
    await light.documents.add(Document("thread", "here", "hall", "A long thread", thread, START, kind="conversation"))
    await light.wait_until_indexed()
    language.calls.clear()
    gone = random.Random(2).sample(thread, 20)
    for message in gone:
        await light.documents.amend("thread", remove=[message.key])
        await light.wait_until_indexed()
    assert language.calls["extract"] / len(gone) <= 2
    left = await canonical_export(light)
    await light.documents.forget("thread")
    kept = tuple(message for message in thread if message not in gone)
    await light.documents.add(Document("thread", "here", "hall", "A long thread", kept, START, kind="conversation"))
    await light.wait_until_indexed()
    assert await canonical_export(light) == left
