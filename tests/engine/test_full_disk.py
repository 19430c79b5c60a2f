"""An engine whose disk is full or read-only: what goes on, what waits, and what it says."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from engine.data_dir import DataDir
from engine.engine import Engine
from engine.errors import DataDirInUse, DiskError, DiskFull, DiskReadOnly
from engine.models import Passage, Question
from engine.options import EngineOptions
from engine.storage.disk import Disk
from engine.storage.journal import MANIFEST, READY
from engine.storage.sqlite.database_file import run_transaction
from tests.support.engine_fixture import HERE, doc, statuses, wait_until
from tests.support.fake_embedder import HashEmbedder
from tests.support.toy_language import ToyLanguage

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractAsyncContextManager

    from engine.storage.sql.connection import Work

MIB = 1 << 20
RESERVE = EngineOptions(disk_reserve_bytes=8 * MIB)


@pytest.fixture
def put_on(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Let every path be on a disk like this, until the next call."""

    def put(free: int, *, read_only: bool = False) -> None:
        monkeypatch.setattr(Disk, "find", lambda _: Disk(Path("/data"), free, read_only))

    return put


def open_engine(home: Path, options: EngineOptions | None = None) -> AbstractAsyncContextManager[Engine]:
    """An engine on files, whatever database other tests use."""
    return Engine.open(home, language=ToyLanguage(), embedder=HashEmbedder(), options=options)


def fail(code: int, text: str) -> sqlite3.OperationalError:
    """An error as SQLite raises it, with its result code."""
    error = sqlite3.OperationalError(text)
    error.sqlite_errorcode = code
    return error


async def fill(home: Path, options: EngineOptions | None = None) -> None:
    async with open_engine(home, options=options) as engine:
        await engine.documents.add(doc("tea", "Ada brews tea with Ben."))
        await engine.documents.add(doc("ink", "Cleo mixes ink with Dan."))
        await engine.wait_until_indexed()


async def answer(engine: Engine, text: str) -> str:
    return "".join([piece async for piece in await engine.ask(Question(text, HERE))])


async def test_on_a_full_disk_what_is_new_waits_and_all_else_goes_on(
    tmp_path: Path, put_on: Callable[..., None]
) -> None:
    await fill(tmp_path, RESERVE)
    assert (tmp_path / "reserve").exists()
    put_on(MIB)
    async with open_engine(tmp_path, options=RESERVE) as engine:
        assert not (tmp_path / "reserve").exists()
        with pytest.raises(DiskFull, match="new files are refused"):
            await engine.documents.add(doc("new", "Eve."))
        with pytest.raises(DiskFull):
            await engine.documents.amend("ink", [Passage("p9", "Eve.", "part 9", position=9)])
        assert await engine.documents.amend("ink", remove=["p0"])
        assert "Ada" in await answer(engine, "Who brews tea?")
        assert await engine.documents.forget("tea")
        await engine.maintenance.compact()
        assert await engine.maintenance.list_problems() == [(await engine.maintenance.get_status(HERE)).background[0]]
        assert "reserve of 8.0 MiB are in use" in (await engine.maintenance.list_problems())[0]
        put_on(100 * MIB)
        assert await engine.documents.add(doc("new", "Eve."))
        await engine.wait_until_indexed()
        assert await statuses(engine) == {"new": "indexed"}


@pytest.mark.long
async def test_documents_that_were_accepted_before_are_indexed_once_there_is_space(
    tmp_path: Path, put_on: Callable[..., None]
) -> None:
    async with open_engine(tmp_path, options=RESERVE) as engine:
        await engine._worker.stop()
        await engine.documents.add(doc("tea", "Ada brews tea with Ben."))
    put_on(6 * MIB)
    (tmp_path / "reserve").unlink()
    async with open_engine(tmp_path, options=RESERVE) as engine:
        with pytest.raises(DiskFull, match="new files are refused"):
            await engine.wait_until_indexed()
    put_on(100 * MIB)
    async with open_engine(tmp_path, options=RESERVE) as engine:
        await engine.wait_until_indexed()
        assert await statuses(engine) == {"tea": "indexed"}


async def test_a_write_that_meets_a_full_disk_is_repeated_on_the_space_of_the_reserve(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await fill(tmp_path, RESERVE)
    failures = list[str]()

    def run_on_full_disk(db: sqlite3.Connection, works: Sequence[Work]) -> list[Any]:
        if not failures:
            failures.append("full")
            assert (tmp_path / "reserve").exists()
            raise fail(sqlite3.SQLITE_FULL, "database or disk is full")
        return run_transaction(db, works)

    async with open_engine(tmp_path, options=RESERVE) as engine:
        await engine._worker.stop()
        monkeypatch.setattr("engine.storage.sqlite.database.run_transaction", run_on_full_disk)
        assert await engine.documents.forget("tea")
        assert failures
        assert list(await statuses(engine)) == ["ink"]


async def test_a_disk_that_turns_read_only_is_told_while_the_engine_runs(
    tmp_path: Path, put_on: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.maintenance.DISK_CHECK_SECONDS", 0.01)
    async with open_engine(tmp_path) as engine:
        assert await engine.maintenance.list_problems() == []
        put_on(0, read_only=True)

        async def says_so() -> bool:
            return any("read-only" in problem for problem in await engine.maintenance.list_problems())

        await wait_until(says_so)
        put_on(100 * MIB)

        async def is_well() -> bool:
            return not await engine.maintenance.list_problems()

        await wait_until(is_well)


@pytest.mark.long
async def test_an_answer_needs_nothing_to_be_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    await fill(tmp_path)

    def refuse(_: sqlite3.Connection, works: Sequence[Work]) -> list[Any]:
        assert works
        raise fail(sqlite3.SQLITE_READONLY, "attempt to write a readonly database")

    async with open_engine(tmp_path) as engine:
        monkeypatch.setattr("engine.storage.sqlite.database.run_transaction", refuse)
        assert "Ada" in await answer(engine, "Who brews tea?")
        with pytest.raises(DiskError):
            await engine.documents.forget("tea")


@pytest.mark.long
@pytest.mark.parametrize("read_only", [True, False], ids=["read-only", "full"])
async def test_a_disk_that_takes_no_writes_is_read(
    tmp_path: Path, put_on: Callable[..., None], *, read_only: bool
) -> None:
    home = tmp_path / "home"
    await fill(home)
    before = {path: path.stat().st_mtime_ns for path in home.rglob("*") if path.name not in {"lock", "owner"}}
    put_on(0, read_only=read_only)
    async with open_engine(home) as engine:
        assert "Ada" in await answer(engine, "Who brews tea?")
        assert (await engine.retrieve(Question("Who mixes ink with Dan?", HERE))).relations
        assert await statuses(engine) == {"tea": "indexed", "ink": "indexed"}
        assert [line async for line in engine.maintenance.export("jsonl", HERE)]
        await engine.maintenance.backup(tmp_path / "copy.db")
        await engine.wait_until_indexed()
        kind = DiskReadOnly if read_only else DiskFull
        for write in (
            engine.documents.forget("tea"),
            engine.documents.add(doc("new", "Eve.")),
            engine.maintenance.retry(),
            engine.maintenance.reindex(),
        ):
            with pytest.raises(kind, match=rf"The data in {home} cannot be changed: the disk at /data is") as caught:
                await write
            assert caught.value.hint
        with pytest.raises(kind):
            engine.maintenance.check_writable()
        assert (await engine.maintenance.list_problems())[0].startswith(f"The data in {home} cannot be changed")
    assert {path: path.stat().st_mtime_ns for path in before if path.exists()} == before


async def test_what_only_the_log_has_is_read_on_a_read_only_disk(tmp_path: Path, put_on: Callable[..., None]) -> None:
    """A process was killed, so that its ledger has a log, and the next one finds the disk read-only."""
    home, left = tmp_path / "home", tmp_path / "left"
    async with open_engine(home) as engine:
        await engine.documents.add(doc("tea", "Ada brews tea with Ben."))
        await engine.wait_until_indexed()
        shutil.copytree(home, left, ignore=shutil.ignore_patterns("*-shm"))
    log = left / "ledger.db-wal"
    assert log.stat().st_size
    content = log.read_bytes(), (left / "ledger.db").read_bytes()
    put_on(0, read_only=True)
    async with open_engine(left) as engine:
        assert "Ada" in await answer(engine, "Who brews tea?")
        assert await statuses(engine) == {"tea": "indexed"}
    assert (log.read_bytes(), (left / "ledger.db").read_bytes()) == content
    assert not (left / "ledger.db-shm").exists()


async def test_a_read_only_disk_without_data_is_an_error_that_names_it(
    tmp_path: Path, put_on: Callable[..., None]
) -> None:
    put_on(0, read_only=True)
    with pytest.raises(DiskReadOnly, match="the disk at /data is read-only"):
        async with open_engine(tmp_path):
            pass


def test_several_may_read_a_read_only_folder_but_not_beside_a_writer(
    tmp_path: Path, put_on: Callable[..., None]
) -> None:
    with DataDir(tmp_path).claim() as writing:
        assert writing.refusal is None
        put_on(0, read_only=True)
        with pytest.raises(DataDirInUse), DataDir(tmp_path).claim():
            pass
    with DataDir(tmp_path).claim() as first, DataDir(tmp_path).claim() as second:
        assert isinstance(first.refusal, DiskError)
        assert first.list_problems() == second.list_problems() == [str(first.refusal)]


def test_a_read_only_folder_is_refused_if_a_restore_into_it_was_cut_off(
    tmp_path: Path, put_on: Callable[..., None]
) -> None:
    (tmp_path / READY).mkdir()
    (tmp_path / READY / MANIFEST).write_text('{"files": ["ledger.db"], "remove": []}')
    (tmp_path / READY / "ledger.db").write_text("new")
    (tmp_path / "ledger.db").write_text("old")
    put_on(0, read_only=True)
    refused = pytest.raises(
        DiskReadOnly, match="was interrupted and cannot be finished: the disk at /data is read-only"
    )
    with refused, DataDir(tmp_path).claim():
        pass
    put_on(64 * MIB)
    with DataDir(tmp_path).claim():
        assert (tmp_path / "ledger.db").read_text() == "new"
