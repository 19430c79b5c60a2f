"""A text that the embedder cannot embed blocks no other; while a provider is down, no text is given up."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from engine import Engine
from engine.errors import ModelUnavailable
from engine.ingest import worker
from engine.models import Question
from engine.options import EngineOptions
from engine.storage.ledger.work import work_queue
from engine.storage.sql.connection import Connection
from engine.usage import UsageMeter
from tests.support.engine_fixture import (
    HERE,
    add_indexed,
    doc,
    fetch_rows,
    open_memory_engine,
    statuses,
    wait_until,
)
from tests.support.fake_embedder import HashEmbedder
from tests.support.patience import PATIENCE


class FaultyEmbedder(HashEmbedder):
    """Fails for every text that holds `word`, by an error or by NaN; "" is in every text, None in none."""

    def __init__(self, word: str | None = "poison", *, is_nan: bool = False) -> None:
        super().__init__()
        self.word = word
        self.is_nan = is_nan

    async def embed(self, texts: Sequence[str], bill: UsageMeter) -> np.ndarray:
        vectors = await super().embed(texts, bill)
        if self.word is not None and any(self.word in text.casefold() for text in texts):
            if not self.is_nan:
                raise ModelUnavailable("HTTP 500")
            vectors[-1, -1] = np.nan
        return vectors


@pytest.fixture(autouse=True)
def quick_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work_queue, "INITIAL_WAIT", 0.01)
    monkeypatch.setattr(worker, "ERROR_WAIT_SECONDS", 0.02)
    monkeypatch.setattr(worker, "BATCH_INTERVAL_SECONDS", {"embed": 0.0, "project": 0.0})


async def stored_vectors(engine: Engine) -> list[bytes]:
    return [row[0] for row in await fetch_rows(engine._ledger, "SELECT data FROM vector")]


@pytest.mark.parametrize("is_nan", [False, True])
async def test_one_text_fails_alone_and_says_why(tmp_path: Path, *, is_nan: bool) -> None:
    embedder, options = FaultyEmbedder(is_nan=is_nan), EngineOptions(max_attempts=2)
    async with open_memory_engine(tmp_path, embedder=embedder, options=options) as engine, asyncio.timeout(PATIENCE):
        await add_indexed(engine, "the word poison is here.", *(f"Ada met Bob {number} times." for number in range(9)))
        assert await statuses(engine) == {"d0": "failed"} | {f"d{number}": "indexed" for number in range(1, 10)}
        [bad] = [document for document in await engine.documents.list(HERE) if document.error]
        assert bad.key == "d0"
        assert (await engine.maintenance.get_status(HERE)).failed == 1
        assert bad.error in " ".join(await engine.maintenance.list_problems())
        kept = await stored_vectors(engine)
        assert len(kept) == 9
        assert all(np.isfinite(np.frombuffer(data, np.float32)).all() for data in kept)
        with pytest.raises(ModelUnavailable, match=r"hash|HTTP 500"):
            await engine.retrieve(Question("what is poison?", HERE))
        assert (await engine.retrieve(Question("Ada?", HERE))).sources
        embedder.word = None
        assert await engine.maintenance.retry() == 1
        await engine.wait_until_indexed()
        assert set((await statuses(engine)).values()) == {"indexed"}
        assert await engine.maintenance.list_problems() == []
        assert (await engine.maintenance.verify()).is_clean


async def test_a_name_is_embedded_without_a_bad_description_and_a_bad_name_is_given_up_until_a_retry(
    tmp_path: Path,
) -> None:
    embedder = FaultyEmbedder(None)
    async with open_memory_engine(tmp_path, embedder=embedder) as engine, asyncio.timeout(PATIENCE):
        await add_indexed(engine, "Poison met Bob.", "Ada met Bob.")
        embedder.word = "poison"
        for name, description in (("Poison", "It is known."), ("Ada", "She likes poison."), ("Bob", "He waits.")):
            await engine.corrections.describe("here", name, description)
        await engine.wait_until_indexed()
        assert await statuses(engine) == {"d0": "indexed", "d1": "indexed"}
        assert any("She likes" not in text and text.startswith("Ada") for text in embedder.texts)
        assert {entity.name for entity in (await engine.retrieve(Question("Ada", HERE))).entities} >= {"Ada"}
        status = await engine.maintenance.get_status(HERE)
        assert status.without_vector >= 1
        assert status.embedding_error
        assert status.embedding_error in " ".join(await engine.maintenance.list_problems())
        assert (await engine.maintenance.verify()).is_clean
        embedder.word = None
        await engine.maintenance.retry()
        await engine.wait_until_indexed()
        assert (await engine.maintenance.get_status(HERE)).without_vector == 0
        assert (await engine.maintenance.verify()).is_clean


async def test_an_embedder_that_fails_for_every_text_is_waited_for(tmp_path: Path) -> None:
    embedder, options = FaultyEmbedder(""), EngineOptions(max_attempts=1)
    async with open_memory_engine(tmp_path, embedder=embedder, options=options) as engine, asyncio.timeout(PATIENCE):
        for number in range(5):
            await engine.documents.add(doc(f"d{number}", f"Ada met Bob {number} times."))
        for _ in range(2):
            with pytest.raises(ModelUnavailable):
                await engine.wait_until_indexed()
        await wait_until(lambda: engine._worker.step_error is not None)
        assert {(document.status, document.error) for document in await engine.documents.list(HERE)} == {
            ("pending", "")
        }
        assert (await engine.maintenance.get_status(HERE)).background
        assert await stored_vectors(engine) == []
        embedder.word = None
        await wait_until(lambda: engine._worker.step_error is None)
        await engine.wait_until_indexed()
        assert set((await statuses(engine)).values()) == {"indexed"}


async def test_a_failed_try_is_stored_and_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work_queue, "INITIAL_WAIT", 1000.0)
    async with open_memory_engine(tmp_path, embedder=FaultyEmbedder(is_nan=True)) as engine:
        await engine.documents.add(doc("bad", "the word poison is here."))

        async def has_trouble() -> bool:
            return "not finite" in (await engine.maintenance.get_status(HERE)).trouble

        await wait_until(has_trouble)
        assert await statuses(engine) == {"bad": "pending"}
        assert [tuple(row) for row in await fetch_rows(engine._ledger, "SELECT kind, attempts FROM stale_key")] == [
            (0, 1)
        ]


async def test_a_remembered_vector_that_is_not_finite_is_computed_again(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path) as engine:
        await add_indexed(engine, "Ada met Bob.")

        def spoil(db: Connection) -> None:
            bad = np.full(engine._runtime.embedder.dim, np.nan, np.float32).tobytes()
            db.execute("UPDATE vector SET data = ?", (bad,))

        await engine._ledger.write(spoil)
        await engine.maintenance.reindex()
        vectors = await engine._runtime.vectors.fetch("chunks", [1])
        assert np.linalg.norm(vectors[1]) == pytest.approx(1.0)
