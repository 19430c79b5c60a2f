"""Parse facts that a model wrote as Markdown lists or labeled fields instead of rows or JSON. Pure.

Only items in one of the usual forms under a heading for entities or relations are facts; other prose is none.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from engine.llm.formats.built_facts import build_link, build_mention
from engine.llm.formats.row_repair import OTHER
from engine.llm.formats.thinking import strip_thinking
from engine.models import Extraction, Link, Mention

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_LINE = 2_000  # characters; a longer line is prose
_EMPHASIS = re.compile(r"\*\*|__|`")
_HEADING = re.compile(
    r"\A[\W\d_]*(entit(?:y|ies)|nodes?|relation(?:ship)?s?|edges?)\b[^:：]{0,30}[\W_]*\Z", re.IGNORECASE
)
_ITEM = re.compile(r"\A\s*(?:[-*•–+]|\d{1,3}[.)])\s+(?=\S)")
_TYPED = re.compile(r"\A([^()（）:：]{1,120}?)\s*[(（]([^()（）]{1,40})[)）]\s*[:：–—-]+\s*(\S.*)\Z")
_UNTYPED = re.compile(r"\A([^:：]{1,120}?)\s*[:：]\s*(\S.*)\Z")
_ARROW = r"(?:<?-{1,3}>|<?={1,3}>|[→↔⟶⇒⟷])"
_ARROWS = re.compile(
    rf"\A(.{{1,120}}?)\s*{_ARROW}\s*([^:：→↔]{{1,120}}?)\s*(?:[:：]\s*(\S.*)|[(（]([^()（）]+)[)）])\Z"
)
_PAIR = re.compile(r"\A([^:：]{1,120}?)\s+[-–—]\s+([^:：]{1,120}?)\s*[:：]\s*(\S.*)\Z")
_LABEL = re.compile(
    r"\A[\W\d_]*(?:(?:entity|relation(?:ship)?)[ _-]*)?"
    r"(name|type|description|source|target|keywords?|from|to|entity(?= ?\d{0,3}[*_`\"]*\s*[:：]\s*\S))"
    r"(?:[ _-]*entity)?[\d *_`\"]*[:：]\s*(.*)\Z",
    re.IGNORECASE,
)
_NAMES = {"from": "source", "to": "target", "keyword": "keywords", "entity": "name"}


def parse_listed(reply: str) -> Extraction:
    """The mentions and links of a reply with lists or labeled fields, in its order; empty for any other reply."""
    lines = [line for line in strip_thinking(reply).split("\n") if len(line) <= MAX_LINE]
    mentions, links = list[Mention | None](), list[Link | None]()
    for record in _collect_labeled(lines):
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
    return Extraction(tuple(filter(None, mentions)), tuple(filter(None, links)))


def _collect_labeled(lines: list[str]) -> Iterator[dict[str, str]]:
    """Records of labeled fields; a label that the record has already begins the next one."""
    record: dict[str, str] = {}
    for line in lines:
        found = _LABEL.match(line)
        if not found:
            continue
        label = _NAMES.get(found[1].lower(), found[1].lower())
        if label in record or (label in {"name", "source"} and "description" in record):
            yield record
            record = {}
        record[label] = _strip_marks(found[2])
    yield record


def _collect_items(lines: list[str]) -> Iterator[tuple[bool, str]]:
    """The items of lists below a heading, each with whether it is a relation."""
    section = ""
    for line in lines:
        if not line.strip():
            continue
        heading = _HEADING.match(line)
        if heading:
            section = heading[1].lower()
        elif section and _ITEM.match(line):
            yield section.startswith(("relation", "edge")), _strip_marks(_ITEM.sub("", line))


def _parse_entity(item: str) -> Mention | None:
    if typed := _TYPED.match(item):
        return build_mention(typed[1], typed[2], typed[3])
    untyped = _UNTYPED.match(item)
    return build_mention(untyped[1], OTHER, untyped[2]) if untyped else None


def _parse_relation(item: str) -> Link | None:
    found = _ARROWS.match(item)
    if found:
        return build_link(found[1], found[2], "", found[3] or found[4] or "")
    pair = _PAIR.match(item)
    return build_link(pair[1], pair[2], "", pair[3]) if pair else None


def _strip_marks(text: str) -> str:
    """The text without Markdown's marks of emphasis."""
    return _EMPHASIS.sub("", text).strip(" *_\t\r\"'")
