"""What a person states by hand, as a document of kind "manual"."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from engine.errors import InvalidDocument
from engine.knowledge.extraction_cleanup import clean_extraction
from engine.models import Document, Passage

if TYPE_CHECKING:
    from datetime import datetime

    from engine.models import Extraction


def build_manual_document(space: str, room: str, told: Extraction, time: datetime | None) -> Document:
    """The document of a statement; the same statement in the same room is the same document.

    InvalidDocument if nothing that could be kept is stated.
    """
    lines = [f"{m.name} ({m.type}): {m.description}" for m in told.mentions]
    lines += [f"{x.source} ~ {x.target} ({x.keywords}): {x.description}" for x in told.links]
    if not clean_extraction(told).mentions:
        raise InvalidDocument(
            "Nothing is stated.", hint="Give a name and a description, or two names and what links them."
        )
    text = "\n".join(lines)
    digest = sha256(f"{space}\0{room}\0{text}".encode()).hexdigest()[:16]
    return Document(
        key=f"manual:{digest}",
        space=space,
        room=room,
        title="Stated by hand",
        passages=(Passage("1", text, "statement", time=time),),
        time=time,
        kind="manual",
    )
