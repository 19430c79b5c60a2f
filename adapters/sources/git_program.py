"""The git program: fetch a repository without a working tree, and list and read its files.

Nothing that a repository holds is run: no hooks, no filters, no submodules, no file system monitor, and no transport
but https and ssh. Nothing is asked of a person.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.errors import SourceUnavailable
from engine.scheduling.supervisor import child_task

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

GIT = "git"
HEAD = "refs/threadlore/head"  # the commit that was fetched last
LIST_SECONDS, FETCH_SECONDS = 60.0, 600.0
MAX_REPOSITORY = 2 * 2**30  # bytes of the folder of a repository
WATCH_SECONDS = 0.5  # between two looks at its size
MAX_MESSAGE = 300  # characters of what git says
SAFE = (
    *("core.hooksPath=/dev/null", "core.fsmonitor=false", "core.pager=cat", "credential.helper="),
    *("submodule.recurse=false", "safe.directory=*"),
    *("protocol.allow=never", "protocol.https.allow=always", "protocol.ssh.allow=always", "http.followRedirects=false"),
    *("gc.auto=0", "maintenance.auto=false", "fetch.writeCommitGraph=false", "uploadpack.packObjectsHook="),
)
# Of what is set for git, only what says which servers are trusted and how they are reached.
KEPT = frozenset({"GIT_SSL_CAINFO", "GIT_SSL_CAPATH", "GIT_PROXY_SSL_CAINFO"})


def build_environment(further: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment of git: as of this program, without settings that change what git runs."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name in KEPT}
    return {
        **kept,
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "true",
        "SSH_ASKPASS": "true",
        "SSH_ASKPASS_REQUIRE": "never",
        "GIT_SSH_COMMAND": "ssh -oBatchMode=yes -oStrictHostKeyChecking=yes -oConnectTimeout=20",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ALLOW_PROTOCOL": "https:ssh",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "LC_ALL": "C",
        **(further or {}),
    }


def build_command(*words: str) -> list[str]:
    """The command of git with settings under which it runs nothing of a repository."""
    return [GIT, *(word for setting in SAFE for word in ("-c", setting)), *words]


def is_tree(folder: Path) -> bool:
    """Whether a folder is the first one of a working tree, also of a broken one whose repository is elsewhere."""
    mark = folder / ".git"
    return os.path.isfile(mark) or os.path.exists(mark / "HEAD")  # noqa: PTH110, PTH113  - False if it is forbidden


def list_tree_files(folder: Path) -> list[str] | None:
    """The files below a folder of a working tree that git does not ignore. May block. Raises SourceUnavailable.

    None outside of working trees, and for a folder that git ignores as a whole: whoever names it wants it read.
    """
    tree = next(filter(is_tree, (folder.resolve(), *folder.resolve().parents)), None)
    if tree is None or (
        tree != folder.resolve() and not _run_in_tree(folder, "check-ignore", "--quiet", ".").returncode
    ):
        return None
    done = _run_in_tree(folder, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    if done.returncode:
        raise SourceUnavailable(f"git cannot list the files of {folder}.", hint="Try `git status` there.")
    return sorted(set(filter(None, map(os.fsdecode, done.stdout.split(b"\0")))))


def _run_in_tree(folder: Path, *words: str) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(  # noqa: S603 - the words are ours; the folder follows an option
            build_command("-C", str(folder), *words),
            env=build_environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=LIST_SECONDS,
            check=False,
        )
    except FileNotFoundError as error:
        text = f"{folder} is in a working tree of git, and git is not installed: what git ignores is not known."
        raise SourceUnavailable(text, hint="Install git.") from error
    except (OSError, subprocess.SubprocessError) as error:
        raise SourceUnavailable(f"git cannot list the files of {folder}.", hint="Try `git status` there.") from error


@dataclass(frozen=True, slots=True)
class GitFile:
    """A file of a commit: its path, the hash of its content, and its size in bytes.

    `is_submodule`: it is another repository instead, and the hash that of its commit.
    """

    path: str
    hash: str
    size: int
    is_submodule: bool = False


@dataclass(frozen=True, slots=True)
class GitRepository:
    """A repository without a working tree in a folder of ours. `environment`: further variables of git."""

    folder: Path
    environment: Mapping[str, str]
    fetch_seconds: float = FETCH_SECONDS
    max_size: int = MAX_REPOSITORY

    async def fetch(self, address: str, branch: str) -> str:
        """Fetch the newest commit of a branch, or of the default one; returns its hash. Raises SourceUnavailable."""
        if not (self.folder / "HEAD").exists():
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            await self._run("init", "--quiet", "--bare", ".")
        await self._delete_former()  # an attempt that was cut off left parts behind
        wanted = f"refs/heads/{branch}" if branch else "HEAD"
        options = ("--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head", "--force")
        await self._run("fetch", *options, "--", address, f"+{wanted}:{HEAD}", seconds=self.fetch_seconds)
        await self._delete_former()
        await self._check_size(0)
        return (await self._run("rev-parse", "--verify", HEAD)).decode().strip()

    async def _delete_former(self) -> None:
        """Delete all that the last commit does not need, which others may have deleted on purpose."""
        if not await asyncio.to_thread(_has_former, self.folder):
            return
        for path in self.folder.glob("objects/pack/*.keep"):
            path.unlink(missing_ok=True)
        await self._run("repack", "-a", "-d", "-q", seconds=self.fetch_seconds)
        await self._run("prune", "--expire=now", seconds=self.fetch_seconds)

    async def list_files(self, commit: str) -> list[GitFile]:
        """The regular files and the submodules of a commit, no links. Raises SourceUnavailable."""
        listed = await self._run("ls-tree", "-r", "-z", "-l", "--full-tree", commit)
        return [found for row in listed.split(b"\0") if row and (found := _parse_row(row))]

    async def read(self, hash_: str) -> bytes:
        """The content of a file. Raises SourceUnavailable."""
        return await self._run("cat-file", "blob", hash_)

    async def _run(self, *words: str, seconds: float = LIST_SECONDS) -> bytes:
        try:
            process = await asyncio.create_subprocess_exec(
                *build_command(*words),
                cwd=self.folder,
                env=build_environment(self.environment),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            raise SourceUnavailable("git cannot be started.", hint="Install git, and restart.") from error
        try:
            async with (
                asyncio.timeout(seconds),
                child_task(self._watch_size()) as watching,
                child_task(process.communicate()) as talking,
            ):
                await asyncio.wait({talking, watching}, return_when=asyncio.FIRST_COMPLETED)
                if watching.done():
                    watching.result()
                out, err = await talking
        except TimeoutError as error:
            raise SourceUnavailable(f"git took more than {seconds:.0f} seconds.") from error
        finally:
            await _end(process)
        if process.returncode:
            raise SourceUnavailable(f"git failed: {_shorten(err)}", hint="Check the address and the secret.")
        return out

    async def _watch_size(self) -> None:
        """Raise SourceUnavailable once a command adds too much; what is not needed any more goes after it."""
        before = await asyncio.to_thread(_measure, self.folder)
        while True:
            await asyncio.sleep(WATCH_SECONDS)
            await self._check_size(before)

    async def _check_size(self, further: int) -> None:
        """Raise SourceUnavailable if the repository is too large. `further`: bytes that are allowed besides."""
        if await asyncio.to_thread(_measure, self.folder) > self.max_size + further:
            raise SourceUnavailable(f"The repository has more than {self.max_size / 2**20:,.0f} MiB.")


async def _end(process: asyncio.subprocess.Process) -> None:
    """End a process with all that it started."""
    if process.returncode is None:
        try:
            os.killpg(process.pid, 9)
        except ProcessLookupError:
            return
        await process.wait()


def _has_former(folder: Path) -> bool:
    """Whether a repository has more than one complete pack: former versions, or parts of an attempt."""
    packs = [path.suffix for path in folder.glob("objects/pack/*")]
    return (
        packs.count(".pack") > 1 or not {".pack", ".idx", ".rev"}.issuperset(packs) or any(folder.glob("objects/??/*"))
    )


def _measure(folder: Path) -> int:
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(os.path.join(parent, name)).st_size  # noqa: PTH118 - of many files
            except OSError:
                continue
    return total


def _parse_row(row: bytes) -> GitFile | None:
    """A row of ls-tree: mode, type, hash and size, and after a tab the path; None for links."""
    head, _, path = row.partition(b"\t")
    mode, kind, hash_, size = head.decode("ascii").split()
    if kind != "commit" and (kind != "blob" or mode not in {"100644", "100755", "100664"}):
        return None
    name = path.decode("utf-8", "backslashreplace")
    return GitFile(name, hash_, int(size) if size.isdigit() else 0, kind == "commit")


def _shorten(err: bytes) -> str:
    lines = err.decode("utf-8", "replace").strip().splitlines()
    return (lines[-1] if lines else "it said nothing")[:MAX_MESSAGE]
