"""Places outside of the chat whose documents are read: what a connector offers, and how connectors are found.

A package adds one as an entry point of the group `threadlore.sources`: a `SourceKind`. A source is bound to a space of
the terminal, to a channel or to the open channels of a workspace; whoever reads that place can find its documents.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Literal, Protocol

from bot.errors import BadSetting
from bot.i18n import N_, gettext
from engine.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Collection, Mapping
    from datetime import datetime
    from pathlib import Path

    from pydantic import SecretStr

    from engine import Clock

SOURCE_GROUP = "threadlore.sources"
SECRET_FILE, SECRET_VARIABLE = "secret-file", "secret-variable"
SECRET_OPTIONS = frozenset({SECRET_FILE, SECRET_VARIABLE})
Noun = Literal["file", "page", "message", "document"]
NOT_READ = N_("Addresses that begin with “{start}” are not read.")
READ_ARE = N_("These are: {forms}.")
# What an address begins with that is no path: "https://", "imaps:", and "ext::", by which git names a program to run.
_START = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,40}(?:://|::|:(?=[^/\\s]))")


@dataclass(frozen=True, slots=True)
class SourceItem:
    """A document of a source. `id`: it never means another document of the same source.

    `stamp`: changes with the content; empty if only fetching tells. `name`: for people. `withheld`: why it is not read,
    as a sentence, such as that not everybody at the source may read it; what was read of it before is forgotten.
    """

    id: str
    stamp: str = ""
    name: str = ""
    withheld: str = ""


@dataclass(frozen=True, slots=True)
class RemovedItem:
    """A document that is no longer there."""

    id: str


@dataclass(frozen=True, slots=True)
class ScanEnd:
    """The end of a scan. `cursor`: from which the next one goes on. `is_complete`: what was not listed is gone.

    `is_certain`: also if that is most of it; otherwise nothing is forgotten until a person confirms it. `problems`:
    what could not be listed, as sentences.
    """

    cursor: str = ""
    is_complete: bool = True
    is_certain: bool = False
    problems: tuple[str, ...] = ()


Scanned = SourceItem | RemovedItem | ScanEnd


@dataclass(frozen=True, slots=True)
class FetchedItem:
    """The content of a document. `name`: with an extension, by which its format is recognized.

    `title`: empty for what the content says. `link`: for people. `time`: when it was written, if the content does not
    say. `validator`: with which the next fetch asks whether it changed. `omissions`: parts that are not in the content,
    each with the reason as a clause.
    """

    name: str
    data: bytes
    title: str = ""
    link: str = ""
    time: datetime | None = None
    validator: str = ""
    omissions: tuple[tuple[str, str], ...] = ()


class DocumentSource(Protocol):
    """One configured source, opened for one synchronization. `at_once`: how many documents it lets be fetched at once.

    Every method raises SourceUnavailable if the source cannot be read now: the synchronization ends there, nothing is
    deleted, and the next one goes on.
    """

    @property
    def at_once(self) -> int: ...

    def scan(self, cursor: str) -> AsyncGenerator[Scanned]:
        """Yield all documents, or what changed since a cursor of an earlier scan, and a ScanEnd.

        A document whose stamp is known is not fetched again. Raises SourceUnavailable.
        """

    async def fetch(self, item: SourceItem, validator: str) -> FetchedItem | None:
        """The content of a document; None if it has not changed since the fetch that gave `validator`.

        The id of the item is enough: one that failed is fetched again although no scan lists it.

        Raises ItemGone, ItemClosed, ItemNotRead and InvalidDocument, which concern this document alone, and
        SourceUnavailable. Of one that is gone or closed, what was read before is forgotten; a closed one is named.
        """

    async def close(self) -> None:
        """Release what is open."""


@dataclass(frozen=True, slots=True)
class WebResponse:
    """A response: the address at which it was found, and its body if the status is 200.

    `validator`: with which the next request asks whether it changed. `retry_after`: seconds, 0 if the server did not
    ask for a pause.
    """

    url: str
    status: int
    content_type: str = ""
    data: bytes = field(default=b"", repr=False)
    validator: str = ""
    retry_after: float = 0.0


class WebReader(Protocol):
    """Fetches from the public internet alone, as robots.txt allows."""

    async def get(self, url: str, *, validator: str = "", limit: int = 0, types: Collection[str] = ()) -> WebResponse:
        """The response of a server; redirects lead to addresses of the same host alone.

        `limit`: bytes of the body, 0 for the limit of pages. `types`: the content types whose bodies are read, empty
        for all. Raises PageNotRead.
        """


@dataclass(frozen=True, slots=True)
class SourceTools:
    """What a connector works with. `cache`: a folder of the source, kept between runs and deleted with the source.

    `data_dir`: of this program, of which nothing is read. `max_size`: bytes of a document. `secret`: of the source.
    `is_local`: its readers use this computer, so that links may name paths of it.
    """

    clock: Clock
    web: WebReader
    cache: Path
    data_dir: Path
    max_size: int
    secret: SecretStr
    is_local: bool = False


class OpenSource(Protocol):
    """Opens a source; reads nothing of it yet."""

    def __call__(self, address: str, options: Mapping[str, str], tools: SourceTools) -> DocumentSource:
        """The source at an address. Raises BadSetting."""


@dataclass(frozen=True, slots=True)
class SourceKind:
    """A kind of source. `label`: a noun with its article, in English. `noun`: what it holds.

    `matches`: whether an address is of this kind. `forms`: how its addresses look. `every`: seconds between two
    synchronizations. `options`: the names of those that it knows. `for_managers`: whether managers may add one where
    the operator allows it: it reaches the public internet alone and needs no secret.
    """

    label: str
    open: OpenSource
    matches: Callable[[str], bool]
    noun: Noun = "document"
    every: float = 900.0
    options: frozenset[str] = frozenset()
    for_managers: bool = False
    forms: tuple[str, ...] = ()


def find_start(address: str) -> str:
    """What an address begins with up to its first colon or slashes; empty for paths and for USER@HOST:PATH. Pure."""
    found = _START.match(address)
    return found[0] if found else ""


def load_source_kind(name: str) -> SourceKind:
    """The kind of this name. Raises NotFound, and BadSetting if its package is broken."""
    entries = _list_entries()
    if name not in entries:
        raise NotFound(f"There is no kind of source “{name}”.", hint=f"Installed are: {', '.join(entries)}.")
    return _load_kind(entries[name])


def find_source_kind(address: str) -> str:
    """The name of the only kind that an address matches. Raises NotFound, and BadSetting for one that none reads."""
    entries = _list_entries()
    kinds = {name: _load_kind(entry) for name, entry in entries.items()}
    found = [name for name, kind in kinds.items() if kind.matches(address)]
    forms, start = [form for kind in kinds.values() for form in kind.forms], find_start(address)
    if start and not any(form.startswith(start) for form in forms) and not found:
        raise BadSetting(gettext(NOT_READ).format(start=start), hint=gettext(READ_ARE).format(forms=", ".join(forms)))
    if len(found) != 1:
        known = ", ".join(found or entries)
        raise NotFound(f"It is not clear what “{address}” is.", hint=f"Say which kind of source it is: {known}.")
    return found[0]


def _list_entries() -> dict[str, EntryPoint]:
    """The installed kinds by their names, in order; takes 10 ms, for which all packages are looked at."""
    found = dict[str, EntryPoint]()
    for entry_point in entry_points(group=SOURCE_GROUP):
        found.setdefault(entry_point.name, entry_point)
    return dict(sorted(found.items()))


def _load_kind(entry: EntryPoint) -> SourceKind:
    try:
        loaded = entry.load()
    except Exception as error:
        raise BadSetting(
            f"The kind of source “{entry.name}” cannot be loaded: {type(error).__name__}: {error}.",
            hint="Update its package, or remove it.",
        ) from error
    if not isinstance(loaded, SourceKind):
        raise BadSetting(f"“{entry.value}” is no kind of source.", hint="Update its package, or remove it.")
    return loaded
