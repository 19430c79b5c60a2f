from __future__ import annotations

from engine.parsers.formats.pdf.ligatures import order_ligatures
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
    assert order_ligatures(b"", ["plain"]) == ["plain"]
    assert order_ligatures(b"%PDF-", ["سالم"]) == ["سالم"]
    data = arabic_pdf([bytes([1, 2, 3])])
    assert order_ligatures(data, ["سالم", "سالم"]) == ["سلام", "سالم"]
