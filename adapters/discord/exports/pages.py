"""Exported files in other forms than JSON: which of them are of one channel, and which of these are read."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from adapters.discord.exports import csv_rows, html_page, plain_text
from adapters.discord.exports.identity import DIRECT_MESSAGES, fold

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from adapters.discord.exports.identity import PageIdentity
    from bot.platform.models import Location

TEXT = ".txt"


class PageReader(NamedTuple):
    """What reads the files of a form, each opened as often as needed.

    `read_times`: the times as they are shown, where these and not ids say when a message was posted. `has_ids`:
    whether messages have their own ids.
    """

    read_payloads: Callable[[Callable[[], Iterable[str]], tuple[str, ...]], Iterator[Mapping[str, Any]]]
    read_times: Callable[[Iterable[str]], Iterable[str]]
    has_ids: bool = False


_HTML = PageReader(html_page.read_payloads, html_page.read_times, has_ids=True)
# The form that says most of a channel first: ids of messages, then of people.
READERS: Mapping[str, PageReader] = {
    ".html": _HTML,
    ".htm": _HTML,
    ".csv": PageReader(csv_rows.read_payloads, csv_rows.read_times),
    TEXT: PageReader(plain_text.read_payloads, plain_text.read_times),
}
_RANKS = {".json": 0} | {ending: rank for rank, ending in enumerate(READERS, 1)} | {".htm": 1}


class Page(NamedTuple):
    """An exported file and its channel."""

    name: str
    identity: PageIdentity


@dataclass(slots=True)
class WholeFiles:
    """What the JSON files of an export say: their channels with their files and places, and those of people."""

    files: dict[str, list[str]] = field(default_factory=dict)
    places: dict[str, Location] = field(default_factory=dict)
    paths: dict[str, set[str]] = field(default_factory=dict)
    direct: set[str] = field(default_factory=set)

    def add(self, name: str, channel: str, path: str, place: Location) -> None:
        """Add a file of a channel. `path`: the names of its server, category and own name, folded."""
        self.files.setdefault(channel, []).append(name)
        self.places[channel] = place
        self.paths.setdefault(path, set()).add(channel)


def ending_of(name: str) -> str:
    """The ending of the name of a file, in small letters."""
    return posixpath.splitext(name)[1].lower()


def unite_pages(pages: Iterable[Page], whole: WholeFiles) -> list[Page]:
    """The files, those of one channel with the same id and server, as far as their names and heads tell."""
    found = _with_known_ids(list(pages), whole)
    guilds: dict[str, str] = dict.fromkeys(whole.direct, DIRECT_MESSAGES)
    for _, identity in sorted(found, key=lambda page: page.identity.guild != DIRECT_MESSAGES):
        if identity.guild:
            guilds.setdefault(identity.channel, identity.guild)
    return [
        Page(name, replace(identity, guild=guilds.get(identity.channel, identity.guild))) for name, identity in found
    ]


def _with_known_ids(pages: Sequence[Page], whole: WholeFiles) -> list[Page]:
    """The files, of which those whose names have no ids have those of files with the same names of channels."""
    known = {path: set(ids) for path, ids in whole.paths.items()}
    unknown: dict[str, dict[str, set[str]]] = {}
    for name, identity in pages:
        if identity.is_known:
            known.setdefault(identity.path, set()).add(identity.channel)
        else:
            forms = unknown.setdefault(identity.path, {})
            forms.setdefault(ending_of(name), set()).add(identity.channel)
    ids: dict[str, str] = {}
    for path, forms in unknown.items():
        same = known.get(path) or {min(channel for channels in forms.values() for channel in channels)}
        if len(same) == 1 and all(len(channels) == 1 for channels in forms.values()):
            ids |= dict.fromkeys((channel for channels in forms.values() for channel in channels), min(same))
    return [
        Page(name, replace(identity, channel=ids.get(identity.channel, identity.channel))) for name, identity in pages
    ]


def find_fuller(pages: Sequence[Page], whole: WholeFiles) -> Mapping[str, Sequence[str]]:
    """By the name of a file the files of its channel in forms that say more, if there are any."""
    ranked: dict[str, list[tuple[int, str]]] = {
        channel: [(_RANKS[".json"], name) for name in names] for channel, names in whole.files.items()
    }
    for name, identity in pages:
        ranked.setdefault(identity.channel, []).append((_RANKS[ending_of(name)], name))
    fuller: dict[tuple[str, int], list[str]] = {}
    for channel, files in ranked.items():
        for rank in {rank for rank, _ in files}:
            fuller[channel, rank] = [name for other, name in files if other < rank]
    return {name: fuller[identity.channel, _RANKS[ending_of(name)]] for name, identity in pages}


def path_of(header: Mapping[str, Any]) -> str:
    """The names of the server, the category and the channel of a JSON file, folded."""
    channel = header["channel"]
    return fold(
        " ".join(
            str(name or "") for name in (header["guild"].get("name"), channel.get("category"), channel.get("name"))
        )
    )
