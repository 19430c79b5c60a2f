from __future__ import annotations

import pytest

from engine.parsers.formats.openxml.number_formats import format_number


@pytest.mark.parametrize(
    ("value", "code", "shown"),
    [
        (0.125, "0.0%", "12.5%"),
        (1250.5, "#,##0.00 [$€-407]", "1,250.50 €"),
        (-1234.5, '_($* #,##0.00_);_($* (#,##0.00);_($* "-"??_)', "$(1,234.50)"),
        (0, '_($* #,##0.00_);_($* (#,##0.00);_($* "-"??_)', "$-"),
        (1.260416666666667, "[h]:mm", "30:15"),
        (7, '0 "stone"', "7 stone"),
        (2.25, "# ?/?", "2 1/4"),
        (1_234_567, '#,##0,"k"', "1,235k"),
        (47911, "d mmmm yyyy", "4 March 2031"),
        (0.5, "h:mm AM/PM", "12:00 PM"),
        (12345.678, "0.00E+00", "1.23E+04"),
        (5, "00000", "00005"),
        (0.75, "[<1]0%;0.0", "75%"),
        (3.0, "General", "3"),
        (3.5, "", "3.5"),
        (7.0, "@", "7"),
        (0, "0.0;-0.0;@", "0.0"),
        (-2, "0.0;@", "-2.0"),
        (2, "0.0;(0.0);nil;@", "2.0"),
        (7.5, '"No. "@', "7.5"),
    ],
)
def test_a_number_is_shown_as_the_sheet_shows_it(value: float, code: str, shown: str) -> None:
    assert format_number(value, code) == shown
