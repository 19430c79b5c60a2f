"""A watched folder or file: of this computer, of a mounted drive, or a working tree of git."""

from __future__ import annotations

import asyncio
import os
import stat
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import quote

from adapters.sources.file_names import SEPARATE, find_withheld_reason, is_hidden
from adapters.sources.git_program import list_tree_files
from adapters.sources.inner_files import find_inner_path, open_inner_file
from bot.errors import BadSetting, ItemGone, ItemNotRead, ItemNotReadNow, SourceUnavailable
from bot.platform.document_source import FetchedItem, ScanEnd, SourceItem, SourceKind

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping

    from bot.platform.document_source import Scanned, SourceTools

READ_AT_ONCE = 4  # files
MAX_FILES = 200_000  # of a folder
LINK = "link"  # the option with the address below which people can open the files
MISSING = "There is no folder {path} now. If it is on a drive, that may not be mounted. Nothing was forgotten."
BELOW_MISSING = "A drive below {path} may not be mounted."
CHANGED_MOUNT = "The folder {path} is empty, and not on the drive that it was: that may not be mounted."


@dataclass(slots=True)
class _Walk:
    """What was found below a folder. `devices`: numbers of the file systems; `problems`: what could not be listed.

    `repositories`: folders that are repositories of their own.
    """

    files: dict[str, Path] = field(default_factory=dict)
    repositories: set[str] = field(default_factory=set)
    devices: set[int] = field(default_factory=set)
    problems: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class FolderSource:
    """The files below `path`, or the file itself. `link`: an address below which people can open them."""

    path: Path
    tools: SourceTools
    link: str = ""
    at_once: int = READ_AT_ONCE
    _paths: dict[str, Path] = field(default_factory=dict)

    @property
    def root(self) -> Path:
        """The folder of all files."""
        return self.path.parent if self.path.is_file() else self.path

    async def scan(self, cursor: str) -> AsyncGenerator[Scanned]:
        """Yield all files. The cursor says which file systems they were on. Raises SourceUnavailable.

        One that is mounted anew may have another number. Fewer than before: one is not mounted, and its number is kept.
        """
        found = await asyncio.to_thread(self._walk)
        self._paths.update(found.files)
        devices, before = set(map(str, found.devices)), set(cursor.split())
        if not (found.files or before <= devices):
            raise SourceUnavailable(CHANGED_MOUNT.format(path=self.path), hint="Mount the drive.")
        for item in await asyncio.to_thread(lambda: list(self._describe_all(found.files))):
            yield item
        for name in sorted(found.repositories):
            yield SourceItem(name, name=name, withheld=SEPARATE)
        if is_missing := len(devices) < len(before):
            found.problems.append(BELOW_MISSING.format(path=self.path))
        yield ScanEnd(
            " ".join(sorted(devices | before if is_missing else devices)),
            is_complete=not found.problems,
            is_certain=before <= devices,
            problems=tuple(found.problems),
        )

    async def fetch(self, item: SourceItem, validator: str) -> FetchedItem | None:
        """The content of a file, which did not change while it was read. Raises ItemGone, ItemNotRead and OSError."""
        return await asyncio.to_thread(self._read, item, validator)

    async def close(self) -> None:
        """Hold nothing open."""

    def _walk(self) -> _Walk:
        path, found = self.path, _Walk()
        try:
            details = path.stat()
        except OSError as error:
            raise SourceUnavailable(MISSING.format(path=path), hint="Mount it, or remove the source.") from error
        found.devices.add(details.st_dev)
        if stat.S_ISREG(details.st_mode):
            found.files[_to_id(path.name)] = path
            return found
        for each in self._list_files(found):
            found.files[_to_id(each.relative_to(path).as_posix())] = each
            if len(found.files) > MAX_FILES:
                raise SourceUnavailable(f"{path} has more than {MAX_FILES:,} files.", hint="Choose a smaller folder.")
        return found

    def _list_files(self, found: _Walk) -> Iterator[Path]:
        """The files of a working tree that git does not ignore, or of any other folder."""
        tracked = list_tree_files(self.path) if (self.path / ".git").exists() else None
        if tracked is None:
            return self._walk_folder(self.path, found)
        return self._choose_tracked(tracked, found)

    def _choose_tracked(self, tracked: Iterable[str], found: _Walk) -> Iterator[Path]:
        """The files that git lists; hidden ones and this program's own are left out, other repositories are named."""
        root, own = self.path.resolve(), self.tools.data_dir.resolve()
        for each in tracked:
            if is_hidden(each) or (root / each).is_relative_to(own):
                continue
            path = self.path / each
            if path.is_dir() and not path.is_symlink():
                found.repositories.add(_to_id(path.relative_to(self.path).as_posix()))
            elif self._is_readable(path):
                found.devices.add(path.parent.stat().st_dev)
                yield path

    def _walk_folder(self, folder: Path, found: _Walk) -> Iterator[Path]:
        """The files below a folder in the order of their names; hidden ones and this program's own are left out."""
        try:
            with os.scandir(folder) as entries:
                listed = sorted(entries, key=lambda each: each.name)
            found.devices.add(folder.stat().st_dev)
        except OSError as error:
            if folder == self.path:
                raise SourceUnavailable(MISSING.format(path=folder), hint="Check the permissions.") from error
            found.problems.append(f"{_to_id(str(folder.relative_to(self.path)))} cannot be listed: {error.strerror}.")
            return
        for entry in listed:
            path = Path(entry.path)
            if entry.name.startswith("."):
                continue
            if entry.is_dir(follow_symlinks=False):
                if not _is_same(path, self.tools.data_dir):
                    yield from self._walk_folder(path, found)
            elif self._is_readable(path):
                yield path

    def _is_readable(self, path: Path) -> bool:
        """Whether it is a regular file, or a link to one below the folder that is not hidden."""
        with suppress(OSError, ItemNotRead):
            if not path.is_symlink():
                return path.is_file()
            inside = self.path.resolve() / find_inner_path(self.path, path)
            return inside.is_file() and self.tools.data_dir.resolve() not in inside.parents
        return False

    def _describe_all(self, files: Mapping[str, Path]) -> Iterator[SourceItem]:
        for item, path in files.items():
            with suppress(OSError):  # it was deleted meanwhile
                yield SourceItem(item, compute_stamp(path.stat()), item, find_withheld_reason(item))

    def _read(self, item: SourceItem, validator: str) -> FetchedItem | None:
        path, limit = self._paths.get(item.id, self.root / item.id), self.tools.max_size
        try:
            with open_inner_file(self.root, path) as file:
                details = os.fstat(file.fileno())
                stamp = compute_stamp(details)
                if stamp == validator:
                    return None
                if details.st_size > limit:
                    raise ItemNotRead(f"It has {details.st_size / 2**20:.0f} MiB; {limit / 2**20:.0f} are allowed.")
                data = file.read(limit + 1)
                is_same = compute_stamp(os.fstat(file.fileno())) == stamp == (item.stamp or stamp)
        except FileNotFoundError as error:
            raise ItemGone(f"There is no file {item.id}.") from error
        if not is_same:
            raise ItemNotReadNow("It was written while it was read.")
        return FetchedItem(PurePosixPath(item.id).name, data, link=self._build_link(item.id, path), validator=stamp)

    def _build_link(self, item: str, path: Path) -> str:
        if self.link:
            return f"{self.link.rstrip('/')}/{quote(item)}"
        return path.as_uri() if self.tools.is_local else ""


def compute_stamp(details: os.stat_result) -> str:
    """What changes with a file, or with the version of the parsers."""
    seen = f"{details.st_size} {details.st_mtime_ns} {details.st_ino} {version('threadlore')}"
    return sha256(seen.encode()).hexdigest()[:32]


def _to_id(path: str) -> str:
    """A path as valid Unicode; other bytes are escaped."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _is_same(path: Path, other: Path) -> bool:
    return path.name == other.name and path.resolve() == other.resolve()


def open_folder(address: str, options: Mapping[str, str], tools: SourceTools) -> FolderSource:
    """The files of a folder, or one file; `address`: an absolute path. Raises BadSetting."""
    path = Path(address)
    if not path.is_absolute():
        raise BadSetting(f"{address} is no absolute path.", hint="Name the folder from the root on.")
    if path.resolve().is_relative_to(tools.data_dir.resolve()):
        raise BadSetting(f"{address} is the data of Threadlore.", hint="Name another folder.")
    return FolderSource(path, tools, options.get(LINK, ""))


FOLDER = SourceKind(
    "a folder",
    open_folder,
    lambda address: address.startswith("/"),
    noun="file",
    every=300.0,
    options=frozenset({LINK}),
)
