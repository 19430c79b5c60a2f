from __future__ import annotations

import json

import pytest

from engine.errors import CorruptFile
from engine.parsers import json_records
from engine.parsers.chat_export import has_chat_messages, parse

BOATS = b"""{"boat": "Gudgeon", "berth": 4, "crew": ["Ada", "Mina"], "owner": {"name": "Bob", "since": null}}

{"boat": "Perch", "sunk": true, "trips": [{"to": "Ploverness"}, {"to": "Tern Island"}]}
"""
CHAT = {"id": "1", "user": "Ada", "text": "Hello", "time": "2026-05-12T08:00:00Z"}


def test_records_that_are_no_chat_are_lines_of_names_and_values() -> None:
    [passage] = parse("boats.ndjson", BOATS).passages
    assert passage.text.splitlines() == [
        "boat: Gudgeon",
        "berth: 4",
        "crew: Ada, Mina",
        "owner.name: Bob",
        "",
        "boat: Perch",
        "sunk: true",
        "trips.1.to: Ploverness",
        "trips.2.to: Tern Island",
    ]
    assert passage.label == "records 1–3"


def test_many_records_are_several_passages_with_keys_of_their_own() -> None:
    lines = "\n".join(json.dumps({"number": n, "words": "some words " * 20}) for n in range(40))
    passages = parse("many.jsonl", lines.encode()).passages
    assert len(passages) > 4
    assert len({each.key for each in passages}) == len(passages)
    assert passages[-1].label.endswith("40")


def test_a_chat_is_a_chat_though_a_line_before_it_is_not() -> None:
    lines = ['{"exported": "2026-05-12"}', json.dumps(CHAT)]
    assert has_chat_messages("\n".join(lines).encode())
    assert not has_chat_messages(BOATS)


@pytest.mark.parametrize(
    "line",
    [
        "Hello",
        "[" * 100_000,
        '{"a":' * 100_000,
        '"' + "a" * json_records.MAX_LINE_LENGTH + '"',
        "[" + "[]," * 400_000 + "[]]",
        "1" * 5_000,
    ],
)
def test_a_line_that_is_no_json_or_too_much_of_it_is_named(line: str) -> None:
    with pytest.raises(CorruptFile, match="Line 2"):
        parse("x.jsonl", b'{"a": 1}\n' + line.encode())


def test_what_is_nested_deeply_is_cut_short() -> None:
    [passage] = parse("x.jsonl", ('{"a":' * 200 + "1" + "}" * 200).encode()).passages
    assert passage.text == f"{'.'.join('a' * 20)}: …"
