"""Parse JSON and YAML into records: lines of names and values, located by record or name. Pure."""

from __future__ import annotations

import json
from itertools import groupby
from typing import TYPE_CHECKING, Any

import yaml

from engine.errors import DocumentTooLarge
from engine.models import Passage
from engine.parsers import plain_text
from engine.parsers.base import ParsedFile
from engine.parsers.encodings.decoding import decode_text
from engine.parsers.json_records import flatten_value
from engine.parsers.passages import Block, format_span, group_blocks, join_blocks, shorten_label
from engine.parsers.sandbox.nesting import is_yaml_too_deep
from engine.text.cleanup import clean_multiline, clean_single_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    Unit = tuple[str, int, str]  # name of its list or key, number within the list or 0, text

_MAX_VALUES = 3_000_000
# A value of a top-level object that is a list of this many objects is a list of records.
_MIN_RECORDS = 2
_YAML_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def parse_json(name: str, data: bytes) -> ParsedFile:
    """Passages labeled "records 3–7" or with the top-level name. What is not JSON is parsed as text."""
    try:
        value = json.loads(decode_text(data))
    except (ValueError, RecursionError):
        return plain_text.parse(name, data)
    return ParsedFile(name, _passages([value]))


def parse_yaml(name: str, data: bytes) -> ParsedFile:
    """Passages labeled "records 3–7" or with the top-level name. What is not YAML is parsed as text.

    Raises DocumentTooLarge if aliases stand for too many values.
    """
    text = decode_text(data)
    try:
        if is_yaml_too_deep(text):
            return plain_text.parse(name, data)
        values = [value for value in yaml.load_all(text, _YAML_LOADER) if value is not None]
    except (yaml.YAMLError, ValueError, RecursionError):
        return plain_text.parse(name, data)
    parsed = ParsedFile(name, _passages(values))
    is_prose = all(isinstance(value, str) for value in values)
    return plain_text.parse(name, data) if is_prose else parsed


def _passages(values: list[Any]) -> tuple[Passage, ...]:
    passages: list[Passage] = []
    units = (unit for at, value in enumerate(values, 1) for unit in _units(value, at if len(values) > 1 else 0))
    for (list_name, is_record), found in groupby(units, key=lambda unit: (unit[0] if unit[1] else "", bool(unit[1]))):
        members = list(found)
        blocks = [Block(text, at, at, "text" if is_record else "item") for at, (_, _, text) in enumerate(members)]
        for group in group_blocks(blocks):
            if text := clean_multiline(join_blocks(group)):
                first, last = members[group[0].start], members[group[-1].start]
                record = ", ".join(filter(None, (list_name, format_span("record", first[1], last[1]))))
                label = record if is_record else " – ".join(dict.fromkeys((first[0], last[0])))
                key = f"v{len(passages) + 1}"
                passages.append(Passage(key, text, shorten_label(clean_single_line(label)), position=len(passages)))
    return tuple(passages)


def _units(value: Any, document: int) -> Iterator[Unit]:
    """The records of a list, the lists of records and the other values of an object, or the value itself."""
    prefix = f"document {document}" if document else ""
    if isinstance(value, list) and any(isinstance(item, dict | list) for item in value):
        yield from ((prefix, number, _render(each)) for number, each in enumerate(value, 1))
    elif isinstance(value, dict):
        for key, each in value.items():
            name = f"{prefix} › {key}" if prefix else str(key)
            is_list = isinstance(each, list) and sum(isinstance(record, dict) for record in each) >= _MIN_RECORDS
            if is_list:
                yield from ((name, number, _render(record)) for number, record in enumerate(each, 1))
            else:
                yield name, 0, _render({key: each})
    else:
        yield prefix, 0, _render(value)


def _render(value: Any) -> str:
    lines: list[str] = []
    for line in flatten_value(value):
        lines.append(line)
        if len(lines) > _MAX_VALUES:
            raise DocumentTooLarge(f"The file stands for more than {_MAX_VALUES:,} values.")
    return "\n".join(lines)
