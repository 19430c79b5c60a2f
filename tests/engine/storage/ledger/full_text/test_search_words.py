from __future__ import annotations

import pytest

from engine.storage.ledger.full_text import search_words
from engine.storage.ledger.full_text.search_words import extract_words
from engine.storage.ledger.queries.search import Search
from tests.engine.storage.ledger.ledger_fixture import LedgerFixture
from tests.support.engine_fixture import doc


def test_words_are_folded_each_once_without_the_commonest_and_not_too_many() -> None:
    assert extract_words("Where does the FERRY, the ferry, sail?") == ["ferry", "sail"]
    assert len(extract_words(" ".join(f"word{n}" for n in range(100)))) == search_words.MAX_TERMS


@pytest.mark.parametrize(
    ("question", "max_ranked", "elsewhere", "found"),
    [
        pytest.param("harbour", 8, "quiet", 5, id="a common word alone"),
        pytest.param("harbour zeppelin", 1000, "quiet", 1, id="a common word beside a rarer one"),
        pytest.param("harbour quiet", 1000, "quiet", 5, id="common words"),
        pytest.param("harbour quiet", 8, "quiet", 4, id="only the rarest of common words"),
        pytest.param("zeppelin quiet", 1000, "zeppelin", 1, id="what is common elsewhere is rare here"),
    ],
)
async def test_common_words_are_left_out_beside_rarer_ones(
    ledger: LedgerFixture,
    monkeypatch: pytest.MonkeyPatch,
    question: str,
    max_ranked: int,
    elsewhere: str,
    found: int,
) -> None:
    monkeypatch.setattr(search_words, "MANY_TEXTS", 3)
    monkeypatch.setattr(search_words, "MAX_RANKED", max_ranked)
    for number in range(5):
        await ledger.add(doc(f"d{number}", "The harbour is quiet." if number else "A zeppelin over the harbour."))
        await ledger.add(doc(f"e{number}", f"A {elsewhere} is loud.", space="elsewhere"))
    assert len((await ledger.read(Search.search_chunks, question, 10, await ledger.scope_ids())).scores) == found


@pytest.mark.parametrize(
    ("question", "known"),
    [
        pytest.param("Who repairs the crane?", 1.0, id="all words"),
        pytest.param("Who repairs the winch?", 0.5, id="one of two"),
        pytest.param("repairing cranes", 1.0, id="other forms"),
        pytest.param("Wer repariert die Winde am Kai 17?", 0.25, id="of another language only the number"),
        pytest.param("zeppelin", 0.0, id="a word of another space"),
        pytest.param("welding welded welds", 0.0, id="forms of one unknown word"),
        pytest.param("Ida, winch, winches, cranes, crane", 2 / 3, id="forms of words count once"),
        pytest.param("Who?", 1.0, id="no words"),
    ],
)
async def test_a_search_says_how_many_words_of_a_question_the_texts_in_scope_contain(
    ledger: LedgerFixture, question: str, known: float
) -> None:
    await ledger.add(doc("d", "Ida repairs the crane at quay 17."))
    await ledger.add(doc("e", "A zeppelin.", space="elsewhere"))
    hits = await ledger.read(Search.search_chunks, question, 10, await ledger.scope_ids())
    assert hits.known == pytest.approx(known)


@pytest.mark.parametrize(
    ("question", "known"),
    [
        pytest.param("harbour harbours zeppelin", 0.5, id="a common word in two forms beside an unknown one"),
        pytest.param("harbour zeppelin zeppelins", 0.5, id="a common word beside two forms of an unknown one"),
        pytest.param("harbour harbours quiet", 1.0, id="common words alone"),
    ],
)
async def test_common_words_that_are_left_out_are_known(
    ledger: LedgerFixture, monkeypatch: pytest.MonkeyPatch, question: str, known: float
) -> None:
    monkeypatch.setattr(search_words, "MANY_TEXTS", 3)
    monkeypatch.setattr(search_words, "MAX_RANKED", 3)
    for number in range(5):
        await ledger.add(doc(f"d{number}", "The harbour is quiet."))
    hits = await ledger.read(Search.search_chunks, question, 10, await ledger.scope_ids())
    assert hits.known == pytest.approx(known)
