"""A backup: one compressed file with the ledger, from which graph and vectors are made anew, and the bot's tables."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import tempfile
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from bot.admin.backup import file_format
from bot.admin.file_errors import unwritable
from bot.store import database, snapshot
from engine.data_dir import Folder, erase
from engine.errors import Broken, DiskTrouble, NotFound, StoreError
from engine.storage.ledger.database import migrations
from engine.storage.ledger.queries.checksum import file_checksum
from engine.storage.sqlite import integrity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engine.engine import Engine

LEDGER, BOT = "ledger.db", "bot.db"
WORK = "restoring"  # a folder in the data folder, while a backup is unpacked


async def pack(engine: Engine, path: Path) -> int:
    """Write a backup, whole or not at all, and prove it; gives its size in bytes.

    The proof: it is restored into a temporary folder, and must hold what the databases held when they were copied.
    Raises DiskTrouble, and StoreError if the proof fails.
    """
    try:
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=".threadlore-") as name:
            folder = Path(name)
            # The bot's tables first: what the ledger knows beyond them is taken in once more, and changes nothing.
            bot = await asyncio.to_thread(_copy_bot, engine.folder.home / BOT, folder / BOT)
            ledger = await engine.backup(folder / LEDGER)
            await asyncio.to_thread(_compress, folder)
            await _prove(folder, path, {LEDGER: ledger, BOT: bot})
            size = (folder / "part").stat().st_size
            (folder / "part").replace(path)
            return size
    except OSError as error:
        raise unwritable(path, error) from error


async def _prove(folder: Path, path: Path, expected: dict[str, str]) -> None:
    proof = folder / "proof"
    try:
        await asyncio.to_thread(unpack, folder / "part", proof)
        bot = await asyncio.to_thread(snapshot.file_checksum, proof / BOT) if (proof / BOT).exists() else ""
        found = {LEDGER: await file_checksum(proof / LEDGER), BOT: bot}
    except (Broken, sqlite3.Error) as error:
        raise StoreError(f"The backup cannot be restored, so {path} was not written: {error}", hint=UNPROVED) from error
    if found != expected:
        raise StoreError(
            f"The backup does not hold what the data folder holds, so {path} was not written.", hint=UNPROVED
        )


UNPROVED = "Run the command again; if it fails again, `threadlore export` writes what can be read."


def unpack(path: Path, home: Path, *, force: bool = False) -> None:
    """Put what a backup holds into a data folder that holds nothing yet; `force` throws away what is there.

    Raises StoreError if something is there, FolderInUse if a program works with it, NotFound and Broken for a path that
    leads to none, NewerSchema for a backup of a later version. A backup that is refused leaves nothing behind.
    """
    if not path.exists():
        raise NotFound(f"There is no file {path}.", hint="Check the path.")
    folder = Folder(home)
    if folder.ledger.exists() and not force:
        raise StoreError(f"There is a data folder in {home} already.", hint="Restore with --force to replace it.")
    with _left_as_it_was(home), folder.owned():
        fresh = home / WORK
        try:
            shutil.rmtree(fresh, ignore_errors=True)  # of a restore that was killed
            fresh.mkdir(mode=0o700)
            _extract(path, fresh)
            _put_in_place(fresh, folder)
        except OSError as error:
            told = f"{path} cannot be restored: {(error.strerror or str(error)).lower()}."
            raise DiskTrouble(told, hint=f"See that it is a file you may read, and that {home} has space.") from error
        finally:
            shutil.rmtree(fresh, ignore_errors=True)


@contextmanager
def _left_as_it_was(home: Path) -> Iterator[None]:
    """Remove the data folder again if it was made for what then failed."""
    existed = home.exists()
    try:
        yield
    except BaseException:
        if not existed and not (home / LEDGER).exists():
            shutil.rmtree(home, ignore_errors=True)
        raise


def _copy_bot(source: Path, target: Path) -> str:
    """A consistent copy of the bot's database, if there is one; gives its checksum. Raises OSError."""
    if not source.exists():
        return ""
    try:
        return snapshot.copy(source, target)
    except sqlite3.Error as error:
        raise OSError(str(error)) from error


def _compress(folder: Path) -> None:
    part = folder / "part"
    file_format.write(folder, (LEDGER, BOT), part)
    part.chmod(0o600)
    for name in (LEDGER, BOT):
        (folder / name).unlink(missing_ok=True)  # the proof needs the space


def _extract(path: Path, fresh: Path) -> None:
    """Unpack and check the ledger, and the bot's tables if the backup has them."""
    held = file_format.read(path, fresh, (LEDGER, BOT))
    if LEDGER not in held:
        raise Broken(f"{path} is no backup (it holds no ledger).", hint=file_format.NO_BACKUP)
    try:
        integrity.check(fresh / LEDGER, "document", len(migrations()))
        with closing(sqlite3.connect(fresh / LEDGER)) as ledger, ledger:
            ledger.execute("INSERT OR REPLACE INTO meta VALUES ('rebuilding', 1)")
        if BOT in held:
            integrity.check(fresh / BOT, "inbox", database.latest())
    except sqlite3.DatabaseError as error:
        raise Broken(f"{path} is no backup ({error}).", hint=file_format.NO_BACKUP) from error


def _put_in_place(fresh: Path, folder: Folder) -> None:
    """Let a ledger take the place of another, so that at each moment one of them is there, whole.

    Its predecessor is folded into one file first: the log of one ledger must never lie beside another.
    """
    with suppress(sqlite3.DatabaseError), closing(sqlite3.connect(folder.ledger)) as ledger:
        ledger.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    for name in (f"{LEDGER}-wal", f"{LEDGER}-shm", "filed", BOT, f"{BOT}-wal", f"{BOT}-shm"):
        erase(folder.home / name)
    for file in (fresh / LEDGER, fresh / BOT):
        if file.exists():
            with file.open("rb") as written:
                os.fsync(written.fileno())
    if (fresh / BOT).exists():
        (fresh / BOT).replace(folder.home / BOT)
    if folder.ledger.is_dir():
        erase(folder.ledger)
    (fresh / LEDGER).replace(folder.ledger)
    _remove_projections(folder)


def _remove_projections(folder: Folder) -> None:
    """Throw away graph and vectors of a folder, and nothing else that lies there."""
    for path in (folder.vectors, folder.graph("kuzu"), folder.graph("ladybug")):
        if not path.is_dir():
            path.with_name(path.name + ".wal").unlink(missing_ok=True)
        erase(path)
