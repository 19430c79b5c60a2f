"""An engine with all its data in a PostgreSQL database."""

from __future__ import annotations

import asyncio
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import psycopg
import pytest

from engine import Engine, EngineOptions, Question, Scope
from engine.errors import DatabaseInUse, DatabaseLost, DatabaseUnreachable, EmbedderMismatch, StoreError
from engine.models import RetrievalMode
from engine.storage.ledger.postgres.ledger import PostgresLedger
from engine.storage.ledger.postgres.word_copy.copies import KINDS
from engine.storage.postgres.process_registry import ProcessRegistry
from engine.storage.vectors.pgvector_copy.store import CopiedVectors
from tests.support.engine_fixture import add_indexed, doc
from tests.support.fake_embedder import HashEmbedder
from tests.support.patience import PATIENCE
from tests.support.toy_language import ToyLanguage

HERE = Scope.of("here")
MODES: tuple[RetrievalMode, ...] = ("naive", "local", "global", "mix")


def opened(home: Path, url: str) -> AbstractAsyncContextManager[Engine]:
    options = EngineOptions(database=url)
    return Engine.open(home, language=ToyLanguage(), embedder=HashEmbedder(), options=options)


async def export(engine: Engine, scope: Scope) -> list[str]:
    return [line async for line in engine.maintenance.export("jsonl", scope)]


def end_proof_of_life(url: str) -> None:
    """End the connections that prove that processes live."""
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute(
            "SELECT pg_terminate_backend(l.pid) FROM pg_locks l JOIN pg_database d ON d.oid = l.database"
            " WHERE l.locktype = 'advisory' AND d.datname = current_database()"
        )


@pytest.mark.long
async def test_a_restarted_engine_goes_on_and_its_export_is_that_of_files(tmp_path: Path, postgres_url: str) -> None:
    exports = []
    for home, url in ((tmp_path / "files", ""), (tmp_path / "database", postgres_url)):
        async with opened(home, url) as engine:
            await add_indexed(engine, "Ada met Bob.", "Zoe saw Kim.")
            await engine.documents.forget("d1")
        async with opened(home, url) as engine:
            await engine.documents.add(doc("d9", "Bob wrote to Zoe.", space="here"))
            await engine.documents.move_room("hall", "elsewhere")
            await engine.wait_until_indexed()
            assert (await engine.maintenance.verify()).is_clean
            exports.append(await export(engine, Scope.of("here", "elsewhere")))
        assert not (tmp_path / "database" / "ledger.db").exists()
    assert exports[0]
    assert exports[0] == exports[1]


@pytest.mark.long
async def test_every_mode_finds_what_was_added(tmp_path: Path, postgres_url: str) -> None:
    async with opened(tmp_path, postgres_url) as engine:
        await add_indexed(engine, "Ada met Bob.")
        for mode in ("naive", "local", "global", "hybrid", "mix"):
            context = await engine.retrieve(
                Question("Whom did Ada meet?", HERE, mode=mode, low=("Ada",), high=("Ada",))
            )
            assert [source.document for source in context.sources] == ["d0"], mode
        await engine.maintenance.reindex()
        assert (await engine.maintenance.verify()).is_clean


async def test_texts_that_postgres_cannot_hold_are_stored(tmp_path: Path, postgres_url: str) -> None:
    async with opened(tmp_path, postgres_url) as engine:
        await add_indexed(engine, "Ada\0 met \ud800 Bob.")
        context = await engine.retrieve(Question("Whom did Ada meet?", HERE, mode="naive"))
        assert [source.text for source in context.sources] == [
            "Ada\N{REPLACEMENT CHARACTER} met \N{REPLACEMENT CHARACTER} Bob."
        ]


async def test_another_embedder_is_refused_while_processes_work_on_the_database(
    tmp_path: Path, postgres_url: str
) -> None:
    other, options = HashEmbedder(dim=8), EngineOptions(database=postgres_url, replace_embedder=True)
    async with opened(tmp_path / "one", postgres_url) as engine:
        await add_indexed(engine, "Ada met Bob.")
        with pytest.raises(DatabaseInUse):
            async with Engine.open(tmp_path / "two", language=ToyLanguage(), embedder=other, options=options):
                pass
        with pytest.raises(EmbedderMismatch):
            async with Engine.open(
                tmp_path / "two", language=ToyLanguage(), embedder=other, options=EngineOptions(database=postgres_url)
            ):
                pass


async def test_what_another_process_removes_or_moves_is_never_found_though_its_notification_is_lost(
    tmp_path: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def find(engine: Engine, mode: RetrievalMode, scope: Scope = HERE) -> set[str]:
        context = await engine.retrieve(Question("Whom did Ada meet?", scope, mode=mode, low=("Ada",), high=("Ada",)))
        return {source.document for source in context.sources}

    async def load(engine: Engine) -> None:
        ledger, vectors = engine._runtime.ledger, engine._runtime.vectors
        assert isinstance(ledger, PostgresLedger)
        assert isinstance(vectors, CopiedVectors)
        assert ledger._words is not None
        async with asyncio.timeout(PATIENCE):
            while any(ledger._words[kind]._arrays is None for kind in KINDS):
                await find(engine, "mix")
            while await vectors._copies.get("chunks") is None:
                await find(engine, "naive")

    monkeypatch.setattr(ProcessRegistry, "notify", lambda registry, topic: registry._subscriptions.wake(topic))
    async with opened(tmp_path / "one", postgres_url) as one, opened(tmp_path / "two", postgres_url) as two:
        for number in range(3):
            await two.documents.add(doc(f"d{number}", f"Ada met Bob {number}.", room=f"r{number}"))
        await two.wait_until_indexed()
        await load(one)
        assert await find(one, "naive") == {"d0", "d1", "d2"}
        await two.documents.forget("d0")
        assert [await find(one, mode) for mode in MODES] == [{"d1", "d2"}] * len(MODES)
        await two.documents.move_room("r1", "private")
        assert [await find(one, mode) for mode in MODES] == [{"d2"}] * len(MODES)
        await two.documents.add(doc("d3", "Ada met Carla."))
        await two.wait_until_indexed()
        assert [await find(one, mode) for mode in MODES] == [{"d2", "d3"}] * len(MODES)
        assert await find(one, "naive", Scope.of("private")) == {"d1"}


async def test_a_lost_connection_is_noticed(tmp_path: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.storage.postgres.process_registry.CHECK_SECONDS", 0.01)
    async with opened(tmp_path, postgres_url) as engine:
        end_proof_of_life(postgres_url)
        async with asyncio.timeout(PATIENCE):
            await engine.processes.lost.wait()


async def test_a_process_that_was_replaced_writes_no_more(
    tmp_path: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.storage.postgres.process_registry.CHECK_SECONDS", 60)  # it has not noticed
    async with opened(tmp_path / "old", postgres_url) as old:
        await add_indexed(old, "Ada met Bob.")
        end_proof_of_life(postgres_url)
        async with opened(tmp_path / "new", postgres_url) as new:
            with pytest.raises(DatabaseLost):
                await old.documents.add(doc("late", "Zoe saw Kim."))
            with pytest.raises((DatabaseLost, DatabaseUnreachable)):  # it may have noticed meanwhile
                await old._runtime.vectors.delete("chunks", [1])
            await new.documents.add(doc("d7", "Bob wrote to Zoe."))


async def test_a_password_is_in_no_error(tmp_path: Path) -> None:
    with pytest.raises(StoreError) as refused:
        async with opened(tmp_path, "postgresql://ada:pa%zzss@127.0.0.1/none"):
            pass
    assert "zz" not in str(refused.value)


async def test_a_database_that_cannot_be_reached_is_explained(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="could not be reached"):
        async with opened(tmp_path, "postgresql://nobody@127.0.0.1:9/none"):
            pass
