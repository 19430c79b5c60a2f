from __future__ import annotations

import gzip
import io
import shutil
import sqlite3
import tarfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest

from bot.capabilities.maintenance import archive, archive_format
from bot.store import AnswerResult, BotStore, sqlite_file
from engine import Engine
from engine.clock import SYSTEM_CLOCK
from engine.data_dir import DataDir
from engine.errors import CorruptFile, DiskError, EarlySchema, EngineError, NewerSchema, StoreError
from engine.models import Extraction, Link, Mention, Question
from engine.storage.ledger import prepare_restored_ledger
from engine.storage.ledger.database import SCHEMA as LEDGER
from tests.support.builders import make_answer
from tests.support.engine_fixture import HERE, canonical_export, doc, open_memory_engine
from tests.support.kills import run_until_killed

MIB = 2**20


@asynccontextmanager
async def open_folder(home: Path) -> AsyncIterator[tuple[Engine, BotStore]]:
    async with open_memory_engine(home) as engine, BotStore.open(home / archive.BOT_FILE, SYSTEM_CLOCK) as store:
        yield engine, store


async def ask(engine: Engine) -> str:
    return await (await engine.ask(Question("Whom did Ada meet?", HERE))).collect_text()


async def live_through(engine: Engine, store: BotStore) -> None:
    """Documents, questions, corrections, and things that are forgotten."""
    for key in ("a", "b", "c"):
        await engine.documents.add(doc(key, f"Ada met Bob {key}.", "Bob wrote to Carla."))
    await engine.wait_until_indexed()
    assert await ask(engine)
    await engine.corrections.merge("here", "Bob", "Robert", allow_unknown=True)
    await engine.corrections.describe("here", "Ada", "She keeps the diary.")
    await engine.corrections.hide("here", "Carla")
    dora = Extraction((Mention("Dora", "person", "Late."),), (Link("Dora", "Ada", "kin", "x"),))
    await engine.corrections.add_facts("here", "hall", dora)
    await engine.documents.forget("c")
    await engine.wait_until_indexed()
    await engine.maintenance.compact()
    assert await ask(engine)
    await store.answers.begin(make_answer())
    await store.answers.save_reply_ref("a1", "HALL:m2")
    await store.answers.finish("a1", AnswerResult("He.", documents=frozenset({"a"})))
    await store.feedback.record("a1", "ada", True)
    await store.feedback.record_reason("a1", "bob", "wrong", "It was her.")
    await store.opt_outs.opt_out("slack", "T1", "U1")


def change(database: Path, statement: str) -> None:
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.executescript(statement)


async def test_everything_comes_back_from_a_backup(tmp_path: Path) -> None:
    async with open_folder(tmp_path / "home") as (engine, store):
        await live_through(engine, store)
        before = await canonical_export(engine)
        assert await archive.create_backup(engine, tmp_path / "backup") > 0
        await store.opt_outs.opt_out("slack", "T1", "U2")
    archive.restore_backup(tmp_path / "backup", tmp_path / "other")
    async with open_folder(tmp_path / "other") as (engine, store):
        await engine.wait_until_indexed()
        assert await canonical_export(engine) == before
        found = await store.answers.get("a1")
        assert found is not None
        assert found.text == "He."
        assert await store.feedback.list_reasons({"a1"}) == [("wrong", "It was her.")]
        assert [await store.opt_outs.is_opted_out("slack", "T1", person) for person in ("U1", "U2")] == [True, False]


@pytest.mark.long
@pytest.mark.parametrize(
    ("file", "statement", "written"),
    [
        pytest.param("home", "UPDATE document SET title = 'Changed'", True, id="others write meanwhile"),
        pytest.param("copy", "UPDATE passage SET text = 'x'", False, id="a passage differs"),
        pytest.param("copy", "DELETE FROM alias", False, id="a correction is missing"),
    ],
)
async def test_a_backup_is_compared_with_its_snapshot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str, statement: str, *, written: bool
) -> None:
    write_archive = archive_format.write_archive

    def change_and_write(folder: Path, *args: Any) -> None:
        change((tmp_path / "home" if file == "home" else folder) / "ledger.db", statement)
        write_archive(folder, *args)

    monkeypatch.setattr(archive_format, "write_archive", change_and_write)
    async with open_folder(tmp_path / "home") as (engine, store):
        await live_through(engine, store)
        if written:
            assert await archive.create_backup(engine, tmp_path / "backup") > 0
            assert [document.title for document in await engine.documents.list(HERE)][:2] == ["Changed", "Changed"]
        else:
            with pytest.raises(StoreError, match="differs from the data,"):
                await archive.create_backup(engine, tmp_path / "backup")
    names = {path.parts[len(tmp_path.parts)] for path in files_of(tmp_path)}
    assert names == ({"home", "backup"} if written else {"home"})


async def test_an_early_database_of_the_bot_is_named_instead_of_backed_up(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path / "home") as engine:
        change(tmp_path / "home" / "bot.db", "CREATE TABLE inbox (id INTEGER); PRAGMA user_version = 7;")
        with pytest.raises(EarlySchema, match="The bot's database was written by an early version"):
            await archive.create_backup(engine, tmp_path / "backup")


def state(home: Path) -> tuple[set[str], str, str]:
    """The files of a folder that no program has open, and what its databases hold."""
    checksums = [sqlite_file.file_checksum(home / name) for name in (archive.LEDGER_FILE, archive.BOT_FILE)]
    return {str(file.relative_to(home)) for file in files_of(home)}, checksums[0], checksums[1]


@pytest.mark.long
async def test_a_kill_at_any_step_of_a_restore_leaves_the_old_data_or_the_new(tmp_path: Path) -> None:
    async with open_folder(tmp_path / "new") as (engine, store):
        await engine.documents.add(doc("new", "The ferry sails at nine."))
        await store.opt_outs.opt_out("slack", "T1", "NEW")
        await archive.create_backup(engine, tmp_path / "backup")
    async with open_folder(tmp_path / "old") as (engine, store):
        await engine.documents.add(doc("old", "The kiosk is closed."))
        await store.opt_outs.opt_out("slack", "T1", "OLD")
    (tmp_path / "old" / archive.FINGERPRINTS).touch()
    (tmp_path / "old" / "vectors").mkdir()
    archive.restore_backup(tmp_path / "backup", tmp_path / "whole")
    old, new = state(tmp_path / "old"), state(tmp_path / "whole")
    home, step, seen = tmp_path / "home", 0, list[tuple[set[str], str, str]]()

    def restore() -> None:
        archive.restore_backup(tmp_path / "backup", home, force=True)

    while True:
        if not seen or seen[-1] != old:
            shutil.rmtree(home, ignore_errors=True)
            shutil.copytree(tmp_path / "old", home)
        if not run_until_killed(restore, step):
            break
        with DataDir(home).acquire_lock():
            seen.append(state(home))
        assert (home / "vectors").exists() == (seen[-1] == old)
        step += 1
    assert state(home) == new
    decided = seen.index(new)
    assert seen == [old] * decided + [new] * (step - decided)
    assert 3 < decided < step - 3


async def test_the_copies_of_a_killed_backup_are_gone_after_the_next_start(tmp_path: Path) -> None:
    async with open_folder(tmp_path / "home") as (engine, _):
        await engine.documents.add(doc("a", "The ferry sails at nine."))
        with engine.data_dir.journal.temporary(tmp_path / "backups"):
            [record] = (tmp_path / "home" / ".journal").iterdir()
            found = record.read_text()
    record.write_text(found)
    shutil.copytree(tmp_path / "home", found)
    async with open_folder(tmp_path / "home"):
        assert not files_of(tmp_path / "backups")


async def test_a_backup_without_a_bot_leaves_no_other_bots_tables_behind(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path / "home") as engine:
        await engine.documents.add(doc("a", "The ferry sails at nine."))
        await archive.create_backup(engine, tmp_path / "backup")
    async with open_folder(tmp_path / "other") as (_, store):
        await store.opt_outs.opt_out("slack", "T1", "U1")
    archive.restore_backup(tmp_path / "backup", tmp_path / "other", force=True)
    assert not (tmp_path / "other" / archive.BOT_FILE).exists()


@pytest.fixture
async def backup(tmp_path: Path) -> Path:
    """A backup of a folder with one document and a bot."""
    async with open_folder(tmp_path / "home") as (engine, _):
        await engine.documents.add(doc("a", "The ferry sails at nine."))
        await archive.create_backup(engine, tmp_path / "backup")
    return tmp_path / "backup"


def contents(path: Path) -> dict[str, bytes]:
    """The files in a backup, unpacked by others."""
    with tarfile.open(path) as held:
        return {each.name: held.extractfile(each).read() for each in held}  # type: ignore[union-attr]


def packed(path: Path, *members: tuple[tarfile.TarInfo, bytes], form: int = tarfile.GNU_FORMAT) -> Path:
    """A compressed archive of these members."""
    with tarfile.open(path, "w:gz", format=form) as made:
        for info, content in members:
            made.addfile(info, io.BytesIO(content))
    return path


def entry(name: str, content: bytes, kind: bytes = tarfile.REGTYPE) -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.size, info.type, info.linkname = len(content), kind, "ledger.db"
    return info, content


def database(pages: int, version: int = 1) -> bytes:
    """A database that is mostly empty pages."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as made:
        made.execute(f"PRAGMA user_version = {version}")
        made.execute("CREATE TABLE meta (key TEXT PRIMARY KEY, value ANY)")
        made.execute("CREATE TABLE big (x)")
        made.execute("INSERT INTO big VALUES (zeroblob(?))", (4096 * pages,))
        return made.serialize()


def refused(path: Path, home: Path, kind: type[EngineError] = CorruptFile) -> EngineError:
    """The refusal; nothing may be left of it."""
    before = files_of(home)
    with pytest.raises(kind) as caught:
        archive.restore_backup(path, home, force=True)
    assert files_of(home) == before
    return caught.value


def files_of(home: Path) -> dict[Path, bytes]:
    """What lies in a folder, but for who owns it at the moment."""
    files = [path for path in home.rglob("*") if path.is_file() and path.name not in {"lock", "owner"}]
    return {file: file.read_bytes() for file in files}


def test_what_is_no_backup_is_refused_and_leaves_nothing(tmp_path: Path, backup: Path) -> None:
    whole = backup.read_bytes()
    plain = gzip.decompress(whole)
    for content in (
        b"Dear Ada",
        b"",
        gzip.compress(b""),
        gzip.compress(b"Dear Ada" * 1000),
        whole[: len(whole) // 2],
        whole[:-4],
        whole[:-8] + b"\0" * 8,
        whole[:2000] + bytes(20) + whole[2020:],
        gzip.compress(plain[:700]),
        gzip.compress(plain + b"more" * 300),
    ):
        (tmp_path / "letter").write_bytes(content)
        refused(tmp_path / "letter", tmp_path / "other")
        assert not (tmp_path / "other").exists()


@pytest.mark.long
def test_only_the_two_databases_are_taken_from_an_archive(tmp_path: Path, backup: Path) -> None:
    held = contents(backup)
    ledger, bot = entry("ledger.db", held["ledger.db"]), entry("bot.db", held["bot.db"])
    target = tmp_path / "odd"
    for members in (
        [entry("../ledger.db", held["ledger.db"])],
        [entry("/tmp/ledger.db", held["ledger.db"])],
        [ledger, entry("extra.txt", b"x")],
        [ledger, ledger],
        [bot],
        [ledger, bot, bot],
        [ledger, entry("bot.db", b"", tarfile.SYMTYPE)],
        [ledger, entry("bot.db", b"", tarfile.LNKTYPE)],
        [ledger, entry("bot.db", b"", tarfile.DIRTYPE)],
        [ledger, entry("bot.db", b"", tarfile.FIFOTYPE)],
        [entry("ledger.db", held["ledger.db"], tarfile.GNUTYPE_SPARSE)],
        [ledger, entry("bot.db", b"")],
        [ledger, entry("bot.db", held["bot.db"][:-4096])],
        [entry("ledger.db", held["bot.db"])],
        [],
    ):
        refused(packed(target, *members), tmp_path / "other")
        assert not (tmp_path / "other").exists()
    archive.restore_backup(packed(target, bot, ledger), tmp_path / "other")


@pytest.mark.share(3)
@pytest.mark.parametrize("form", [tarfile.PAX_FORMAT, tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT])
def test_a_backup_that_another_program_packed_again_is_taken(tmp_path: Path, backup: Path, form: int) -> None:
    held = contents(backup)
    info, content = entry("ledger.db", held["ledger.db"])
    info.mtime = 1.5
    archive.restore_backup(packed(tmp_path / "again", (info, content), form=form), tmp_path / "other")


def header(name: str, size: int, kind: bytes = tarfile.REGTYPE) -> bytes:
    info = tarfile.TarInfo(name)
    info.size, info.type = size, kind
    return info.tobuf(tarfile.GNU_FORMAT)


def test_an_archive_is_unpacked_no_further_than_its_size_bears(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = 0

    class Counting(io.FileIO):
        def write(self, block: Any) -> int:
            nonlocal written
            written += len(block)
            return super().write(block)

    monkeypatch.setattr(archive_format, "FileIO", Counting)
    monkeypatch.setattr(archive_format, "BASE_LIMIT", 8 * MIB)
    zeros, huge = gzip.compress(bytes(MIB), 9), 3 * 2**30
    page = bytearray(database(1)[:4096])
    page[28:32] = (huge // 4096).to_bytes(4, "big")
    true_start = header("ledger.db", huge) + bytes(page)
    for first in (
        header("ledger.db", huge),
        true_start,
        header("junk", huge),
        header("ledger.db", huge, tarfile.XHDTYPE),
        header("ledger.db", huge, tarfile.GNUTYPE_LONGNAME),
        header("ledger.db", huge, tarfile.XGLTYPE),
    ):
        path = tmp_path / "bomb"
        path.write_bytes(gzip.compress(first) + zeros * 64)
        monkeypatch.setattr(archive_format, "free_space", lambda _: 2**50)
        refused(path, tmp_path / "other")
        assert not (tmp_path / "other").exists()
    assert written < 3 * archive_format.BASE_LIMIT


@pytest.mark.parametrize("size", [-1, -513, -(2**60), -(2**80)])
@pytest.mark.parametrize("kind", [tarfile.REGTYPE, tarfile.XHDTYPE])
def test_an_archive_of_negative_sizes_is_refused_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int, kind: bytes
) -> None:
    class Progressing(io.FileIO):
        def write(self, block: Any) -> int:
            assert block, "it does not end"
            return super().write(block)

    path = tmp_path / "odd"
    path.write_bytes(gzip.compress(header("ledger.db", size, kind) + bytes(MIB)))
    monkeypatch.setattr(archive_format, "FileIO", Progressing)
    assert "negative" in str(refused(path, tmp_path / "other"))


def test_what_does_not_fit_the_disk_is_refused_before_it_is_unpacked(
    tmp_path: Path, backup: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive_format, "free_space", lambda _: 2 * MIB)
    error = refused(backup, tmp_path / "other", DiskError)
    assert "MiB" in str(error)


@pytest.mark.long
async def test_a_backup_of_almost_nothing_but_repetition_can_be_restored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    monkeypatch.setattr(archive_format, "BASE_LIMIT", 2 * MIB)
    async with open_memory_engine(home) as engine:
        await engine.documents.add(doc("a", "The ferry sails at nine."))
        with closing(sqlite3.connect(home / "ledger.db")) as ledger, ledger:
            ledger.execute(
                "INSERT INTO summary VALUES (x'aa', printf('%.*c', ?, 'a'))", (2 * archive_format.BASE_LIMIT,)
            )
        await archive.create_backup(engine, tmp_path / "backup")
    archive.restore_backup(tmp_path / "backup", tmp_path / "other")
    assert (tmp_path / "other" / "ledger.db").stat().st_size > 2 * archive_format.BASE_LIMIT


@pytest.mark.share(2)
@pytest.mark.parametrize(
    ("change", "kind"), [("PRAGMA user_version = 99", NewerSchema), ("CREATE TABLE {} (n)", EarlySchema)]
)
@pytest.mark.parametrize(("name", "table"), [("ledger.db", "piece"), ("bot.db", "inbox")])
def test_a_backup_of_another_version_leaves_the_folder_as_it_is(
    tmp_path: Path, backup: Path, name: str, table: str, change: str, kind: type[EngineError]
) -> None:
    held = contents(backup)
    (tmp_path / "x.db").write_bytes(held[name])
    with closing(sqlite3.connect(tmp_path / "x.db")) as database:
        database.execute(change.format(table))
    held[name] = (tmp_path / "x.db").read_bytes()
    shutil.rmtree(tmp_path / "home" / "vectors", ignore_errors=True)
    refused(packed(tmp_path / "later", *(entry(*each) for each in held.items())), tmp_path / "home", kind)


SPY = """
    CREATE TABLE spy (text);
    CREATE VIEW secret AS SELECT * FROM {table};
    CREATE TRIGGER copy_all AFTER DELETE ON {table} BEGIN INSERT INTO spy VALUES ('seen'); END;
    CREATE INDEX odd ON {table} ({column} || 'x');
"""


def altered(folder: Path, backup: Path, name: str, script: str) -> Path:
    """A backup in which others changed a database."""
    held = contents(backup)
    (folder / "x.db").write_bytes(held[name])
    change(folder / "x.db", script)
    held[name] = (folder / "x.db").read_bytes()
    return packed(folder / "altered", *(entry(*each) for each in held.items()))


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "table", "column"), [("ledger.db", "passage", "text"), ("bot.db", "opt_out", "person")]
)
async def test_nothing_but_the_rows_of_our_tables_is_taken_from_a_backup(
    tmp_path: Path, backup: Path, name: str, table: str, column: str
) -> None:
    strange = altered(tmp_path, backup, name, SPY.format(table=table, column=column))
    archive.restore_backup(backup, tmp_path / "plain")
    archive.restore_backup(strange, tmp_path / "other")
    listed = list[list[tuple[str, str]]]()
    for home in ("plain", "other"):
        with closing(sqlite3.connect(tmp_path / home / name)) as database:
            listed.append(sorted(database.execute("SELECT type, name FROM sqlite_schema").fetchall()))
    assert listed[0] == listed[1]
    async with open_folder(tmp_path / "other") as (engine, _):
        await engine.wait_until_indexed()
        assert [document.key for document in await engine.documents.list(HERE)] == ["a"]
        assert (await engine.retrieve(Question("When does the ferry sail?", HERE))).sources
        assert (await engine.maintenance.verify()).is_clean


@pytest.mark.share(2)
@pytest.mark.parametrize(
    ("name", "script"),
    [
        ("ledger.db", "DROP TABLE usage; CREATE VIEW usage AS SELECT 1 AS day;"),
        ("ledger.db", "ALTER TABLE meta RENAME COLUMN value TO worth;"),
        ("ledger.db", "ALTER TABLE usage ADD COLUMN spy GENERATED ALWAYS AS (1) VIRTUAL;"),
        ("bot.db", "DROP TABLE opt_out;"),
        ("bot.db", "DROP TABLE adapter_state; CREATE TABLE adapter_state (platform, name, value);"),
    ],
)
def test_tables_that_are_not_ours_are_refused(tmp_path: Path, backup: Path, name: str, script: str) -> None:
    error = refused(altered(tmp_path, backup, name, script), tmp_path / "home")
    assert "is not a backup" in str(error)


@pytest.mark.parametrize("version", [1, 3])
def test_a_backup_of_a_former_version_is_found_in_full_text(tmp_path: Path, version: int) -> None:
    path = tmp_path / "ledger.db"
    with closing(sqlite3.connect(path)) as database:
        LEDGER.create(database, version, tokenizer="porter unicode61")
        database.executescript(
            "INSERT INTO space VALUES (1, 'here'); INSERT INTO room VALUES (1, 'r', NULL);"
            "INSERT INTO document VALUES (7, 'a', 1, 1, 'file', 'A', '', '', 0, 0, 'indexed', '', '', 0, 1);"
            "INSERT INTO chunk (key, document, space, room, ordinal, tokens, time, text, text_hash, extraction)"
            " VALUES ('c', 7, 1, 1, 0, 3, 0, 'the ferry sails', x'00', x'00');"
            "UPDATE sqlite_sequence SET seq = 42 WHERE name = 'document';"
        )
    prepare_restored_ledger(path)
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("PRAGMA user_version").fetchone() == (version,)
        LEDGER.migrate(database, path)
        assert database.execute("SELECT rowid FROM chunk_fts WHERE chunk_fts MATCH 'ferry'").fetchall() == [(1,)]
        assert database.execute("SELECT seq FROM sqlite_sequence WHERE name = 'document'").fetchone() == (42,)
        assert database.execute("SELECT value FROM meta WHERE key = 'reindexing'").fetchone() == (1,)


@pytest.mark.parametrize("name", ["ledger.db", "bot.db"])
def test_a_damaged_database_is_not_put_in_place(tmp_path: Path, backup: Path, name: str) -> None:
    held = contents(backup)
    content = bytearray(held[name])
    content[4096 * 3 : 4096 * 6] = b"damaged!" * (4096 * 3 // 8)
    held[name] = bytes(content)
    refused(packed(tmp_path / "torn", *(entry(*each) for each in held.items())), tmp_path / "home")


def test_what_is_no_backup_is_named_before_data_that_would_be_replaced(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "ledger.db").write_bytes(b"rows")
    (tmp_path / "notes.txt").write_text("no backup")
    with pytest.raises(CorruptFile, match="is not a backup"):
        archive.restore_backup(tmp_path / "notes.txt", home)
