from __future__ import annotations

import pytest

from engine.parsers.formats.rich_text.rtf import parse

FONTS = rb"{\rtf1\ansi\ansicpg1252\deff0{\fonttbl{\f0\fcharset0 A;}{\f1\fcharset%d B;}}\f1 "


@pytest.mark.parametrize(
    ("charset", "codec", "text"),
    [
        (161, "cp1253", "Το λιμάνι ανοίγει στις επτά"),
        (238, "cp1250", "Łódź odpływa o świcie"),
        (134, "gb18030", "码头的钥匙在办公室"),
        (128, "cp932", "予約表はソファの能力です"),
        (204, "cp1251", "Причал закрыт до весны"),
    ],
)
def test_letters_are_in_the_charset_of_their_font(charset: int, codec: str, text: str) -> None:
    escaped = b"".join(
        b"\\'%02x" % byte if byte > 127 or byte in b"\\{}" else bytes([byte]) for byte in text.encode(codec)
    )
    [passage] = parse("a.rtf", FONTS % charset + escaped + rb"\par}", "").passages
    assert passage.text == text


def test_the_language_decides_where_the_charset_is_wrong() -> None:
    body = b"".join(b"\\'%02x" % byte for byte in "Мастерская переехала вчера".encode("cp1251"))
    [passage] = parse("a.rtf", FONTS % 0 + rb"\lang1049 " + body + rb"\par}", "").passages
    assert passage.text == "Мастерская переехала вчера"


def test_cells_of_a_table_are_apart() -> None:
    body = rb"\trowd\intbl Duty\cell Keeper\cell\row\trowd\intbl Pump\cell Ada\par Ben\cell\row\pard After\par}"
    [passage] = parse("a.rtf", FONTS % 0 + body, "").passages
    assert passage.text == "Duty | Keeper\n--- | ---\nPump | Ada; Ben\n\nAfter"


def test_a_star_within_a_group_hides_no_text() -> None:
    body = rb"{\loch\f0\*\cs7\cf0 The buoy is green}{\*\unknownword It is not}\par}"
    [passage] = parse("a.rtf", FONTS % 0 + body, "").passages
    assert passage.text == "The buoy is green"


def test_a_cell_without_an_end_is_read() -> None:
    found = parse("a.rtf", rb"{\rtf1\trowd\cellx1000\intbl Oats\cell 40\cell\row Paid in May\par}", "")
    assert "Paid in May" in found.passages[0].text


@pytest.mark.parametrize("row", [rb"\trowd\cellx1000\intbl ", rb"\trowd\cellx1000 "])
def test_paragraphs_between_tables_are_no_cells(row: bytes) -> None:
    body = (
        row
        + rb"Oats\cell 40\cell\row Paid in May.\par Late.\par "
        + row
        + rb"Rye\cell 50\cell\row Unpaid.\par\pard End\par"
    )
    texts = [passage.text for passage in parse("a.rtf", rb"{\rtf1\pard\intbl" + body + b"}", "").passages]
    assert "\n\n".join(texts) == ("Oats | 40\n--- | ---\n\nPaid in May. Late.\n\nRye | 50\n--- | ---\n\nUnpaid.\n\nEnd")
