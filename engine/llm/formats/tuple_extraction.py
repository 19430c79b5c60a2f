"""The extraction reply in LightRAG's delimiter format, read tolerantly: what can be understood is never lost."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeVar

from engine.llm.formats.thinking import strip_thinking
from engine.llm.formats.tuple_repair import field_candidates, split_rows
from engine.models import Extraction, Link, Mention
from engine.text.names import clean_keywords, clean_name, clean_text, clean_type, normalize_name

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

Stated = TypeVar("Stated", bound=Mention | Link)

MENTION_FIELDS = 4
LINK_FIELDS = 5

_TAG = re.compile(r"\A[\W\d_]*+(?:entity|relation(?:ship)?)[\W\d_]*+\Z", re.IGNORECASE)


def parse_tuples(reply: str) -> Extraction:
    """The mentions and links of a reply, in its order; rows that make no sense are left out, none raises."""
    records = [record for row in split_rows(strip_thinking(reply)) for record in _parse_records(row)]
    mentions = [build_mention(*record[1:]) for record in records if len(record) == MENTION_FIELDS]
    links = [build_link(*record[1:]) for record in records if len(record) == LINK_FIELDS]
    return Extraction(tuple(filter(None, mentions)), tuple(filter(None, links)))


def merge_gleaning(first: Extraction, second: Extraction) -> Extraction:
    """The first reading, completed by a second look at the same text.

    What only the second one names is added; of what both name, the one with the longer first description is kept.
    """
    return Extraction(
        _merge_by_key(first.mentions, second.mentions, lambda mention: normalize_name(mention.name)),
        _merge_by_key(
            first.links,
            second.links,
            lambda link: frozenset((normalize_name(link.source), normalize_name(link.target))),
        ),
    )


def build_mention(name: str, kind: str, description: str) -> Mention | None:
    """A mention of cleaned parts, or nothing if one of them is nothing."""
    mention = Mention(clean_name(name), clean_type(kind), clean_text(description))
    return mention if normalize_name(mention.name) and mention.type and mention.description else None


def build_link(source: str, target: str, keywords: str, description: str) -> Link | None:
    """A link of cleaned parts, or nothing if an end or the description is nothing, or if both ends are one name."""
    link = Link(clean_name(source), clean_name(target), clean_keywords(keywords), clean_text(description))
    ends = {normalize_name(link.source), normalize_name(link.target)}
    return link if len(ends) > 1 and "" not in ends and link.description else None


def _parse_records(row: str) -> list[list[str]]:
    """The records of a row; daring repairs count only where they make more of it."""
    return max((_split_records(fields) for fields in field_candidates(row)), key=len)


def _split_records(fields: Sequence[str]) -> list[list[str]]:
    """Fields parted into records of 4 or 5: several may stand on one line, joined by the delimiter alone.

    A record ends where the line ends or where the tag of another one follows; so a name "relation" is no new record.
    """
    records, at = [], 0
    while at < len(fields):
        size = _record_size(fields, at)
        if size:
            records.append(list(fields[at : at + size]))
        at = at + size if size else _find_next_tag(fields, at + 1)
    return records


def _record_size(fields: Sequence[str], at: int) -> int:
    """The number of fields of the record that starts here, 0 if none does."""
    for size in _allowed_sizes(fields[at], first=at == 0):
        end = at + size
        if end == len(fields) or (end < len(fields) and _TAG.fullmatch(fields[end])):
            return size
    return 0


def _allowed_sizes(tag: str, *, first: bool) -> tuple[int, ...]:
    """How long a record with this tag may be: an "entity" of 5 fields is a relation under the wrong tag."""
    word = tag.lower()
    if not first and not _TAG.fullmatch(tag):
        return ()
    if "entity" in word:
        return (MENTION_FIELDS, LINK_FIELDS)
    return (LINK_FIELDS,) if "relation" in word else ()


def _find_next_tag(fields: Sequence[str], at: int) -> int:
    return next((index for index in range(at, len(fields)) if _TAG.fullmatch(fields[index])), len(fields))


def _merge_by_key(
    first: Sequence[Stated], second: Sequence[Stated], key: Callable[[Stated], Hashable]
) -> tuple[Stated, ...]:
    known, more = _first_lengths(first, key), _first_lengths(second, key)
    better = {name for name, length in more.items() if length > known.get(name, -1)}
    kept = (stated for stated in first if key(stated) not in better)
    return (*kept, *(stated for stated in second if key(stated) in better))


def _first_lengths(items: Sequence[Stated], key: Callable[[Stated], Hashable]) -> dict[Hashable, int]:
    """The length of the first description under each key."""
    lengths: dict[Hashable, int] = {}
    for stated in items:
        lengths.setdefault(key(stated), len(stated.description))
    return lengths
