"""A backup: one compressed file with the ledger, from which graph and vectors are made anew, and the bot's tables."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import tarfile
import tempfile
from contextlib import closing, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING

from bot.unwritable import unwritable
from engine.errors import Broken, DiskTrouble, NotFound, StoreError
from engine.folder import Folder

if TYPE_CHECKING:
    from collections.abc import Mapping

    from engine.engine import Engine

LEDGER, BOT = "ledger.db", "bot.db"


async def pack(engine: Engine, path: Path) -> int:
    """Write a backup, whole or not at all; gives its size in bytes. Raises DiskTrouble."""
    try:
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=".threadlore-") as folder:
            # The bot's tables first: what the ledger knows beyond them is taken in once more, and changes nothing.
            await asyncio.to_thread(_copy, engine.folder.home / BOT, Path(folder, BOT))
            await engine.backup(Path(folder, LEDGER))
            return await asyncio.to_thread(_compress, Path(folder), path)
    except OSError as error:
        raise unwritable(path, error) from error


def unpack(path: Path, home: Path, *, force: bool = False) -> None:
    """Put what a backup holds into a data folder that holds nothing yet; `force` throws away what is there.

    Raises StoreError if something is there, FolderInUse if a program works with it, NotFound and Broken for a path that
    leads to none.
    """
    if not path.exists():
        raise NotFound(f"There is no file {path}.", hint="Check the path.")
    folder = Folder(home)
    if folder.ledger.exists() and not force:
        raise StoreError(f"There is a data folder in {home} already.", hint="Restore with --force to replace it.")
    with folder.owned():
        fresh = {name: home / f"restored-{name}" for name in (LEDGER, BOT)}
        try:
            _extract(path, fresh)
            _put_in_place(fresh, folder)
        except OSError as error:
            told = f"{path} cannot be restored: {(error.strerror or str(error)).lower()}."
            raise DiskTrouble(told, hint=f"See that it is a file you may read, and that {home} has space.") from error
        finally:
            for file in fresh.values():
                file.unlink(missing_ok=True)


def _copy(source: Path, target: Path) -> None:
    """A consistent copy of a database, if there is one. Raises OSError."""
    if not source.exists():
        return
    try:
        with closing(sqlite3.connect(source)) as database, closing(sqlite3.connect(target)) as copy:
            database.backup(copy)
    except sqlite3.Error as error:
        raise OSError(str(error)) from error


def _compress(source: Path, target: Path) -> int:
    part = source / "part"
    with tarfile.open(part, "x:gz", compresslevel=6) as archive:
        for name in (LEDGER, BOT):
            if (source / name).exists():
                archive.add(source / name, name)
    part.chmod(0o600)
    size = part.stat().st_size
    part.replace(target)
    return size


def _extract(path: Path, targets: Mapping[str, Path]) -> None:
    """The ledger, and the bot's tables if the backup has them."""
    try:
        with tarfile.open(path, "r:gz") as archive:
            held = {LEDGER, *archive.getnames()} & targets.keys()
            for name in held:
                targets[name].touch(mode=0o600)
                with _member(archive, name) as member, targets[name].open("wb") as file:
                    shutil.copyfileobj(member, file, 2**20)
        _make_ready(targets[LEDGER])
        if BOT in held:
            _check(targets[BOT])
    except (tarfile.TarError, KeyError, EOFError, sqlite3.DatabaseError) as error:
        raise Broken(f"{path} is no backup.", hint="Name a file that `threadlore backup` has written.") from error


def _member(archive: tarfile.TarFile, name: str) -> IO[bytes]:
    member = archive.extractfile(name)
    if member is None:
        raise KeyError(name)
    return member


def _check(file: Path) -> None:
    """Whether a database is whole. Raises sqlite3.DatabaseError."""
    with closing(sqlite3.connect(file)) as database:
        [[verdict]] = database.execute("PRAGMA quick_check").fetchall()
        if verdict != "ok":
            raise sqlite3.DatabaseError(verdict)


def _make_ready(ledger: Path) -> None:
    """Check a ledger, and note in it that graph and vectors must be made anew. Raises sqlite3.DatabaseError."""
    _check(ledger)
    with closing(sqlite3.connect(ledger)) as database, database:
        database.execute("INSERT OR REPLACE INTO meta VALUES ('rebuilding', 1)")


def _put_in_place(fresh: Mapping[str, Path], folder: Folder) -> None:
    """Let a ledger take the place of another, so that at each moment one of them is there, whole.

    Its predecessor is folded into one file first: the log of one ledger must never lie beside another.
    """
    with suppress(sqlite3.DatabaseError), closing(sqlite3.connect(folder.ledger)) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    for name in (f"{LEDGER}-wal", f"{LEDGER}-shm", "filed", BOT, f"{BOT}-wal", f"{BOT}-shm"):
        (folder.home / name).unlink(missing_ok=True)
    for file in fresh.values():
        if file.exists():
            with file.open("rb") as written:
                os.fsync(written.fileno())
    if fresh[BOT].exists():
        fresh[BOT].replace(folder.home / BOT)
    fresh[LEDGER].replace(folder.ledger)
    _remove_projections(folder)


def _remove_projections(folder: Folder) -> None:
    """Throw away graph and vectors of a folder, and nothing else that lies there."""
    for path in (folder.vectors, folder.graph("kuzu"), folder.graph("ladybug")):
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
            path.with_name(path.name + ".wal").unlink(missing_ok=True)
