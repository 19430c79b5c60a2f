"""Parse the filters that a model proposes for a question. Whatever is malformed is left out."""

from __future__ import annotations

from dataclasses import replace

from engine.llm.formats.json_extraction import parse_object, parse_search_query, text_field
from engine.models import ProposedFilters, SearchQuery
from engine.text.names import clean_text

MAX_NAMES = 5  # of channels, and of people


def parse_filtered_query(reply: str, question: str) -> SearchQuery:
    """Parse as `parse_search_query`, with the filters that the reply proposes."""
    return replace(parse_search_query(reply, question), proposed=parse_proposed_filters(reply))


def parse_proposed_filters(reply: str) -> ProposedFilters | None:
    """The filters in a reply with {"filters": {…}}; None if there are none."""
    data = (parse_object(reply) or {}).get("filters")
    if not isinstance(data, dict):
        return None
    dates = data.get("dates")
    dates = dates if isinstance(dates, dict) else {}
    since, until, words = (text_field(dates, key).strip() for key in ("since", "until", "words"))
    channels, authors = _parse_names(data.get("channels")), _parse_names(data.get("authors"))
    found = ProposedFilters(channels, authors, since, until, words, text_field(data, "files").strip())
    return found if found != ProposedFilters() else None


def _parse_names(value: object) -> tuple[str, ...]:
    """The names in a list; none if any is no text or if they are very many, because all of them count."""
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, list) or len(names) > MAX_NAMES or not all(isinstance(name, str) for name in names):
        return ()
    return tuple(dict.fromkeys(filter(None, map(clean_text, names))))
