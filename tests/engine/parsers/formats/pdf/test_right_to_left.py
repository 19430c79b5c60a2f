from __future__ import annotations

import pytest

from engine.parsers.formats.pdf.right_to_left import is_one_glyph, join_pairs, order_right_to_left, pair_brackets
from engine.parsers.registry import PARSERS

# Glyphs by their codes: meem, the ligature lam-alef, seen, lam, alef.
LETTERS = {1: "م", 2: "لا", 3: "س", 4: "ل", 5: "ا", 6: " "}


def arabic_pdf(lines: list[bytes]) -> bytes:
    """A PDF whose lines are glyphs from left to right."""
    pairs = "\n".join(f"<{code:02x}> <{letters.encode('utf-16-be').hex()}>" for code, letters in LETTERS.items())
    cmap = (
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /A def /CMapType 2 def\n"
        f"1 begincodespacerange <00> <ff> endcodespacerange {len(LETTERS)} beginbfchar\n{pairs}\n"
        "endbfchar endcmap end end"
    )
    shown = "\n".join(f"BT /F 12 Tf 50 {700 - 40 * at} Td <{line.hex()}> Tj ET" for at, line in enumerate(lines))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R /Resources << /Font << /F 5 0 R >> >> >>",
        f"<< /Length {len(shown)} >> stream\n{shown}\nendstream",
        (
            "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /FirstChar 1 /LastChar 6 "
            "/Widths [500 500 500 500 500 250] /ToUnicode 6 0 R >>"
        ),
        f"<< /Length {len(cmap)} >> stream\n{cmap}\nendstream",
    ]
    data, places = "%PDF-1.4\n", []
    for number, text in enumerate(objects, 1):
        places.append(len(data))
        data += f"{number} 0 obj {text} endobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    start = len(data)
    data += f"xref\n0 7\n0000000000 65535 f \n{table}trailer << /Size 7 /Root 1 0 R >>\nstartxref\n{start}\n%%EOF"
    return data.encode("latin-1")


def test_the_letters_of_a_ligature_stand_in_the_order_in_which_they_are_read() -> None:
    data = arabic_pdf([bytes([1, 2, 3]), bytes([4, 5, 1])])
    text = " ".join(passage.text for passage in PARSERS["pdf"].parse("a.pdf", data).passages)
    assert text.split() == ["سلام", "مال"]


def test_a_text_without_such_letters_or_of_a_damaged_file_stays() -> None:
    assert order_right_to_left(b"", ["plain"]) == ["plain"]
    assert order_right_to_left(b"%PDF-", ["سالم"]) == ["سالم"]
    data = arabic_pdf([bytes([1, 2, 3])])
    assert order_right_to_left(data, ["سالم", "سالم"]) == ["سلام", "سالم"]


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        (")4)(ב15( הוראות", "(4)(ב15) הוראות"),
        ("סעיף) 4)(ב(15 קובע) ראו נספח( את", "סעיף (4)(ב)15 קובע (ראו נספח) את"),
        ("שפה) טובה( ]א[", "שפה (טובה) [א]"),
        (")ראו )4( כאן(", "(ראו (4) כאן)"),
        ("((א) ב)", "((א) ב)"),
        ("א( כאן ב( שם", "א( כאן ב( שם"),
        (")פתוח", ")פתוח"),
        ("f(x) (y)", "f(x) (y)"),
    ],
)
def test_brackets_of_a_line_open_and_close(line: str, shown: str) -> None:
    assert pair_brackets(line) == shown


def test_a_pair_of_brackets_may_end_on_the_next_line() -> None:
    lines = ["אחת", "שנת )2024", "עד 2026( שם", "ב( כאן", "סוף"]
    assert list(join_pairs(lines)) == ["אחת", "שנת )2024\nעד 2026( שם", "ב( כאן", "סוף"]
    assert pair_brackets("שנת )2024\nעד 2026( שם") == "שנת (2024\nעד 2026) שם"


def test_letters_that_only_start_at_the_same_point_are_no_ligature() -> None:
    assert is_one_glyph((1, 1, 1, 5, 0, 9), (1, 1, 1, 5, 0, 9))
    assert is_one_glyph((1, 1, 1, 3, 0, 9), (1, 1, 3, 5, 0, 9))
    assert not is_one_glyph((1, 1, 1, 3, 0, 9), (1, 1, 1, 4, 0, 9))
    assert not is_one_glyph((), ())


def test_words_of_a_line_stand_as_they_are_read() -> None:
    data = arabic_pdf([bytes([1, 2, 3, 6, 4, 5, 1, 6, 1, 3])])
    text = " ".join(passage.text for passage in PARSERS["pdf"].parse("a.pdf", data).passages)
    assert text.split() == ["سم", "مال", "سلام"]
