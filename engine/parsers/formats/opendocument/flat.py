"""Parse OpenDocument files that are a single XML file (FODT, FODS, FODP) as the archives that they stand for."""

from __future__ import annotations

import re
import zipfile
from io import BytesIO
from typing import TYPE_CHECKING

from engine.errors import CorruptFile
from engine.parsers.registry import PARSERS, find_by_mime

if TYPE_CHECKING:
    from engine.parsers.base import ParsedFile

_MIME = re.compile(rb"\boffice:mimetype\s{0,9}=\s{0,9}[\"']([a-z.0-9/+-]{1,100})[\"']")
_HEAD = 64 * 1024
_PARTS = ("content.xml", "styles.xml", "meta.xml")  # each of them finds its own within the whole


def parse(name: str, data: bytes) -> ParsedFile:
    """As the archive of the same kind. Raises CorruptFile if the file does not say which kind it is."""
    match = _MIME.search(data[:_HEAD])
    file_format = find_by_mime(match[1].decode("ascii")) if match else ""
    if not file_format:
        raise CorruptFile(f"{name} does not say which kind of OpenDocument file it is, or it is damaged.")
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for part in _PARTS:
            archive.writestr(part, data)
    return PARSERS[file_format].parse(name, packed.getvalue())
