"""Which retrieved passages an answer used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pytest

from bot.answers.footer import GraphKeys, find_graph_keys, find_used_keys, graph_fact_words, is_fully_cited
from bot.text.excerpts import content_words
from engine.errors import StoreError
from engine.models import Context, ContextEntity, ContextRelation, SearchQuery, Source
from engine.storage.ledger.records.query_results import StatingPassage
from tests.support.builders import ROOF, make_source

if TYPE_CHECKING:
    from engine import Answer

WINDOW = f"{ROOF.room}:window:m1"
MONDAY = make_source()
CAT = make_source(number=2, passage="m2", text="[2026-11-20 10:01] Bob: Orchid-7 is the name of the cat.")
MARKET = make_source(number=3, passage="m3", text="[2026-11-20 10:02] Eve: The market is on Monday.")
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
        # Words of a cited source tell nothing about another one.
        ("They come on Monday [1].", WHEN, (MONDAY,), (MONDAY, MARKET), MONDAYS),
        ("They come on Monday.", WHEN, (), (MONDAY, MARKET), MONDAYS | {f"{ROOF.room}:message:m3"}),
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
    words = graph_fact_words(
        "By cheque, promptly, on Monday [1]; for the carbon.", "How is it paid?", (MONDAY,), context
    )
    assert words == {"cheque", "carbon"}
    assert graph_fact_words("On Monday [1].", "When?", (MONDAY,), context) == set()
    assert graph_fact_words("By cheque.", "Is it by cheque?", (), context) == set(), "the question has it"
    assert graph_fact_words("By cheque [1].", "How?", (make_source(text="By cheque."),), context) == set()


@pytest.mark.parametrize(
    ("answer", "cited", "complete"),
    [
        ("Sie kommen nach dem Wochenende [1].", (MONDAY,), True),
        ("- Sie kommen nach dem Wochenende [1]\n- Montag [1][2]", (MONDAY,), True),
        ("They come on Monday [1]. Monday it is.", (MONDAY,), True),
        ("They come [1]. Ada says in #roof that it is Monday.", (MONDAY,), True),
        ("The tiles come on Monday.", (make_source(text="On Monday.", title=""),), True),
        ("They come on Monday [1]. Das Tier heißt wie eine Blume.", (MONDAY,), False),
        ("They come on Monday [1].\nDas Tier\nheißt Blume.", (MONDAY,), False),
        ("月曜日です [1]。猫の名前は蘭です。", (MONDAY,), False),
        ("Montag.", (), False),
    ],
)
def test_a_sentence_without_a_citation_is_not_fully_cited(answer: str, cited: Any, *, complete: bool) -> None:
    assert is_fully_cited(answer, WHEN, cited) is complete


class Evidence:
    """An answer whose context says that Firth is paid by cheque, which a message and a file state."""

    context = Context(SearchQuery("?"), "mix", (ContextEntity("Firth", "organization", "Firth is paid by cheque."),))

    def __init__(self, *, is_extractive: bool, is_down: bool) -> None:
        self.is_extractive = is_extractive
        self._is_down = is_down

    async def load_supporting_passages(self) -> list[StatingPassage]:
        if self._is_down:
            raise StoreError("It is down.")
        message = StatingPassage(WINDOW, ROOF.room, "m1", "Ada: we pay Firth by cheque.")
        return [message, StatingPassage(PAGE.document, ROOF.room, "3", "Firth makes spars.")]


SHOWN = frozenset({f"{WINDOW}:part", PAGE.document})


@pytest.mark.parametrize(
    ("text", "is_extractive", "is_down", "used", "shown"),
    [
        pytest.param("By cheque.", False, False, MONDAYS, SHOWN, id="by a model"),
        pytest.param("By cheque.", True, False, MONDAYS, set(), id="quoted"),
        pytest.param("In gold.", False, False, set(), SHOWN, id="by a model, without words of the fact"),
        pytest.param("In gold.", True, False, set(), set(), id="quoted, without words of the fact"),
        pytest.param("By cheque.", False, True, set(), set(), id="what supports the facts cannot be read"),
    ],
)
async def test_an_answer_rests_on_what_supports_the_facts_it_was_shown(
    text: str, used: set[str], shown: set[str], *, is_extractive: bool, is_down: bool
) -> None:
    evidence = cast("Answer", Evidence(is_extractive=is_extractive, is_down=is_down))
    assert await find_graph_keys(evidence, text, "How?", ()) == GraphKeys(frozenset(used), frozenset(shown))


def test_words_of_the_question_need_no_citation() -> None:
    assert is_fully_cited("Monday [1]. The ladder, the rope, the bucket.", "Ladder, rope, bucket: when?", (MONDAY,))
    assert not is_fully_cited("Monday [1]. The ladder, the rope, the bucket.", "When?", (MONDAY,))
