"""Which recalled passages an answer used."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.answers.sources.attribution import find_used_keys, graph_fact_words, is_fully_cited
from bot.text.content_words import content_words
from engine.models import Context, ContextEntity, ContextRelation, SearchQuery, Source

ROOM = "slack:T1:ROOF"
MONDAY = Source(
    number=1,
    document=f"{ROOM}:window:m1",
    passage="m1",
    title="#roof",
    label="Ada",
    link="",
    author="Ada",
    time=None,
    text="[2026-11-20 10:00] Ada: The tiles come on Monday.",
    space="slack:T1:open",
    room=ROOM,
    chunk="c1",
)
CAT = replace(MONDAY, number=2, passage="m2", text="[2026-11-20 10:01] Bob: Orchid-7 is the name of the cat.")
MONDAYS, CATS = {f"{ROOM}:window:m1", f"{ROOM}:message:m1"}, {f"{ROOM}:window:m1", f"{ROOM}:message:m2"}


@pytest.mark.parametrize(
    ("answer", "cited", "used"),
    [
        ("They come on Monday [1].", (MONDAY,), MONDAYS),
        ("They come on Monday.", (), MONDAYS),
        ("MONDAY, then.", (), MONDAYS),
        ("They come on Monday [1], says Orchid-7.", (MONDAY,), MONDAYS | CATS),
        ("It is soon.", (), set()),
        ("At 10:01 it is.", (), set()),
        ("", (), set()),
    ],
)
def test_what_is_cited_or_repeated_was_used(answer: str, cited: tuple[Source, ...], used: set[str]) -> None:
    assert find_used_keys(answer, "When do the tiles come?", cited, (MONDAY, CAT)) == used


def test_words_of_the_question_tell_nothing_beside_a_cited_source() -> None:
    assert find_used_keys("On Monday [1], whatever the cat says.", "And the cat?", (MONDAY,), (MONDAY, CAT)) == MONDAYS


def test_without_any_cited_source_they_do() -> None:
    assert find_used_keys("Yes, on Monday.", "Do the tiles come on Monday?", (), (MONDAY, CAT)) == MONDAYS


def test_a_file_is_one_thing() -> None:
    page = replace(MONDAY, document=f"{ROOM}:file:m1:F1", passage="3")
    assert find_used_keys("On Monday [1].", "When?", (page,), (page,)) == {f"{ROOM}:file:m1:F1"}


def test_what_was_said_before_counts_where_it_is_repeated() -> None:
    told = (("The key is under the mat.", frozenset({"k1"})), ("Tea at noon.", frozenset({"k2"})))
    assert find_used_keys("Under the mat, still.", "Where?", (), (), told) == {"k1"}


def test_scripts_without_blanks_are_told_apart_by_pairs_of_letters() -> None:
    assert {"月曜", "曜日"} <= content_words("瓦は月曜日に来ます")
    source = replace(MONDAY, text="[2026-11-20 10:00] Ada: 瓦は月曜日に来ます")
    assert find_used_keys("月曜日です。", "いつ？", (), (source,)) == MONDAYS


def test_what_a_fact_of_the_graph_alone_tells_is_found() -> None:
    facts = (ContextEntity("Firth", "organization", "Firth makes carbon spars."),)
    links = (ContextRelation("Firth", "Ada", "trade", "Ada pays Firth by cheque.", 1.0),)
    context = Context(SearchQuery("?"), "mix", facts, links, (MONDAY,))
    told = graph_fact_words("By cheque, on Monday [1]; for the carbon.", "How is it paid?", (MONDAY,), context)
    assert told == {"cheque", "carbon"}
    assert graph_fact_words("On Monday [1].", "When?", (MONDAY,), context) == set()


@pytest.mark.parametrize(
    ("answer", "cited", "explained"),
    [
        ("Sie kommen nach dem Wochenende [1].", (MONDAY,), True),
        ("- Sie kommen nach dem Wochenende [1]\n- Montag [1][2]", (MONDAY,), True),
        ("They come on Monday [1]. Monday it is.", (MONDAY,), True),
        ("They come on Monday [1]. Das Tier heißt wie eine Blume.", (MONDAY,), False),
        ("They come on Monday [1].\nDas Tier\nheißt Blume.", (MONDAY,), False),
        ("月曜日です [1]。猫の名前は蘭です。", (MONDAY,), False),
        ("Montag.", (), False),
    ],
)
def test_what_no_citation_follows_is_not_explained(answer: str, cited: tuple[Source, ...], *, explained: bool) -> None:
    assert is_fully_cited(answer, "When do the tiles come?", cited) is explained
