"""Parse JSON replies as models write them: fenced, surrounded by prose, single-quoted, cut off."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, cast

from engine.llm.formats.broken_json import list_objects, read_broken_json
from engine.llm.formats.built_facts import build_link, build_mention, state_triple
from engine.llm.formats.row_repair import OTHER
from engine.llm.formats.thinking import strip_thinking
from engine.models import Extraction, SearchQuery
from engine.text.names import clean_text, remove_unstorable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from engine.models import Link, Mention

    Object = Mapping[str, object]

MAX_WRAPPED = 20  # objects within another one, or an array, in which facts are looked for
MAX_KEYWORDS, MAX_KEYWORD_CHARACTERS = 40, 400  # of one kind; a search has a few

# Keys of the fields, first as asked for, then as models rename them.
_MENTION_KEYS = (
    ("name", "entity_name", "entity", "title"),
    ("type", "entity_type", "label", "category"),
    ("description", "entity_description", "summary"),
)
_LINK_KEYS = (
    ("source", "source_entity", "src_id", "from", "head", "subject"),
    ("target", "target_entity", "tgt_id", "to", "tail", "object"),
    ("keywords", "relationship_keywords", "type", "relation", "predicate", "relationship", "relation_type", "label"),
    ("description", "relationship_description"),
)
_ENTITY_LISTS, _RELATION_LISTS = ("entities", "nodes"), ("relationships", "relations", "edges")
_FENCE = re.compile(r"\A```\w*|```\Z")
_OBJECT_START = re.compile(r"\{\s*[\"'}]")
_NAME = re.compile(r"[^\W\d_]{3,60}|[^\W\d_][^\d_]{0,60}\s[^\d_]{1,60}")
_TAG = re.compile(r"entity|relation(?:ship)?|node|edge", re.IGNORECASE)
_SEPARATORS = re.compile("[\n,;，；]")
# Keys of the definition or call of a tool, or of a schema, which describe no entity.
_TOOL_KEYS = frozenset(("function", "parameters", "arguments", "properties", "input_schema", "inputSchema", "$schema"))


def parse_json_extraction(reply: str) -> Extraction:
    """The mentions and links of {"entities": [...], "relationships": [...]}; invalid items are dropped."""
    entities: list[Object] = []
    relations: list[Object] = []
    for data in _fact_objects(reply):
        lists = {key.lower(): key for key in data}
        entities += _object_list(data, next((lists[key] for key in _ENTITY_LISTS if key in lists), ""))
        relations += _object_list(data, next((lists[key] for key in _RELATION_LISTS if key in lists), ""))
    if not entities and not relations:
        for item in _list_flat(reply):
            (relations if _any_field(item, _LINK_KEYS[0]) and _any_field(item, _LINK_KEYS[1]) else entities).append(
                item
            )
    return Extraction.of(map(_read_mention, entities), map(_read_link, relations))


def _read_mention(item: Object) -> Mention | None:
    kinds, description = (text_field(item, key) for key in _MENTION_KEYS[1]), _any_field(item, _MENTION_KEYS[2])
    kind = next((kind for kind in kinds if kind and not _TAG.fullmatch(kind)), "")
    return build_mention(_read_name(item), kind or OTHER, description)


def _read_link(item: Object) -> Link | None:
    """A link; a triple of subject, predicate and object says no more than these."""
    source, target, _, description = (_any_field(item, keys) for keys in _LINK_KEYS)
    words = (text_field(item, key) for key in _LINK_KEYS[2])
    keywords = next((word for word in words if word and not _TAG.fullmatch(word)), "")
    return build_link(source, target, keywords, description or state_triple(source, keywords, target))


def _fact_objects(reply: str) -> list[Object]:
    """The objects of a reply that hold lists of facts: the reply itself, or what it wraps in one object or array."""
    data, _ = _decode_json(reply)
    if data is None and (array := _decode_array(reply)) is not None:
        return [item for item in array[:MAX_WRAPPED] if _holds_facts(item)]
    if not isinstance(data, dict) or _holds_facts(data):
        return [data] if isinstance(data, dict) else []
    return [cast("Object", item) for item in list(data.values())[:MAX_WRAPPED] if _holds_facts(item)]


def _strip_fence(reply: str) -> str:
    """The reply without a fence, or quotes of JSON, around it."""
    text = _FENCE.sub("", strip_thinking(reply).strip()).strip()
    if not (text.startswith('"') and text.endswith('"')):
        return text
    try:
        quoted = json.loads(text, strict=False)
    except ValueError:
        return text
    return str(quoted).strip()


def _decode_array(reply: str) -> list[Object] | None:
    """The objects of a reply that is an array, or one object a line; None if it is neither."""
    text = _strip_fence(reply)
    try:
        data = json.loads(text, strict=False) if text.startswith("[") else None
    except (ValueError, RecursionError):
        return None
    return [cast("Object", item) for item in data if isinstance(item, dict)] if isinstance(data, list) else None


def _read_name(item: Object) -> str:
    """The name of an entity; its identifier if that is a name, too: "Quay", not "n1"."""
    identifier = text_field(item, "id")
    return _any_field(item, _MENTION_KEYS[0]) or (identifier if _NAME.fullmatch(identifier) else "")


def _list_flat(reply: str) -> list[Object]:
    """Facts without a list around them: an array of them, or objects in lines or in a program."""
    array = _decode_array(reply)
    items = array if array is not None else [*list_objects(strip_thinking(reply))]
    return [item for item in items if item and not _is_tool(item) and _states_fact(item)]


def _is_tool(item: Object) -> bool:
    return item.get("type") == "function" or not _TOOL_KEYS.isdisjoint(item)


def _states_fact(item: Object) -> bool:
    return bool(text_field(item, "description") or all(_any_field(item, keys) for keys in _LINK_KEYS[:3]))


def _holds_facts(value: object) -> bool:
    return isinstance(value, dict) and any(
        isinstance(items, list | dict) and str(key).lower() in {*_ENTITY_LISTS, *_RELATION_LISTS}
        for key, items in value.items()
    )


def parse_json_excerpts(reply: str) -> tuple[list[tuple[int, Object]], bool]:
    """The objects of {"excerpts": [{"number": 1, …}]} by number (0 for none), and whether the reply is complete."""
    data, complete = _decode_json(reply)
    items = _object_list(data, "excerpts") if isinstance(data, dict) else ()
    return [(number if isinstance(number := item.get("number"), int) else 0, item) for item in items], complete


def build_search_query(high: tuple[str, ...], low: tuple[str, ...], question: str) -> SearchQuery:
    """The question with its keywords; without any, the whole question is its own low-level keyword."""
    return SearchQuery(question, high, low if high or low else (question,))


def parse_search_query(reply: str, question: str) -> SearchQuery:
    """The standalone question and its keywords from one object; missing parts fall back to the original question."""
    data = parse_object(reply) or {}
    rewritten = remove_unstorable(text_field(data, "question")).strip() or question
    high, low = _split_keywords(data.get("high_level_keywords")), _split_keywords(data.get("low_level_keywords"))
    return build_search_query(high, low, rewritten)


def is_addressed_to_bot(reply: str) -> bool:
    """Whether the reply says that a message is for the bot; without a clear yes it is not."""
    return str((parse_object(reply) or {}).get("for_you")).casefold() in {"true", "yes", "1"}


def brings_event(reply: str) -> bool:
    """Whether a reply says that a message brings what was awaited; without a clear no it does."""
    return str((parse_object(reply) or {}).get("brings_it")).casefold() not in {"false", "no", "0"}


def parse_object(reply: str) -> Object | None:
    """The first JSON object of a reply, repaired if necessary; None if there is none or if the whole is an array."""
    data, _ = _decode_json(reply)
    return data if isinstance(data, dict) else None


def is_whole_object(reply: str) -> bool:
    """Whether a reply holds a JSON object to its end, without repair."""
    return _decode_json(reply)[1]


def _decode_json(reply: str) -> tuple[object, bool]:
    """The first JSON value that may be an object, and whether it is valid without repair."""
    text = _strip_fence(reply)
    opening = _OBJECT_START.search(text)
    if opening is None or text.startswith("["):
        return None, False
    text = text[opening.start() :]
    try:
        return json.JSONDecoder(strict=False).raw_decode(text)[0], True
    except (ValueError, RecursionError):
        return read_broken_json(text), False


def _any_field(item: Object, keys: tuple[str, ...]) -> str:
    """The text of the first of these keys that has any."""
    return next(filter(None, (text_field(item, key) for key in keys)), "")


def _object_list(data: Object, key: str) -> Iterator[Object]:
    items = data.get(key)
    if isinstance(items, dict):  # by name
        items = [{"name": name, **value} for name, value in items.items() if isinstance(value, dict)]
    return (cast("Object", item) for item in (items if isinstance(items, list) else ()) if isinstance(item, dict))


def text_field(item: Object, key: str) -> str:
    """A text field; a list of texts is joined by commas; anything else is empty."""
    value = item.get(key)
    if isinstance(value, list):
        value = ",".join(part for part in value if isinstance(part, str))
    return value if isinstance(value, str) else ""


def _split_keywords(value: object) -> tuple[str, ...]:
    parts = _SEPARATORS.split(value) if isinstance(value, str) else value
    if not isinstance(parts, list):
        return ()
    words = (clean_text(part[:MAX_KEYWORD_CHARACTERS]) for part in parts[:MAX_KEYWORDS] if isinstance(part, str))
    return tuple(dict.fromkeys(filter(None, words)))
