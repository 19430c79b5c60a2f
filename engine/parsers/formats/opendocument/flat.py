"""Parse OpenDocument files that are a single XML file (FODT, FODS, FODP) as the archives that they stand for."""

from __future__ import annotations

import base64
import re
import zipfile
from io import BytesIO
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from engine.errors import CorruptFile
from engine.parsers.formats.xml_tree import local_name
from engine.parsers.registry import PARSERS, find_by_mime
from engine.parsers.sandbox.nesting import check_xml_depth

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from engine.parsers.base import ParsedFile

_MIME = re.compile(rb"\boffice:mimetype\s{0,9}=\s{0,9}[\"']([a-z.0-9/+-]{1,100})[\"']")
_HEAD = 64 * 1024
_PARTS = ("content.xml", "styles.xml", "meta.xml")  # each of them finds its own within the whole
_HREF = "{http://www.w3.org/1999/xlink}href"
_DOCUMENTS = frozenset({"document", "math"})  # what an object holds


def parse(name: str, data: bytes) -> ParsedFile:
    """As the archive of the same kind.

    Raises CorruptFile if the file does not say which kind it is, and DocumentTooLarge if it is nested too deeply.
    """
    match = _MIME.search(data[:_HEAD])
    file_format = find_by_mime(match[1].decode("ascii")) if match else ""
    if not file_format:
        raise CorruptFile(f"{name} does not say which kind of OpenDocument file it is, or it is damaged.")
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for part, content in _divide(data).items():
            archive.writestr(part, content)
    return PARSERS[file_format].parse(name, packed.getvalue())


def _divide(data: bytes) -> dict[str, bytes]:
    """The parts of the archive: the pictures and the documents within the document are files of their own there.

    A damaged file is each part as it is, so that its parser reads it up to the damage.
    """
    check_xml_depth(data)
    try:
        root = ET.fromstring(data)  # noqa: S314 - expat bounds entities, the sandbox memory and time
    except ET.ParseError:
        return dict.fromkeys(_PARTS, data)
    parts: dict[str, bytes] = {}
    for element in reversed(list(root.iter())):  # the innermost first
        for child in list(element):
            _move(element, child, parts)
    return parts | dict.fromkeys(_PARTS, ET.tostring(root, "utf-8"))


def _move(element: Element, child: Element, parts: dict[str, bytes]) -> None:
    """Replace what is a file of its own in an archive by its name."""
    if local_name(child) == "binary-data":
        target = part = f"Pictures/{len(parts)}"
        content = _decode(child.text or "")
    elif local_name(element) == "object" and local_name(child) in _DOCUMENTS:
        target = f"Object {len(parts)}"
        part, content = f"{target}/content.xml", ET.tostring(child, "utf-8")
    else:
        return
    parts[part] = content
    element.remove(child)
    element.set(_HREF, target)


def _decode(text: str) -> bytes:
    try:
        return base64.b64decode(text)
    except ValueError:
        return b""
