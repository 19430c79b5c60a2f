"""Every file of a data folder is damaged in turn: it heals by itself, or the error names the command that helps."""

from __future__ import annotations

import asyncio
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bot.capabilities.maintenance import archive
from bot.store import BotStore
from bot.store.file_fingerprints import FileFingerprints
from engine import Engine
from engine.clock import SYSTEM_CLOCK
from engine.errors import CorruptLedger, CorruptProjection, EngineError
from engine.models import Question
from engine.options import EngineOptions
from engine.storage.files import remove_tree
from engine.storage.library_errors import translate_library_errors
from engine.storage.vectors.lance import LanceVectors
from tests.support.engine_fixture import HERE, doc, open_engine

pytestmark = pytest.mark.files

Harm = Callable[[bytes], bytes]

SEED = 10
SOURCE_FILES = {"ledger.db", "ledger.db-wal", "bot.db", "bot.db-wal"}


def flip_bytes(content: bytes) -> bytes:
    """Some bytes are others, where there was something."""
    chance, made = random.Random(SEED), bytearray(content)
    used = [place for place, value in enumerate(content) if value]
    for _ in range(1 + len(used) // 100 if used else 0):
        made[chance.choice(used)] ^= 0xFF
    return bytes(made)


DAMAGES: dict[str, Harm] = {
    "emptied": lambda _: b"",
    "torn": lambda content: content[: len(content) * 2 // 3],
    "flipped": flip_bytes,
    "overwritten": lambda content: random.Random(SEED).randbytes(len(content)),
}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A folder as it is left by a program that ended, and one of a program that was killed."""
    home, killed = tmp_path_factory.mktemp("x") / "closed", tmp_path_factory.mktemp("x") / "killed"
    asyncio.run(fill_data_dir(home, killed))
    return {"closed": home, "killed": killed}


async def fill_data_dir(home: Path, killed: Path) -> None:
    async with open_engine(home) as engine, BotStore.open(home / archive.BOT_FILE, SYSTEM_CLOCK) as store:
        await engine.documents.add(doc("diary", "Ada met Bob.", "Ada wrote to Carla."))
        await engine.wait_until_indexed()
        await (await engine.ask(Question("Whom did Ada meet?", HERE))).collect_text()
        await engine.documents.add(doc("letters", "Bob saw Dora."))
        await engine.wait_until_indexed()
        await store.opt_outs.opt_out("slack", "T1", "U1")
        FileFingerprints(home / "fingerprints").record("diary", "1")
        shutil.copytree(home, killed)


async def check_answers(home: Path) -> None:
    """A question is answered from a source, graph and vectors are what the ledger says, and more can be added."""
    async with open_engine(home) as engine, BotStore.open(home / archive.BOT_FILE, SYSTEM_CLOCK) as store:
        await store.opt_outs.is_opted_out("slack", "T1", "U1")
        assert not FileFingerprints(home / "fingerprints").is_unchanged("other", "1")
        await engine.wait_until_indexed()
        answer = await engine.ask(Question("Whom did Ada meet?", HERE))
        assert "Bob" in await answer.collect_text()
        assert answer.context.sources
        await engine.documents.add(doc("more", "Ada met Zeno."))
        await engine.wait_until_indexed()
        assert (await engine.maintenance.verify()).is_clean


async def open_outcome(home: Path) -> str:
    """What came of it: "" if it healed, else the way out that the error names."""
    try:
        await check_answers(home)
    except EngineError as error:
        return f"{type(error).__name__}: {error} {error.hint}"
    except Exception as error:  # noqa: BLE001  - it is the finding
        return f"unforeseen: {error!r}"
    return ""


def damage_groups(folder: Path, other: Path, harm: str, *, thorough: bool) -> list[list[Path]]:
    """Files that are damaged together: each alone, but for those that nothing rests on; none that is in `other` too.

    Of the like files of the three vector tables each gets one of the four damages. Without `thorough`, files that can
    be built again get two of them.
    """
    files = [path.relative_to(folder) for path in sorted(folder.rglob("*")) if path.is_file()]
    files = [file for file in files if not (other / file).exists() or folder.name == "closed"]
    newest = {min(path.parent.glob("*.manifest")).name for path in folder.rglob("*.manifest")}
    light = [
        file
        for file in files
        if file.suffix in {".txn", ".json", ""} or (file.suffix == ".manifest" and file.name not in newest)
    ]
    heavy = [file for file in files if file not in light]
    alike = [file for file in heavy if file.suffix in {".manifest", ".lance"}]
    place = [*DAMAGES].index(harm)
    chosen = alike[place :: len(DAMAGES)]
    rebuilt = [file for file in heavy if file.name not in SOURCE_FILES and file not in alike]
    step = 1 if thorough else 2
    light = light if place % step == 0 else []
    chosen += rebuilt[place % step :: step]
    chosen += [file for file in heavy if file.name in SOURCE_FILES]
    return [group for group in (light, *([file] for file in chosen)) if group]


@pytest.mark.long
@pytest.mark.parametrize("harm", DAMAGES)
@pytest.mark.parametrize(
    ("state", "other"), [pytest.param("closed", "killed", marks=pytest.mark.long), ("killed", "closed")]
)
async def test_each_damaged_file_heals_or_its_error_names_a_fix(
    tmp_path: Path, folders: dict[str, Path], state: str, other: str, harm: str, *, thorough: bool
) -> None:
    found: dict[str, str] = {}
    for files in damage_groups(folders[state], folders[other], harm, thorough=thorough):
        home = tmp_path / "home"
        shutil.copytree(folders[state], home)
        for file in files:
            (home / file).write_bytes(DAMAGES[harm]((home / file).read_bytes()))
        found[" ".join(map(str, files))] = await open_outcome(home)
        shutil.rmtree(home)
    assert len(found) > 2
    assert {
        file: told for file, told in found.items() if told and not (file in SOURCE_FILES and "restore" in told)
    } == {}


class RustPanic(BaseException):
    """As pyo3 raises it for a panic of Rust code: no Exception."""


class FailingSearch:
    """A search that fails for a while."""

    def __init__(self, search: Any, times: int, error: BaseException) -> None:
        self.search, self.times, self.error = search, times, error

    async def __call__(self, *arguments: Any) -> Any:
        self.times -= 1
        if self.times >= 0:
            with translate_library_errors(Path("vectors")):
                raise self.error
        return await self.search(*arguments)


@pytest.mark.share(3)
@pytest.mark.parametrize("error", [RustPanic("range end index"), KeyError("vector"), RuntimeError("lance error")])
async def test_store_broken_at_first_use_is_rebuilt_and_answers(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    await engine.documents.add(doc("diary", "Ada met Bob."))
    await engine.wait_until_indexed()
    vectors = engine._runtime.vectors
    cleared = 0
    clear, search = vectors.clear, vectors.search
    failing = FailingSearch(search, 10_000, error)

    async def clearing() -> None:
        nonlocal cleared
        cleared += 1
        failing.times = 0
        await clear()

    monkeypatch.setattr(vectors, "search", failing)
    monkeypatch.setattr(vectors, "clear", clearing)
    answer = await engine.ask(Question("Whom did Ada meet?", HERE))
    assert "Bob" in await answer.collect_text()
    assert cleared == 1
    failing.times = 10_000
    with pytest.raises(CorruptProjection) as caught:  # twice within the hour: something else is wrong
        await engine.ask(Question("Whom did Bob meet?", HERE))
    assert "threadlore reindex" in caught.value.hint


async def test_transient_errors_do_not_trigger_a_reindex(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    await engine.documents.add(doc("diary", "Ada met Bob."))
    await engine.wait_until_indexed()
    vectors = engine._runtime.vectors
    monkeypatch.setattr(vectors, "search", FailingSearch(vectors.search, 1, RuntimeError("odd")))
    monkeypatch.delattr(LanceVectors, "clear")
    assert (await engine.ask(Question("Whom did Ada meet?", HERE))).context.sources


@pytest.mark.share(2)
@pytest.mark.parametrize("file", ["vectors/*/_versions/*.manifest", "vectors/*/data/*"])
async def test_reindex_survives_files_damaged_while_open(engine: Engine, file: str) -> None:
    await engine.documents.add(doc("diary", "Ada met Bob."))
    await engine.wait_until_indexed()
    for torn in engine.data_dir.path.glob(file):
        torn.write_bytes(torn.read_bytes()[:20])
    await engine.maintenance.reindex()
    assert (await engine.maintenance.verify()).is_clean
    assert (await engine.ask(Question("Whom did Ada meet?", HERE))).context.sources


@pytest.mark.long
async def test_ledger_missing_last_writes_is_reported_and_rebuilt(tmp_path: Path, folders: dict[str, Path]) -> None:
    shutil.copytree(folders["killed"], tmp_path / "home")
    (tmp_path / "home" / "ledger.db-wal").write_bytes(b"")
    with pytest.raises(CorruptLedger, match="lacks the latest changes") as caught:
        await check_answers(tmp_path / "home")
    assert "threadlore restore" in caught.value.hint
    assert "threadlore reindex" in caught.value.hint
    async with open_engine(tmp_path / "home", options=EngineOptions(replace_embedder=True)) as engine:
        await engine.maintenance.reindex()
    async with open_engine(tmp_path / "home") as engine:
        assert (await engine.maintenance.verify()).is_clean


@pytest.mark.parametrize("harm", [lambda file: file.write_bytes(b""), lambda file: file.unlink()])
async def test_an_empty_or_missing_ledger_beside_its_projections_names_restore(
    tmp_path: Path, folders: dict[str, Path], harm: Callable[[Path], None]
) -> None:
    shutil.copytree(folders["closed"], tmp_path / "home")
    harm(tmp_path / "home" / "ledger.db")
    with pytest.raises(CorruptLedger) as caught:
        await check_answers(tmp_path / "home")
    assert "threadlore restore" in caught.value.hint


def replace_by_folder(path: Path) -> None:
    remove_tree(path)
    path.mkdir()
    (path / "note").write_text("Dear Ada")


def replace_by_file(path: Path) -> None:
    remove_tree(path)
    path.write_text("Dear Ada")


def replace_by_dangling_link(path: Path) -> None:
    remove_tree(path)
    path.symlink_to(path.parent / "nowhere" / "at all")


def replace_by_damaged_link(path: Path) -> None:
    """The folder lies elsewhere, and its files are torn."""
    path.rename(path.parent / "elsewhere")
    path.symlink_to(path.parent / "elsewhere")
    for file in path.rglob("*"):
        if file.is_file():
            file.write_bytes(file.read_bytes()[:20])


@pytest.mark.share(3)
@pytest.mark.parametrize("harm", [replace_by_file, replace_by_dangling_link, replace_by_damaged_link])
@pytest.mark.parametrize("name", ["vectors", "graph.kuzu"])
async def test_projection_that_is_not_a_folder_is_rebuilt(
    tmp_path: Path, folders: dict[str, Path], name: str, harm: Callable[[Path], None]
) -> None:
    shutil.copytree(folders["closed"], tmp_path / "home")
    harm(tmp_path / "home" / name)
    assert await open_outcome(tmp_path / "home") == ""


@pytest.mark.share(2)
@pytest.mark.parametrize("name", ["fingerprints", "owner"])
async def test_folder_in_place_of_an_unneeded_file_is_harmless(
    tmp_path: Path, folders: dict[str, Path], name: str
) -> None:
    shutil.copytree(folders["closed"], tmp_path / "home")
    replace_by_folder(tmp_path / "home" / name)
    FileFingerprints(tmp_path / "home" / "fingerprints").record("a", "1")
    assert await open_outcome(tmp_path / "home") == ""


@pytest.mark.share(2)
@pytest.mark.parametrize("name", ["ledger.db", "bot.db"])
async def test_folder_in_place_of_a_database_suggests_restore(
    tmp_path: Path, folders: dict[str, Path], name: str
) -> None:
    shutil.copytree(folders["closed"], tmp_path / "home")
    async with open_engine(tmp_path / "home") as engine:
        await archive.create_backup(engine, tmp_path / "backup")
    for each in (name, "fingerprints", f"{name}-wal"):
        replace_by_folder(tmp_path / "home" / each)
    found = await open_outcome(tmp_path / "home")
    assert found.startswith("CorruptLedger")
    assert name in found
    assert "threadlore restore" in found
    archive.restore_backup(tmp_path / "backup", tmp_path / "home", force=True)
    assert await open_outcome(tmp_path / "home") == ""


@pytest.mark.share(3)
@pytest.mark.parametrize("name", ["ledger.db-wal", "bot.db-shm", "ledger.db-journal"])
async def test_a_folder_in_place_of_a_log_is_named_and_moving_it_away_helps(
    tmp_path: Path, folders: dict[str, Path], name: str
) -> None:
    shutil.copytree(folders["closed"], tmp_path / "home")
    log = tmp_path / "home" / name
    replace_by_folder(log)
    found = await open_outcome(tmp_path / "home")
    assert f"{log}, is a folder" in found
    assert "move the folder away" in found
    log.rename(tmp_path / "away")
    assert await open_outcome(tmp_path / "home") == ""
