"""Build facts from the fields of a reply, whatever its format. Pure."""

from __future__ import annotations

from engine.models import Link, Mention
from engine.text.names import clean_keywords, clean_name, clean_text, clean_type, normalize_name

# Names of fields in the instructions, which some models repeat.
PLACEHOLDERS = frozenset(
    ("entity name", "entity type", "source entity", "target entity", "entity1 name", "entity2 name", "name of entity")
)


def _is_placeholder(name: str) -> bool:
    return name.strip(" {}<>[]").replace("_", " ").casefold() in PLACEHOLDERS


def build_mention(name: str, kind: str, description: str) -> Mention | None:
    """A mention with cleaned fields, or None if a field is empty or the name is that of a field."""
    if _is_placeholder(name):
        return None
    mention = Mention(clean_name(name), clean_type(kind), clean_text(description))
    return mention if normalize_name(mention.name) and mention.type and mention.description else None


def build_link(source: str, target: str, keywords: str, description: str) -> Link | None:
    """A link with cleaned fields, or None if an end or the description is empty or both ends are the same name."""
    if _is_placeholder(source) or _is_placeholder(target):
        return None
    link = Link(clean_name(source), clean_name(target), clean_keywords(keywords), clean_text(description))
    ends = {normalize_name(link.source), normalize_name(link.target)}
    return link if len(ends) > 1 and "" not in ends and link.description else None
