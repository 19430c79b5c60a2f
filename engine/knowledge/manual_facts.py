"""Build facts that a person states, and their document of kind "manual"."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from engine.errors import InvalidDocument
from engine.knowledge.merge import clean_extraction
from engine.models import Document, Extraction, Link, Mention, Passage

if TYPE_CHECKING:
    from datetime import datetime


def build_fact(name: str, description: str, other: str = "", type_: str = "", keywords: str = "") -> Extraction:
    """One fact about a name or, with `other`, about its relation to that name."""
    if other:
        return Extraction(links=(Link(name, other, keywords, description),))
    return Extraction(mentions=(Mention(name, (type_ or "other").casefold(), description),))


def build_manual_document(space: str, room: str, facts: Extraction, time: datetime | None) -> Document:
    """The document of a statement; the same statement in the same room has the same key.

    Raises InvalidDocument if the statement contains no valid fact.
    """
    lines = [f"{m.name} ({m.type}): {m.description}" for m in facts.mentions]
    lines += [f"{x.source} ~ {x.target} ({x.keywords}): {x.description}" for x in facts.links]
    if not clean_extraction(facts).mentions:
        raise InvalidDocument(
            "The statement contains no fact.", hint="Give a name and a description, or two names and their relation."
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
