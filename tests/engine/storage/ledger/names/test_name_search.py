"""Names are found as people type them."""

from __future__ import annotations

import pytest

from engine.models import Extraction, Mention
from engine.storage.ledger.names.corrections import Corrections
from engine.storage.ledger.names.name_search import NameSearch
from engine.storage.ledger.queries.search import Search
from engine.storage.ledger.records import ScopeIds
from tests.engine.storage.ledger.ledger_fixture import LedgerFixture, extraction, only_sqlite

LARGE_OR_SMALL = pytest.mark.parametrize("others", [0, 99], ids=["large", "small"])  # a part of the store


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


@LARGE_OR_SMALL
async def test_a_name_with_many_aliases_leaves_room_for_others(ledger: LedgerFixture, others: int) -> None:
    await ledger.add_facts("a", *(extraction("Zoe") for _ in range(4)), *(extraction("Adam") for _ in range(3)))
    await ledger.add_facts("b", extraction("Adele"), extraction("Bob"))
    await ledger.add_facts("c", *(extraction("Adele") for _ in range(3)), *(extraction("ZOE") for _ in range(5)))
    for number in range(5):
        await ledger.write(Corrections.merge_names, "here", f"Ad{number}", "Zoe")
    scope = await fill(ledger, others)
    await ledger.project()
    for limit, names in ((9, ["ZOE", "Adele", "Adam"]), (3, ["ZOE", "Adele", "Adam"]), (2, ["ZOE", "Adele"])):
        assert await ledger.read(NameSearch.find_names_by_prefix, "ad", scope, limit) == names
    assert await ledger.read(NameSearch.find_names_by_prefix, "", scope, 4) == ["ZOE", "Adele", "Adam", "Bob"]


@LARGE_OR_SMALL
async def test_an_alias_proposes_its_name_with_the_mentions_of_its_own_spaces(
    ledger: LedgerFixture, others: int
) -> None:
    await ledger.add_facts("a", extraction("Zoe"), extraction("Adam"), extraction("Adam"))
    await ledger.add_facts("b", *(extraction("Zoe") for _ in range(3)), space="there")
    await ledger.write(Corrections.merge_names, "here", "Adventurer", "Zoe")
    scope = await fill(ledger, others)
    await ledger.project()
    assert await ledger.read(NameSearch.find_names_by_prefix, "ad", scope, 9) == ["Adam", "Zoe"]
    assert await ledger.read(NameSearch.find_names_by_prefix, "", scope, 9) == ["Zoe", "Adam"]


@LARGE_OR_SMALL
async def test_names_that_are_mentioned_alike_come_in_the_order_of_their_letters(
    ledger: LedgerFixture, others: int
) -> None:
    await ledger.add_facts("a", extraction("Adele"), extraction("Bob"), extraction("Ada"), extraction("Zoe"))
    await ledger.add_facts("b", extraction("Adam"), extraction("Zoe"), space="there")
    scope = await fill(ledger, others)
    await ledger.project()
    for start, found in (("", ["ada", "adam", "adele"]), ("ad", ["ada", "adam", "adele"])):
        ids = await ledger.read(NameSearch.find_entities_by_start, start, scope, 3)
        known = await ledger.read(Search.load_entities, ids, scope)
        assert [known[id_].canonical for id_ in ids] == found
    assert await ledger.read(NameSearch.find_names_by_prefix, "", scope, 3) == ["Zoe", "Ada", "Adam"]


@only_sqlite
async def test_names_in_a_small_part_of_the_store_are_read_by_their_space(ledger: LedgerFixture) -> None:
    scope = await fill(ledger, 99)
    for query in (NameSearch.find_names_by_prefix, NameSearch.find_entities_by_start):
        for start in ("ad", ""):
            plan = await ledger.explain(query, start, scope, 9)
            read = [step for step in plan if step.startswith(("SCAN", "SEARCH"))]
            assert any("space=?" in step for step in read)
            assert all("=?" in step or step in {"SCAN f", "SCAN t"} for step in read)


async def fill(ledger: LedgerFixture, others: int) -> ScopeIds:
    """A scope of two spaces in a ledger with so many other names."""
    for space, number in (("here", 0), ("there", 0), ("elsewhere", others)):
        names = (Mention(f"Ad other {n}", "person", "said") for n in range(number))
        await ledger.add_facts(f"more of {space}", Extraction(tuple(names), ()), space=space)
    return await ledger.scope_ids(("here", "there"))
