"""Backup and restore: one compressed file with the ledger and the bot's database; the indexes are rebuilt from it.

The file is the same whether the data is in a directory or in a PostgreSQL database, and is restored into either.
"""

from __future__ import annotations

import asyncio
import shutil
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from bot.capabilities.maintenance import archive_format
from bot.capabilities.maintenance.archive_key import encrypt_file
from bot.errors import file_write_error
from bot.store import copy_store, sqlite_file
from engine.data_dir import DataDir
from engine.errors import (
    CorruptFile,
    CorruptLedger,
    DiskError,
    EarlySchema,
    NewerSchema,
    NotFound,
    SchemaMismatch,
    StoreError,
)
from engine.storage.disk import disk_error
from engine.storage.files import remove_tree
from engine.storage.journal import READY
from engine.storage.ledger import compute_file_checksum, prepare_restored_ledger, restore_database

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from bot.capabilities.maintenance.archive_key import BackupKey
    from engine import Clock, Engine, EngineOptions
    from engine.storage.journal import Journal

LEDGER_FILE, BOT_FILE = "ledger.db", "bot.db"
FINGERPRINTS = "fingerprints"


async def create_backup(engine: Engine, path: Path, key: BackupKey | None = None) -> int:
    """Write a backup atomically and verify it; returns its size in bytes.

    The proof: it is restored into a temporary folder, and must hold what the databases held when they were copied.
    With a key it is encrypted, and nothing else is written to the disk of the backup. Raises DiskError, also if the
    disk lacks the space, and StoreError if the proof fails.
    """
    try:
        parent = path.parent if key is None else engine.data_dir.path
        work = parent / path.name
        if not engine.database:
            archive_format.check_backup_space(work, 2 * _databases_size(engine.data_dir.path))
        with engine.data_dir.journal.temporary(parent) as folder:
            folder.mkdir(mode=0o700)
            # The bot's database first: messages that only the ledger has are ingested again, which changes nothing.
            place, access = engine.database or engine.data_dir.path / BOT_FILE, engine.maintenance.file_access
            bot = await copy_store(place, folder / BOT_FILE, engine.clock, access)
            ledger = await engine.maintenance.backup(folder / LEDGER_FILE)
            archive_format.check_backup_space(work, _databases_size(folder))
            await asyncio.to_thread(_compress, folder)
            await _verify_backup(folder, path, {LEDGER_FILE: ledger, BOT_FILE: bot})
            if key is None:
                size = (folder / "part").stat().st_size
                (folder / "part").replace(path)
                return size
            remove_tree(folder / "proof")
            return await asyncio.to_thread(_encrypt_to, folder / "part", path, key, engine.data_dir.journal)
    except OSError as error:
        raise file_write_error(path, error) from error


def _encrypt_to(part: Path, path: Path, key: BackupKey, journal: Journal) -> int:
    with journal.temporary(path.parent) as sealed:
        encrypt_file(part, sealed, key)
        size = sealed.stat().st_size
        sealed.replace(path)
        return size


def _databases_size(folder: Path) -> int:
    return sum(archive_format.database_size(folder / name) for name in (LEDGER_FILE, BOT_FILE))


async def _verify_backup(folder: Path, path: Path, expected: dict[str, str]) -> None:
    proof = folder / "proof"
    try:
        await asyncio.to_thread(restore_backup, folder / "part", proof)
        bot = (
            await asyncio.to_thread(sqlite_file.file_checksum, proof / BOT_FILE) if (proof / BOT_FILE).exists() else ""
        )
        found = {LEDGER_FILE: await compute_file_checksum(proof / LEDGER_FILE), BOT_FILE: bot}
    except (DiskError, EarlySchema):
        raise
    except (CorruptFile, StoreError) as error:
        raise StoreError(
            f"The backup cannot be restored, so {path} was not written: {error}", hint=UNVERIFIED_HINT
        ) from error
    if found != expected:
        raise StoreError(f"The backup differs from the data, so {path} was not written.", hint=UNVERIFIED_HINT)


UNVERIFIED_HINT = "Run the command again. If it fails again, `threadlore export` writes all readable data."


def restore_backup(path: Path, home: Path, *, force: bool = False, key: BackupKey | None = None) -> None:
    """Restore a backup into an empty data directory; `force` replaces existing data. `key`: of an encrypted one.

    Raises StoreError if the directory has data, DataDirInUse if a process uses it, NotFound if there is no file,
    CorruptFile if it is no backup, EarlySchema or NewerSchema if another version wrote it. A refused backup leaves
    nothing behind.
    """
    folder = DataDir(home)
    if path.is_file() and folder.ledger_path.exists() and not force:
        archive_format.check_beginning(path, (LEDGER_FILE, BOT_FILE), key)
        raise StoreError(f"{home} already contains data.", hint="Use --force to replace it.")
    removed = (FINGERPRINTS, *folder.projection_files)
    with _locked(path, folder), folder.journal.replacing((BOT_FILE, LEDGER_FILE), removed) as unpacked:
        _extract(path, unpacked, key)


async def restore_into_database(
    path: Path, home: Path, options: EngineOptions, clock: Clock, *, force: bool = False, key: BackupKey | None = None
) -> None:
    """Restore a backup into the empty PostgreSQL database of the options, all or nothing; `force` replaces its data.

    `home`: the data directory of this machine. Raises what `restore_backup` does, and DatabaseInUse.
    """
    from bot.store.postgres import load_store  # noqa: PLC0415 - it needs the extra `postgres`

    folder = DataDir(home)
    with _locked(path, folder), folder.journal.scratch() as unpacked:
        _extract(path, unpacked, key)
        remove_tree(home / FINGERPRINTS)  # first: without them, files are only read again
        bot = unpacked / BOT_FILE
        load_bot = partial(load_store, path=bot if bot.exists() else None, replace=force)
        try:
            await restore_database(options, unpacked / LEDGER_FILE, replace=force, also=load_bot, clock=clock)
        except (CorruptLedger, SchemaMismatch) as error:
            raise CorruptFile(f"{path} is not a backup ({error}).", hint=archive_format.NOT_A_BACKUP_HINT) from error


@contextmanager
def _locked(path: Path, folder: DataDir) -> Iterator[None]:
    """The locked data directory for a backup, which must exist. Raises NotFound and DiskError."""
    if not path.exists():
        raise NotFound(f"There is no file {path}.", hint="Check the path.")
    home = folder.path
    with _remove_on_failure(home), folder.acquire_lock():
        try:
            yield
        except OSError as error:
            raise disk_error(f"{path} cannot be restored into {home}", home, error) from error


@contextmanager
def _remove_on_failure(home: Path) -> Iterator[None]:
    """Remove a data directory that was created by a failed restore, unless the next start finishes it."""
    existed = home.exists()
    try:
        yield
    except BaseException:
        if not existed and not any((home / name).exists() for name in (LEDGER_FILE, READY)):
            shutil.rmtree(home, ignore_errors=True)
        raise


def _compress(folder: Path) -> None:
    part = folder / "part"
    archive_format.write_archive(folder, (LEDGER_FILE, BOT_FILE), part)
    part.chmod(0o600)
    for name in (LEDGER_FILE, BOT_FILE):
        (folder / name).unlink(missing_ok=True)  # frees space for the verification


def _extract(path: Path, unpacked: Path, key: BackupKey | None) -> None:
    """Unpack and check the ledger, and the bot's database if the backup contains it."""
    names = archive_format.read_archive(path, unpacked, (LEDGER_FILE, BOT_FILE), key)
    if LEDGER_FILE not in names:
        raise CorruptFile(f"{path} is not a backup (it contains no ledger).", hint=archive_format.NOT_A_BACKUP_HINT)
    try:
        prepare_restored_ledger(unpacked / LEDGER_FILE)
        if BOT_FILE in names:
            sqlite_file.prepare_restored(unpacked / BOT_FILE)
    except (EarlySchema, NewerSchema):
        raise
    except StoreError as error:
        raise CorruptFile(f"{path} is not a backup ({error}).", hint=archive_format.NOT_A_BACKUP_HINT) from error
