from __future__ import annotations

from engine.parsers.formats import spreadsheets
from tests.engine.parsers.samples import xlsx


def test_the_first_rows_of_a_long_sheet_are_there_before_the_others() -> None:
    rows: list[list[str | int]] = [["id", "words"]]
    rows += [[number, "some words " * 30] for number in range(3000)]
    parsed = spreadsheets.parse("long.xlsx", xlsx({"Budget": rows, "Costs": rows[:3]}), "")
    assert parsed.passages[0].label.startswith("sheet Budget, rows 2–")
    labels = [passage.label for passage in parsed.parse_whole()]
    assert len(labels) > len(parsed.passages)
    assert labels[-1] == "sheet Costs, rows 2–3"
