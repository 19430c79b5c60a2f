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
from engine.scheduling.tasks import child_task

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
MAX_PACKS = 16  # after so many fetches, what is not needed any more is deleted


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


def list_tree_files(folder: Path) -> list[str] | None:
    """The files of a working tree that git does not ignore; None without git. May block. Raises SourceUnavailable."""
    command = build_command("-C", str(folder), "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    try:
        done = subprocess.run(  # noqa: S603 - the words are ours; the folder follows an option
            command,
            env=build_environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=LIST_SECONDS,
            check=True,
        )
    except FileNotFoundError:
        return None
    except (OSError, subprocess.SubprocessError) as error:
        raise SourceUnavailable(f"git cannot list the files of {folder}.", hint="Try `git status` there.") from error
    return sorted(set(filter(None, map(os.fsdecode, done.stdout.split(b"\0")))))


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
        wanted = f"refs/heads/{branch}" if branch else "HEAD"
        options = ("--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head", "--force")
        await self._run("fetch", *options, "--", address, f"+{wanted}:{HEAD}", seconds=self.fetch_seconds)
        await self._check_size()
        if len(list(self.folder.glob("objects/pack/*.pack"))) > MAX_PACKS:
            await self._run("repack", "-a", "-d", "-q", seconds=self.fetch_seconds)
            await self._run("prune", "--expire=now", seconds=self.fetch_seconds)
        return (await self._run("rev-parse", "--verify", HEAD)).decode().strip()

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
        """Raise SourceUnavailable once the repository is too large."""
        while True:
            await asyncio.sleep(WATCH_SECONDS)
            await self._check_size()

    async def _check_size(self) -> None:
        if await asyncio.to_thread(_measure, self.folder) > self.max_size:
            raise SourceUnavailable(f"The repository has more than {self.max_size / 2**20:,.0f} MiB.")


async def _end(process: asyncio.subprocess.Process) -> None:
    """End a process with all that it started."""
    if process.returncode is None:
        try:
            os.killpg(process.pid, 9)
        except ProcessLookupError:
            return
        await process.wait()


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
