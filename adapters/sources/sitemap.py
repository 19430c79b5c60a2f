"""Read sitemaps: indexes and lists of pages, as XML or text, also compressed. Pure."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from xml.parsers import expat

from bot.errors import PageNotRead

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_SIZE = 50 * 2**20  # bytes of a sitemap, unpacked, as the protocol limits it
MAX_ENTRIES = 50_000  # of a sitemap, also by the protocol
MAX_TEXT = 4096  # characters of an address or a date
_GZIP = b"\x1f\x8b"
_ENTRIES, _FIELDS = {"urlset": "url", "sitemapindex": "sitemap"}, frozenset({"loc", "lastmod"})


@dataclass(frozen=True, slots=True)
class Sitemap:
    """The sitemaps that an index names, and the pages of a list with the times of their changes, which may be empty."""

    sitemaps: tuple[str, ...] = ()
    pages: dict[str, str] = field(default_factory=dict)


def parse_sitemap(data: bytes) -> Sitemap:
    """The content of a sitemap. Raises PageNotRead if it is none, or too large."""
    unpacked = _unpack(data)
    if b"<" not in unpacked[:1000]:
        return Sitemap(pages=dict.fromkeys(_list_lines(unpacked.decode("utf-8-sig", "replace")), ""))
    reader = _Reader()
    reader.feed(unpacked)
    found = dict(reader.entries[:MAX_ENTRIES])
    return Sitemap(pages=found) if reader.root == "urlset" else Sitemap(tuple(found))


def find_sitemaps(robots: str) -> tuple[str, ...]:
    """The sitemaps that a robots.txt names."""
    named = (line.partition(":") for line in robots.splitlines()[:10_000])
    return tuple(dict.fromkeys(value.strip() for key, _, value in named if key.strip().lower() == "sitemap"))


class _Reader:
    """Collects the entries of a sitemap: address and time of the change. `root`: the name of the outermost element."""

    def __init__(self) -> None:
        self.root = ""
        self.entries: list[tuple[str, str]] = []
        self._path: list[str] = []
        self._entry: dict[str, str] = {}
        self._parser = expat.ParserCreate()
        self._parser.StartElementHandler = self._begin
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._add
        self._parser.StartDoctypeDeclHandler = self._refuse

    def feed(self, data: bytes) -> None:
        """Read all of a sitemap. Raises PageNotRead."""
        try:
            self._parser.Parse(data, True)
        except expat.ExpatError as error:
            raise PageNotRead("The sitemap is damaged.") from error

    def _begin(self, name: str, _attributes: dict[str, str]) -> None:
        self._path.append(name.rpartition(":")[2])
        if len(self._path) == 1:
            self.root = self._path[0]
            if self.root not in _ENTRIES:
                raise PageNotRead("It is no sitemap.")
        elif len(self._path) == 2:
            self._entry = {}

    def _add(self, text: str) -> None:
        if len(self._path) == 3 and self._path[2] in _FIELDS and self._path[1] == _ENTRIES[self.root]:
            before = self._entry.get(self._path[2], "")
            self._entry[self._path[2]] = (before + text)[:MAX_TEXT]

    def _end(self, _name: str) -> None:
        if len(self._path) == 2 and (location := self._entry.get("loc", "").strip()):
            self.entries.append((location, self._entry.get("lastmod", "").strip()))
            self._entry = {}
        self._path.pop()

    def _refuse(self, *_declared: object) -> None:
        raise PageNotRead("The sitemap declares what it may not.")


def _list_lines(text: str) -> Iterator[str]:
    """The addresses of a list as text."""
    for line in text.splitlines()[:MAX_ENTRIES]:
        if line.strip().startswith(("http://", "https://")):
            yield line.strip()


def _unpack(data: bytes) -> bytes:
    found = data
    if data.startswith(_GZIP):
        unpacker = zlib.decompressobj(zlib.MAX_WBITS | 16)
        try:
            found = unpacker.decompress(data, MAX_SIZE + 1)
        except zlib.error as error:
            raise PageNotRead("The sitemap is damaged.") from error
    if len(found) > MAX_SIZE:
        raise PageNotRead("The sitemap is too large.")
    return found
