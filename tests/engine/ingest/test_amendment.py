"""Amending a document gives the same result as adding it whole, and costs only what surrounds the change."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from engine.clock import SYSTEM_CLOCK
from engine.errors import NotFound
from engine.ingest import chunking
from engine.ingest.chunking import build_chunks, rechunk_region
from engine.models import Document, Passage
from engine.options import ChunkingOptions, EngineOptions
from engine.storage.ledger import Ledger
from engine.storage.ledger.content.amendments import Amendments
from engine.storage.ledger.content.documents import Documents, sort_passages
from engine.storage.ledger.records.content import AmendmentResult, DocumentChange
from engine.storage.ledger.work.work_queue import WorkQueue
from engine.storage.sql.connection import Connection
from engine.storage.sql.database import writing
from engine.text.tokenizer import O200kTokenizer
from tests.engine.storage.ledger.ledger_fixture import LedgerFixture
from tests.support.engine_fixture import HERE, open_memory_engine, thread
from tests.support.tokenizers import CharacterTokenizer

START = datetime(2026, 11, 20, 9, tzinfo=UTC)
PACKING = ChunkingOptions(size=40, overlap=4, target_size=16, hash_modulo=3)
PIECES = (
    "SELECT c.key, i.ordinal, p.key, i.start_offset, i.end_offset FROM chunk_passage i, chunk c, passage p"
    " WHERE c.id = i.chunk AND p.id = i.passage ORDER BY c.ordinal, i.ordinal"
)
STATE = (
    "SELECT key, position, time, author, text FROM passage ORDER BY key",
    "SELECT key, ordinal, tokens, time, first_time, text FROM chunk ORDER BY ordinal",
    PIECES,
)


def conversation(passages: Iterable[Passage]) -> Document:
    return Document("d", "here", "hall", "D", sort_passages(passages), START, kind="conversation", is_open=True)


@asynccontextmanager
async def opened(
    path: Path, document: Document, tokenizer: Any, packing: ChunkingOptions
) -> AsyncIterator[LedgerFixture]:
    """A ledger with one document."""
    ledger = LedgerFixture(await Ledger.open(path, clock=SYSTEM_CLOCK))
    chunks = build_chunks(document.passages, tokenizer, packing)
    await ledger.write(Documents.save, document, chunks)
    yield ledger
    await ledger.ledger.close()


class MergingTokenizer(CharacterTokenizer):
    """Counts a joined text as more than its parts, as real tokenizers may."""

    def count(self, text: str) -> int:
        return len(text) + 2 * text.count("s\ny")


def random_message(chance: random.Random, key: str) -> Passage:
    """Short ones, long ones that make windows, blank ones, and repeated words."""
    text = chance.choice(["ok", " ", "x" * chance.randrange(1, 20), "yes no " * chance.randrange(1, 5), "y" * 95])
    if chance.random() < 0.7:
        text += f" {key}"
    time = chance.choice([None, START + timedelta(minutes=chance.randrange(60))])
    return Passage(key, text, author=chance.choice("ab"), time=time, position=chance.choice([0, 0, 0, 1]))


@pytest.mark.share(4)
@pytest.mark.parametrize("tokenizer", [CharacterTokenizer(), MergingTokenizer()], ids=["plain", "merging"])
@pytest.mark.parametrize("seed", range(4))
async def test_amending_comes_to_what_adding_it_whole_does(
    tmp_path: Path, tokenizer: CharacterTokenizer, seed: int
) -> None:
    chance = random.Random(seed)
    present = {f"m{n:03}": random_message(chance, f"m{n:03}") for n in range([3, 60][seed % 2])}
    present["m"] = Passage("m", "something")
    async with opened(tmp_path / "amended.db", conversation(present.values()), tokenizer, PACKING) as ledger:
        for step in range(25):
            keys = [chance.choice([f"n{step}", *present]) for _ in range(chance.choice([1, 1, 1, 3]))]
            upserted = tuple(random_message(chance, key) for key in keys) if chance.random() < 0.7 else ()
            removed = frozenset(() if upserted and chance.random() < 0.8 else chance.sample(sorted(present), 1)) - {"m"}
            present = {key: each for key, each in present.items() if key not in removed}
            present |= {each.key: each for each in upserted}
            change = DocumentChange(upserted, removed, None)
            await ledger.ledger.amendments.amend("d", change, lambda region: rechunk_region(region, tokenizer, PACKING))
            whole = build_chunks(conversation(present.values()).passages, tokenizer, PACKING)
            assert await ledger.column("SELECT text FROM chunk ORDER BY ordinal") == [chunk.text for chunk in whole]
        async with opened(tmp_path / "whole.db", conversation(present.values()), tokenizer, PACKING) as added:
            assert [await ledger.rows(sql) for sql in STATE] == [await added.rows(sql) for sql in STATE]


async def test_a_document_of_which_nothing_is_left_is_forgotten(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path) as engine:
        await engine.documents.add(thread("a", "Ada met Bob.", "Bob met Ada."))
        assert await engine.documents.amend("a", remove=["m000", "m001"])
        assert await engine.documents.list(HERE) == []
        with pytest.raises(NotFound):
            await engine.documents.amend("a", upsert=[Passage("x", "text")])


async def test_what_changes_nothing_changes_nothing(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path) as engine:
        added = thread("a", "Ada met Bob.", "Bob met Ada.")
        await engine.documents.add(added)
        assert not await engine.documents.amend("a", upsert=added.passages[:1], remove=["unknown"])
        assert [await engine.documents.amend("a", is_open=is_open) for is_open in (True, False, False)] == [
            False,
            True,
            False,
        ]
        assert await engine.documents.amend("a", upsert=[replace(added.passages[0], author="Cyd")])


async def test_amendments_at_the_same_time_all_come_through(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path) as engine:
        await engine.documents.add(thread("a", "Ada met Bob."))
        texts = [Passage(f"x{n:02}", f"Ada met number {n}.", position=n + 1) for n in range(20)]
        await asyncio.gather(*(engine.documents.amend("a", upsert=[text]) for text in texts))
        passages = (await engine.documents.get("a", HERE)).passages
        assert [passage.key for passage in passages] == ["m000", *(text.key for text in texts)]


async def test_repeated_conflicts_end_in_one_transaction(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def conflict(*_: object) -> AmendmentResult:
        return AmendmentResult.CONFLICT

    async with open_memory_engine(tmp_path) as engine:
        await engine.documents.add(thread("a", "Ada met Bob."))
        monkeypatch.setattr(engine._ledger.amendments, "apply", conflict)
        assert await engine.documents.amend("a", upsert=[Passage("x", "Bob met Cyd.", position=9)])
        assert len((await engine.documents.get("a", HERE)).passages) == 2


class CountingTokenizer(O200kTokenizer):
    """Counts the texts whose tokens are counted."""

    def __init__(self) -> None:
        self.texts = 0

    def count(self, text: str) -> int:
        self.texts += 1
        return super().count(text)


def long_thread(count: int) -> Document:
    return conversation(
        Passage(f"m{n:05}", f"[09:{n % 60:02}] Ada: message {n} about the ferry.", time=START + timedelta(minutes=n))
        for n in range(count)
    )


async def test_a_message_costs_the_same_in_a_long_thread_as_in_a_short_one(tmp_path: Path) -> None:
    """In texts that are cut and in steps of the database: at the start, in the middle and at the end."""

    async def costs(count: int) -> list[tuple[int, int]]:
        found = list[tuple[int, int]]()
        packing, document = ChunkingOptions(), long_thread(count)
        async with opened(tmp_path / f"{count}.db", document, O200kTokenizer(), packing) as ledger:
            for at in (0.0, 0.5, 1.0):
                tokenizer, steps = CountingTokenizer(), list[None]()
                time = START + timedelta(minutes=at * count, seconds=30)
                new = Passage(f"new{at}", "[10:00] Bob: when does it leave?", time=time)
                assert isinstance(ledger.ledger, Ledger)
                await ledger.ledger._writer.set_progress_handler(lambda: steps.append(None), 100)  # noqa: B023
                change = DocumentChange((new,), frozenset(), None)
                await ledger.ledger.amendments.amend(
                    "d",
                    change,
                    lambda region: rechunk_region(region, tokenizer, packing),  # noqa: B023
                )
                found.append((tokenizer.texts, len(steps)))
        return found

    for short, long in zip(await costs(400), await costs(3000), strict=True):
        assert long[0] <= 1.5 * short[0] + 60
        assert long[1] <= 1.5 * short[1] + 60


async def test_the_writers_thread_cuts_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    is_writing = False

    def apply(amendments: Amendments[Connection], *args: Any) -> Any:
        nonlocal is_writing
        is_writing = True
        try:
            return original_apply(amendments.db, *args)
        finally:
            is_writing = False

    def cut(*args: Any) -> Any:
        assert not is_writing
        return original_cut(*args)

    original_apply, original_cut = Amendments.apply, rechunk_region
    monkeypatch.setattr(Amendments, "apply", writing(apply))
    monkeypatch.setattr(chunking, "rechunk_region", cut)
    async with open_memory_engine(tmp_path) as engine:
        await engine.documents.add(long_thread(300))
        assert await engine.documents.amend("d", upsert=[Passage("new", "Bob asks.", time=START)])


async def test_added_words_make_no_compaction_due_and_replaced_or_removed_ones_do(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path, options=EngineOptions(compaction_delay=3600)) as engine:
        await engine.documents.add(thread("a", "Ada met Bob."))
        await engine.wait_until_indexed()

        async def is_due() -> bool:
            return await engine._ledger.read(WorkQueue.needs_compaction)

        for n in range(3):
            await engine.documents.amend("a", upsert=[Passage(f"x{n}", f"Bob met number {n}.", position=n + 1)])
            assert not await is_due()
        await engine.documents.amend("a", is_open=False)
        await engine.wait_until_indexed()
        assert not await is_due()
        await engine.documents.amend("a", upsert=[Passage("x1", "Bob met nobody.", position=2)])
        assert await is_due()
        await engine.maintenance.compact()
        assert not await is_due()
        await engine.documents.amend("a", remove=["x2"])
        assert await is_due()
