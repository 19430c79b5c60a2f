"""Read XML parts of archives as trees, by local names. Pure."""

from __future__ import annotations

import posixpath
import zipfile
from io import BytesIO
from typing import TYPE_CHECKING
from urllib.parse import unquote
from xml.etree import ElementTree as ET

from engine.errors import CorruptFile
from engine.parsers.base import ZIP_ERRORS
from engine.parsers.sandbox.nesting import check_xml_depth

if TYPE_CHECKING:
    from collections.abc import Iterator
    from xml.etree.ElementTree import Element


class XmlArchive:
    """The XML parts of a ZIP archive. Raises CorruptFile if the archive is damaged."""

    def __init__(self, data: bytes) -> None:
        try:
            self._archive = zipfile.ZipFile(BytesIO(data))
        except ZIP_ERRORS as error:
            raise CorruptFile("The file is a damaged or incomplete archive.") from error
        self.names = frozenset(self._archive.namelist())

    def read(self, name: str) -> bytes:
        """The bytes of a part. Raises CorruptFile if it is missing or damaged."""
        if name not in self.names:
            raise CorruptFile("The file is incomplete: a part of it is missing.")
        try:
            return self._archive.read(name)
        except ZIP_ERRORS as error:
            raise CorruptFile("The file is damaged: a part of it cannot be unpacked.") from error

    def parse(self, name: str) -> Element | None:
        """The tree of a part, None if there is no such part.

        Raises CorruptFile if it is damaged, and DocumentTooLarge if it is nested too deeply.
        """
        if name not in self.names:
            return None
        data = self.read(name)
        check_xml_depth(data)
        try:
            return ET.fromstring(data)  # noqa: S314 - expat bounds entities, the sandbox memory and time
        except ET.ParseError as error:
            raise CorruptFile("The file is damaged: a part of it is not XML.") from error


def local_name(element: Element) -> str:
    """The name of an element without its namespace."""
    return str(element.tag).rpartition("}")[2]


def attribute(element: Element, name: str) -> str:
    """The value of an attribute by its local name, or an empty string."""
    return next((value for key, value in element.attrib.items() if key.rpartition("}")[2] == name), "")


def find_all(element: Element | None, name: str) -> Iterator[Element]:
    """The descendants with a local name, in document order."""
    return (node for node in (element.iter() if element is not None else ()) if local_name(node) == name)


def resolve_path(base: str, target: str) -> str:
    """The name of a part that another part names relative to itself."""
    if target.startswith("/"):
        return unquote(target).lstrip("/")
    return posixpath.normpath(posixpath.join(posixpath.dirname(base), unquote(target)))


def related_parts(archive: XmlArchive, part: str) -> dict[str, str]:
    """The parts that a part of an OpenXML archive refers to, by the id of the relation."""
    folder, _, file = part.rpartition("/")
    relations = find_all(archive.parse(f"{folder}/_rels/{file}.rels"), "Relationship")
    return {attribute(relation, "Id"): resolve_path(part, attribute(relation, "Target")) for relation in relations}
