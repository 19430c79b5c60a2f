"""A watched folder or file: of this computer, of a mounted drive, or a working tree of git."""

from __future__ import annotations

import asyncio
import os
import stat
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import quote

from adapters.sources.git_program import is_tree, list_tree_files
from adapters.sources.inner_files import SEPARATE, find_inner_path, find_withheld_reason, is_hidden, open_inner_file
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

    `links`: to what they lead, by id, a path relative to the folder. `repositories`: folders that are repositories of
    their own.
    """

    files: dict[str, Path] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)
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
        return self.path.parent if _is_file(self.path) else self.path

    async def scan(self, cursor: str) -> AsyncGenerator[Scanned]:
        """Yield all files. The cursor says which file systems they were on. Raises SourceUnavailable.

        One that is mounted anew may have another number. Fewer than before: one is not mounted, and its number is kept.
        """
        found = await asyncio.to_thread(self._walk)
        self._paths.update(found.files)
        devices, before = set(map(str, found.devices)), set(cursor.split())
        if not (found.files or before <= devices):
            raise SourceUnavailable(CHANGED_MOUNT.format(path=self.path), hint="Mount the drive.")
        for item in await asyncio.to_thread(lambda: list(_describe_all(found))):
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
            raise SourceUnavailable(MISSING.format(path=path), hint="Mount it, or correct the path.") from error
        found.devices.add(details.st_dev)
        if stat.S_ISREG(details.st_mode):
            found.files[_to_id(path.name)] = path
            return found
        links, root, resolve = dict[str, Path](), path.resolve(), cache(Path.resolve)
        for file in self._list_files(found):
            is_link = file.is_symlink() or resolve(file.parent) != root / file.parent.relative_to(path)
            (links if is_link else found.files)[self._to_item(file)] = file
            if len(found.files) + len(links) > MAX_FILES:
                raise SourceUnavailable(f"{path} has more than {MAX_FILES:,} files.", hint="Choose a smaller folder.")
        self._add_links(links, found)
        return found

    def _add_links(self, links: Mapping[str, Path], found: _Walk) -> None:
        """Add the links that lead to one of the files; others might show what is left out."""
        files = set(found.files)
        for item, path in links.items():
            with suppress(OSError, ItemNotRead):
                inside = find_inner_path(self.path, path)
                if _to_id(inside) in files:
                    found.files[item], found.links[item] = path, inside

    def _list_files(self, found: _Walk) -> Iterator[Path]:
        """The files of a working tree that git does not ignore, or of any other folder, with links."""
        tracked = list_tree_files(self.path)
        if tracked is None:
            return self._walk_folder(self.path, found)
        return self._choose_tracked(self.path, tracked, found)

    def _choose_tracked(self, folder: Path, tracked: Iterable[str], found: _Walk) -> Iterator[Path]:
        """The files that git lists; hidden ones and this program's own are left out, other repositories are named."""
        root, own = folder.resolve(), self.tools.data_dir.resolve()
        for text in tracked:
            if is_hidden(text) or (root / text).is_relative_to(own):
                continue
            path = folder / text
            if not path.is_symlink() and os.path.isdir(path):  # noqa: PTH112  - False if it is forbidden
                found.repositories.add(self._to_item(path))
            elif _is_file(path):
                found.devices.add(path.parent.stat().st_dev)
                yield path

    def _walk_folder(self, folder: Path, found: _Walk) -> Iterator[Path]:
        """The files below a folder in the order of their names; hidden ones and this program's own are left out.

        What git ignores in a working tree below it is left out, too.
        """
        try:
            with os.scandir(folder) as entries:
                listed = sorted(entries, key=lambda each: each.name)
            found.devices.add(folder.stat().st_dev)
        except OSError as error:
            if folder == self.path:
                raise SourceUnavailable(MISSING.format(path=folder), hint="Check the permissions.") from error
            found.problems.append(f"{self._to_item(folder)} cannot be listed: {error.strerror}.")
            return
        for entry in listed:
            path = Path(entry.path)
            if entry.name.startswith("."):
                continue
            if entry.is_dir(follow_symlinks=False):
                if not _is_same(path, self.tools.data_dir):
                    yield from self._walk_tree(path, found) if is_tree(path) else self._walk_folder(path, found)
            elif _is_file(path):
                yield path

    def _walk_tree(self, folder: Path, found: _Walk) -> Iterator[Path]:
        """The files of a working tree below the folder; one that git cannot list is a problem."""
        try:
            tracked = list_tree_files(folder) or ()
        except SourceUnavailable as error:
            found.problems.append(str(error))
            return
        yield from self._choose_tracked(folder, tracked, found)

    def _to_item(self, path: Path) -> str:
        return _to_id(path.relative_to(self.path).as_posix())

    def _check_link(self, item: SourceItem, inside: str) -> None:
        """Raise ItemNotRead if a file lies elsewhere than it seems, and that is not read. `inside`: where it lies."""
        if reason := find_withheld_reason(inside):
            raise ItemNotRead(reason)
        target = _to_id(inside)
        if target not in {item.id, *self._paths} and self.path != self.root / item.id:
            raise ItemNotRead("It is a link to a file that is not read.")

    def _read(self, item: SourceItem, validator: str) -> FetchedItem | None:
        path, limit = self._paths.get(item.id, self.root / item.id), self.tools.max_size
        try:
            inside = find_inner_path(self.root, path)
            self._check_link(item, inside)
            with open_inner_file(self.root, inside) as file:
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


def _describe_all(found: _Walk) -> Iterator[SourceItem]:
    for item, path in found.files.items():
        reason = find_withheld_reason(item) or find_withheld_reason(found.links.get(item, item))
        with suppress(OSError):  # it was deleted meanwhile
            yield SourceItem(item, compute_stamp(path.stat()), item, reason)


def _is_file(path: Path) -> bool:
    with suppress(OSError):
        return path.is_file()
    return False


def _is_same(path: Path, other: Path) -> bool:
    """Whether two paths are one folder, also through links, mounts and other spellings of its name."""
    with suppress(OSError):
        return path.samefile(other)
    return False


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
    forms=("/PATH",),
)
