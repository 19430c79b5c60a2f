"""Parse RTF by headings, else by paragraphs. Pure."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from engine.errors import CorruptFile
from engine.models import Omission
from engine.parsers.base import ParsedFile
from engine.parsers.dates import is_default_time
from engine.parsers.formats.openxml.embedded import NO_DOCUMENT
from engine.parsers.formats.rich_text import charsets
from engine.parsers.formats.rich_text.reader import RichTextReader
from engine.parsers.passages import find_first_heading, passages_by_section

if TYPE_CHECKING:
    from collections.abc import Mapping


def parse(name: str, data: bytes, mime: str) -> ParsedFile:  # noqa: ARG001 - the signature has shown what it is
    """Passages by heading, else by paragraphs. Raises CorruptFile if the characters cannot be told."""
    found = RichTextReader().read(data)
    if charsets.is_strange(bytes(found.western)):
        own = charsets.name_of_language(found.language) or charsets.guess_codec(bytes(found.western))
        if not own:
            raise CorruptFile(
                "The file does not say in which encoding its letters are.", hint="Save it as DOCX and add that."
            )
        found = RichTextReader(own).read(data)
    omitted = "1 object" if found.objects == 1 else f"{found.objects} objects"
    return ParsedFile(
        find_first_heading(found.blocks) or name,
        passages_by_section(found.blocks, "paragraph"),
        saved_at=_saved_time(found.saved),
        embedded=tuple(found.pictures),
        omissions=(Omission(omitted, NO_DOCUMENT),) if found.objects else (),
    )


def _saved_time(saved: Mapping[str, int]) -> datetime | None:
    """The time of the last change, else of creation."""
    for kind in ("revtim", "creatim"):
        if f"{kind}.yr" in saved:
            month, day, hour, minute = (saved.get(f"{kind}.{name}", 0) for name in ("mo", "dy", "hr", "min"))
            try:
                time = datetime(saved[f"{kind}.yr"], month or 1, day or 1, hour, minute, tzinfo=UTC)
            except ValueError:
                continue
            if not is_default_time(time):
                return time
    return None
