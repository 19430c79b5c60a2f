"""An engine whose graph and vectors are in SurrealDB: what it lacks is filled from the ledger."""

from __future__ import annotations

import os
import tomllib
from contextlib import AbstractAsyncContextManager
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from bot.bootstrap import load_stores
from bot.errors import BadSetting
from bot.settings import STORES_GROUP, load_settings
from engine import Engine, EngineOptions, Question
from engine.data_dir import DataDir
from engine.errors import StoreError
from engine.options import StoresPlace
from engine.storage.files import remove_tree
from surrealdb_stores import build_opener
from tests.examples.surrealdb.server import PASSWORD, run_surreal_server
from tests.support.engine_fixture import (
    HERE,
    add_indexed,
    canonical_export,
    doc,
    find_files_containing,
    open_memory_engine,
)
from tests.support.fake_embedder import HashEmbedder
from tests.support.toy_language import ToyLanguage

PYPROJECT = Path(__file__).parents[3] / "examples" / "surrealdb" / "pyproject.toml"


def opened(home: Path, place: str = "embedded", **options: Any) -> AbstractAsyncContextManager[Engine]:
    embedder = HashEmbedder(options.pop("dim", 128))
    opener = build_opener(place) if place else None
    chosen = EngineOptions(open_stores=opener, **options)
    return Engine.open(home, language=ToyLanguage(), embedder=embedder, options=chosen)


async def check_answers(engine: Engine) -> None:
    await engine.wait_until_indexed()
    report = await engine.maintenance.verify()
    assert report.compared > 0
    assert report.is_clean
    context = await engine.retrieve(Question("Who met Bob?", HERE))
    assert "Ada met Bob." in {source.text for source in context.sources}


@pytest.mark.long
async def test_what_was_added_is_found_forgotten_and_rebuilt_as_in_memory(tmp_path: Path) -> None:
    exports = []
    for home, open_home in ((tmp_path / "memory", open_memory_engine), (tmp_path / "surreal", opened)):
        async with open_home(home) as engine:
            await add_indexed(engine, "Ada met Bob.", "Zoe saw Kim.")
            await engine.documents.forget("d1")
        async with open_home(home) as engine:
            await engine.documents.add(doc("d9", "Bob wrote to Ada."))
            await check_answers(engine)
            await engine.maintenance.reindex()
            await engine.maintenance.compact()
            await check_answers(engine)
            exports.append(await canonical_export(engine))
    assert exports[0] == exports[1]


def truncate_log(folder: Path) -> None:
    [log] = (folder / "current" / "clog").iterdir()
    os.truncate(log, log.stat().st_size // 4)


def replace_by_file(folder: Path) -> None:
    remove_tree(folder)
    folder.write_text("not a folder")


@pytest.mark.share(3)
@pytest.mark.parametrize("damage", [remove_tree, truncate_log, replace_by_file])
async def test_a_lost_or_damaged_folder_is_filled_again(tmp_path: Path, damage: Any) -> None:
    async with opened(tmp_path) as engine:
        await add_indexed(engine, "Ada met Bob.", "Zoe saw Kim.")
    damage(DataDir(tmp_path).stores_path)
    async with opened(tmp_path) as engine:
        await check_answers(engine)


@pytest.mark.long
async def test_content_that_the_ledger_never_had_is_erased(tmp_path: Path) -> None:
    home, other = DataDir(tmp_path / "home"), DataDir(tmp_path / "other")
    async with opened(home.path) as engine:
        await add_indexed(engine, "Ada met Bob.")
    async with opened(other.path) as engine:
        await add_indexed(engine, "Ada met Bob.", "Zoe saw Kim.")
    remove_tree(home.stores_path)
    other.stores_path.rename(home.stores_path)
    async with opened(home.path) as engine:
        await check_answers(engine)


async def test_another_embedder_recomputes_the_vectors(tmp_path: Path) -> None:
    async with opened(tmp_path) as engine:
        await add_indexed(engine, "Ada met Bob.")
    async with opened(tmp_path, dim=64, replace_embedder=True) as engine:
        await check_answers(engine)


@pytest.mark.long
async def test_stores_that_are_not_used_any_more_leave_the_data_directory(tmp_path: Path) -> None:
    folder = DataDir(tmp_path)
    for place, used, unused in (
        ("", folder.vectors_path, folder.stores_path),
        ("embedded", folder.stores_path, folder.vectors_path),
        ("", folder.vectors_path, folder.stores_path),
    ):
        async with opened(tmp_path, place) as engine:
            await add_indexed(engine, "Ada met Bob.")
            await check_answers(engine)
        assert used.exists()
        assert not unused.exists()


@pytest.mark.long
async def test_a_server_is_used_by_its_address_and_a_lost_connection_is_opened_again(tmp_path: Path) -> None:
    async with run_surreal_server() as server:
        async with opened(tmp_path, server.address) as engine:
            await add_indexed(engine, "Ada met Bob.")
            assert server.drop_connections() == 1
            await engine.documents.add(doc("d1", "Zoe saw Kim."))
            await check_answers(engine)
        async with opened(tmp_path, server.address) as engine:
            await check_answers(engine)
        assert not find_files_containing(tmp_path, PASSWORD)


@pytest.mark.parametrize("place", ["surrealkv:///tmp/x", "mem://", "ws://", "ws://host/a/b/c", "https://host"])
async def test_an_address_that_is_no_server_is_refused(tmp_path: Path, place: str) -> None:
    with pytest.raises(StoreError, match="cannot be used") as refused:
        async with opened(tmp_path, place):
            pass
    assert "THREADLORE_SURREALDB_ADDRESS" in refused.value.hint


async def test_postgresql_is_not_combined_with_other_stores(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="PostgreSQL") as refused:
        async with opened(tmp_path, database="postgresql://nowhere"):
            pass
    assert "THREADLORE_STORES" in refused.value.hint


async def test_the_setting_chooses_the_plug_in_by_its_entry_point(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    declared = tomllib.loads(PYPROJECT.read_text())["project"]["entry-points"][STORES_GROUP]
    entries = [EntryPoint(name, value, STORES_GROUP) for name, value in declared.items()]
    monkeypatch.setattr(
        "bot.bootstrap.entry_points", lambda group, name: [entry for entry in entries if entry.name == name]
    )
    monkeypatch.setenv("THREADLORE_SURREALDB_ADDRESS", "mem://")
    opener = load_stores(load_settings(data_dir=tmp_path, stores="surrealdb"))
    assert opener is not None
    with pytest.raises(StoreError, match="cannot be used"):
        async with opener(StoresPlace(tmp_path, 2, 0, 0, is_outdated=False)):
            pass
    assert load_stores(load_settings(data_dir=tmp_path)) is None
    with pytest.raises(BadSetting, match="THREADLORE_STORES cannot be neo"):
        load_stores(load_settings(data_dir=tmp_path, stores="neo"))
