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


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<ol start=4><li>Boil<li>Rest</ol>", "4. Boil\n5. Rest"),
        ("<ol type=I><li>One<li value=9>Nine<ol type=a start=27><li>Sub</ol></ol>", "I. One\nIX. Nine\n  aa. Sub"),
        ("<ol type=i start=49><li>x</ol>", "xlix. x"),
        ("<ol reversed start=2><li>x<li>y<li>z</ol>", "2. x\n1. y\n0. z"),
        ("<ol reversed><li>x<li>y</ol>", "- x\n- y"),
        ("<ol type=I start=5000><li>x</ol><ol start=x type=A><li value=-1>y</ol>", "5000. x\n-1. y"),
        ("<ol type=I><li><p>Inside</p></li></ol>", "I. Inside"),
    ],
)
def test_items_of_a_list_have_the_numbers_that_it_shows(html: str, text: str) -> None:
    [passage] = parse("a.html", html.encode()).passages
    assert passage.text == text
