"""Which retrieved passages an answer used."""

from __future__ import annotations

from typing import Any

import pytest

from bot.answers.attribution import find_used_keys, graph_fact_words, is_fully_cited
from bot.text.content_words import content_words
from engine.models import Context, ContextEntity, ContextRelation, SearchQuery, Source
from tests.support.builders import ROOF, make_source

WINDOW = f"{ROOF.room}:window:m1"
MONDAY = make_source()
CAT = make_source(number=2, passage="m2", text="[2026-11-20 10:01] Bob: Orchid-7 is the name of the cat.")
PAGE = make_source(document=f"{ROOF.room}:file:m1:F1", passage="3")
JAPANESE = make_source(text="[2026-11-20 10:00] Ada: 瓦は月曜日に来ます")
MONDAYS, CATS = {WINDOW, f"{ROOF.room}:message:m1"}, {WINDOW, f"{ROOF.room}:message:m2"}
HISTORY = (("The key is under the mat.", frozenset({"k1"})), ("Tea at noon.", frozenset({"k2"})))
BOTH, WHEN = (MONDAY, CAT), "When do the tiles come?"


@pytest.mark.parametrize(
    ("answer", "question", "cited", "shown", "used"),
    [
        ("They come on Monday [1].", WHEN, (MONDAY,), BOTH, MONDAYS),
        ("They come on Monday.", WHEN, (), BOTH, MONDAYS),
        ("MONDAY, then.", WHEN, (), BOTH, MONDAYS),
        ("They come on Monday [1], says Orchid-7.", WHEN, (MONDAY,), BOTH, MONDAYS | CATS),
        ("It is soon.", WHEN, (), BOTH, set()),
        ("At 10:01 it is.", WHEN, (), BOTH, set()),
        ("", WHEN, (), BOTH, set()),
        # Words of the question tell nothing beside a cited source, and count without one.
        ("On Monday [1], whatever the cat says.", "And the cat?", (MONDAY,), BOTH, MONDAYS),
        ("Yes, on Monday.", "Do the tiles come on Monday?", (), BOTH, MONDAYS),
        pytest.param("On Monday [1].", "When?", (PAGE,), (PAGE,), {PAGE.document}, id="a file is one source"),
        pytest.param("月曜日です。", "いつ？", (), (JAPANESE,), MONDAYS, id="a script without spaces"),
    ],
)
def test_passages_that_are_cited_or_repeated_were_used(
    answer: str, question: str, cited: tuple[Source, ...], shown: tuple[Source, ...], used: set[str]
) -> None:
    assert find_used_keys(answer, question, cited, shown) == used


def test_history_counts_where_it_is_repeated() -> None:
    assert find_used_keys("Under the mat, still.", "Where?", (), (), HISTORY) == {"k1"}


def test_scripts_without_spaces_have_pairs_of_letters_as_words() -> None:
    assert {"月曜", "曜日"} <= content_words("瓦は月曜日に来ます")


def test_words_that_only_a_fact_of_the_graph_has_are_found() -> None:
    facts = (ContextEntity("Firth", "organization", "Firth makes carbon spars."),)
    links = (ContextRelation("Firth", "Ada", "trade", "Ada pays Firth by cheque.", 1.0),)
    context = Context(SearchQuery("?"), "mix", facts, links, (MONDAY,))
    words = graph_fact_words("By cheque, on Monday [1]; for the carbon.", "How is it paid?", (MONDAY,), context)
    assert words == {"cheque", "carbon"}
    assert graph_fact_words("On Monday [1].", "When?", (MONDAY,), context) == set()


@pytest.mark.parametrize(
    ("answer", "cited", "complete"),
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
def test_a_sentence_without_a_citation_is_not_fully_cited(answer: str, cited: Any, *, complete: bool) -> None:
    assert is_fully_cited(answer, WHEN, cited) is complete
