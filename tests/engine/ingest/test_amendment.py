"""Amending a document comes to the same as adding it whole, and costs what stands around the change."""

from __future__ import annotations

import asyncio
import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from engine.errors import NotFound
from engine.ingest import amendment
from engine.ingest import rechunk as cutting
from engine.ingest.chunking import build_chunks
from engine.ingest.rechunk import rechunk_region
from engine.models import Document, Passage
from engine.options import ChunkingOptions, EngineOptions
from engine.storage.ledger import Ledger
from engine.storage.ledger.content import amendments, documents
from engine.storage.ledger.content.documents import sort_passages
from engine.storage.ledger.records.content import AmendmentResult, DocumentChange
from engine.storage.ledger.repositories import SqliteDocuments
from engine.storage.ledger.work import work_queue
from engine.storage.sqlite.repository import InTransaction
from engine.text.tokenizer import O200kTokenizer
from tests.engine.storage.ledger.ledger_fixture import Desk
from tests.support.engine_fixture import HERE, open_memory_engine, sqlite_ledger, thread
from tests.support.tokenizers import CharacterTokenizer

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from engine.storage.sqlite.connection import Connection

START = datetime(2026, 11, 20, 9, tzinfo=UTC)
PACKING = ChunkingOptions(size=40, overlap=4, target_size=16, hash_modulo=3)
PIECES = (
    "SELECT c.key, i.ordinal, p.key, i.start, i.stop FROM piece i, chunk c, passage p"
    " WHERE c.id = i.chunk AND p.id = i.passage ORDER BY c.ordinal, i.ordinal"
)
STATE = (
    "SELECT key, position, time, author, text FROM passage ORDER BY key",
    "SELECT key, ordinal, tokens, time, first, text FROM chunk ORDER BY ordinal",
    PIECES,
)


async def state(desk: Desk) -> list[list[tuple[Any, ...]]]:
    return [await desk.rows(sql) for sql in STATE]


async def whole(path: Path, passages: Iterable[Passage]) -> list[list[tuple[Any, ...]]]:
    """The ledger with the same document added at once."""
    desk = Desk(await Ledger.open(path))
    try:
        document = Document("d", "here", "hall", "D", sort_passages(passages), START, kind="conversation", is_open=True)
        await desk.ledger.write(
            documents.upsert_document, document, build_chunks(document.passages, CharacterTokenizer(), PACKING)
        )
        return await state(desk)
    finally:
        await desk.ledger.close()


def message(chance: random.Random, key: str) -> Passage:
    """Short ones, long ones that make windows, blank ones, and words that were said before."""
    text = chance.choice(["ok", " ", "x" * chance.randrange(1, 20), "yes no " * chance.randrange(1, 5), "y" * 95])
    if chance.random() < 0.7:
        text += f" {key}"
    time = chance.choice([None, START + timedelta(minutes=chance.randrange(60))])
    return Passage(key, text, author=chance.choice("ab"), time=time, position=chance.choice([0, 0, 0, 1]))


@pytest.mark.parametrize("seed", range(6))
async def test_any_amendments_come_to_what_adding_it_whole_does(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    present = {f"m{n:03}": message(chance, f"m{n:03}") for n in range(chance.choice([3, 60]))}
    present["m"] = Passage("m", "something")
    desk = Desk(await Ledger.open(tmp_path / "amended.db"))
    try:
        document = Document(
            "d", "here", "hall", "D", sort_passages(present.values()), START, kind="conversation", is_open=True
        )
        await desk.ledger.write(
            documents.upsert_document, document, build_chunks(document.passages, CharacterTokenizer(), PACKING)
        )
        for step in range(25):
            keys = [chance.choice([f"n{step}", *present]) for _ in range(chance.choice([1, 1, 1, 3]))]
            put = tuple(message(chance, key) for key in keys) if chance.random() < 0.7 else ()
            drop = frozenset(() if put and chance.random() < 0.8 else chance.sample(sorted(present), 1)) - {"m"}
            present = {key: each for key, each in present.items() if key not in drop} | {p.key: p for p in put}
            await desk.ledger.documents.amend(
                "d",
                DocumentChange(put, drop, None),
                lambda region: rechunk_region(region, CharacterTokenizer(), PACKING),
            )
            if step % 5 == 4:
                assert await state(desk) == await whole(tmp_path / f"whole{step}.db", present.values())
    finally:
        await desk.ledger.close()


async def test_a_document_of_which_nothing_is_left_is_forgotten(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path) as engine:
        await engine.add(thread("a", "Ada met Bob.", "Bob met Ada."))
        assert await engine.amend("a", remove=["m000", "m001"])
        assert await engine.list_documents(HERE) == []
        with pytest.raises(NotFound):
            await engine.amend("a", upsert=[Passage("x", "text")])


async def test_what_changes_nothing_changes_nothing(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path) as engine:
        added = thread("a", "Ada met Bob.", "Bob met Ada.")
        await engine.add(added)
        assert not await engine.amend("a", upsert=added.passages[:1], remove=["unknown"])
        assert not await engine.amend("a", is_open=True)
        assert await engine.amend("a", is_open=False)
        assert not await engine.amend("a", is_open=False)
        assert await engine.amend("a", upsert=[replace(added.passages[0], author="Cyd")])


async def test_amendments_at_the_same_time_all_come_through(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path) as engine:
        await engine.add(thread("a", "Ada met Bob."))
        texts = [Passage(f"x{n:02}", f"Ada met number {n}.", position=n + 1) for n in range(20)]
        await asyncio.gather(*(engine.amend("a", upsert=[each]) for each in texts))
        found = await engine.get_document("a", HERE)
        assert [passage.key for passage in found.passages] == ["m000", *(each.key for each in texts)]


async def test_an_amendment_that_always_comes_too_late_is_made_in_one_transaction(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def late(*_: object) -> AmendmentResult:
        return AmendmentResult.CONFLICT

    async with open_memory_engine(tmp_path) as engine:
        await engine.add(thread("a", "Ada met Bob."))
        monkeypatch.setattr(engine._ledger.documents, "apply_amendment", late)
        assert await engine.amend("a", upsert=[Passage("x", "Bob met Cyd.", position=9)])
        assert len((await engine.get_document("a", HERE)).passages) == 2


class Counting(O200kTokenizer):
    """Counts the texts whose tokens are counted."""

    def __init__(self) -> None:
        self.texts = 0

    def count(self, text: str) -> int:
        self.texts += 1
        return super().count(text)


def long_thread(count: int) -> Document:
    passages = tuple(
        Passage(f"m{n:05}", f"[09:{n % 60:02}] Ada: message {n} about the ferry.", time=START + timedelta(minutes=n))
        for n in range(count)
    )
    return Document("d", "here", "hall", "D", passages, START, kind="conversation", is_open=True)


@pytest.mark.parametrize("at", [0.0, 0.5, 1.0])
async def test_a_message_costs_the_same_in_a_long_thread_as_in_a_short_one(tmp_path: Path, at: float) -> None:
    """In texts that are cut, and in steps of the database's machine."""

    async def cost(count: int) -> tuple[int, int]:
        desk = Desk(await Ledger.open(tmp_path / f"{count}.db"))
        tokenizer, document = Counting(), long_thread(count)
        try:
            await desk.ledger.write(
                documents.upsert_document,
                document,
                build_chunks(document.passages, O200kTokenizer(), ChunkingOptions()),
            )
            time = START + timedelta(minutes=at * count, seconds=30)
            change = DocumentChange((Passage("new", "[10:00] Bob: when does it leave?", time=time),), frozenset(), None)

            steps: list[None] = []
            await desk.ledger._writer.set_progress_handler(lambda: steps.append(None), 100)
            await desk.ledger.documents.amend(
                "d", change, lambda region: rechunk_region(region, tokenizer, ChunkingOptions())
            )
            return tokenizer.texts, len(steps)
        finally:
            await desk.ledger.close()

    short, long = await cost(400), await cost(3000)
    assert long[0] <= 1.5 * short[0] + 60
    assert long[1] <= 1.5 * short[1] + 60


async def test_the_writer_s_thread_cuts_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writing = False

    async def within(db: Connection, *args: Any) -> Any:
        nonlocal writing
        writing = True
        try:
            return await apply(db, *args)
        finally:
            writing = False

    def cut(*args: Any) -> Any:
        assert not writing
        return recut(*args)

    apply, recut = amendments.apply_amendment, cutting.rechunk_region
    monkeypatch.setattr(SqliteDocuments, "apply_amendment", InTransaction(within), raising=False)
    monkeypatch.setattr(amendment, "rechunk_region", cut)
    async with open_memory_engine(tmp_path) as engine:
        await engine.add(long_thread(300))
        assert await engine.amend("d", upsert=[Passage("new", "Bob asks.", time=START)])


async def test_words_that_are_added_make_no_compaction_due(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path, options=EngineOptions(compaction_delay=3600)) as engine:
        await engine.add(thread("a", "Ada met Bob."))
        await engine.wait_until_indexed()

        async def due() -> bool:
            return await sqlite_ledger(engine._ledger).read(work_queue.needs_compaction)

        for n in range(3):
            await engine.amend("a", upsert=[Passage(f"x{n}", f"Bob met number {n}.", position=n + 1)])
            assert not await due()
        await engine.amend("a", is_open=False)
        await engine.wait_until_indexed()
        assert not await due()
        await engine.amend("a", upsert=[Passage("x1", "Bob met nobody.", position=2)])
        assert await due()
        await engine.compact()
        assert not await due()
        await engine.amend("a", remove=["x2"])
        assert await due()
