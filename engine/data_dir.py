"""The data directory: its paths, its lock, its permissions."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.errors import CorruptLedger, DataDirInUse, DiskError
from engine.storage.disk import Disk, disk_error, full_error, read_only_error
from engine.storage.disk_reserve import DiskReserve, list_disk_problems
from engine.storage.files import remove_tree
from engine.storage.journal import Journal
from engine.storage.sqlite.database_file import check_places

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path


NO_LOCKS = frozenset({errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP})
NO_LOCKS_HINT = (
    "Without locks two processes could damage the data: put the data directory on a local file system, or mount the"
    " share with locks (NFS without `nolock`, a CIFS share without `nobrl`)."
)
UNFINISHED = "A restore into {} was interrupted and cannot be finished"
GRAPH_MODULES = ("kuzu", "ladybug")


@dataclass(frozen=True, slots=True)
class FolderClaim:
    """A locked data directory. `refusal`: why nothing can be written to it; None if it can."""

    reserve: DiskReserve
    refusal: DiskError | None

    def list_problems(self) -> list[str]:
        """What an operator should know about the disk."""
        return list_disk_problems(self.reserve, self.refusal)


@dataclass(frozen=True, slots=True)
class DataDir:
    """The data directory of an engine; only its owner can read it."""

    path: Path

    @property
    def ledger_path(self) -> Path:
        """The ledger, the source of truth from which everything else can be rebuilt."""
        return self.path / "ledger.db"

    @property
    def vectors_path(self) -> Path:
        """The first vector store."""
        return self.path / "vectors"

    def find_vectors(self, place: int) -> Path:
        """The vector store with a number: each other embedder makes its vectors in the next one."""
        return self.path / f"vectors-{place}" if place else self.vectors_path

    @property
    def vectors_paths(self) -> tuple[Path, ...]:
        """Every vector store that is there, and the first one."""
        return (self.vectors_path, *sorted(self.path.glob("vectors-*")))

    @property
    def stores_path(self) -> Path:
        """The folder of stores that a plug-in opens."""
        return self.path / "stores"

    @property
    def plugged_paths(self) -> tuple[Path, ...]:
        """Where stores of a plug-in may have left files; the second place is that of an earlier version."""
        return (self.stores_path, self.path / "surrealdb")

    def graph_path(self, module: str) -> Path:
        """The graph store; files of different graph databases are not interchangeable."""
        return self.path / f"graph.{module}"

    @property
    def projection_paths(self) -> tuple[Path, ...]:
        """Everything that can be rebuilt from the ledger."""
        return (*self.vectors_paths, *self.plugged_paths, *(self.graph_path(module) for module in GRAPH_MODULES))

    def remove_projections(self, keep: Collection[Path] = ()) -> None:
        """Remove them, except some; no store may be open in what is removed."""
        for path in self.projection_paths:
            if path not in keep:
                if not path.is_dir():
                    path.with_name(path.name + ".wal").unlink(missing_ok=True)
                remove_tree(path)

    @property
    def projection_files(self) -> tuple[str, ...]:
        """The names of all files and folders of projections, which may be missing."""
        return tuple(path.name + suffix for path in self.projection_paths for suffix in ("", ".wal"))

    @property
    def journal(self) -> Journal:
        """What the next start finishes or removes."""
        return Journal(self.path)

    def check_ledger(self) -> None:
        """Raise CorruptLedger if the ledger is a folder, or missing or empty while graph or vectors exist."""
        check_places(self.ledger_path, "ledger")
        has_content = self.ledger_path.exists() and self.ledger_path.stat().st_size > 0
        if not has_content and any(path.exists() for path in self.projection_paths):
            raise CorruptLedger(
                f"The ledger {self.ledger_path} is {'empty' if self.ledger_path.exists() else 'missing'}."
            )

    @contextmanager
    def acquire_lock(self) -> Iterator[None]:
        """Lock the folder for this process, creating it if needed. Raises DataDirInUse and DiskError."""
        try:
            self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise disk_error(f"The data directory {self.path} cannot be created", self.path, error) from error
        self._restrict_permissions()
        try:
            number = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o644)
        except OSError as error:
            raise self._describe_lock_error(error) from error
        try:
            self._lock_file(number, fcntl.LOCK_EX)
            self._record_owner()
            self._resolve_journal()
            yield
        finally:
            os.close(number)

    def _lock_file(self, number: int, kind: int) -> None:
        """Lock an open file at once; the system ends that when the process ends. Raises DataDirInUse and DiskError."""
        try:
            fcntl.flock(number, kind | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise DataDirInUse(
                f"The data directory {self.path} is in use by another process{self._describe_owner()}."
            ) from error
        except OSError as error:
            raise self._describe_lock_error(error) from error

    def _record_owner(self) -> None:
        """Write the number of this process, which only improves an error message."""
        with suppress(OSError):
            (self.path / "owner").write_text(str(os.getpid()))

    def _resolve_journal(self) -> None:
        try:
            self.journal.resolve()
        except OSError as error:
            raise disk_error(UNFINISHED.format(self.path), self.path, error) from error

    @contextmanager
    def claim(self, reserve_bytes: int = 0) -> Iterator[FolderClaim]:
        """Lock the folder as far as its disk allows, and look after its reserve; 0 bytes for none.

        Several may read the folder on a read-only disk at once. Raises DataDirInUse and DiskError.
        """
        reserve = DiskReserve(self.path, reserve_bytes)
        problem = f"The data in {self.path} cannot be changed"
        disk = self._find_disk()
        if self.path.is_dir() and disk is not None and disk.is_read_only:
            with self._lock_for_reading():
                if self.journal.has_pending:
                    raise read_only_error(UNFINISHED.format(self.path), disk)
                yield FolderClaim(reserve, read_only_error(problem, disk))
            return
        with self.acquire_lock():
            reserve.refresh()
            self._record_owner()  # there may have been no room before
            try:
                disk = self._find_disk()
                yield FolderClaim(reserve, full_error(problem, disk) if disk is not None and disk.is_full else None)
            finally:
                reserve.close()

    def _find_disk(self) -> Disk | None:
        try:
            return Disk.find(self.path)
        except OSError:
            return None

    @contextmanager
    def _lock_for_reading(self) -> Iterator[None]:
        """Lock the folder without writing to it: others may read it, too."""
        file = self.path / "lock"
        try:
            number = os.open(file if file.exists() else self.path, os.O_RDONLY)
        except OSError as error:
            raise disk_error(f"The data directory {self.path} cannot be used", self.path, error) from error
        try:
            self._lock_file(number, fcntl.LOCK_SH)
            yield
        finally:
            os.close(number)

    def _restrict_permissions(self) -> None:
        """Restrict an existing folder to its owner; a folder of another user is left unchanged."""
        status = self.path.stat()
        if status.st_uid == os.getuid() and stat.S_IMODE(status.st_mode) & 0o077:
            with suppress(OSError):  # some file systems have no modes
                self.path.chmod(0o700)

    def _describe_lock_error(self, error: OSError) -> DiskError:
        if error.errno in NO_LOCKS:
            problem = f"The file system of the data directory {self.path} refuses locks: {error.strerror}."
            return DiskError(problem, hint=NO_LOCKS_HINT)
        return disk_error(f"The data directory {self.path} cannot be used", self.path, error)

    def _describe_owner(self) -> str:
        if self.find_owner() is None:
            return f"; it is not one that wrote its number there (`fuser {self.path / 'lock'}` shows it)"
        return f" (process {self.find_owner()})"

    def find_owner(self) -> int | None:
        """The number of the process that locked the folder, if it still runs on this machine."""
        try:
            owner = int((self.path / "owner").read_text())
            os.kill(owner, 0)
        except (OSError, ValueError, OverflowError) as error:
            return owner if isinstance(error, PermissionError) else None
        return owner
