from __future__ import annotations

import pytest

from engine.parsers.html import parse


@pytest.mark.parametrize(
    ("declared", "encoding", "text"), [("shift_jis", "shift_jis", "漢字テスト"), ("no-such", "cp1252", "größe")]
)
def test_a_declared_encoding_counts_if_it_exists(declared: str, encoding: str, text: str) -> None:
    data = f'<meta charset="{declared}"><p>{text}</p>'.encode(encoding)
    assert parse("a.html", data).passages[0].text == text


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("<table><tr><td>Gull<td>80<tr><td>Tern<td>40</table>", "Gull | 80\n--- | ---\nTern | 40"),
        ("<p>Ships</p><table><tr><td>Gull</td><td>80</td></tr>", "Ships\n\nGull | 80\n--- | ---"),
        ("<table><tr><td>The ferry leaves at no", "The ferry leaves at no"),
        ("<table><caption>Ships</caption><tr><th>Name<th>Seats</table>", "Ships\n\nName | Seats\n--- | ---"),
    ],
)
def test_a_table_without_its_end_tags_keeps_its_cells(page: str, text: str) -> None:
    [passage] = parse("page.html", page.encode()).passages
    assert passage.text == text
