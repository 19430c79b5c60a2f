"""Parse facts that a model wrote as lists, tables, elements of XML or labeled fields, not as rows or JSON. Pure.

Only items in one of the usual forms under a heading for entities or relations are facts; other prose is none.
"""

from __future__ import annotations

import re
from itertools import chain, zip_longest
from typing import TYPE_CHECKING

from engine.llm.formats.built_facts import build_link, build_mention, state_triple
from engine.llm.formats.row_repair import OTHER, is_type, split_quoted
from engine.llm.formats.thinking import strip_thinking
from engine.models import Extraction, Link, Mention
from engine.text.patterns import compile_late

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_LINE = 2_000  # characters; a longer line is prose
MAX_ELEMENTS = 500  # of XML in one reply
_EMPHASIS = compile_late(r"\*\*|__|`")
_ENTITY_WORDS = "entity|entities|nodes?|entitäten|entidades|entités|エンティティ|实体|實體"
_RELATION_WORDS = "relation(?:ship)?s?|edges?|beziehungen|relaciones|relações|リレーション|関係|关系|關係"
_HEADING = compile_late(
    rf"\A[\W\d_]*(?:[\u3040-\u30ff\u3400-\u9fff]{{0,8}})(?:(?P<entity>{_ENTITY_WORDS})|(?:{_RELATION_WORDS}))(?![a-z])"
    r"[^:：]{0,30}[\W_]*\Z",
    re.IGNORECASE,
)
_ITEM = compile_late(r"\A\s*(?:[-*•–+]|\d{1,3}[.)])\s+(?=\S)")
_TYPED = compile_late(r"\A([^()（）:：]{1,120}?)\s*[(（]([^()（）]{1,40})[)）]\s*[:：–—-]+\s*(\S.*)\Z")
_UNTYPED = compile_late(r"\A([^:：]{1,120}?)\s*[:：]\s*(\S.*)\Z")
_ARROW = r"(?:<?-{1,3}>|<?={1,3}>|[→↔⟶⇒⟷])"
_ARROWS = compile_late(
    rf"\A(.{{1,120}}?)\s*{_ARROW}\s*([^:：→↔]{{1,120}}?)\s*(?:[:：]\s*(\S.*)|[(（]([^()（）]+)[)）])\Z"
)
_ARROW_VERB = compile_late(rf"\A(.{{1,120}}?)\s*{_ARROW}\s*([^:：→↔]{{1,60}}?)\s*{_ARROW}\s*([^:：→↔]{{1,120}})\Z")
_ENDS = compile_late(  # "Relation 1: Quay – Fund"
    rf"\A[\W\d_]*relation(?:ship)?[\d *_`\"]*[:：][ *_`\"]*(\S.{{0,120}}?)\s*(?:{_ARROW}|\s[-–—]\s)"
    r"\s*(\S.{0,120}?)[ *_`\"]*\Z",
    re.IGNORECASE,
)
_DASHED = compile_late(r"\A([^:：]{1,120}?)\s+[-–—]\s+([^:：–—-]{1,40}?)\s+[-–—]\s+(\S.*)\Z")
_ELEMENT = compile_late(r"<(entity|relation(?:ship)?|node|edge)(\s[^<>]{0,1000})?(/?)>", re.IGNORECASE)
_CHILD = compile_late(r"<(\w{1,20})>([^<>]{0,2000})</\1>")
_ATTRIBUTE = compile_late(r"""(\w{1,20})\s?=\s?(?:"([^"]{0,1000})"|'([^']{0,1000})')""")
_TABLE_RULE = compile_late(r"\A[\s|:+-]+\Z")
_CELL_SEPARATORS = "|", "\t", ";", ","
_COLUMNS = {
    **dict.fromkeys(("name", "entity", "entity name", "node"), "name"),
    **dict.fromkeys(("type", "entity type", "category", "kind"), "type"),
    **dict.fromkeys(
        ("description", "entity description", "relationship description", "details", "text"), "description"
    ),
    **dict.fromkeys(("source", "source entity", "from", "subject", "entity 1"), "source"),
    **dict.fromkeys(("target", "target entity", "to", "object", "entity 2"), "target"),
    **dict.fromkeys(
        ("keywords", "keyword", "relationship keywords", "relation", "relationship", "predicate"), "keywords"
    ),
}
_PAIR = compile_late(r"\A([^:：]{1,120}?)\s+[-–—]\s+([^:：]{1,120}?)\s*[:：]\s*(\S.*)\Z")
_LABEL = compile_late(
    r"\A[\W\d_]*(?:(?:entity|relation(?:ship)?)[ _-]*)?"
    r"(name|type|description|source|target|keywords?|from|to|entity(?= ?\d{0,3}[*_`\"]*\s*[:：]\s*\S))"
    r"(?:[ _-]*entity)?[\d *_`\"]*[:：]\s*(.*)\Z",
    re.IGNORECASE,
)
_TITLE = compile_late(r"\A\s{0,4}(?:\d{1,3}[.)]\s+)?(?:#{1,6}\s+(\S.{0,120}?)|\*\*([^*:]{1,120})\*\*)\s*\Z")
_INLINE = compile_late(r"[,;|]\s{0,3}(?=(?:name|type|description|source|target|keywords?)\s?:\s?\S)", re.IGNORECASE)
_NAMES = {"from": "source", "to": "target", "keyword": "keywords", "entity": "name"}


def parse_listed(reply: str) -> Extraction:
    """The mentions and links of a reply with lists or labeled fields, in its order; empty for any other reply."""
    lines = [line for line in strip_thinking(reply).split("\n") if len(line) <= MAX_LINE]
    mentions, links = list[Mention | None](), list[Link | None]()
    for record in _collect_labeled(lines) or [*_collect_rows(lines), *_collect_elements(reply)]:
        text = record.get("description", "")
        if "source" in record and "target" in record:
            links.append(build_link(record["source"], record["target"], record.get("keywords", ""), text))
        elif "name" in record:
            mentions.append(build_mention(record["name"], record.get("type") or OTHER, text))
    if not mentions and not links:
        for is_relation, item in _collect_items(lines):
            if is_relation:
                links.append(_parse_relation(item))
            else:
                mentions.append(_parse_entity(item))
    return Extraction.of(mentions, links)


def _collect_labeled(lines: list[str]) -> list[dict[str, str]]:
    """Records of labeled fields; a label that the record has already begins the next one."""
    return [record for record in _split_labeled(lines) if record]


def _split_labeled(lines: list[str]) -> Iterator[dict[str, str]]:
    record: dict[str, str] = {}
    heading = ""
    for line in chain.from_iterable(map(_split_inline, lines)):
        found = _LABEL.match(line)
        if ends := _ENDS.match(line):
            yield record
            record, heading = {"source": _strip_marks(ends[1]), "target": _strip_marks(ends[2])}, ""
            continue
        if not found:
            if titled := _TITLE.match(line):
                yield record
                record, heading = {}, "" if _HEADING.match(line) else _strip_marks(titled[1] or titled[2])
            continue
        label = _NAMES.get(found[1].lower(), found[1].lower())
        if label in record or (label in {"name", "source"} and "description" in record):
            yield record
            record = {}
        record[label] = _strip_marks(found[2])
        if heading and label in {"type", "description"} and record.keys().isdisjoint({"name", "source", "target"}):
            record["name"] = heading
    yield record


def _split_inline(line: str) -> list[str]:
    """The parts of a line with several labels: "Entity: Quay, type: Location, description: long"."""
    return _INLINE.split(line) if _LABEL.match(line) else [line]


def _collect_rows(lines: list[str]) -> Iterator[dict[str, str]]:
    """The rows of tables, each below a line that names the columns."""
    columns, separator = list[str](), ""
    for line in lines:
        if not line.strip() or _TABLE_RULE.match(line):
            continue
        if found := _find_columns(line):
            columns, separator = found
            continue
        cells = _split_cells(line, separator) if separator else []
        if columns and len(cells) == len(columns):
            yield dict(zip(columns, cells, strict=True))
        else:
            columns, separator = [], ""


def _find_columns(line: str) -> tuple[list[str], str] | None:
    """The columns that a line names, and what separates them; None if it is no head of a table of facts."""
    for separator in _CELL_SEPARATORS:
        cells = [cell.casefold().replace("_", " ") for cell in _split_cells(line, separator)]
        columns = [_COLUMNS.get(cell, cell) for cell in cells]
        named = frozenset(columns) & frozenset(_COLUMNS.values())
        is_whole = len(named) == len(columns) >= 3 or (separator == "|" and len(columns) >= 3)
        if is_whole and "description" in named and ("name" in named or {"source", "target"} <= named):
            return columns, separator
    return None


def _split_cells(line: str, separator: str) -> list[str]:
    text = line.strip()
    if separator == "|":
        text = text.strip("|")
    return [_strip_marks(cell) for cell in split_quoted(text, separator)]


def _collect_elements(reply: str) -> Iterator[dict[str, str]]:
    """Elements of XML: their fields are attributes or elements in them."""
    text = strip_thinking(reply)
    openings = list(_ELEMENT.finditer(text))[:MAX_ELEMENTS]
    for opening, behind in zip_longest(openings, openings[1:]):
        end = behind.start() if behind else len(text)
        inner = "" if opening[3] else text[opening.end() : end][:MAX_LINE]
        inner = inner.partition(f"</{opening[1]}>")[0]
        fields = {found[1]: found[2] or found[3] or "" for found in _ATTRIBUTE.finditer(opening[2] or "")}
        fields |= {found[1]: found[2] for found in _CHILD.finditer(inner)}
        named = {
            _COLUMNS.get(key.casefold().replace("_", " "), ""): _strip_marks(value) for key, value in fields.items()
        }
        plain = inner.strip() if "<" not in inner else ""
        yield {"description": plain, **named} if plain else named


def _collect_items(lines: list[str]) -> Iterator[tuple[bool, str]]:
    """The items of lists below a heading, each with whether it is a relation."""
    section = ""
    for line in lines:
        if not line.strip():
            continue
        heading = _HEADING.match(line)
        if heading:
            section = "entities" if heading["entity"] else "relations"
        elif section and _ITEM.match(line):
            yield section == "relations", _strip_marks(_ITEM.sub("", line))


def _parse_entity(item: str) -> Mention | None:
    if typed := _TYPED.match(item):
        return build_mention(typed[1], typed[2], typed[3])
    if (dashed := _DASHED.match(item)) and is_type(dashed[2]):
        return build_mention(dashed[1], dashed[2], dashed[3])
    untyped = _UNTYPED.match(item)
    is_label = untyped is not None and untyped[1].strip().casefold() in _COLUMNS
    return build_mention(untyped[1], OTHER, untyped[2]) if untyped and not is_label else None


def _parse_relation(item: str) -> Link | None:
    if (verb := _ARROW_VERB.match(item)) is not None:
        return build_link(verb[1], verb[3], verb[2], state_triple(verb[1], verb[2], verb[3]))
    found = _ARROWS.match(item)
    if found:
        return build_link(found[1], found[2], "", found[3] or found[4] or "")
    pair = _PAIR.match(item)
    return build_link(pair[1], pair[2], "", pair[3]) if pair else None


def _strip_marks(text: str) -> str:
    """The text without Markdown's marks of emphasis."""
    return _EMPHASIS.sub("", text).strip(" *_\t\r\"'")
