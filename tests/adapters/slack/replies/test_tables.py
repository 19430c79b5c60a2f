"""A table of an answer is one of Slack's, where Slack takes it."""

from __future__ import annotations

from typing import Any

import pytest

from adapters.slack.replies.blocks import build_body_with_table
from adapters.slack.replies.tables import MAX_ROWS, split_at_table

TABLE = "| Kiln | Bricks |\n|:---|---:|\n| **North** [[1]](https://town.slack.com/p1) | 310 |\n| South | |"


def test_a_table_is_a_block_between_the_texts() -> None:
    first, table, last = build_body_with_table(f"Two kilns:\n\n{TABLE}\n\nBoth are old.")
    assert (first, last) == ({"type": "markdown", "text": "Two kilns:"}, {"type": "markdown", "text": "Both are old."})
    assert table["column_settings"] == [{"align": "left", "is_wrapped": True}, {"align": "right", "is_wrapped": True}]
    head, north, south = table["rows"]
    assert head == [{"type": "raw_text", "text": "Kiln"}, {"type": "raw_text", "text": "Bricks"}]
    assert north[0]["elements"][0]["elements"] == [
        {"type": "text", "text": "North", "style": {"bold": True}},
        {"type": "text", "text": " "},
        {"type": "link", "url": "https://town.slack.com/p1", "text": "[1]"},
    ]
    assert south == [{"type": "raw_text", "text": "South"}, {"type": "raw_text", "text": " "}]


@pytest.mark.parametrize(
    "text",
    [
        "No table | here",
        f"```\n{TABLE}\n```",
        "| a |\n|---|\n" + "| b |\n" * MAX_ROWS,
        "|" + " a |" * 21 + "\n|" + "---|" * 21 + "\n",
        f"| a |\n|---|\n| {'b' * 10_001} |",
    ],
)
def test_other_texts_stay_as_they_are(text: str) -> None:
    assert split_at_table(text) == (text, None, "")


def test_a_second_table_stays_text() -> None:
    kinds = [block["type"] for block in build_body_with_table(f"{TABLE}\n\nand\n\n{TABLE}")]
    assert kinds == ["table", "markdown"]


def test_addresses_that_are_not_of_the_web_are_no_links() -> None:
    _, table, _ = split_at_table("| a |\n|---|\n| [x](javascript:y) <!channel> |")
    assert table is not None
    cells: list[dict[str, Any]] = table["rows"][1]
    assert "url" not in str(cells)
