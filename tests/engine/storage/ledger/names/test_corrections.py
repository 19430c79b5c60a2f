from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.clock import SYSTEM_CLOCK
from engine.errors import CorrectionChanged, InvalidQuestion, NotFound
from engine.storage.ledger import Ledger
from engine.storage.ledger.names.corrections import Corrections
from engine.storage.ledger.names.names import Names
from engine.storage.ledger.records import CorrectionChange
from engine.storage.sql.database import SqlDatabase
from engine.text.names import normalize_name
from tests.engine.storage.ledger.ledger_fixture import LedgerFixture, extraction

Correction = Callable[[LedgerFixture], Awaitable[None]]


async def merge(ledger: LedgerFixture, name: str, into: str) -> list[str]:
    return await ledger.ledger.write(Corrections.merge_names, "here", name, into)


async def unmerge(ledger: LedgerFixture, name: str) -> None:
    await ledger.write(Corrections.unmerge_name, "here", name)


async def pin(ledger: LedgerFixture, description: str, name: str, other: str = "") -> None:
    await ledger.write(Corrections.change_description, "here", (name, other), description)


async def hide(ledger: LedgerFixture, name: str, other: str = "", *, hidden: bool = True) -> None:
    await ledger.write(Corrections.change_hidden, "here", (name, other), hidden=hidden)


async def export(ledger: LedgerFixture) -> list[dict[str, Any]]:
    await ledger.project()
    return await ledger.export()


async def profiles(ledger: LedgerFixture) -> dict[str, int]:
    """Mentions of entities by name, and weights of relations by "name ~ name"."""
    rows = await export(ledger)
    names = {row["canonical"]: row["mentions"] for row in rows if row["kind"] == "entity"}
    return names | {f"{row['a']} ~ {row['b']}": row["weight"] for row in rows if row["kind"] == "relation"}


async def descriptions(ledger: LedgerFixture) -> set[str]:
    return {row["description"] for row in await export(ledger) if row["kind"] in ("entity", "relation")}


async def corrections_left(ledger: LedgerFixture) -> int:
    tables = ("description_override", "hidden_key", "alias")
    return sum([len(await ledger.rows(f"SELECT 1 FROM {table}")) for table in tables])


async def test_k8_a_merged_name_is_merged_into_the_other_with_its_relations(ledger: LedgerFixture) -> None:
    pairs = (("Ada", "Bob"), ("Lovelace", "Bob"), ("Lovelace", "Carla"), ("Ada", "Lovelace"))
    await ledger.add_facts("a", *(extraction(*pair) for pair in pairs))
    await merge(ledger, "LOVELACE", "ada")
    assert await profiles(ledger) == {"ada": 4, "bob": 2, "carla": 1, "ada ~ bob": 2, "ada ~ carla": 1}


async def test_a_merge_keeps_the_name_that_the_person_asked_for(ledger: LedgerFixture) -> None:
    await ledger.add_facts("a", extraction("Heron", "Kite"), extraction("Heron"), extraction("Kite"))
    await ledger.add_facts("b", extraction("Heron Two"), extraction("KITE"))
    await merge(ledger, "Heron", "heron two")
    await merge(ledger, "Kite", "Red Kite")  # no text has it
    assert {row["name"] for row in await export(ledger) if row["kind"] == "entity"} == {"Heron Two", "Red Kite"}
    await ledger.forget("b")
    assert {row["name"] for row in await export(ledger) if row["kind"] == "entity"} == {"heron two", "Red Kite"}
    await merge(ledger, "Red Kite", "Milan")
    assert {row["name"] for row in await export(ledger) if row["kind"] == "entity"} == {"heron two", "Milan"}


async def test_aliases_lead_on_in_chains_and_never_in_circles(ledger: LedgerFixture) -> None:
    await ledger.add_facts("a", extraction("Ada"), extraction("Bob"), extraction("Carla"))
    await merge(ledger, "Ada", "Bob")
    await merge(ledger, "Bob", "Carla")
    assert await profiles(ledger) == {"carla": 3}
    names = {"ada": "carla", "bob": "carla", "carla": "carla", "d d": "d d"}
    assert await ledger.read(Names.resolve_aliases, 1, list(names)) == names
    before = await export(ledger)
    with pytest.raises(InvalidQuestion, match="circle"):
        await merge(ledger, "Carla", "Ada")
    assert await export(ledger) == before
    await unmerge(ledger, "Bob")
    assert await profiles(ledger) == {"bob": 2, "carla": 1}


async def test_a_merge_makes_only_what_it_changes_stale(ledger: LedgerFixture) -> None:
    pairs = [(f"Name {letter}", f"Other {letter}") for letter in "abcdefghijkl"]
    await ledger.add_facts("a", *(extraction(name, "Hub", other) for name, other in pairs))
    await ledger.project()
    for name, other in pairs[:-1]:
        await merge(ledger, name, other)
        await ledger.project()
    await merge(ledger, *pairs[-1])
    last, other = (normalize_name(name) for name in pairs[-1])
    assert await ledger.stale() == {(last, ""), (other, ""), ("hub", last), ("hub", other)}
    await ledger.project()
    await unmerge(ledger, pairs[3][0])
    assert {name for name, _ in await ledger.stale()} == {"hub", *(normalize_name(name) for name in pairs[3])}


@pytest.mark.parametrize(
    ("correct", "stale"),
    [
        (lambda ledger: pin(ledger, "Countess.", "Bob"), {("bob", "")}),
        (lambda ledger: pin(ledger, "Friends.", "Bob", "Ada"), {("ada", "bob")}),
        (lambda ledger: hide(ledger, "Bob", "Carla"), {("bob", "carla")}),
        (lambda ledger: hide(ledger, "Ada"), {("ada", ""), ("ada", "bob")}),
    ],
)
async def test_corrections_make_only_what_they_change_stale(
    ledger: LedgerFixture, correct: Correction, stale: set[tuple[str, str]]
) -> None:
    await ledger.add_facts("a", extraction("Ada", "Bob", "Carla"))
    await ledger.project()
    await correct(ledger)
    assert await ledger.stale() == stale


@pytest.mark.parametrize(("name", "into"), [("Ada", "ADA"), ("", "Ada"), ("Ada", "7")])
async def test_only_two_different_names_can_be_merged(ledger: LedgerFixture, name: str, into: str) -> None:
    await ledger.add_facts("a", extraction("Ada"))
    with pytest.raises(InvalidQuestion):
        await merge(ledger, name, into)


async def test_one_of_two_merged_names_may_be_unknown_and_is_returned_but_not_both(ledger: LedgerFixture) -> None:
    await ledger.add_facts("a", extraction("Ada", "Bob"))
    with pytest.raises(NotFound, match="Neither “Dora” nor “Emil” is known here") as caught:
        await merge(ledger, "Dora", "Emil")
    assert "as they appear in the documents" in caught.value.hint
    assert await corrections_left(ledger) == 0
    assert await ledger.column("SELECT canonical FROM name ORDER BY 1") == ["ada", "bob"]
    assert await merge(ledger, "Ada", "Bob") == []
    assert await merge(ledger, "Lovelace", "Ada") == ["Lovelace"]
    assert await merge(ledger, "Bob", "Robert") == ["Robert"]


async def test_a_merge_holds_for_later_documents_and_outlives_those_that_used_it(ledger: LedgerFixture) -> None:
    await ledger.add_facts("a", extraction("Ada"))
    await merge(ledger, "Lovelace", "Ada")
    await ledger.add_facts("b", extraction("Lovelace", "Bob"))
    assert await profiles(ledger) == {"ada": 2, "bob": 1, "ada ~ bob": 1}
    for key in ("a", "b"):
        await ledger.forget(key)
    assert await profiles(ledger) == {}
    await ledger.add_facts("c", extraction("Lovelace"))
    assert await profiles(ledger) == {"ada": 1}


async def test_a_merge_holds_in_its_own_space_only(ledger: LedgerFixture) -> None:
    for key, space in (("a", "here"), ("b", "there")):
        await ledger.add_facts(key, extraction("Ada", "Lovelace"), space=space)
    await merge(ledger, "Lovelace", "Ada")
    entities = {(row["space"], row["canonical"]) for row in await export(ledger) if row["kind"] == "entity"}
    assert entities == {("here", "ada"), ("there", "ada"), ("there", "lovelace")}


NAMES = st.sampled_from(["Ada", "Bob", "Carla", "Dora"])
MERGES = st.lists(st.tuples(NAMES, NAMES).filter(lambda pair: pair[0] != pair[1]), max_size=4)


@pytest.mark.long
@given(MERGES)
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_undoing_every_merge_restores_everything(tmp_path: Path, merges: list[tuple[str, str]]) -> None:
    async def merge_and_undo() -> None:
        path = tmp_path / "ledger.db"
        path.unlink(missing_ok=True)
        ledger = LedgerFixture(await Ledger.open(path, clock=SYSTEM_CLOCK))
        await ledger.add_facts(
            "a", extraction("Ada", "Bob", "Carla"), extraction("Ada", "Dora"), extraction("Bob", "Dora")
        )
        before, merged = await export(ledger), set()
        for name, into in merges:
            try:
                await merge(ledger, name, into)
            except InvalidQuestion:
                continue
            await ledger.project()
            merged.add(name)
        for name in merged:
            await unmerge(ledger, name)
        assert await export(ledger) == before
        assert await ledger.column("SELECT COUNT(*) FROM pair p WHERE target <> id") == [0]
        await ledger.ledger.close()

    asyncio.run(merge_and_undo())


Act = Callable[[Corrections[SqlDatabase]], Awaitable[CorrectionChange]]
ACTS: dict[str, Act] = {
    "merge": lambda made: made.merge("here", "Bob", "Ada"),
    "merge what was merged": lambda made: made.merge("here", "Carla", "Bob"),
    "merge what was separated": lambda made: made.merge("here", "Ada", "Dora"),
    "merge what was joined": lambda made: made.merge("here", "Covid-19", "Covid 19"),
    "unmerge": lambda made: made.unmerge("here", "Carla"),
    "end a join": lambda made: made.unmerge("here", "Covid-19"),
    "separate": lambda made: made.separate("here", "Carla", "Ada"),
    "describe": lambda made: made.pin_description("here", ("Bob", "Ada"), "Old friends."),
    "describe again": lambda made: made.pin_description("here", ("Ada", ""), "Engineer."),
    "restore": lambda made: made.pin_description("here", ("Ada", ""), ""),
    "hide": lambda made: made.set_hidden("here", ("Bob", ""), hidden=True),
    "show": lambda made: made.set_hidden("here", ("Dora", ""), hidden=False),
    "split": lambda made: made.split("here", "Bob", "Bob (2)", ["type person"]),
    "split by another rule": lambda made: made.split("here", "Emil", "Emil (2)", ["document a"]),
    "split into another part": lambda made: made.split("here", "Emil", "Dora", ["type person"]),
    "end a split": lambda made: made.unsplit("here", "Emil (2)"),
}


async def records(ledger: LedgerFixture) -> list[tuple[Any, ...]]:
    """All corrections and joins, by table."""
    tables = ("alias", "distinct_names", "description_override", "hidden_key", "name_split")
    return [row for table in tables for row in await ledger.rows(f"SELECT * FROM {table} ORDER BY 1, 2, 3")]


async def correct_everything(ledger: LedgerFixture) -> None:
    """A correction of every kind, and an automatic join."""
    await ledger.add_facts(
        "a", extraction("Ada", "Bob", "Carla", "Dora", "Emil"), extraction("Covid-19"), extraction("Covid 19")
    )
    made = ledger.ledger.corrections
    await made.merge("here", "Carla", "Ada")
    await made.separate("here", "Dora", "Ada")
    await made.pin_description("here", ("Ada", ""), "Countess.")
    await made.set_hidden("here", ("Dora", ""), hidden=True)
    await made.split("here", "Emil", "Emil (2)", ["type person"])


@pytest.mark.share(2)
@pytest.mark.parametrize("act", ACTS.values(), ids=ACTS)
async def test_an_undo_leads_back_to_exactly_what_was_before_once(ledger: LedgerFixture, act: Act) -> None:
    await correct_everything(ledger)
    made, before, exported = ledger.ledger.corrections, await records(ledger), await export(ledger)
    change = await act(made)
    after = await records(ledger)
    assert after != before
    undone = await asyncio.gather(*(made.undo("here", change) for _ in range(2)), return_exceptions=True)
    assert sorted(type(result).__name__ for result in undone) == ["CorrectionChange", "CorrectionChanged"]
    assert await records(ledger) == before
    assert await export(ledger) == exported
    [back] = [result for result in undone if isinstance(result, CorrectionChange)]
    assert (back.made, back.removed) == (change.removed, change.made)
    await made.undo("here", back)
    assert await records(ledger) == after


async def test_an_undo_is_refused_after_another_correction_of_the_same(ledger: LedgerFixture) -> None:
    await correct_everything(ledger)
    made = ledger.ledger.corrections
    merged, shown = await made.merge("here", "Carla", "Bob"), await made.set_hidden("here", ("Dora", ""), hidden=False)
    await made.merge("here", "Carla", "Dora")
    await made.set_hidden("here", ("Dora", ""), hidden=True)
    before = await records(ledger)
    for change in (merged, shown):
        with pytest.raises(CorrectionChanged):
            await made.undo("here", change)
    assert await records(ledger) == before
    assert await made.merge("here", "CARLA", "dora") == CorrectionChange()  # as it was: there is nothing to undo


async def test_a_pin_overrides_the_facts_until_it_is_removed(ledger: LedgerFixture) -> None:
    await ledger.add_facts("a", extraction("Ada", "Bob", text="met"))
    await pin(ledger, "Countess of Lovelace.", "ADA")
    await pin(ledger, "Old friends.", "Bob", "Ada")
    assert await descriptions(ledger) == {"Countess of Lovelace.", "Old friends.", "met"}
    await pin(ledger, "", "Ada")
    await pin(ledger, "", "Ada", "Bob")
    assert await descriptions(ledger) == {"met"}


async def test_a_hidden_entity_is_gone_with_its_relations_until_it_is_shown(ledger: LedgerFixture) -> None:
    await ledger.add_facts("a", extraction("Ada", "Bob", "Carla"))
    before = await export(ledger)
    await hide(ledger, "Bob")
    await ledger.add_facts("b", extraction("Bob", "Carla"))
    assert await profiles(ledger) == {"ada": 1, "carla": 2}
    await ledger.forget("b")
    await hide(ledger, "Bob", hidden=False)
    assert await export(ledger) == before
    await hide(ledger, "Bob", "Ada")
    assert await profiles(ledger) == {"ada": 1, "bob": 1, "carla": 1, "bob ~ carla": 1}


@pytest.mark.parametrize("names", [("Ada", ""), ("Ada", "Bob")])
async def test_a_correction_of_forgotten_names_can_be_undone(ledger: LedgerFixture, names: tuple[str, str]) -> None:
    await ledger.add_facts("a", extraction("Ada", "Bob"))
    await pin(ledger, "x", *names)
    await hide(ledger, *names)
    await ledger.forget("a")
    await ledger.project()
    await pin(ledger, "", *names)
    await hide(ledger, *names, hidden=False)
    assert await corrections_left(ledger) == 0


@pytest.mark.parametrize(
    ("correct", "error"),
    [
        (lambda ledger: pin(ledger, "x", "Dora"), NotFound),
        (lambda ledger: hide(ledger, "Ada", "Dora"), NotFound),
        (lambda ledger: hide(ledger, "Ada", "ADA"), InvalidQuestion),
        (lambda ledger: unmerge(ledger, "Ada"), NotFound),
        (lambda ledger: ledger.write(Corrections.merge_names, "nowhere", "Ada", "Bob"), NotFound),
    ],
)
async def test_what_is_unknown_can_be_neither_pinned_nor_hidden_nor_merged(
    ledger: LedgerFixture, correct: Correction, error: type[Exception]
) -> None:
    await ledger.add_facts("a", extraction("Ada", "Bob"))
    with pytest.raises(error):
        await correct(ledger)
    assert await corrections_left(ledger) == 0
