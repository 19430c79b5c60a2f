"""The records of a PPT, and which of them are in use: a file can keep those of former states. Pure."""

from __future__ import annotations

import struct
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_HEAD = 8
_CONTAINER = 0xF
_MAX_DEPTH = 40
_USER_EDIT, _MAX_EDITS = 0x0FF5, 10_000
_OFFSET_OF_LAST = 16
_COUNT_BITS, _FIRST_MASK = 20, 0xFFFFF


class Record(NamedTuple):
    """A record by its number among its kind, its type, and where its content begins and ends."""

    data: bytes
    instance: int
    type: int
    start: int
    stop: int
    is_container: bool
    depth: int = 0

    @property
    def content(self) -> bytes:
        """Its bytes without the header."""
        return self.data[self.start : self.stop]

    def children(self) -> Iterator[Record]:
        """The records within a container, as far as they are not nested too deeply."""
        if self.is_container and self.depth < _MAX_DEPTH:
            yield from list_records(self.data, self.start, self.stop, self.depth + 1)

    def find(self, type_: int) -> Iterator[Record]:
        """The records of a type below this one, in the order of the file."""
        for child in self.children():
            if child.type == type_:
                yield child
            else:
                yield from child.find(type_)


def list_records(data: bytes, start: int = 0, stop: int | None = None, depth: int = 0) -> Iterator[Record]:
    """The records between two places; what is cut off ends with the data."""
    end = len(data) if stop is None else stop
    while start + _HEAD <= end:
        version, type_, size = struct.unpack_from("<HHI", data, start)
        start += _HEAD
        yield Record(
            data, version >> 4, type_, start, min(start + size, end), version & _CONTAINER == _CONTAINER, depth
        )
        start += size


def list_objects(data: bytes, user: bytes) -> dict[int, Record]:
    """The records in use by their numbers; `user`: the stream of the current user, which tells the last change.

    Those of former changes are missing if their tables are damaged, and all if that of the last one is.
    """
    found: dict[int, int] = {}
    seen, left = set[int](), len(data)
    with suppress(struct.error):
        at = struct.unpack_from("<I", user, _OFFSET_OF_LAST)[0]
        while at and at not in seen and len(seen) < _MAX_EDITS:
            seen.add(at)
            if struct.unpack_from("<HH", data, at)[1] != _USER_EDIT:
                break
            before, table = struct.unpack_from("<II", data, at + _HEAD + 8)
            left -= min(struct.unpack_from("<I", data, table + 4)[0], len(data))
            if left < 0:
                break  # the tables of a whole file do not overlap
            for number, place in _list_places(data, table):
                found.setdefault(number, place)
            at = before
    return {number: record for number, place in found.items() for record in _record_at(data, place)}


def _list_places(data: bytes, at: int) -> Iterator[tuple[int, int]]:
    """The places of records by their numbers, as a table of one change tells them."""
    size = struct.unpack_from("<I", data, at + 4)[0]
    at += _HEAD
    end = min(at + size, len(data))
    while at + 4 <= end:
        entry = struct.unpack_from("<I", data, at)[0]
        count = min(entry >> _COUNT_BITS, (end - at) // 4 - 1)
        first = entry & _FIRST_MASK
        places = struct.unpack_from(f"<{count}I", data, at + 4)
        yield from ((first + number, place) for number, place in enumerate(places))
        at += 4 + 4 * count


def _record_at(data: bytes, place: int) -> Iterator[Record]:
    if place + _HEAD <= len(data):
        yield next(list_records(data, place))
