"""Clean up the extraction of a chunk before it is stored. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.models import Mention
from engine.text.names import normalize_name

if TYPE_CHECKING:
    from engine.models import Extraction, Link


@dataclass(frozen=True, slots=True)
class ExtractedFacts:
    """The distinct mentions and links of an extraction with their canonical names."""

    mentions: list[tuple[str, Mention]]
    links: list[tuple[str, str, Link]]


def clean_extraction(extraction: Extraction) -> ExtractedFacts:
    """The valid mentions and links; an end of a link that has no mention gets one without a type.

    Idempotent: such an implied mention has one spelling, and a link is the same in both directions.
    """
    surfaces = {m.name for m in extraction.mentions} | {end for x in extraction.links for end in (x.source, x.target)}
    names = {surface: normalize_name(surface) for surface in surfaces}
    mentions = [(names[m.name], m) for m in dict.fromkeys(extraction.mentions) if names[m.name] and m.type]
    links: dict[tuple[frozenset[str], str, str], tuple[str, str, Link]] = {}
    for x in extraction.links:
        a, b = names[x.source], names[x.target]
        if a and b and a != b:
            links.setdefault((frozenset((a, b)), x.keywords, x.description), (a, b, x))
    stated = {name for name, _ in mentions}
    shown: dict[str, str] = {}
    implied = dict.fromkeys(
        (names[end], Mention(shown.setdefault(names[end], end), "", x.description))
        for _, _, x in links.values()
        for end in (x.source, x.target)
        if names[end] not in stated
    )
    return ExtractedFacts(mentions + list(implied), list(links.values()))
