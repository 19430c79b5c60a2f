from __future__ import annotations

import json

import pytest

from engine.models import Omission
from engine.parsers import json_records
from engine.parsers.chat_export import has_chat_messages, parse

CHAT = b'{"exported": "2026-05-12"}\n{"id": "1", "user": "Ada", "text": "Hello", "time": "2026-05-12T08:00:00Z"}'


def test_many_records_are_several_passages_with_keys_of_their_own() -> None:
    lines = "\n".join(json.dumps({"number": n, "words": "some words " * 20}) for n in range(40))
    passages = parse("many.jsonl", lines.encode()).passages
    assert len({passage.key for passage in passages}) == len(passages) > 4
    assert passages[-1].label.endswith("40")


def test_the_first_records_are_there_before_the_last_line_is_read() -> None:
    lines = [json.dumps({"number": n, "words": "some words " * 60}) for n in range(3000)]
    parsed = parse("long.jsonl", "\n".join([*lines, "no JSON"]).encode())
    assert parsed.passages[0].label.startswith("record")
    assert Omission("line 3001", "Line 3001 is not JSON") in list(parsed.further)


@pytest.mark.parametrize(("data", "is_chat"), [(CHAT, True), (b'{"boat": "Gudgeon", "berth": 4}', False)])
def test_one_line_of_a_chat_makes_a_chat(data: bytes, *, is_chat: bool) -> None:
    assert has_chat_messages(data) is is_chat


TOO_LONG = '"' + "a" * json_records.MAX_LINE_LENGTH + '"'


@pytest.mark.parametrize(
    "line",
    ["Hello", "[" * 100_000, '{"a":' * 100_000, TOO_LONG, "[" + "[]," * 400_000 + "[]]", "1" * 5_000],
    ids=["no JSON", "deep lists", "deep objects", "too long", "too many values", "a huge number"],
)
def test_a_line_that_cannot_be_read_is_named(line: str) -> None:
    parsed = parse("x.jsonl", b'{"a": 1}\n' + line.encode() + b'\n{"a": 3}')
    assert [omission.part for omission in parsed.omissions] == ["line 2"]
    assert parsed.passages[0].text == "a: 1\n\na: 3"


def test_a_line_of_a_chat_that_is_no_message_costs_no_other() -> None:
    parsed = parse("x.jsonl", CHAT)
    assert "Ada wrote" in parsed.passages[0].text
    assert "Line 1" in parsed.omissions[0].reason
