"""A text that the embedder cannot take stops nothing behind it; a provider that is down gives nothing up."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import numpy as np
import pytest

from engine.errors import ModelUnavailable
from engine.ingest import worker
from engine.models import Question
from engine.options import EngineOptions
from engine.storage.ledger.work import embedding_failures
from tests.support.engine_fixture import HERE, doc, open_engine, open_memory_engine, sqlite_ledger
from tests.support.fake_embedder import HashEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from engine import Engine
    from engine.usage import UsageMeter


class Panic(BaseException):
    """What a native library raises when it panics."""


def broken(error: BaseException) -> Callable[[np.ndarray], np.ndarray]:
    def give(_: np.ndarray) -> np.ndarray:
        raise error

    return give


def with_last(value: float) -> Callable[[np.ndarray], np.ndarray]:
    def give(made: np.ndarray) -> np.ndarray:
        made[-1, -1] = value
        return made

    return give


WAYS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "a status of 500": broken(ModelUnavailable("HTTP 500")),
    "a foreign error": broken(ConnectionResetError()),
    "a panic": broken(Panic()),
    "a cancellation that nobody asked for": broken(asyncio.CancelledError()),
    "a generator exit": broken(GeneratorExit()),
    "NaN": with_last(float("nan")),
    "infinity": with_last(float("inf")),
    "one vector too few": lambda made: made[:-1],
    "one vector too many": lambda made: np.concatenate([made, made[:1]]),
    "another dimension": lambda made: made[:, :-1],
    "no vectors": lambda made: made[0],
}


class Bad(HashEmbedder):
    """Fails in its way wherever `word` is in a text; an empty one is in every text, none in no text."""

    def __init__(self, way: str, word: str | None = "poison") -> None:
        super().__init__()
        self.way = WAYS[way]
        self.word: str | None = word

    async def embed(self, texts: Sequence[str], bill: UsageMeter) -> np.ndarray:
        made = await super().embed(texts, bill)
        return self.way(made) if any(self.word is not None and self.word in text.casefold() for text in texts) else made


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding_failures, "INITIAL_WAIT", 0.01)
    monkeypatch.setattr(worker, "ERROR_WAIT_SECONDS", 0.02)
    monkeypatch.setattr(worker, "BATCH_INTERVAL_SECONDS", {"embed": 0.0, "project": 0.0})


async def states(engine: Engine) -> dict[str, str]:
    return {each.key: each.status for each in await engine.list_documents(HERE)}


async def kept(engine: Engine) -> list[bytes]:
    async with sqlite_ledger(engine._ledger).read_connection() as db:
        return [row[0] for row in await db.execute_fetchall("SELECT data FROM vector")]


@pytest.mark.parametrize("way", WAYS)
async def test_one_text_fails_alone_and_says_why(tmp_path: Path, way: str) -> None:
    embedder = Bad(way)
    async with open_memory_engine(tmp_path, embedder=embedder) as engine, asyncio.timeout(60):
        await engine.add(doc("bad", "the word poison is here."))
        for number in range(9):
            await engine.add(doc(f"d{number}", f"Ada met Bob {number} times."))
        await engine.wait_until_indexed()
        found = await states(engine)
        assert found.pop("bad") == "failed"
        assert set(found.values()) == {"indexed"}
        [bad] = [each for each in await engine.list_documents(HERE) if each.error]
        assert bad.key == "bad"
        assert (await engine.get_status(HERE)).failed == 1
        assert bad.error in " ".join(await engine.list_problems())
        assert all(np.isfinite(np.frombuffer(data, np.float32)).all() for data in await kept(engine))
        assert len(await kept(engine)) == 9
        embedder.word = None
        assert await engine.retry() == 1
        await engine.wait_until_indexed()
        assert set((await states(engine)).values()) == {"indexed"}
        assert await engine.list_problems() == []
        assert (await engine.verify()).is_clean


@pytest.mark.parametrize("way", ["a status of 500", "NaN"])
async def test_a_name_that_cannot_be_embedded_fails_alone_and_says_why(tmp_path: Path, way: str) -> None:
    embedder = Bad(way, "poison")
    async with open_memory_engine(tmp_path, embedder=embedder) as engine, asyncio.timeout(60):
        await engine.add(doc("a", "Ada met Bob."))
        await engine.wait_until_indexed()
        await engine.describe("here", "Ada", "She likes poison.")
        await engine.describe("here", "Bob", "He waits.")
        await engine.wait_until_indexed()
        assert set((await states(engine)).values()) == {"indexed"}
        assert any("She likes" not in text and text.startswith("Ada") for text in embedder.texts)
        assert (await engine.verify()).is_clean
        assert {each.name for each in (await engine.retrieve(Question("Ada", HERE))).entities} >= {"Ada"}


@pytest.mark.parametrize("way", ["a status of 500", "NaN"])
async def test_a_name_of_which_no_text_can_be_embedded_is_given_up_and_taken_up_again(tmp_path: Path, way: str) -> None:
    embedder = Bad(way, None)
    async with open_memory_engine(tmp_path, embedder=embedder) as engine, asyncio.timeout(60):
        await engine.add(doc("a", "Poison met Bob."))
        await engine.add(doc("c", "Carl met Bob."))
        await engine.wait_until_indexed()
        embedder.word = "poison"
        await engine.describe("here", "Poison", "It is known.")
        await engine.describe("here", "Carl", "He waits.")
        await engine.wait_until_indexed()
        status = await engine.get_status(HERE)
        assert status.without_vector >= 1
        assert status.embedding_error
        assert status.embedding_error in " ".join(await engine.list_problems())
        assert (await engine.verify()).is_clean
        embedder.word = None
        await engine.retry()
        await engine.wait_until_indexed()
        assert (await engine.get_status(HERE)).without_vector == 0
        assert (await engine.verify()).is_clean


@pytest.mark.parametrize("way", ["a status of 500", "NaN"])
async def test_an_embedder_that_fails_for_every_text_is_waited_for(tmp_path: Path, way: str) -> None:
    embedder = Bad(way, "")
    async with (
        open_memory_engine(tmp_path, embedder=embedder, options=EngineOptions(max_attempts=1)) as engine,
        asyncio.timeout(60),
    ):
        for number in range(5):
            await engine.add(doc(f"d{number}", f"Ada met Bob {number} times."))
        with pytest.raises(ModelUnavailable):
            await engine.wait_until_indexed()
        await asyncio.sleep(0.2)
        assert set((await states(engine)).values()) == {"pending"}
        assert {each.error for each in await engine.list_documents(HERE)} == {""}
        assert (await engine.get_status(HERE)).background
        assert await kept(engine) == []
        embedder.word = None
        while engine._worker.step_error:  # noqa: ASYNC110 - it goes away by itself
            await asyncio.sleep(0.01)
        await engine.wait_until_indexed()
        assert set((await states(engine)).values()) == {"indexed"}


@pytest.mark.parametrize("way", ["a status of 500", "NaN"])
async def test_a_question_that_cannot_be_embedded_is_an_error_in_words(tmp_path: Path, way: str) -> None:
    async with open_memory_engine(tmp_path, embedder=Bad(way)) as engine:
        await engine.add(doc("a", "Ada met Bob."))
        await engine.wait_until_indexed()
        with pytest.raises(ModelUnavailable, match=r"hash|HTTP 500"):
            await engine.retrieve(Question("what is poison?", HERE))
        assert (await engine.retrieve(Question("Ada?", HERE))).sources


async def test_tries_are_counted_over_a_restart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding_failures, "INITIAL_WAIT", 1000.0)
    embedder = Bad("NaN")
    async with open_memory_engine(tmp_path, embedder=embedder) as engine, asyncio.timeout(30):
        await engine.add(doc("bad", "the word poison is here."))
        while not (await engine.get_status(HERE)).trouble:  # noqa: ASYNC110 - it comes by itself
            await asyncio.sleep(0.01)
        assert "not finite" in (await engine.get_status(HERE)).trouble
        assert await states(engine) == {"bad": "pending"}
        async with sqlite_ledger(engine._ledger).read_connection() as db:
            assert [tuple(row) for row in await db.execute_fetchall("SELECT kind, tries FROM stale")] == [(0, 1)]


async def test_vectors_are_remembered_by_name_and_dimension(tmp_path: Path) -> None:
    async with open_engine(tmp_path, embedder=HashEmbedder(128)) as engine:
        await engine.add(doc("a", "Ada met Bob."))
        await engine.wait_until_indexed()
    wider = HashEmbedder(256)
    async with open_engine(tmp_path, embedder=wider, options=EngineOptions(replace_embedder=True)) as engine:
        await engine.wait_until_indexed()
        assert "Ada met Bob." in wider.texts
        assert (await engine.verify()).is_clean


async def test_vectors_that_were_remembered_unchecked_are_made_anew(tmp_path: Path) -> None:
    embedder = HashEmbedder()
    async with open_memory_engine(tmp_path, embedder=embedder) as engine:
        await engine.add(doc("a", "Ada met Bob."))
        await engine.wait_until_indexed()

        async def spoil(db: object) -> None:
            bad = np.full(embedder.dim, np.nan, np.float32).tobytes()
            await db.execute("UPDATE vector SET data = ?", (bad,))  # type: ignore[attr-defined]

        await sqlite_ledger(engine._ledger).write(spoil)
        await engine.rebuild()
        rows = await engine._runtime.vectors.fetch("chunks", [1])
        assert np.linalg.norm(rows[1]) == pytest.approx(1.0)
