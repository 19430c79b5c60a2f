"""A git repository by its address, over https or ssh."""

from __future__ import annotations

import re
from base64 import b64encode
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

from adapters.sources.git_program import GitRepository
from adapters.sources.inner_files import SEPARATE, find_withheld_reason, is_hidden
from bot.errors import BadSetting, ItemGone, ItemNotRead, SourceUnavailable
from bot.platform.document_source import SECRET_OPTIONS, FetchedItem, ScanEnd, SourceItem, SourceKind, find_start

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    from bot.platform.document_source import Scanned, SourceTools

BRANCH, LINK, PATH = "branch", "link", "path"  # options
READ_AT_ONCE = 4  # files
FORMS = ("https://HOST/PATH.git", "ssh://USER@HOST/PATH", "USER@HOST:PATH")
ONLY = "A repository is read over https or ssh: https://HOST/PATH, ssh://USER@HOST/PATH or USER@HOST:PATH."
NO_ADDRESS = "This is no address of a repository."
OPTION = "An address, a user, a host or a path that begins with “-” would be an option of git."
PLACE = "This is a path: a repository on this computer is read as a folder (--kind folder)."
PROGRAM = "“{start}” names a program that git would run."
PROTOCOL = "A repository is not read over “{start}”."
_HOST = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.-]{0,253}[A-Za-z0-9])?|\[[0-9A-Fa-f:]+\]")
_USER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
_SHORT = re.compile(r"(?P<user>[^@:/\s]{1,64})@(?P<host>[^@:/\s]{1,255}):(?P<path>[^\s:-][^\s]{0,1000})")
_OPTION = re.compile(r"(?:^|^[a-z]+://|@)-|^[^@/]+@[^:/]+:-")  # at the start of the address, a user, a host, or a path
_BRANCH = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./-]{0,200}")
_VIEWS = {"github.com": "/blob/HEAD", "gitlab.com": "/-/blob/HEAD"}  # addresses of files below those of repositories


@dataclass(frozen=True, slots=True)
class RepositorySource:
    """The files of the newest commit of a branch. `view`: the address below which people see them."""

    address: str
    branch: str
    folder: str
    view: str
    repository: GitRepository
    max_size: int
    at_once: int = READ_AT_ONCE
    _hashes: dict[str, str] = field(default_factory=dict)

    async def scan(self, cursor: str) -> AsyncGenerator[Scanned]:  # noqa: ARG002 - a commit lists all of its files
        """Yield all files. The cursor is the commit. Raises SourceUnavailable."""
        commit = await self.repository.fetch(self.address, self.branch)
        files = await self.repository.list_files(commit)
        if not any(file.path.startswith(self.folder) for file in files) and self.folder:
            text = f"The repository has no folder {self.folder.rstrip('/')}. Nothing was forgotten."
            raise SourceUnavailable(text, hint="Add it anew with the right --option path, and remove this source.")
        for file in files:
            if is_hidden(file.path) or not file.path.startswith(self.folder):
                continue
            if file.is_submodule:
                yield SourceItem(file.path, file.hash, file.path, SEPARATE)
                continue
            self._hashes[file.path] = file.hash
            too_large = f"It has {file.size / 2**20:.0f} MiB." if file.size > self.max_size else ""
            yield SourceItem(file.path, file.hash, file.path, find_withheld_reason(file.path) or too_large)
        yield ScanEnd(commit, is_certain=True)

    async def fetch(self, item: SourceItem, validator: str) -> FetchedItem | None:
        """The content of a file. Raises ItemGone and SourceUnavailable."""
        hash_ = self._hashes.get(item.id)
        if hash_ is None:
            raise ItemGone(f"There is no file {item.id}.")
        if hash_ == validator:
            return None
        data = await self.repository.read(hash_)
        if len(data) > self.max_size:
            raise ItemNotRead("It is too large.")
        link = f"{self.view}/{quote(item.id)}" if self.view else ""
        return FetchedItem(PurePosixPath(item.id).name, data, link=link, validator=hash_)

    async def close(self) -> None:
        """Hold nothing open."""


def check_address(address: str) -> str:
    """The address, unless git would read it as something else than a server of https or ssh. Raises BadSetting."""
    if (start := find_start(address)) not in {"", "https://", "ssh://"}:
        raise _refuse((PROGRAM if start.endswith("::") else PROTOCOL).format(start=start))
    if address.startswith(("/", ".", "~")):
        raise _refuse(PLACE)
    if not address.isprintable() or " " in address or "\\" in address:
        raise _refuse(NO_ADDRESS)
    if _OPTION.search(address):
        raise _refuse(OPTION)
    if match := _SHORT.fullmatch(address):
        user, host, path = match["user"], match["host"], match["path"]
    else:
        user, host, path = _split_url(address)
    if (user and not _USER.fullmatch(user)) or not _HOST.fullmatch(host) or not path.strip("/"):
        raise _refuse(NO_ADDRESS)
    return address


def _refuse(text: str) -> BadSetting:
    return BadSetting(text, hint=ONLY)


def _split_url(address: str) -> tuple[str, str, str]:
    """User, host and path of an address with a scheme. Raises BadSetting."""
    try:
        parts = urlsplit(address)
        port, host = parts.port, parts.hostname or ""
    except ValueError as error:
        raise _refuse(NO_ADDRESS) from error
    if parts.scheme not in {"https", "ssh"} or not address.startswith(f"{parts.scheme}://") or port == 0:
        raise _refuse(NO_ADDRESS)
    if parts.password is not None or (parts.username is not None and parts.scheme == "https"):
        raise BadSetting(
            "The address contains credentials.", hint="Keep the token in a file: --option secret-file=PATH"
        )
    if parts.query or parts.fragment:
        raise _refuse(NO_ADDRESS)
    return parts.username or "", f"[{host}]" if ":" in host else host, parts.path


def open_repository(address: str, options: Mapping[str, str], tools: SourceTools) -> RepositorySource:
    """The files of a repository. Raises BadSetting."""
    check_address(address)
    branch, folder = options.get(BRANCH, ""), options.get(PATH, "").strip("/")
    if branch and (not _BRANCH.fullmatch(branch) or ".." in branch or branch.endswith((".lock", "/"))):
        raise BadSetting(f"“{branch}” is no name of a branch.")
    secret = tools.secret.get_secret_value()
    if secret and not address.startswith("https://"):
        raise BadSetting("A secret is for https; for ssh, use the keys of the user that runs Threadlore.")
    view = options.get(LINK, "").rstrip("/") or _guess_view(address)
    repository = GitRepository(tools.cache / "repository.git", _build_credentials(address, secret))
    return RepositorySource(address, branch, f"{folder}/" if folder else "", view, repository, tools.max_size)


def _build_credentials(address: str, secret: str) -> dict[str, str]:
    """The variables that give git a token for this server alone; arguments could be read by others."""
    if not secret:
        return {}
    parts = urlsplit(address)
    user, colon, token = secret.partition(":")
    basic = b64encode(f"{user}:{token}".encode() if colon else f"oauth2:{secret}".encode()).decode()
    return {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"http.{parts.scheme}://{parts.netloc}/.extraHeader",
        "GIT_CONFIG_VALUE_0": f"Authorization: Basic {basic}",
    }


def _guess_view(address: str) -> str:
    """Where people see the files of a repository; empty where that is not known."""
    parts = urlsplit(address)
    view = _VIEWS.get(parts.hostname or "") if parts.scheme == "https" else None
    return f"{address.removesuffix('/').removesuffix('.git')}{view}" if view else ""


def _matches(address: str) -> bool:
    is_https = address.startswith("https://") and address.rstrip("/").endswith(".git")
    return is_https or address.startswith("ssh://") or _SHORT.fullmatch(address) is not None


REPOSITORY = SourceKind(
    "a git repository",
    open_repository,
    _matches,
    noun="file",
    every=900.0,
    options=frozenset({BRANCH, LINK, PATH}) | SECRET_OPTIONS,
    forms=FORMS,
)
