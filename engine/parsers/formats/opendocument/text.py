"""Parse text documents (ODT) by headings, else by paragraphs. Pure."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from engine.errors import CorruptFile, DocumentTooLarge, EncryptedFile
from engine.models import Omission
from engine.parsers.base import DAMAGED, ParsedFile
from engine.parsers.dates import first_stated, parse_date
from engine.parsers.formats.opendocument.content import ContentReader
from engine.parsers.formats.xml_tree import XmlArchive, find_all
from engine.parsers.passages import passages_by_section
from engine.parsers.scans.document_pictures import list_odt_pictures

if TYPE_CHECKING:
    from datetime import datetime
    from xml.etree.ElementTree import Element

_MANIFEST = "META-INF/manifest.xml"


def parse(name: str, data: bytes, mime: str) -> ParsedFile:  # noqa: ARG001 - the archive names its parts itself
    """Passages by heading, else by paragraphs, with the pictures. Raises EncryptedFile or CorruptFile."""
    archive = XmlArchive(data)
    check_encryption(archive)
    archive.read("content.xml")
    reader, root = ContentReader(archive), archive.parse("content.xml")
    bodies = find_all(root, "body")
    styles = read_part(archive, "styles.xml", reader.omissions)
    blocks = list(chain.from_iterable(map(reader.read, bodies)))
    blocks += [] if root is None else reader.read_forms(root)
    blocks += reader.read_repeated(styles)
    return ParsedFile(
        name,
        passages_by_section(blocks, "paragraph"),
        saved_at=read_saved_time(archive, "meta.xml"),
        embedded=list_odt_pictures(data),
        omissions=tuple(reader.omissions),
    )


def check_encryption(archive: XmlArchive) -> None:
    """Raise EncryptedFile if the parts of an OpenDocument file are locked."""
    if next(find_all(archive.parse(_MANIFEST), "encryption-data"), None) is not None:
        raise EncryptedFile("The file is locked with a password.")


def read_part(archive: XmlArchive, name: str, omissions: list[Omission]) -> Element | None:
    """The tree of a part that the file can do without; a damaged one is named."""
    try:
        return archive.parse(name)
    except (CorruptFile, DocumentTooLarge):
        omissions.append(Omission(name, DAMAGED))
        return None


def read_saved_time(archive: XmlArchive, part: str) -> datetime | None:
    """The time at which the file says that it was last saved; default times of programs are ignored."""
    root = read_part(archive, part, [])
    times = (
        parse_date(element.text or "") for tag in ("modified", "date", "created") for element in find_all(root, tag)
    )
    return first_stated(times)
