from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

import pytest

from engine.errors import UnsupportedFormat
from engine.models import Passage
from engine.parsers.base import ParsedFile, ParserLimits
from engine.parsers.detection import detect_format
from engine.parsers.registry import PARSERS, FileFormat, describe_formats, find_by_extension
from engine.parsers.sandbox.worker import parse_file

README = Path(__file__).parents[3] / "README.md"


def parse_upper_case(name: str, data: bytes) -> ParsedFile:
    return ParsedFile(name, (Passage("u1", data.decode().upper(), "all"),))


def test_a_format_that_is_added_to_the_table_is_detected_parsed_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    row = FileFormat("shouted notes", f"{__name__}:parse_upper_case", ("shout",), signature=rb"SHOUT")
    monkeypatch.setitem(PARSERS, "shouts", row)
    assert find_by_extension("shout") == "shouts"
    assert detect_format("unnamed", b"SHOUT it", ParserLimits()) == "shouts"
    assert parse_file("a.shout", b"SHOUT it out", ParserLimits()).passages[0].text == "SHOUT IT OUT"
    assert describe_formats().endswith("and shouted notes")
    with pytest.raises(UnsupportedFormat) as caught:
        detect_format("a.unknown", b"\0\1\2", ParserLimits())
    assert "shouted notes" in caught.value.hint


def test_every_row_names_a_parser_and_its_own_extensions() -> None:
    extensions = [extension for row in PARSERS.values() for extension in row.extensions]
    assert len(extensions) == len(set(extensions))
    for row in PARSERS.values():
        module, _, function = row.parser.partition(":")
        assert find_spec(module), row.parser
        assert function.startswith("parse")


def test_the_readme_names_only_formats_that_are_parsed() -> None:
    labels = {row.label for row in PARSERS.values()}
    for listed in re.findall(r"text, Markdown[^;.…\n]*", README.read_text(encoding="utf-8")):
        assert {word.strip() for word in listed.split(",")} <= labels
