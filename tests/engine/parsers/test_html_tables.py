from __future__ import annotations

import pytest

from engine.parsers import html, markdown
from engine.parsers.formats.mail import parse_eml

HEAD = "<tr><th>Yard</th><th>Kiln</th><th>Bricks</th></tr>"
ROWS = '<tr><td rowspan="2">East</td><td>Kiln A</td><td>310</td></tr><tr><td>Kiln B</td><td>270</td></tr>'
TABLE = f'<table>{HEAD}{ROWS}<tr><td>West</td><td colspan="2">cold</td></tr></table>'
SHOWN = """Yard | Kiln | Bricks
--- | --- | ---
East | Kiln A | 310
East | Kiln B | 270
West | cold | cold"""


def read_html(markup: str) -> str:
    return "\n\n".join(passage.text for passage in html.parse("a.html", markup.encode()).passages)


def read_markdown(text: str) -> str:
    return "\n\n".join(passage.text for passage in markdown.parse("a.md", text.encode()).passages)


def read_mail(markup: str) -> str:
    mail = f"Subject: Bricks\nContent-Type: text/html\n\n{markup}\n"
    return parse_eml("a.eml", mail.encode()).passages[-1].text


@pytest.mark.parametrize("read", [read_html, read_markdown, read_mail])
def test_cells_stay_apart_and_spans_are_repeated(read: object) -> None:
    assert callable(read)
    assert read(TABLE) == SHOWN


def test_empty_lines_do_not_end_a_table_within_markdown() -> None:
    spread = TABLE.replace("<tr>", "\n\n  <tr>\n\n    ").replace("</td><td", "</td>\n\n    <td")
    assert read_markdown(f"Stock:\n\n{spread}\n\nEnd.") == f"Stock:\n\n{SHOWN}\n\nEnd."


def test_a_table_in_a_code_block_stays_as_it_is() -> None:
    assert read_markdown("```\n<table>\n\n<tr>\n```\n") == "<table>\n\n<tr>"


def test_a_table_within_a_paragraph_keeps_its_cells_apart() -> None:
    assert read_markdown(f"See {TABLE}").split()[:5] == ["See", "Yard", "Kiln", "Bricks", "East"]


def test_lists_in_markup_within_markdown_keep_their_items_apart() -> None:
    assert read_markdown("<ul><li>clay</li><li>sand</li></ul>") == "- clay\n- sand"


def test_a_small_table_within_a_cell_is_part_of_its_row() -> None:
    inner = "<table><tr><td>clay</td><td>3 t</td></tr><tr><td>sand</td><td>1 t</td></tr></table>"
    text = read_html(
        "<table><tr><th>Yard</th><th>Stock</th></tr>"
        f'<tr><td rowspan="2">East</td><td>{inner}</td></tr><tr><td>none of coal</td></tr></table>'
    )
    assert text.splitlines()[2:] == ["East | clay, 3 t; sand, 1 t", "East | none of coal"]


def test_a_table_of_two_heads_and_a_title_keeps_its_columns() -> None:
    text = read_html(
        '<table><tr><td colspan="3">Bricks of 2031</td></tr>'
        '<tr><th rowspan="2">Yard</th><th colspan="2">Bricks</th></tr><tr><th>red</th><th>grey</th></tr>'
        "<tr><td>East</td><td>12</td><td>7</td></tr></table>"
    )
    assert text.split("\n\n")[0] == "Bricks of 2031"
    assert [line.split(" | ") for line in text.splitlines()[-3:]] == [
        ["---", "---", "---"],
        ["Yard", "red", "grey"],
        ["East", "12", "7"],
    ]


def test_a_page_arranged_by_tables_is_read_in_order() -> None:
    long = "clay is dug in the morning and dried in the sheds " * 8
    text = read_html(f"<table><tr><td>Menu</td><td><h1>Clay</h1><p>{long}</p>{TABLE}</td></tr></table>")
    assert text.index("Menu") < text.index("Clay") < text.index(SHOWN)


@pytest.mark.share(2)
@pytest.mark.parametrize("span", ['rowspan="0"', 'rowspan="99999"', 'colspan="9999999999"', 'colspan="-1" rowspan="x"'])
def test_absurd_spans_cost_little(span: str) -> None:
    rows = f"<tr><td {span}>clay</td><td>x</td></tr>" + "<tr><td>y</td></tr>" * 3000
    assert len(read_html(f"<table>{rows}</table>")) < 1_500_000
