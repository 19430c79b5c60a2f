"""Digests without a model: topics, decisions, open questions and new files, each with its source."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from engine.llm.offline.highlights import find_highlights, merge_digests
from tests.engine.llm.offline.sources import source

SAID = [
    source(1, "[2026-05-04 09:00] Ada: The tiles of the west roof are red and cost 40 euros each.", "c1"),
    source(2, "[2026-05-04 09:05] Bela: Who will lay the tiles on the west roof?", "c1"),
    source(3, "[2026-05-04 11:00] Ada: Decision: the council agreed to paint the gutter green.", "c2"),
    source(4, "The plan of the west roof. It has two pages.", "f1", title="plan.pdf"),
    source(5, "The second page of the plan.", "f1", title="plan.pdf"),
]


def test_a_digest_has_a_section_for_each_kind_and_names_each_file_once() -> None:
    digest = find_highlights(SAID, "digest")
    sections = {part.splitlines()[0]: part.splitlines()[1:] for part in digest.split("\n\n")}
    assert list(sections) == ["**Topics**", "**Decisions**", "**Open questions**", "**New files**"]
    assert sections["**Decisions**"][0].endswith("paint the gutter green.” [3]")
    assert "Who will lay the tiles" in sections["**Open questions**"][0]
    assert sections["**New files**"] == ["- plan.pdf [4]"]
    assert [line[-3:] for line in sections["**Topics**"]] == ["[1]"]  # not what is below another heading


def test_a_question_stays_open_if_nobody_knows_and_the_talk_goes_on() -> None:
    asked = "[2026-05-04 09:05] Bela: Who orders the scaffold for the west roof?"
    unknown = "[2026-05-04 09:06] Ada: I don't know yet."
    other = "[2026-05-04 09:07] Cem: The invoice is paid by the end of the month."
    for last, is_open in ((other, True), ("[2026-05-04 09:08] Cem: Mina orders the scaffold.", False)):
        said = [source(number, text, "c1") for number, text in enumerate((asked, unknown, last), 1)]
        assert ("scaffold" in find_highlights(said, "questions")) == is_open


def test_a_direct_answer_closes_a_question_also_if_it_promises_to_ask_or_comes_in_another_conversation() -> None:
    asked = "[2026-05-04 09:05] Bela: Do we have enough slate for the west roof?"
    cases = {
        "Ada: No, only for a half. I will ask Mina today.": False,
        "Ada: No idea, ask Mina.": True,
        "Ada: Not sure.": True,
        "Ada: Yes, forty.": False,
        "Bela: Yes, and lime?": True,
        "Ada: The gutter is green.": True,
    }
    for reply, is_open in cases.items():
        for minutes, document in ((6, "c1"), (45, "c2"), (45 + 60 * 48, "c2")):
            time = datetime(2026, 5, 4, 9, 0, tzinfo=UTC) + timedelta(minutes=minutes)
            said = [source(1, asked, "c1"), source(2, f"[{time:%Y-%m-%d %H:%M}] {reply}", document)]
            expected = is_open or minutes > 60 * 24
            assert ("slate" in find_highlights(said, "questions")) == expected, (reply, minutes)


CANOE = [
    "[2026-05-04 09:05] Bela: Green paint is cheaper: the tin is 18 at Hendry Tools.",
    "[2026-05-04 09:06] Cem: The red one lasts two summers longer, and it costs 22.",
]


@pytest.mark.parametrize(
    "decision",
    [
        "Then it is decided: red.",
        "Fine, we'll go with the red tin.",
        "So let's stick with red this year.",
        "Gut, wir nehmen also die rote Dose.",
        "Also gut, wir machen es so wie letztes Jahr.",
        "Bon, alors on prend la boîte rouge.",
        "Então vamos com a lata vermelha.",
        "Vale, nos quedamos con la roja.",
        "Bon, on part sur la boîte rouge.",
        "Então ficamos com a lata vermelha.",
    ],
)
def test_a_summary_keeps_a_decision_that_refers_to_what_was_said_before(decision: str) -> None:
    said = [
        source(number, text, "c1") for number, text in enumerate((*CANOE, f"[2026-05-04 09:07] Ada: {decision}"), 1)
    ]
    assert decision in find_highlights(said, "summary")
    assert decision in find_highlights(said, "decisions")
    assert "Green paint" in find_highlights(said, "summary")


@pytest.mark.parametrize(
    "said",
    [
        "If it is decided, tell me the color.",
        "We go with Bela to the fair on Monday.",
        "Wir nehmen an, dass die Farbe bis Mai trocknet.",
        "Wir machen am Montag eine Pause auf dem Markt.",
        "On prend souvent le bus pour aller au marché.",
        "Vamos com calma, que a tinta ainda está fresca.",
    ],
)
def test_what_is_not_decided_is_no_decision(said: str) -> None:
    assert not find_highlights([source(1, f"[2026-05-04 09:07] Ada: {said}", "c1")], "decisions")


def test_sections_without_points_are_left_out() -> None:
    assert find_highlights(SAID[3:], "digest") == "**New files**\n- plan.pdf [4]"
    assert not find_highlights([], "digest")


def test_partial_digests_are_merged_by_section() -> None:
    parts = ["**Topics**\n- one [1]\n\n**New files**\n- a.txt [2]", "**Topics**\n- two [3]\n\nSomething else"]
    assert merge_digests(parts) == "**Topics**\n- one [1]\n- two [3]\n\n**New files**\n- a.txt [2]"
    assert not merge_digests([])
