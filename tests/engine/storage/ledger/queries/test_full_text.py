from __future__ import annotations

from typing import TYPE_CHECKING

from engine.storage.ledger.queries import full_text, lookup
from engine.storage.ledger.queries.full_text import extract_words
from tests.support.engine_fixture import doc

if TYPE_CHECKING:
    import pytest

    from tests.engine.storage.ledger.ledger_fixture import LedgerFixture


def test_words_are_folded_each_once_without_the_commonest_and_not_too_many() -> None:
    assert extract_words("Where does the FERRY, the ferry, sail?") == ["ferry", "sail"]
    assert len(extract_words(" ".join(f"word{n}" for n in range(100)))) == full_text.MAX_TERMS


async def test_a_common_word_is_left_out_beside_a_rarer_one(
    ledger: LedgerFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(full_text, "MANY_TEXTS", 3)
    for number in range(5):
        await ledger.add(doc(f"d{number}", "The harbour is quiet." if number else "A zeppelin over the harbour."))
    area = await ledger.scope_ids()
    assert len(await ledger.read(lookup.search_chunks, "harbour", 10, area)) == 5
    assert len(await ledger.read(lookup.search_chunks, "harbour zeppelin", 10, area)) == 1
    assert len(await ledger.read(lookup.search_chunks, "harbour quiet", 10, area)) == 5


async def test_what_is_common_elsewhere_is_not_so_here(ledger: LedgerFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(full_text, "MANY_TEXTS", 3)
    for number in range(5):
        await ledger.add(doc(f"d{number}", "The harbour is quiet." if number else "A zeppelin over the harbour."))
        await ledger.add(doc(f"e{number}", "A zeppelin is loud.", space="elsewhere"))
    area = await ledger.scope_ids()
    found = await ledger.read(lookup.search_chunks, "zeppelin quiet", 10, area)
    assert len(found) == 1


async def test_of_common_words_only_the_rarest_are_ranked(
    ledger: LedgerFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(full_text, "MANY_TEXTS", 3)
    monkeypatch.setattr(full_text, "MAX_RANKED", 8)
    for number in range(5):
        await ledger.add(doc(f"d{number}", "The harbour is quiet." if number else "A zeppelin over the harbour."))
    area = await ledger.scope_ids()
    assert len(await ledger.read(lookup.search_chunks, "harbour quiet", 10, area)) == 4
    assert len(await ledger.read(lookup.search_chunks, "harbour", 10, area)) == 5
