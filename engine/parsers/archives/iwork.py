"""Read Pages, Numbers and Keynote documents by the preview that they hold."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from engine.errors import UnsupportedFormat
from engine.parsers.base import EmbeddedPicture, Omission, ParsedFile
from engine.parsers.formats.pdf.parser import parse as parse_pdf
from engine.parsers.formats.xml_tree import XmlArchive

if TYPE_CHECKING:
    from collections.abc import Collection

_PREVIEWS = ("QuickLook/Preview.pdf", "preview.pdf", "QuickLook/preview.pdf")
_PICTURES = ("preview.jpg", "QuickLook/Thumbnail.jpg", "preview-web.jpg")
_HINT = "Export it as PDF, or in a format of Office, and add that."


def is_iwork(names: Collection[str]) -> bool:
    """Whether the names of the parts of an archive are those of a Pages, Numbers or Keynote document."""
    roots = {"Index.zip", "index.apxl", "Index/Document.iwa", "Index/Presentation.iwa", "buildVersionHistory.plist"}
    return bool(roots & set(names)) or ("index.xml" in names and any(preview in names for preview in _PREVIEWS))


def parse(name: str, data: bytes) -> ParsedFile:
    """The pages of the preview. Raises UnsupportedFormat if there is none."""
    archive = XmlArchive(data)
    path = next((preview for preview in _PREVIEWS if preview in archive.names), "")
    if path:
        parsed = parse_pdf(name, archive.read(path), "application/pdf")
        if parsed.passages:
            unread = (Omission(f"page {page}", "it has no readable text") for page in parsed.unread_pages)
            return replace(parsed, title=name, unread_pages=(), omissions=(*parsed.omissions, *unread))
    if picture := next((candidate for candidate in _PICTURES if candidate in archive.names), ""):
        omission = Omission("the document", "only the picture of its first page can be read")
        picture_data = archive.read(picture)
        return ParsedFile(name, (), embedded=iter([EmbeddedPicture("preview", picture_data)]), omissions=(omission,))
    raise UnsupportedFormat("The document holds no preview that can be read.", hint=_HINT)
