from __future__ import annotations

import pytest

from engine.parsers.html import parse


@pytest.mark.parametrize(
    ("declared", "encoding", "text"), [("shift_jis", "shift_jis", "漢字テスト"), ("no-such", "cp1252", "größe")]
)
def test_a_declared_encoding_counts_if_it_exists(declared: str, encoding: str, text: str) -> None:
    data = f'<meta charset="{declared}"><p>{text}</p>'.encode(encoding)
    assert parse("a.html", data).passages[0].text == text
