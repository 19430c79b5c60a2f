"""Files within OpenXML files, as attachments: office documents, and what other programs packed into OLE objects."""

from __future__ import annotations

import struct
from io import BytesIO
from typing import TYPE_CHECKING

import olefile

from engine.errors import CorruptFile
from engine.models import Omission
from engine.parsers.archives.old_office import find_kind
from engine.parsers.base import ABSENT, DAMAGED, Attachment
from engine.text.cleanup import clean_single_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from engine.parsers.formats.openxml.parts import PartReader, PartRelation

NO_DOCUMENT = "it is an object of another program"
_FILM = "it is a recording or a video"
_FILES = frozenset({"package", "oleObject"})
_MEDIA = frozenset({"media", "audio", "video"})
_OLE = b"\xd0\xcf\x11\xe0"
_NATIVE = "\x01Ole10Native"
_WRAPPERS = (_NATIVE, "CONTENTS", "Package")


def embedded_files(parts: PartReader, relations: list[PartRelation], place: str) -> list[Attachment]:
    """The files that a part of the document refers to; what cannot be opened is named."""
    found: list[Attachment] = []
    for relation in relations:
        name = relation.target.rpartition("/")[2]
        part = f"{place}, {name}" if place else name
        if relation.type in _MEDIA:
            omission = Omission(part, _FILM)
            parts.omissions += [] if omission in parts.omissions else [omission]
        elif relation.type in _FILES and relation.target not in parts.archive.names:
            parts.omissions.append(Omission(part, ABSENT))
        elif relation.type in _FILES:
            try:
                data = parts.archive.read(relation.target)
            except CorruptFile:
                parts.omissions.append(Omission(part, DAMAGED))
                continue
            opened = unpack_object(name, data)
            found += [opened] if opened else []
            parts.omissions += [] if opened else [Omission(part, NO_DOCUMENT)]
    return found


def unpack_object(name: str, data: bytes) -> Attachment | None:
    """The file within an OLE object, or the data themselves if they are a file; None if there is no file in it."""
    if not data.startswith(_OLE):
        return None if name.endswith(".bin") else Attachment(name, data)
    try:
        with olefile.OleFileIO(BytesIO(data)) as ole:
            streams = {path[0]: path for path in ole.listdir() if len(path) == 1}
            if kind := find_kind(streams):
                return Attachment(f"{name.rpartition('.')[0]}.{kind}", data)
            return unpack_streams(name, {text: ole.openstream(text).read() for text in _WRAPPERS if text in streams})
    except (OSError, ValueError, IndexError, struct.error):
        return None


def unpack_streams(name: str, streams: Mapping[str, bytes]) -> Attachment | None:
    """The file that another program packed into one of the streams of an object. Raises struct.error."""
    if _NATIVE in streams:
        return _unpack_native(name, streams[_NATIVE])
    return next((_unpack_contents(name, streams[text]) for text in _WRAPPERS if text in streams), None)


def _unpack_native(name: str, data: bytes) -> Attachment | None:
    """A file that Windows packed: its label and paths, each ended by a zero byte, then its length and content."""
    label, _, rest = data[6:].partition(b"\0")
    _, _, rest = rest.partition(b"\0")
    size = struct.unpack_from("<I", rest, 4)[0]
    rest = rest[8 + size :]
    length = struct.unpack_from("<I", rest)[0]
    content = rest[4 : 4 + length]
    shown = clean_single_line(label.decode("utf-8", "replace")).replace("\\", "/").rpartition("/")[2]
    return Attachment(shown or name, content) if content else None


def _unpack_contents(name: str, data: bytes) -> Attachment | None:
    stem = name.rpartition(".")[0]
    if data.startswith(b"%PDF"):
        return Attachment(f"{stem}.pdf", data)
    return Attachment(f"{stem}.zip", data) if data.startswith(b"PK") else None
