"""The addresses and names that an answer may show unchanged: those in its sources and its question. Pure."""

from __future__ import annotations

import functools
from bisect import bisect_left
from typing import TYPE_CHECKING, NamedTuple

from markdown_it.common.utils import unescapeAll

from engine.answers.links.addresses import (
    LINKABLE_ADDRESS,
    MAX_ADDRESS_CHARACTERS,
    WORD_TOKEN,
    address_key,
    find_addresses,
    name_candidates,
)
from engine.answers.mentions import BROADCAST

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

SHORT_TEXT = 1_000  # characters of a text that is read once for all answers: a question has up to hundreds of them
MAX_READ_TEXTS = 4_096  # such texts


class FoundAddresses(NamedTuple):
    """The links and the names in one text, as written, by the key that compares them."""

    links: tuple[tuple[str, str], ...]
    names: tuple[tuple[str, str], ...]


class AllowedAddresses:
    """The addresses and names in some texts, which may be shown unchanged; of titles only the names."""

    def __init__(self, texts: Iterable[str], titles: Iterable[str] = ()) -> None:
        self._links: dict[str, str] = {}
        self._names: dict[str, str] = {}
        for text in texts:
            self._add(text)
        for title in titles:
            for key, name in _find_names(title):
                self._names.setdefault(key, name)
        self._schemes = frozenset(link.partition(":")[0] for link in self._links)
        self._sorted = sorted(self._names)
        self._capitals = sorted(key_ for key_, name in self._names.items() if not name.startswith(key_))

    def _add(self, text: str) -> None:
        """Add what a text holds; the first spelling of each stays."""
        found = _read_short(text) if len(text) <= SHORT_TEXT else _read(text)
        for key, link in found.links:
            self._links.setdefault(key, link)
        for key, name in found.names:
            self._names.setdefault(key, name)

    def find_link(self, address: str) -> str:
        """The address as written in a source; empty if no source contains all of it."""
        return self._links.get(address_key(address), "")

    def may_start_link(self, letters: str) -> bool:
        """Whether an allowed address starts with these letters."""
        return any(scheme.startswith(letters) for scheme in self._schemes)

    def find_name(self, name: str) -> str:
        """A name without a scheme, such as `notes.md`, as written in a source; empty if no source contains it."""
        return self._names.get(address_key(name), "")

    def may_respell(self, letters: str) -> bool:
        """Whether an allowed name starting with these letters may be spelled differently."""
        small = letters.lower()
        listed = self._capitals if small == letters else self._sorted
        at = bisect_left(listed, small)
        return bool(small) and at < len(listed) and listed[at].startswith(small)


def _read(text: str) -> FoundAddresses:
    """The links and names in a text, and in the text with its escapes resolved."""
    links: dict[str, str] = {}
    names: dict[str, str] = {}
    for read in dict.fromkeys((text, unescapeAll(text))):
        for address in dict.fromkeys(find_addresses(read)):
            if LINKABLE_ADDRESS.fullmatch(address) and not BROADCAST.search(address):
                links.setdefault(address_key(address), address)
            if "://www." in address:
                bare = address.partition("://")[2]
                names.setdefault(address_key(bare), bare)
        for key, name in _find_names(read):
            names.setdefault(key, name)
    return FoundAddresses(tuple(links.items()), tuple(names.items()))


@functools.lru_cache(maxsize=MAX_READ_TEXTS)
def _read_short(text: str) -> FoundAddresses:
    return _read(text)


def _find_names(text: str) -> Iterator[tuple[str, str]]:
    """The names without a scheme in a text, each with its key."""
    for found in WORD_TOKEN.finditer(text):
        if (
            ("." in found[0] or "@" in found[0])
            and "://" not in found[0]
            and len(found[0]) <= MAX_ADDRESS_CHARACTERS
            and not BROADCAST.search(found[0])
        ):
            for name in name_candidates(found[0]):
                yield address_key(name), name
