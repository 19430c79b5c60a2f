"""Files within a DOC or XLS, which have a folder each in it: taken out as files of their own, or named. Pure."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from io import BytesIO
from typing import TYPE_CHECKING

import olefile

from engine.models import Omission
from engine.parsers.archives.old_office import find_kind
from engine.parsers.base import DAMAGED, TOO_DEEP, TOO_MANY, Attachment
from engine.parsers.formats.openxml.embedded import NO_DOCUMENT, unpack_streams

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Files = tuple[tuple[Attachment, ...], tuple[Omission, ...]]

_POOL, _OF_SHEET = "ObjectPool", "MBD"
_MAX_OBJECTS = 200
_SECTOR, _ENTRIES, _MOST_TABLES = 512, 4, 109
_NONE, _END, _TABLE = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD
_LEAST = 4096  # bytes from which on a stream has sectors of its own


@dataclass(slots=True)
class _Folder:
    """A folder with a file in it: the names of its streams, and whether it holds folders of further objects."""

    names: list[str] = field(default_factory=list)
    has_objects: bool = False


def read_embedded(data: bytes) -> Files:
    """The files within a file of old Office, and the objects that are none; nothing of a damaged file."""
    try:
        with olefile.OleFileIO(BytesIO(data)) as ole:
            folders: dict[tuple[str, ...], _Folder] = {}
            for path in ole.listdir():
                depth = _measure_depth(path)
                if len(path) > depth > 0:
                    folder = folders.setdefault(tuple(path[:depth]), _Folder())
                    folder.names += path[depth:] if len(path) == depth + 1 else []
                    folder.has_objects = folder.has_objects or 0 < _measure_depth(path[depth:]) < len(path) - depth
            return _read_folders(ole, folders, len(data))
    except (OSError, ValueError, IndexError, struct.error):
        return (), ()


def _measure_depth(path: Sequence[str]) -> int:
    """How many names lead to the folder of an object; 0 for a path to something else."""
    return 2 if path[0] == _POOL else 1 if path[0].startswith(_OF_SHEET) else 0


def _read_folders(ole: olefile.OleFileIO, folders: Mapping[tuple[str, ...], _Folder], left: int) -> Files:
    """The files in folders. `left`: how many bytes their streams can have, those of a whole file do not overlap."""
    found: list[Attachment] = []
    omissions: list[Omission] = []
    for at, (path, folder) in enumerate(sorted(folders.items(), key=lambda item: item[0])[:_MAX_OBJECTS], 1):
        place = f"object {at}"
        try:
            left -= sum(ole.get_size([*path, name]) for name in folder.names)
            streams = {name: bytes(ole.openstream([*path, name]).read()) for name in folder.names if left >= 0}
            opened = _open(place, streams)
        except (OSError, ValueError, IndexError, struct.error):
            omissions.append(Omission(place, DAMAGED))
            continue
        found += [opened] if opened else []
        omissions += [] if opened else [Omission(place, NO_DOCUMENT if left >= 0 else DAMAGED)]
        omissions += [Omission(f"{place}, objects within", TOO_DEEP)] if folder.has_objects else []
    if (others := len(folders) - _MAX_OBJECTS) > 0:
        omissions.append(Omission(f"{others} other object{'s' * (others > 1)}", TOO_MANY))
    return tuple(found), tuple(omissions)


def _open(place: str, streams: Mapping[str, bytes]) -> Attachment | None:
    """The file that a folder holds: that of another program, or one of old Office."""
    kind = find_kind(streams)
    packed = pack_streams(streams) if kind else b""
    return Attachment(f"{place}.{kind}", packed) if packed else unpack_streams(f"{place}.bin", streams)


def pack_streams(streams: Mapping[str, bytes]) -> bytes:
    """A compound file of these streams; empty if they are too long for its simplest form."""
    named = sorted(streams.items(), key=lambda item: (len(item[0]), item[0].upper()))
    padded = [(name, content.ljust(max(_LEAST, _up(len(content), _SECTOR)), b"\0")) for name, content in named]
    directory = _up(len(padded) + 1, _ENTRIES) // _ENTRIES
    body = sum(len(content) for _, content in padded) // _SECTOR
    tables = next((n for n in range(1, _MOST_TABLES + 1) if n + directory + body <= n * _SECTOR // 4), 0)
    if not tables:
        return b""
    links = [_TABLE] * tables + [*range(tables + 1, tables + directory), _END]
    entries = [_entry("Root Entry", 5, _NONE, 1 if padded else _NONE, _END, 0)]
    for at, (name, content) in enumerate(padded, 1):
        start, count = len(links), len(content) // _SECTOR
        entries.append(_entry(name, 2, at + 1 if at < len(padded) else _NONE, _NONE, start, len(content)))
        links += [*range(start + 1, start + count), _END]
    header = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16) + struct.pack("<HHHHH6x", 0x3E, 3, 0xFFFE, 9, 6)
    header += struct.pack("<IIIIIIIII", 0, tables, tables, 0, _LEAST, _END, 0, _END, 0)
    header += struct.pack(f"<{tables}I", *range(tables)).ljust(4 * _MOST_TABLES, b"\xff")
    table = struct.pack(f"<{len(links)}I", *links).ljust(tables * _SECTOR, b"\xff")
    return b"".join([header, table, b"".join(entries).ljust(directory * _SECTOR, b"\0"), *(text for _, text in padded)])


def _up(number: int, step: int) -> int:
    """The next multiple."""
    return -(-number // step) * step


def _entry(name: str, kind: int, after: int, child: int, start: int, size: int) -> bytes:
    """An entry of the directory."""
    text = name.encode("utf-16-le")[:62] + b"\0\0"
    head = text.ljust(64, b"\0") + struct.pack("<HBBIII", len(text), kind, 1, _NONE, after, child)
    return head + bytes(36) + struct.pack("<IQ", start, size)
