from __future__ import annotations

import pytest

from engine.parsers.scans.text_quality import is_garbled

ENGLISH = "The ferry leaves the pier at noon, and nobody knows why it never waits for those who come late. "


@pytest.mark.parametrize(
    ("text", "garbled"),
    [
        (ENGLISH, False),
        ("Die Fähre legt mittags ab, wenn Öl und Wind es zulassen, und kehrt abends zurück. " * 3, False),
        ("Prom odpływa w południe i nikt nie wie, dlaczego nigdy nie czeka na spóźnionych. " * 3, False),
        ("Паром отходит в полдень, и никто не знает, почему он никогда не ждёт опоздавших. " * 3, False),
        ("フェリーは正午に桟橋を出発し、遅れてくる人を決して待たない。" * 3, False),
        ("Item 12 | 45.00 | 17%\nRent 3 | 4.00 | 2%\n" * 10, False),
        ("1\n2", False),
        ("Smoked eel " + "." * 70 + " 9.40\nPickled beet . . . . . . . . . . . . . . . . . . 2.10\n" * 5, False),
        ("Name: " + "_" * 60 + "\nStreet: " + "_" * 60 + "\nSignature: " + "_" * 60, False),
        ("x = a + b, y = (c - d) / e; the sum of both is f(x, y) = g, where a < b and c > d hold " * 4, False),
        ("X, Y, Z = 0.10, 0.25, 0.40\n" * 60 + "Reading of the depth gauge at noon, four times a day. " * 2, False),
        (" ".join(f"{row}{place}" for row in "ABCDEFGH" for place in range(1, 9)), False),
        ("Shelf A1, box 14B: valve 7C\n" * 4 + " ".join(f"{row}{place}" for row in "KL" for place in range(40)), False),
        (ENGLISH.translate({code: code + 3 for code in range(97, 120)}) * 3, True),
        (" ".join(ENGLISH.replace(" ", "")[::2]) * 3, True),
        ("\ufffd\ue012\ue013 \ue014\ufffd" * 40, True),
        (". , :-- . ii ; ,.' _ | , ~ .. l - ' ` ^ ,.. -- ; ; :" * 4, True),
    ],
    ids=[
        "English",
        "German",
        "Polish",
        "Russian",
        "Japanese",
        "figures",
        "short",
        "leaders",
        "rules",
        "formulas",
        "measurements",
        "codes",
        "shelves",
        "shifted",
        "torn",
        "unmapped",
        "noise",
    ],
)
def test_garbage_is_distinguished_from_text(text: str, *, garbled: bool) -> None:
    assert is_garbled(text) is garbled
