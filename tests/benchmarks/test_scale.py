"""The corpus in bulk is what the engine makes of the same documents; its questions start walks."""

import asyncio
import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.hashing import HashingEmbedder
from benchmarks.scale.corpus import Corpus, LineLanguage
from benchmarks.scale.fill import fill
from benchmarks.scale.measure import Beside, measure_retrieval
from engine import Engine, EngineOptions
from engine.data_dir import DataDir

CORPUS = Corpus(documents=60, spaces=6, facts=4)


async def _export(home: Path, *, ingest: bool) -> list[str]:
    options = replace(EngineOptions(), suggest_duplicates=False)
    async with Engine.open(home, language=LineLanguage(), embedder=HashingEmbedder(), options=options) as engine:
        for number in range(CORPUS.documents if ingest else 0):
            await engine.documents.add(CORPUS.build_document(number))
        await engine.wait_until_indexed()
        report = await engine.maintenance.verify()
        assert not report.differences
        return [line async for line in engine.maintenance.export("jsonl", CORPUS.scope_of(CORPUS.spaces))]


def read_stems(home: Path) -> list[tuple[str, ...]]:
    """The stem terms of all chunks, their languages, and the version of what made them."""
    with closing(sqlite3.connect(DataDir(home).ledger_path)) as db:
        stems = db.execute("SELECT key, stems FROM chunk ORDER BY key").fetchall()
        languages = db.execute("SELECT language FROM stem_language ORDER BY language").fetchall()
        return [*stems, *languages, *db.execute("SELECT value FROM meta WHERE key = 'stems_version'")]


@pytest.mark.long
async def test_bulk_rows_are_those_of_an_ingest(tmp_path: Path) -> None:
    found = await fill(tmp_path / "bulk", CORPUS)
    stems = read_stems(tmp_path / "bulk")
    bulk, ingested = await _export(tmp_path / "bulk", ingest=False), await _export(tmp_path / "road", ingest=True)
    assert bulk == ingested
    assert stems == read_stems(tmp_path / "road")
    kinds = [json.loads(line)["kind"] for line in bulk]
    assert kinds.count("relation") == found["relations"] > 200


@pytest.mark.long
async def test_walks_start_at_the_names_of_the_questions(tmp_path: Path) -> None:
    await fill(tmp_path, CORPUS)
    async with Engine.open(tmp_path, language=LineLanguage(), embedder=HashingEmbedder()) as engine:
        questions = CORPUS.build_questions(spaces=6, amount=10)
        mixed = [(await engine.retrieve(question)).sources for question in questions]
        naive = [(await engine.retrieve(replace(question, mode="naive"))).sources for question in questions]
        figures = await measure_retrieval(engine, CORPUS, 6, "mix", amount=4)
    assert sum(mix != plain for mix, plain in zip(mixed, naive, strict=True)) > 5
    assert 0 < figures.p50 <= figures.p95
    assert figures.stages["walk"] > 0


async def test_what_is_written_beside_is_forgotten_when_the_work_ends(tmp_path: Path) -> None:
    small = Corpus(documents=2, spaces=1, facts=2)
    async with Engine.open(tmp_path, language=LineLanguage(), embedder=HashingEmbedder()) as engine:

        async def work() -> None:
            while not await engine.documents.forget("doc-2"):  # noqa: ASYNC110 - no event
                await asyncio.sleep(0)
            await engine.documents.add(small.build_document(2))  # as if the writer had not come to forget it
            raise OSError("no space")

        with pytest.raises(OSError, match="no space"):
            await Beside(engine, small).run(work())
        assert not await engine.documents.forget("doc-2")


async def test_an_error_of_what_runs_beside_is_raised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with Engine.open(tmp_path, language=LineLanguage(), embedder=HashingEmbedder()) as engine:

        async def fail(_: Beside) -> None:
            raise LookupError("no question")

        monkeypatch.setattr(Beside, "_ask", fail)
        with pytest.raises(LookupError, match="no question"):
            await Beside(engine, Corpus(documents=2, spaces=1, facts=2)).run(asyncio.sleep(0.1))
