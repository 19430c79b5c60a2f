"""What an erasure is said to take from the ledger is what then is gone, on either database."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from engine import Engine
from engine.errors import NotFound
from engine.models import Document, Question
from engine.storage.ledger.records import ErasedPart, ErasureSize
from engine.storage.sql.connection import Connection
from tests.support.engine_fixture import HERE, doc, open_memory_engine, thread

NAMES = ("Ada", "Bob", "Carla", "Dora", "Emil")
COUNTS = {
    "documents": "SELECT COUNT(*) FROM document",
    "passages": "SELECT COUNT(*) FROM passage",
    "chunks": "SELECT COUNT(*) FROM chunk",
    "mentions": "SELECT COUNT(*) FROM mention",
    "links": "SELECT COUNT(*) FROM link",
    "texts": "SELECT (SELECT COUNT(*) FROM vector) + (SELECT COUNT(*) FROM open_chunk_vector)",
    "cached_answers": "SELECT COUNT(*) FROM answer_cache",
    "profiles": "SELECT (SELECT COUNT(*) FROM entity) + (SELECT COUNT(*) FROM relation)",
}


async def count(engine: Engine) -> dict[str, int]:
    def read(db: Connection) -> dict[str, int]:
        return {name: int(next(iter(db.execute_fetchall(sql)))[0]) for name, sql in COUNTS.items()}

    return await engine._ledger.read(read)


def closed_thread(key: str, *texts: str) -> Document:
    return thread(key, *texts, is_open=False)


async def fill(engine: Engine, choose: random.Random) -> list[str]:
    """Documents and conversations in which names occur together, merged names, and cached answers; gives the keys."""
    keys = [f"d{number}" for number in range(8)]
    for key in keys:
        pick = choose.choice
        texts = [f"{pick(NAMES)} met {pick(NAMES)}. {pick(NAMES)} left {pick(NAMES)}." for _ in range(pick([1, 2, 4]))]
        makes: list[Callable[..., Document]] = [doc, thread, closed_thread]
        await engine.documents.add(choose.choice(makes)(key, *texts))
    await engine.wait_until_indexed()
    if choose.random() < 0.5:
        with suppress(NotFound):  # one of them may be in none of the texts
            await engine.corrections.merge("here", "Bob", "Ada")
    await engine.wait_until_indexed()
    for name in choose.sample(NAMES, 3):
        await (await engine.ask(Question(f"Whom did {name} meet?", HERE))).collect_text()
    await engine.wait_until_indexed()
    return keys


@pytest.mark.share(100)
@pytest.mark.parametrize("seed", range(300))
async def test_what_is_said_to_go_is_gone(tmp_path: Path, seed: int) -> None:
    choose = random.Random(seed)
    async with open_memory_engine(tmp_path) as engine:
        chosen = choose.sample(await fill(engine, choose), choose.randint(1, 7))
        before, size = (
            await count(engine),
            await engine.documents.measure_erasure([ErasedPart(each) for each in chosen]),
        )
        assert await count(engine) == before
        for each in chosen:
            assert await engine.documents.forget(each)
        gone = {name: before[name] - number for name, number in (await count(engine)).items()}
        assert (size.documents, size.passages, size.chunks) == (gone["documents"], gone["passages"], gone["chunks"])
        assert size.facts == gone["mentions"] + gone["links"]
        assert size.cached_answers == gone["cached_answers"]
        assert size.vectors >= gone["texts"]
        await engine.wait_until_indexed()
        assert size.profiles_removed == before["profiles"] - (await count(engine))["profiles"]


async def test_a_passage_takes_its_chunk_and_the_last_one_its_document(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path) as engine:
        await engine.documents.add(thread("t", "Ada met Bob.", "Carla left Dora.", is_open=False))
        await engine.documents.add(doc("d", "Ada met Bob."))
        await engine.wait_until_indexed()
        measure = engine.documents.measure_erasure
        one = await measure([ErasedPart("t", frozenset({"m000"}))])
        both = await measure([ErasedPart("t", frozenset({"m000", "m001"}))])
        assert (one.documents, one.passages, one.chunks) == (0, 1, 1)
        assert (both.documents, both.passages, both.chunks) == (1, 2, 1)
        assert both == await measure([ErasedPart("t")])
        assert both.profiles_rebuilt == 3  # Ada, Bob and their relation are in the other document, too
        assert both.profiles_removed == 3


@pytest.mark.parametrize(
    "part", [ErasedPart("none"), ErasedPart("none", frozenset({"m000"})), ErasedPart("d", frozenset({"x"}))]
)
async def test_what_is_not_stored_counts_nothing(tmp_path: Path, part: ErasedPart) -> None:
    async with open_memory_engine(tmp_path) as engine:
        await engine.documents.add(doc("d", "Ada met Bob."))
        assert await engine.documents.measure_erasure([part]) == ErasureSize()
