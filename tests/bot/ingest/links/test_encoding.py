"""A page in another encoding than UTF-8 is decoded as its server says, if that can be."""

from __future__ import annotations

import pytest

from bot.ingest.links.encoding import to_utf8


@pytest.mark.parametrize(
    ("charset", "data", "text"),
    [
        ("Windows-1251", "Паром".encode("cp1251"), "Паром"),
        ("iso-8859-1", "20 € \xab".encode("cp1252"), "20 € \xab"),
        ("Shift_JIS", "渡し船".encode("shift_jis"), "渡し船"),
        ("windows-1251", "Паром".encode(), "Паром"),  # the server is wrong
    ],
)
def test_a_page_becomes_utf8(charset: str, data: bytes, text: str) -> None:
    assert to_utf8(data, charset).decode() == text


@pytest.mark.parametrize("charset", ["", "punycode", "utf-7", "hex", "unknown", "utf-16", "euc-kr", "\0", "a" * 9000])
def test_other_pages_are_left_to_the_parser(charset: str) -> None:
    assert to_utf8(b"caf\xe9-", charset) == b"caf\xe9-"
