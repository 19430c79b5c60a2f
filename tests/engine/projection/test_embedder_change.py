from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from engine.engine import Engine
from engine.errors import EmbedderMismatch, ModelError
from engine.llm.base import Embedder
from engine.models import Question
from engine.options import EngineOptions
from engine.projection.embedder_change import share_cache
from engine.storage.disk import Disk
from engine.storage.ledger.records import VectorPlaces
from engine.storage.vectors.lance import LanceVectors
from engine.usage import UsageMeter
from tests.support.engine_fixture import HERE, add_indexed, is_clean, wait_until
from tests.support.fake_embedder import HashEmbedder
from tests.support.toy_language import ToyLanguage

TEXTS = ("The boat leaks near the bow.", "Lunch is at noon.", "Ada met Bob at the pier.")
BY_MEANING = Question("vessel", HERE, mode="naive")  # no text has this word


class MeaningEmbedder(HashEmbedder):
    """Knows that a vessel is a boat. `gate`: documents after the first wait for it; None: not at all."""

    def __init__(self, dim: int, name: str, gate: asyncio.Event | None = None) -> None:
        super().__init__(dim, name)
        self.gate = gate

    async def embed(self, texts: Sequence[str], meter: UsageMeter) -> np.ndarray:
        if self.gate is not None and self.has_embedded_document and any(text in TEXTS for text in texts):
            await self.gate.wait()
        return await super().embed([text.replace("vessel", "boat") for text in texts], meter)

    @property
    def has_embedded_document(self) -> bool:
        return any(text in TEXTS for text in self.texts)


def old() -> MeaningEmbedder:
    return MeaningEmbedder(64, "old")


def new(gate: asyncio.Event | None = None) -> MeaningEmbedder:
    return MeaningEmbedder(96, "new", gate)


@dataclass
class Place:
    """Where the data is: `database` is "" for files."""

    home: Path
    database: str

    @asynccontextmanager
    async def open(self, embedder: Embedder, former: Embedder | None = None) -> AsyncIterator[Engine]:
        options = EngineOptions(database=self.database, replace_embedder=former is not None, embed_batch_size=1)
        async with Engine.open(
            self.home, language=ToyLanguage(), embedder=embedder, options=options, former_embedder=former
        ) as engine:
            yield engine

    async def fill(self) -> None:
        async with self.open(old()) as engine:
            await add_indexed(engine, *TEXTS)


@pytest.fixture(params=["files", "postgres"])
async def filled(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """Data whose vectors the old embedder made."""
    is_files = request.param == "files"
    place = Place(tmp_path / "home", "" if is_files else request.getfixturevalue("postgres_url"))
    await place.fill()
    return place


async def find(engine: Engine, question: Question = BY_MEANING) -> list[str]:
    return [source.document for source in (await engine.retrieve(question)).sources]


async def former_chunks(engine: Engine) -> int:
    former = await engine._runtime.find_former()
    return len(await former.store.list_rows("chunks")) if former else 0


@pytest.mark.long
async def test_former_vectors_are_searched_until_all_texts_are_embedded_again(filled: Place) -> None:
    gate = asyncio.Event()
    slow = new(gate)
    async with filled.open(slow, old()) as engine:
        await wait_until(lambda: slow.has_embedded_document)
        assert (await find(engine))[0] == "d0"
        assert await former_chunks(engine) >= 2
        everything = Question("vessel", HERE, mode="naive", threshold=-1.0)
        assert sorted(await find(engine, everything)) == ["d0", "d1", "d2"]
        gate.set()
        await engine.wait_until_indexed()
        assert await former_chunks(engine) == 0
        assert (await find(engine))[0] == "d0"
        assert await is_clean(engine)
    async with filled.open(new()) as engine:
        assert engine._runtime.former is None
        assert (await find(engine))[0] == "d0"
        assert await is_clean(engine)


@pytest.mark.long
async def test_a_change_that_is_cut_off_goes_on_with_both_tables(filled: Place) -> None:
    for _ in range(2):
        async with filled.open(new(asyncio.Event()), old()) as engine:
            assert (await find(engine))[0] == "d0"
            assert await former_chunks(engine) > 0
    async with filled.open(new()) as engine:  # nobody gives the former embedder any more
        await engine.wait_until_indexed()
        assert await is_clean(engine)


@pytest.mark.long
async def test_what_is_forgotten_in_the_middle_leaves_both_tables(filled: Place) -> None:
    gate = asyncio.Event()
    async with filled.open(new(gate), old()) as engine:
        before = await former_chunks(engine)
        await engine.documents.forget("d1")  # which waits for its new vector
        gate.set()
        await engine.wait_until_indexed()
        assert await former_chunks(engine) == 0
        assert before >= 1
        assert "d1" not in await find(engine, Question("noon", HERE, mode="naive", threshold=-1.0))
        assert await is_clean(engine)


@pytest.mark.long
async def test_a_change_of_mind_takes_the_former_embedder_again(filled: Place) -> None:
    async with filled.open(new(asyncio.Event()), old()):
        pass
    async with filled.open(old(), old()) as engine:
        await engine.wait_until_indexed()
        assert (await find(engine))[0] == "d0"
        assert await is_clean(engine)


@pytest.fixture
async def unwritable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Makes the disk of all paths read-only."""
    return lambda: monkeypatch.setattr(Disk, "find", lambda _: Disk(tmp_path, 0, is_read_only=True))


@pytest.mark.long
async def test_on_a_read_only_disk_the_embedder_that_made_the_vectors_is_used(
    tmp_path: Path, unwritable: Callable[[], None]
) -> None:
    place = Place(tmp_path, "")
    await place.fill()
    unwritable()
    async with place.open(new(), old()) as engine:
        assert engine._runtime.embedder.name == "old"
        assert (await find(engine))[0] == "d0"
    with pytest.raises(EmbedderMismatch):
        async with place.open(new()):
            pass


@pytest.mark.long
async def test_a_change_that_is_cut_off_is_read_on_a_read_only_disk(
    tmp_path: Path, unwritable: Callable[[], None]
) -> None:
    place = Place(tmp_path, "")
    await place.fill()
    async with place.open(new(asyncio.Event()), old()):
        pass
    unwritable()
    async with place.open(new(), old()) as engine:
        assert (await find(engine))[0] == "d0"
    async with place.open(new()) as engine:  # nobody gives the former embedder any more
        assert engine._runtime.former is None


class FailingEmbedder(MeaningEmbedder):
    """Answers no more."""

    async def embed(self, texts: Sequence[str], meter: UsageMeter) -> np.ndarray:
        raise ModelError("It is gone.")


@pytest.mark.long
async def test_a_former_embedder_that_fails_makes_no_question_fail(tmp_path: Path) -> None:
    place = Place(tmp_path, "")
    await place.fill()
    gate = asyncio.Event()
    slow = new(gate)
    async with place.open(slow, FailingEmbedder(64, "old")) as engine:
        await wait_until(lambda: slow.has_embedded_document)
        await find(engine)
        gate.set()
        await engine.wait_until_indexed()
        assert (await find(engine))[0] == "d0"


@pytest.mark.long
async def test_a_former_vector_that_is_forgotten_in_the_middle_leaves_all_files(tmp_path: Path) -> None:
    place, gate = Place(tmp_path, ""), asyncio.Event()
    await place.fill()
    async with place.open(new(gate), old()) as engine:
        former = await engine._runtime.find_former()
        assert former is not None
        last = max(row.id for row in await former.store.list_rows("chunks"))
        mark = (await former.store.fetch("chunks", {last}))[last].astype(np.float32).tobytes()
        assert find_files(tmp_path, mark)
        await engine.documents.forget("d2")
        await engine.maintenance.compact()
        assert await former_chunks(engine) > 0
        assert not find_files(tmp_path, mark)


def find_files(folder: Path, content: bytes) -> list[Path]:
    return [file for file in folder.rglob("*") if file.is_file() and content in file.read_bytes()]


@pytest.mark.long
async def test_a_change_that_ends_before_its_tables_are_there_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = Place(tmp_path, "")
    await place.fill()

    async def fail(*_: object) -> None:
        raise KeyError

    with monkeypatch.context() as patch:
        patch.setattr(LanceVectors, "open", fail)
        with pytest.raises(KeyError):
            async with place.open(new(), old()):
                pass
    with pytest.raises(EmbedderMismatch):
        async with place.open(old()):
            pass
    async with place.open(new(asyncio.Event()), old()) as engine:
        assert (await find(engine))[0] == "d0"
        assert await former_chunks(engine) > 0
    async with place.open(new(), old()) as engine:
        await engine.wait_until_indexed()
    async with place.open(new()) as engine:
        assert [path.name for path in place.home.glob("vectors*")] == ["vectors-2"]
        assert await is_clean(engine)


def test_two_stores_of_vectors_share_the_memory_of_one() -> None:
    options = EngineOptions(vector_cache_bytes=100)
    assert share_cache(options, VectorPlaces(0, None, "", 0)).vector_cache_bytes == 100
    assert share_cache(options, VectorPlaces(1, 0, "old", 7)).vector_cache_bytes == 50
