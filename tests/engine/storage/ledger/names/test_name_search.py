"""Names are found as people type them."""

from __future__ import annotations

from engine.storage.ledger.names.corrections import Corrections
from engine.storage.ledger.names.name_search import NameSearch
from engine.storage.ledger.queries.search import Search
from tests.engine.storage.ledger.ledger_fixture import LedgerFixture, extraction


async def start_with(ledger: LedgerFixture, text: str, limit: int = 9, *spaces: str) -> list[str]:
    """The canonical names that are found by their beginning."""
    scope = await ledger.scope_ids(spaces or ("here", "there"))
    ids = await ledger.read(NameSearch.find_entities_by_start, text, scope, limit)
    known = await ledger.read(Search.load_entities, ids, scope)
    return [known[id_].canonical for id_ in ids]


async def test_names_that_begin_alike_come_with_the_most_mentioned_first(ledger: LedgerFixture) -> None:
    await ledger.add_facts("a", extraction("Ada"), extraction("Adam"), extraction("Adam"), extraction("Bob"))
    await ledger.project()
    for limit, names in ((9, ["Adam", "Ada"]), (1, ["Adam"])):
        assert await ledger.read(NameSearch.find_names_by_prefix, "ad", await ledger.scope_ids(), limit) == names
    nowhere = await ledger.scope_ids((), {"room of here"})
    assert await ledger.read(NameSearch.find_names_by_prefix, "", nowhere, 9) == []


async def test_a_name_in_two_spaces_is_proposed_once_as_it_is_mostly_written(ledger: LedgerFixture) -> None:
    await ledger.add_facts("a", extraction("ADAM"), extraction("Adele"), extraction("Adele"))
    await ledger.add_facts("b", extraction("Adam"), extraction("Adam"), space="there")
    await ledger.project()
    scope = await ledger.scope_ids(("here", "there"))
    assert await ledger.read(NameSearch.find_names_by_prefix, "ad", scope, 9) == ["Adam", "Adele"]


async def test_names_that_begin_so_come_before_those_with_such_a_word(ledger: LedgerFixture) -> None:
    await ledger.add_facts("a", *(extraction("Bob Adams") for _ in range(3)), extraction("Ada"), extraction("Zoe"))
    await ledger.add_facts("b", extraction("Adele"), extraction("Adele"), space="there")
    await ledger.write(Corrections.merge_names, "here", "Adventurer", "Zoe")
    await ledger.project()
    assert await start_with(ledger, "ad") == ["adele", "ada", "zoe", "bob adams"]
    assert await start_with(ledger, "ad", 2) == ["adele", "ada"]
    assert await start_with(ledger, "ad", 9, "there") == ["adele"]
    assert await start_with(ledger, "", 2) == ["bob adams", "adele"]
