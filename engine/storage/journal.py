"""The journal of a data directory: what a kill interrupted is finished, or removed, by the next start.

    with journal.replacing(files=("a.db",), remove=("a.idx",)) as folder: ...  # write the new files into the folder
    with journal.temporary(parent) as path: ...  # work on copies outside of the directory

New files are written into a folder, with a list of what they replace. Its new name is the moment of truth: before, the
folder is a leftover; from then on, each start moves the rest of it into place. Work elsewhere has a record with its
path. Records and uploads are locked while somebody uses them, so what nobody has locked was left by an ended process.
"""

from __future__ import annotations

import fcntl
import json
import os
import secrets
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import structlog

from engine.storage.files import remove_tree
from engine.storage.sqlite.database_file import LOGS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

log = structlog.get_logger(__name__)

PENDING, READY, MANIFEST = ".restore-tmp", ".restore-ready", "manifest.json"
RECORDS, UPLOADS = ".journal", "uploads"
PREFIX = ".threadlore-"  # of the names of files and folders outside of the data directory


@dataclass(frozen=True, slots=True)
class Journal:
    """The journal of a data directory."""

    home: Path

    @property
    def has_pending(self) -> bool:
        """Whether a replacement was decided and is not finished: the files are a mix of old and new ones."""
        return (self.home / READY / MANIFEST).exists()

    def resolve(self) -> None:
        """Finish a replacement that was decided, and remove everything that ended processes left.

        The caller has locked the directory. Raises OSError if a replacement cannot be finished.
        """
        self._finish_replacement()
        remove_tree(self.home / PENDING, ignore_errors=True)
        self.remove_leftovers()

    def remove_leftovers(self) -> None:
        """Remove uploads, and files and folders elsewhere, that no process uses any more."""
        for record in _list_files(self.home / RECORDS):
            with suppress(OSError), _locked_by_nobody(record):
                if _remove_recorded(record):
                    record.unlink()
        remove_unused(self.home / UPLOADS)

    @contextmanager
    def scratch(self) -> Iterator[Path]:
        """An empty folder in the directory, which is removed on exit or by the next start."""
        folder = self.home / PENDING
        remove_tree(folder)
        folder.mkdir(mode=0o700)
        try:
            yield folder
        finally:
            remove_tree(folder, ignore_errors=True)

    @contextmanager
    def replacing(self, files: Collection[str], remove: Collection[str]) -> Iterator[Path]:
        """A folder for new files; on exit they replace those of the directory, and others are removed, all or nothing.

        `files`: the names of databases, each of which may be missing in the folder, then it will be missing afterwards.
        After an exception nothing has changed, unless moving the files failed: then the next start finishes it.
        """
        with self.scratch() as folder:
            yield folder
            present = [name for name in files if (folder / name).exists()]
            missing = [name + suffix for name in files if name not in present for suffix in ("", *LOGS)]
            _write_manifest(folder, present, [*remove, *missing])
            folder.rename(self.home / READY)
        _sync(self.home)
        self._finish_replacement()

    def _finish_replacement(self) -> None:
        """Repeatable at any step: what was moved is not in the folder any more, and is not removed again."""
        folder = self.home / READY
        if self.has_pending:
            listed = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
            for name in listed["remove"]:
                remove_tree(self.home / name)
            for name in listed["files"]:
                if (folder / name).exists():
                    _replace(folder / name, self.home / name)
            _sync(self.home)
        if folder.exists():
            folder.rename(self.home / PENDING)
            remove_tree(self.home / PENDING)

    @contextmanager
    def temporary(self, parent: Path) -> Iterator[Path]:
        """An unused path in a folder, for a file or a folder with copies of data, which is removed on exit.

        It is recorded first, so that it is removed after a kill, too.
        """
        token = secrets.token_hex(8)
        path = parent.absolute() / f"{PREFIX}{token}"
        with self._recorded(token, path):
            try:
                yield path
            finally:
                remove_tree(path, ignore_errors=True)

    @contextmanager
    def _recorded(self, token: str, path: Path) -> Iterator[None]:
        record = self.home / RECORDS / token
        try:
            record.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = _create_locked(record)
        except OSError as error:  # a backup of a full disk to another one must work
            log.warning("journal.record_failed", error=error.strerror)
            yield
            return
        try:
            with suppress(OSError):
                os.write(descriptor, os.fsencode(path))
                os.fsync(descriptor)
            yield
        finally:
            if not path.exists():
                record.unlink(missing_ok=True)
            os.close(descriptor)


def create_upload(folder: Path) -> tuple[int, Path]:
    """A new file, which cleaning leaves alone as long as its descriptor is open. Raises OSError."""
    path = folder / f"tmp{secrets.token_hex(8)}"
    return _create_locked(path), path


def remove_unused(folder: Path) -> None:
    """Remove the uploads in a folder that nobody has open."""
    for upload in _list_files(folder):
        with suppress(OSError), _locked_by_nobody(upload):
            upload.unlink()


def _create_locked(path: Path) -> int:
    """The descriptor of a new file that this process has locked. Raises OSError."""
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        with suppress(OSError):  # where there are no locks, nothing is cleaned either
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        if path.exists():  # else it was cleaned before it was locked
            return descriptor
        os.close(descriptor)


def _list_files(folder: Path) -> list[Path]:
    try:
        return [path for path in folder.iterdir() if path.is_file() and not path.is_symlink()]
    except OSError:
        return []


@contextmanager
def _locked_by_nobody(path: Path) -> Iterator[None]:
    """Lock a file. Raises OSError if somebody uses it, or if the file system has no locks."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)


def _remove_recorded(record: Path) -> bool:
    """Remove what a record names if it is ours; returns whether the record has served."""
    path = Path(os.fsdecode(record.read_bytes()))
    if path.name != f"{PREFIX}{record.name}":
        return True  # written only in part: its path had not been used yet
    if not path.parent.exists():
        return False  # a disk that is not mounted now
    if (path.exists() or path.is_symlink()) and path.lstat().st_uid == os.getuid():
        _remove_ours(path)
        log.info("journal.leftover_removed", name=path.name)
    return True


def _remove_ours(path: Path) -> None:
    if path.is_symlink():
        path.unlink()
    else:
        remove_tree(path)


def _write_manifest(folder: Path, files: list[str], remove: list[str]) -> None:
    (folder / MANIFEST).write_text(json.dumps({"files": files, "remove": remove}), encoding="utf-8")
    for path in [*(folder / name for name in files), folder / MANIFEST, folder]:
        _sync(path)


def _replace(new: Path, old: Path) -> None:
    """Move a database into place; the logs of the old one would be replayed into it."""
    for suffix in LOGS:
        remove_tree(old.with_name(old.name + suffix))
    if old.is_dir():
        remove_tree(old)
    new.replace(old)


def _sync(path: Path) -> None:
    """Make a file, or the names in a folder, durable."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
