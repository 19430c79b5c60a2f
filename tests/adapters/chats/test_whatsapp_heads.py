"""Heads of messages have their times, in whatever language the phone was."""

from __future__ import annotations

import pytest

from adapters.chats.whatsapp_heads import MARKS, find_order, match_head, parse_head, rest_of

AFTERNOON, NIGHT = "2026-03-14T14:08:00+00:00", "2026-03-14T00:09:00+00:00"


@pytest.mark.parametrize(
    ("line", "time"),
    [
        ("14.03.26, 14:08 - Ada: x", AFTERNOON),
        ("14.03.2026 14.08 - Ada: x", AFTERNOON),
        ("14-03-2026 14:08 - Ada: x", AFTERNOON),
        ("2026-03-14 14:08 - Ada: x", AFTERNOON),
        ("2026. 03. 14. 14:08 - Ada: x", AFTERNOON),
        ("2026. 03. 14. du. 2:08 - Ada: x", AFTERNOON),
        ("14. 03. 2026. 14:08 - Ada: x", AFTERNOON),
        ("14.03.26 г., 14:08 ч. - Ada: x", AFTERNOON),
        ("14/03/2026 à 14:08 - Ada: x", AFTERNOON),
        ("14/3/26, 2:08\u202fp.\u00a0m. - Ada: x", AFTERNOON),
        ("14/3/26, 12:09\u202fa.\u00a0m. - Ada: x", NIGHT),
        ("[14.3.2026 klo 14.08.00] Ada: x", AFTERNOON),
        ("\u200e[3/14/26, 2:08:00\u202fPM] Ada: x", AFTERNOON),
        ("14.03.2026 ÖS 2:08 - Ada: x", AFTERNOON),
        ("14/03/26, 2:08 अपराह्न - Ada: x", AFTERNOON),
        ("[2026/03/14 午後2:08:00] Ada: x", AFTERNOON),
        ("2026/3/14 上午12:09 - Ada: x", NIGHT),
        ("2026년 3월 14일 오후 2:08, Ada : x", AFTERNOON),
        ("2026. 3. 14. 오전 12:09, Ada : x", NIGHT),
        ("١٤\u200f/٣\u200f/٢٠٢٦، ٢:٠٨ م - Ada: x", AFTERNOON),
        ("۱۴۰۴/۱۲/۲۳، ۱۴:۰۸ - Ada: x", AFTERNOON),
        ("14/3/2569 14:08 - Ada: x", AFTERNOON),
        ("14:08, 14/3/2026 - Ada: x", AFTERNOON),
    ],
)
def test_a_head_has_its_time(line: str, time: str) -> None:
    clean = line.translate(MARKS)
    head = match_head(clean)
    assert head is not None
    found = parse_head(head, find_order([line]))
    assert found is not None
    assert found.isoformat() == time
    assert rest_of(clean, head).replace(" :", ":") == "Ada: x"


@pytest.mark.parametrize(
    "line", ["14:08 Ada: x", "On 14.03.26 the slates came - Ada: x", "14.03.26, 14:08, slates", "1/2/3 - x"]
)
def test_other_lines_are_no_heads(line: str) -> None:
    assert match_head(line) is None


def test_digits_of_the_words_stay_as_they_are() -> None:
    line = "١٤/٣/٢٠٢٦، ٢:٠٨ م - سارة: ٥ شباك".translate(MARKS)
    head = match_head(line)
    assert head is not None
    assert rest_of(line, head) == "سارة: ٥ شباك"


def test_a_line_that_was_pasted_from_a_log_does_not_turn_the_dates_of_a_chat() -> None:
    chat = ["1/5/24, 10:00 AM - Ada: log:", "2024-01-05 10:00 - server down", "1/20/24, 9:00 AM - Bela: ok"]
    assert find_order(chat) == "mdy"
