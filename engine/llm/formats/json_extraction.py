"""Replies in JSON, as models write it: fenced, talked around, with single quotes, cut off."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, cast

from engine.llm.formats.thinking import without_thoughts
from engine.llm.formats.tuple_extraction import link_of, mention_of
from engine.models import Condensed, Reading
from engine.text.names import clean_text, storable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Object = Mapping[str, object]

_FENCE = re.compile(r"\A```\w*|```\Z")
_OPENING = re.compile(r"\{\s*[\"'}]")
_SEPARATORS = re.compile("[\n,;，；]")


def parse_json_reading(reply: str) -> Reading:
    """The mentions and links of {"entities": [...], "relationships": [...]}; what makes no sense is left out."""
    found = _object(reply) or {}
    mentions = (
        mention_of(_text(item, "name"), _text(item, "type"), _text(item, "description"))
        for item in _objects(found, "entities")
    )
    links = (
        link_of(_text(item, "source"), _text(item, "target"), _text(item, "keywords"), _text(item, "description"))
        for item in _objects(found, "relationships")
    )
    return Reading(tuple(filter(None, mentions)), tuple(filter(None, links)))


def json_excerpts(reply: str) -> tuple[list[tuple[int, Object]], bool]:
    """The objects of {"excerpts": [{"number": 1, …}]} by number (0 for none), and whether nothing was cut off."""
    found, complete = _decoded(reply)
    items = _objects(found, "excerpts") if isinstance(found, dict) else ()
    return [(number if isinstance(number := item.get("number"), int) else 0, item) for item in items], complete


def parse_keywords(reply: str) -> tuple[bool, tuple[str, ...], tuple[str, ...]]:
    """Whether the reply is an object at all, and its high-level and low-level keywords."""
    found = _object(reply)
    if found is None:
        return False, (), ()
    return True, _keywords(found.get("high_level_keywords")), _keywords(found.get("low_level_keywords"))


def keywords_or_question(high: tuple[str, ...], low: tuple[str, ...], question: str) -> Condensed:
    """The question with its keywords; where there are none at all, it is its own low-level keyword, however long."""
    return Condensed(question, high, low if high or low else (question,))


def parse_condensed(reply: str, question: str) -> Condensed:
    """The stand-alone question and its keywords in one object; what is missing falls back to the given question."""
    found = _object(reply) or {}
    rewritten = storable(_text(found, "question")).strip() or question
    high, low = _keywords(found.get("high_level_keywords")), _keywords(found.get("low_level_keywords"))
    return keywords_or_question(high, low, rewritten)


def parse_for_bot(reply: str) -> bool:
    """Whether the reply says that a message is meant for the program; a reply that does not say so means no."""
    return str((_object(reply) or {}).get("for_you")).casefold() in {"true", "yes", "1"}


def _object(reply: str) -> Object | None:
    """The first JSON object of a reply, repaired if need be; None if there is none or if the whole is an array."""
    found, _ = _decoded(reply)
    return found if isinstance(found, dict) else None


def _decoded(reply: str) -> tuple[object, bool]:
    """The first JSON value that may be an object, and whether it needed no repair."""
    text = _FENCE.sub("", without_thoughts(reply).strip()).strip()
    opening = _OPENING.search(text)
    if opening is None or text.startswith("["):
        return None, False
    text = text[opening.start() :]
    try:
        return json.JSONDecoder(strict=False).raw_decode(text)[0], True
    except (ValueError, RecursionError):
        return _repaired(text), False


def _repaired(text: str) -> object:
    """What a repair makes of broken JSON; of several values the first object. None if it is beyond repair."""
    import json_repair  # noqa: PLC0415  - only broken replies pay for the import

    try:
        found = json_repair.loads(text, skip_json_loads=True)
    except (ValueError, RecursionError):
        return None
    return next((value for value in found if isinstance(value, dict)), None) if isinstance(found, list) else found


def _objects(found: Object, key: str) -> Iterator[Object]:
    items = found.get(key)
    return (cast("Object", item) for item in (items if isinstance(items, list) else ()) if isinstance(item, dict))


def _text(item: Object, key: str) -> str:
    """A text field; a list of texts is joined by commas; anything else is no text."""
    value = item.get(key)
    if isinstance(value, list):
        value = ",".join(part for part in value if isinstance(part, str))
    return value if isinstance(value, str) else ""


def _keywords(value: object) -> tuple[str, ...]:
    parts = _SEPARATORS.split(value) if isinstance(value, str) else value
    if not isinstance(parts, list):
        return ()
    return tuple(dict.fromkeys(filter(None, (clean_text(part) for part in parts if isinstance(part, str)))))
