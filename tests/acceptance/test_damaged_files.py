"""Every file of a data folder is damaged in turn: it heals by itself, or the error names the command that helps."""

from __future__ import annotations

import asyncio
import random
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from bot.admin.backup import archive
from bot.admin.ingest.fingerprints import Stamps
from bot.store import Store
from engine.data_dir import erase
from engine.errors import BrokenProjection, DamagedLedger, EngineError
from engine.models import Question
from engine.options import Options
from engine.storage.library_errors import told_in_words
from engine.storage.vectors.lance import LanceVectors
from tests.support.engines import HERE, doc, open_engine

if TYPE_CHECKING:
    from collections.abc import Callable

    from engine import Engine

    Harm = Callable[[bytes], bytes]

SEED = 10
TRUTH = {"ledger.db", "ledger.db-wal", "bot.db", "bot.db-wal"}


def flipped(content: bytes) -> bytes:
    """Some bytes are others, where there was something."""
    chance, made = random.Random(SEED), bytearray(content)
    used = [place for place, value in enumerate(content) if value]
    for _ in range(1 + len(used) // 100 if used else 0):
        made[chance.choice(used)] ^= 0xFF
    return bytes(made)


HARMS: dict[str, Harm] = {
    "emptied": lambda _: b"",
    "torn": lambda content: content[: len(content) * 2 // 3],
    "flipped": flipped,
    "overwritten": lambda content: random.Random(SEED).randbytes(len(content)),
}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A folder as it is left by a program that ended, and one of a program that was killed."""
    home, killed = tmp_path_factory.mktemp("x") / "closed", tmp_path_factory.mktemp("x") / "killed"
    asyncio.run(fill(home, killed))
    return {"closed": home, "killed": killed}


async def fill(home: Path, killed: Path) -> None:
    async with open_engine(home) as engine, Store.open(home / archive.BOT) as store:
        await engine.add(doc("diary", "Ada met Bob.", "Ada wrote to Carla."))
        await engine.settled()
        await (await engine.ask(Question("Whom did Ada meet?", HERE))).text()
        await engine.add(doc("letters", "Bob saw Dora."))
        await engine.settled()
        await store.people.opt_out("slack", "T1", "U1")
        Stamps(home / "filed").note("diary", "1")
        shutil.copytree(home, killed)


async def answers(home: Path) -> None:
    """A question is answered from a source, graph and vectors are what the ledger says, and more can be added."""
    async with open_engine(home) as engine, Store.open(home / archive.BOT) as store:
        await store.people.opted_out("slack", "T1", "U1")
        assert not Stamps(home / "filed").unchanged("other", "1")
        await engine.settled()
        answer = await engine.ask(Question("Whom did Ada meet?", HERE))
        assert "Bob" in await answer.text()
        assert answer.context.sources
        await engine.add(doc("more", "Ada met Zeno."))
        await engine.settled()
        assert (await engine.verify()).clean


async def outcome(home: Path) -> str:
    """What came of it: "" if it healed, else the way out that the error names."""
    try:
        await answers(home)
    except EngineError as error:
        return f"{type(error).__name__}: {error} {error.hint}"
    except Exception as error:  # noqa: BLE001  - it is the finding
        return f"unforeseen: {error!r}"
    return ""


def groups(folder: Path, other: Path) -> list[list[Path]]:
    """Files that are harmed together: each alone, but for those that nothing rests on; none that is in `other` too."""
    files = [each.relative_to(folder) for each in sorted(folder.rglob("*")) if each.is_file()]
    files = [file for file in files if not (other / file).exists() or folder.name == "closed"]
    light = [file for file in files if file.suffix in {".txn", ".json", ""}]
    return [light, *([file] for file in files if file not in light)]


@pytest.mark.parametrize("harm", HARMS)
@pytest.mark.parametrize(("state", "other"), [("closed", "killed"), ("killed", "closed")])
async def test_each_file_of_a_folder_heals_or_the_error_names_the_way_out(
    tmp_path: Path, folders: dict[str, Path], state: str, other: str, harm: str
) -> None:
    found: dict[str, str] = {}
    for files in groups(folders[state], folders[other]):
        home = tmp_path / "home"
        shutil.copytree(folders[state], home)
        for file in files:
            (home / file).write_bytes(HARMS[harm]((home / file).read_bytes()))
        found[" ".join(map(str, files))] = await outcome(home)
        shutil.rmtree(home)
    assert len(found) > 3
    assert {file: told for file, told in found.items() if told and not (file in TRUTH and "restore" in told)} == {}


class Panic(BaseException):
    """As pyo3 raises it for a panic of Rust code: no Exception."""


class Failing:
    """A search that fails for a while."""

    def __init__(self, search: Any, times: int, error: BaseException) -> None:
        self.search, self.times, self.error = search, times, error

    async def __call__(self, *arguments: Any) -> Any:
        self.times -= 1
        if self.times >= 0:
            with told_in_words(Path("vectors")):
                raise self.error
        return await self.search(*arguments)


@pytest.mark.parametrize("error", [Panic("range end index"), KeyError("vector"), RuntimeError("lance error")])
async def test_what_breaks_at_first_use_is_made_anew_and_the_question_answered(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    await engine.add(doc("diary", "Ada met Bob."))
    await engine.settled()
    vectors = engine._runtime.vectors
    cleared = 0
    clear, search = vectors.clear, vectors.search
    failing = Failing(search, 10_000, error)

    async def clearing() -> None:
        nonlocal cleared
        cleared += 1
        failing.times = 0
        await clear()

    monkeypatch.setattr(vectors, "search", failing)
    monkeypatch.setattr(vectors, "clear", clearing)
    answer = await engine.ask(Question("Whom did Ada meet?", HERE))
    assert "Bob" in await answer.text()
    assert cleared == 1
    failing.times = 10_000
    with pytest.raises(BrokenProjection) as caught:  # twice within the hour: something else is wrong
        await engine.ask(Question("Whom did Bob meet?", HERE))
    assert "threadlore rebuild" in caught.value.hint


async def test_what_passes_by_itself_is_no_reason_to_rebuild(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    await engine.add(doc("diary", "Ada met Bob."))
    await engine.settled()
    vectors = engine._runtime.vectors
    monkeypatch.setattr(vectors, "search", Failing(vectors.search, 1, RuntimeError("odd")))
    monkeypatch.delattr(LanceVectors, "clear")
    assert (await engine.ask(Question("Whom did Ada meet?", HERE))).context.sources


@pytest.mark.parametrize("file", ["vectors/*/_versions/*.manifest", "vectors/*/data/*"])
async def test_a_rebuild_gets_over_files_that_were_torn_while_they_were_open(engine: Engine, file: str) -> None:
    await engine.add(doc("diary", "Ada met Bob."))
    await engine.settled()
    for torn in engine.folder.home.glob(file):
        torn.write_bytes(torn.read_bytes()[:20])
    await engine.rebuild()
    assert (await engine.verify()).clean
    assert (await engine.ask(Question("Whom did Ada meet?", HERE))).context.sources


async def test_a_ledger_without_its_last_writes_is_told_and_a_rebuild_goes_on_with_what_is_left(
    tmp_path: Path, folders: dict[str, Path]
) -> None:
    shutil.copytree(folders["killed"], tmp_path / "home")
    (tmp_path / "home" / "ledger.db-wal").write_bytes(b"")
    with pytest.raises(DamagedLedger, match="lacks what was written last") as caught:
        await answers(tmp_path / "home")
    assert "threadlore restore" in caught.value.hint
    assert "threadlore rebuild" in caught.value.hint
    async with open_engine(tmp_path / "home", options=Options(replace_embedder=True)) as engine:
        await engine.rebuild()
    async with open_engine(tmp_path / "home") as engine:
        assert (await engine.verify()).clean


@pytest.mark.parametrize("harm", [lambda file: file.write_bytes(b""), lambda file: file.unlink()])
async def test_an_empty_or_missing_ledger_beside_its_projections_names_restore(
    tmp_path: Path, folders: dict[str, Path], harm: Callable[[Path], None]
) -> None:
    shutil.copytree(folders["closed"], tmp_path / "home")
    harm(tmp_path / "home" / "ledger.db")
    with pytest.raises(DamagedLedger) as caught:
        await answers(tmp_path / "home")
    assert "threadlore restore" in caught.value.hint


def as_folder(path: Path) -> None:
    erase(path)
    path.mkdir()
    (path / "note").write_text("Dear Ada")


def as_file(path: Path) -> None:
    erase(path)
    path.write_text("Dear Ada")


def as_dangling_link(path: Path) -> None:
    erase(path)
    path.symlink_to(path.parent / "nowhere" / "at all")


def as_link_to_damage(path: Path) -> None:
    """The folder lies elsewhere, and its files are torn."""
    path.rename(path.parent / "elsewhere")
    path.symlink_to(path.parent / "elsewhere")
    for file in path.rglob("*"):
        if file.is_file():
            file.write_bytes(file.read_bytes()[:20])


@pytest.mark.parametrize("harm", [as_file, as_dangling_link, as_link_to_damage])
@pytest.mark.parametrize("name", ["vectors", "graph.kuzu"])
async def test_a_projection_that_is_no_folder_is_made_anew(
    tmp_path: Path, folders: dict[str, Path], name: str, harm: Callable[[Path], None]
) -> None:
    shutil.copytree(folders["closed"], tmp_path / "home")
    harm(tmp_path / "home" / name)
    assert await outcome(tmp_path / "home") == ""


@pytest.mark.parametrize("name", ["filed", "owner"])
async def test_a_folder_in_place_of_a_file_that_nothing_rests_on_is_no_obstacle(
    tmp_path: Path, folders: dict[str, Path], name: str
) -> None:
    shutil.copytree(folders["closed"], tmp_path / "home")
    as_folder(tmp_path / "home" / name)
    Stamps(tmp_path / "home" / "filed").note("a", "1")
    assert await outcome(tmp_path / "home") == ""


@pytest.mark.parametrize("name", ["ledger.db", "bot.db"])
async def test_a_folder_in_place_of_a_database_names_restore_which_helps(
    tmp_path: Path, folders: dict[str, Path], name: str
) -> None:
    shutil.copytree(folders["closed"], tmp_path / "home")
    async with open_engine(tmp_path / "home") as engine:
        await archive.pack(engine, tmp_path / "backup")
    for each in (name, "filed", f"{name}-wal"):
        as_folder(tmp_path / "home" / each)
    found = await outcome(tmp_path / "home")
    assert found.startswith("DamagedLedger")
    assert name in found
    assert "threadlore restore" in found
    archive.unpack(tmp_path / "backup", tmp_path / "home", force=True)
    assert await outcome(tmp_path / "home") == ""


@pytest.mark.parametrize("ending", ["-wal", "-shm", "-journal"])
@pytest.mark.parametrize("name", ["ledger.db", "bot.db"])
async def test_a_folder_in_place_of_a_log_is_named_and_moving_it_away_helps(
    tmp_path: Path, folders: dict[str, Path], name: str, ending: str
) -> None:
    shutil.copytree(folders["closed"], tmp_path / "home")
    log = tmp_path / "home" / f"{name}{ending}"
    as_folder(log)
    found = await outcome(tmp_path / "home")
    assert f"{log}, is a folder" in found
    assert "move the folder away" in found
    log.rename(tmp_path / "away")
    assert await outcome(tmp_path / "home") == ""
