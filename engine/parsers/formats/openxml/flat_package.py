"""Parse Office files of today that are a single XML file (Flat OPC) as the archives that they stand for."""

from __future__ import annotations

import base64
import re
import zipfile
from contextlib import suppress
from io import BytesIO
from typing import TYPE_CHECKING
from xml.parsers import expat
from xml.sax.saxutils import quoteattr

from engine.errors import CorruptFile
from engine.parsers.registry import PARSERS, zip_formats
from engine.parsers.sandbox.nesting import check_xml_depth

if TYPE_CHECKING:
    from engine.parsers.base import ParsedFile

_HEAD = 8000  # characters
_SPACE = re.compile(r"[\"']http://schemas\.microsoft\.com/office/2006/xmlPackage[\"']")
_ENTITY = "<!ENTITY"
_NAMESPACE = "xmlns"
_TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"


def parse_flat_package(name: str, text: str) -> ParsedFile | None:
    """As the archive of the same kind; None for other XML, and for what is damaged.

    Raises DocumentTooLarge if it is nested too deeply.
    """
    if not _SPACE.search(text[:_HEAD]) or _ENTITY in text:
        return None
    data = text.encode("utf-8", "replace")
    check_xml_depth(data)
    package = _Package(data)
    kinds = (kind for kind, row in zip_formats() if row.zip_folder and package.has_folder(row.zip_folder))
    kind = next(kinds, "")
    with suppress(CorruptFile):
        return PARSERS[kind].parse(name, package.pack()) if kind else None
    return None


class _Package:
    """The parts of a package by their names, up to the damage if it is damaged."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._parts: dict[str, bytes] = {}
        self._types: dict[str, str] = {}
        self._open: list[str] = []  # the elements around, without their prefixes
        self._spaces: list[dict[str, str]] = []  # the namespaces that each of them declares
        self._name, self._root, self._begin = "", b"", 0
        self._bytes: list[str] = []
        self._parser = expat.ParserCreate("utf-8")
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._read_characters
        try:
            self._parser.Parse(data, True)
        except expat.ExpatError:
            if self._root:  # the damage is within this part
                self._parts[self._name] = self._root + data[self._begin :]

    def has_folder(self, folder: str) -> bool:
        return any(name.startswith(folder) for name in self._parts)

    def pack(self) -> bytes:
        packed = BytesIO()
        rows = (
            f"<Override PartName={quoteattr(f'/{name}')} ContentType={quoteattr(kind)}/>"
            for name, kind in self._types.items()
        )
        with zipfile.ZipFile(packed, "w") as archive:
            archive.writestr("[Content_Types].xml", f'<Types xmlns="{_TYPES}">{"".join(rows)}</Types>')
            for name, content in self._parts.items():
                archive.writestr(name, content)
        return packed.getvalue()

    def _start(self, tag: str, facts: dict[str, str]) -> None:
        if self._is_in("part") and len(self._open) == 2:
            self._bytes = []
        elif self._is_in("xmlData") and len(self._open) == 3:
            around = {key: value for spaces in self._spaces for key, value in spaces.items() if key not in facts}
            declared = "".join(f" {key}={quoteattr(value)}" for key, value in around.items())
            self._root, self._begin = (
                f"<{tag}{declared}".encode(),
                self._parser.CurrentByteIndex + len(f"<{tag}".encode()),
            )
        local = tag.rpartition(":")[2]
        if local == "part" and len(self._open) == 1:
            named = {key.rpartition(":")[2]: value for key, value in facts.items()}
            self._name = named.get("name", "").lstrip("/")
            self._types[self._name] = named.get("contentType", "")
        self._open.append(local)
        if len(self._open) <= 3:
            self._spaces.append({key: value for key, value in facts.items() if key.partition(":")[0] == _NAMESPACE})

    def _end(self, tag: str) -> None:
        self._open.pop()
        if len(self._open) == 2 and self._is_in("part"):
            match tag.rpartition(":")[2]:
                case "xmlData" if self._root:
                    self._parts[self._name] = self._root + self._data[self._begin : self._parser.CurrentByteIndex]
                case "binaryData":
                    with suppress(ValueError):
                        self._parts[self._name] = base64.b64decode("".join(self._bytes))
            self._root = b""
        if len(self._open) < 3:
            self._spaces.pop()

    def _read_characters(self, text: str) -> None:
        if self._is_in("binaryData"):
            self._bytes.append(text)

    def _is_in(self, name: str) -> bool:
        return self._open[-1:] == [name]
