from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from engine.clock import SYSTEM_CLOCK
from engine.errors import NotFound
from engine.storage.ledger import Ledger
from engine.storage.ledger.content.facts import Facts
from engine.storage.ledger.names import joins
from engine.storage.ledger.names.corrections import Corrections
from engine.storage.ledger.names.joins import Joins
from tests.engine.storage.ledger.ledger_fixture import LedgerFixture, extraction
from tests.support.engine_fixture import doc


async def add(ledger: LedgerFixture, key: str, text: str, *names: str, space: str = "here") -> None:
    await ledger.add(doc(key, text, space=space, room=f"room of {space}"))
    sql = "SELECT c.id FROM chunk c JOIN document d ON d.id = c.document WHERE d.key = ? AND c.extraction IS NULL"
    for chunk in await ledger.column(sql, key):
        await ledger.write(Facts.save_extraction, chunk, f"{key} {text}".encode(), extraction(*names))


async def aliases(ledger: LedgerFixture) -> dict[str, tuple[str, str]]:
    rows = await ledger.rows("SELECT name, target, reason FROM alias ORDER BY name")
    return {name: (target, reason) for name, target, reason in rows}


async def unmerge(ledger: LedgerFixture, name: str) -> None:
    await ledger.write(Corrections.unmerge_name, "here", name)


async def merge(ledger: LedgerFixture, name: str, into: str) -> None:
    await ledger.write(Corrections.merge_names, "here", name, into)


async def separate(ledger: LedgerFixture, name: str, other: str) -> None:
    await ledger.write(Corrections.separate_names, "here", name, other)


async def profiles(ledger: LedgerFixture) -> dict[str, int]:
    await ledger.project()
    return {row["canonical"]: row["mentions"] for row in await ledger.export() if row["kind"] == "entity"}


async def test_another_spelling_is_joined_and_keeps_its_facts(ledger: LedgerFixture) -> None:
    await add(ledger, "a", "one", "Covid-19", "Ada")
    assert await aliases(ledger) == {}
    await add(ledger, "b", "two", "COVID 19", "Bob")
    assert await aliases(ledger) == {"covid-19": ("covid 19", "spelling")}
    assert await profiles(ledger) == {"covid 19": 2, "ada": 1, "bob": 1}


async def test_a_forgotten_document_takes_its_joins_and_its_names_along(ledger: LedgerFixture) -> None:
    await add(ledger, "a", "one", "Covid-19")
    await add(ledger, "b", "two", "COVID 19")
    await ledger.forget("b")
    assert await aliases(ledger) == {}
    assert await profiles(ledger) == {"covid-19": 1}
    assert await ledger.column("SELECT canonical FROM name") == ["covid-19"]


async def test_a_longer_spelling_becomes_the_target(ledger: LedgerFixture) -> None:
    await add(ledger, "a", "one", "Covid19")
    await add(ledger, "b", "two", "Covid-19")
    await add(ledger, "c", "three", "the Covid 19")
    assert {target for target, _ in (await aliases(ledger)).values()} == {"the covid 19"}
    assert await profiles(ledger) == {"the covid 19": 3}


async def test_an_abbreviation_is_joined_once_a_text_of_the_space_defines_it(ledger: LedgerFixture) -> None:
    await add(ledger, "a", "the HTF paid", "HTF")
    await add(ledger, "b", "elsewhere", "Harbor Trust Fund")
    await add(ledger, "far", "The Harbor Trust Fund (HTF) paid.", "Ada", space="there")
    assert await aliases(ledger) == {}
    await add(ledger, "c", "The Harbor Trust Fund (HTF) paid.", "Ada")
    assert await aliases(ledger) == {"htf": ("harbor trust fund", "abbreviation")}
    await ledger.forget("c")
    assert await aliases(ledger) == {}


async def test_an_abbreviation_of_two_names_is_not_joined(ledger: LedgerFixture) -> None:
    await add(ledger, "a", "The Harbor Trust Fund (HTF) paid.", "HTF", "Harbor Trust Fund")
    assert await aliases(ledger) == {"htf": ("harbor trust fund", "abbreviation")}
    await add(ledger, "b", "The Higher Task Force (HTF) met.", "Higher Task Force")
    assert await aliases(ledger) == {}
    await ledger.forget("b")
    assert await aliases(ledger) == {"htf": ("harbor trust fund", "abbreviation")}


async def test_names_of_two_spaces_are_never_joined(ledger: LedgerFixture) -> None:
    await add(ledger, "a", "one", "Covid-19")
    await add(ledger, "b", "two", "COVID 19", space="there")
    assert await aliases(ledger) == {}
    await ledger.move_room("room of there", "here")
    assert await aliases(ledger) == {"covid-19": ("covid 19", "spelling")}
    await ledger.move_room("room of there", "there")
    assert await aliases(ledger) == {}


async def test_a_separated_name_is_never_joined_again(ledger: LedgerFixture) -> None:
    await add(ledger, "a", "one", "Covid-19")
    await add(ledger, "b", "two", "COVID 19")
    await unmerge(ledger, "Covid-19")
    assert await aliases(ledger) == {}
    await ledger.forget("b")
    await add(ledger, "b", "two", "COVID 19")
    assert await aliases(ledger) == {}
    assert await profiles(ledger) == {"covid 19": 1, "covid-19": 1}
    assert {"kind": "distinct", "space": "here", "a": "covid 19", "b": "covid-19"} in await ledger.export()
    await merge(ledger, "Covid-19", "Covid 19")
    assert await aliases(ledger) == {"covid-19": ("covid 19", "")}


async def test_the_target_of_a_join_can_be_separated_too(ledger: LedgerFixture) -> None:
    await add(ledger, "a", "one", "Covid-19", "Covid19", "COVID 19")
    await unmerge(ledger, "COVID 19")
    assert await aliases(ledger) == {"covid19": ("covid-19", "spelling")}
    with pytest.raises(NotFound):
        await unmerge(ledger, "COVID 19")


async def test_two_names_are_separated_before_they_are_joined(ledger: LedgerFixture) -> None:
    await add(ledger, "a", "one", "Covid-19", "Ada")
    await separate(ledger, "COVID 19", "Covid-19")
    await add(ledger, "b", "two", "COVID 19")
    assert await aliases(ledger) == {}
    with pytest.raises(NotFound):
        await separate(ledger, "Nobody", "No one")


async def test_separating_undoes_a_merge(ledger: LedgerFixture) -> None:
    await add(ledger, "a", "one", "Ada", "Lovelace")
    await merge(ledger, "Lovelace", "Ada")
    await separate(ledger, "Ada", "Lovelace")
    assert await aliases(ledger) == {}


async def test_what_is_joined_follows_a_merge_by_hand(ledger: LedgerFixture) -> None:
    await add(ledger, "a", "one", "Covid-19", "COVID 19", "The virus")
    await merge(ledger, "COVID 19", "The virus")
    assert await aliases(ledger) == {"covid 19": ("the virus", ""), "covid-19": ("the virus", "spelling")}
    await unmerge(ledger, "COVID 19")
    assert await aliases(ledger) == {"covid-19": ("covid 19", "spelling")}


async def test_merging_against_an_automatic_join_forms_no_circle(ledger: LedgerFixture) -> None:
    await add(ledger, "a", "one", "Covid-19", "COVID 19")
    await merge(ledger, "COVID 19", "Covid-19")
    assert await aliases(ledger) == {"covid 19": ("covid-19", "")}
    assert await profiles(ledger) == {"covid-19": 1}


async def test_corrections_under_any_name_of_a_cluster_hold(ledger: LedgerFixture) -> None:
    await add(ledger, "a", "one", "Covid-19", "Ada")
    await add(ledger, "b", "two", "COVID 19", "Ada")
    for name in ("Covid-19", "COVID 19"):
        await ledger.write(Corrections.change_description, "here", (name, ""), f"{name} pinned")
        await ledger.write(Corrections.change_description, "here", (name, "Ada"), f"{name} with Ada")
        await ledger.project()
        texts = {row["description"] for row in await ledger.export() if row["kind"] in {"entity", "relation"}}
        assert {f"{name} pinned", f"{name} with Ada"} <= texts
    await ledger.write(Corrections.change_hidden, "here", ("Covid-19", ""), hidden=True)
    assert (await profiles(ledger)).keys() == {"ada"}
    await unmerge(ledger, "Covid-19")
    assert (await profiles(ledger)).keys() == {"ada", "covid 19"}


async def test_many_spellings_of_one_name_are_compared_up_to_a_limit(ledger: LedgerFixture) -> None:
    word = "abcdefghij"
    names = [f"{word[:n]}-{word[n:m]}-{word[m:]}" for n in range(1, 9) for m in range(n + 1, 10)]
    await add(ledger, "a", "one", *names)
    assert len(names) > joins.MAX_NAMES
    assert len(await aliases(ledger)) == joins.MAX_NAMES - 1


async def test_joins_can_be_turned_off_and_on(ledger: LedgerFixture) -> None:
    await add(ledger, "a", "one", "Covid-19", "COVID 19")
    joined = await profiles(ledger)
    await ledger.write(Joins.set_automatic_joins, enabled=False)
    await add(ledger, "b", "two", "steam engine", "steam engines")
    assert await aliases(ledger) == {}
    assert joined.keys() < (await profiles(ledger)).keys()
    await ledger.write(Joins.set_automatic_joins, enabled=True)
    assert (await aliases(ledger)).keys() == {"covid-19"}


async def test_only_what_is_joined_becomes_stale(ledger: LedgerFixture) -> None:
    await add(ledger, "a", "one", "Covid-19", "Ada")
    await add(ledger, "b", "two", "Bob", "Carla")
    await ledger.project()
    await add(ledger, "c", "three", "COVID 19")
    assert await ledger.stale() == {("covid 19", ""), ("covid-19", ""), ("ada", "covid-19"), ("ada", "covid 19")}


NAMES = ["Covid-19", "COVID 19", "the Covid 19", "HTF", "H.T.F.", "Harbor Trust Fund", "Dr. Ada Byron", "Ada Byron"]
TEXTS = ["The Harbor Trust Fund (HTF) paid.", "The Higher Task Force (HTF) met.", "Nothing."]
STEPS = st.lists(
    st.one_of(
        st.tuples(
            st.just("add"),
            st.sampled_from("abcd"),
            st.sampled_from(TEXTS),
            st.lists(st.sampled_from(NAMES), max_size=4, unique=True),
        ),
        st.tuples(st.just("forget"), st.sampled_from("abcd")),
        st.tuples(st.just("move"), st.sampled_from(["here", "there"])),
    ),
    max_size=8,
)


async def add_with_names(ledger: LedgerFixture, key: str, text: str) -> None:
    """Add a document; each chunk mentions the names in its own text, as a chunk kept from an older text does."""
    await ledger.add(doc(key, text, space="here", room="room of here"))
    sql = (
        "SELECT c.id, c.text FROM chunk c JOIN document d ON d.id = c.document WHERE d.key = ? AND c.extraction IS NULL"
    )
    for chunk, content in await ledger.rows(sql, key):
        names = [name for name in NAMES if name in content]
        await ledger.write(Facts.save_extraction, chunk, f"{key} {content}".encode(), extraction(*names))


def graph(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [row for row in rows if row["kind"] in {"alias", "distinct", "entity", "relation", "mention"}]


@pytest.mark.long
@given(STEPS)
@example(
    [
        ("add", "a", "The Harbor Trust Fund (HTF) paid.", ["the Covid 19", "Covid-19"]),
        ("add", "a", "The Harbor Trust Fund (HTF) paid.", ["the Covid 19", "Covid-19", "COVID 19"]),
    ]
)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_the_aliases_follow_from_what_is_there_now(steps: list[tuple[Any, ...]]) -> None:
    async def compare() -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        with tempfile.TemporaryDirectory() as home:
            present: dict[str, str] = {}
            changed, fresh = [
                LedgerFixture(await Ledger.open(Path(home) / name, clock=SYSTEM_CLOCK))
                for name in ("changed.db", "fresh.db")
            ]
            try:
                for step, *rest in steps:
                    if step == "add":
                        key, text, names = rest
                        present[key] = f"{text} {', '.join(names)}"
                        await add_with_names(changed, key, present[key])
                    elif step == "forget":
                        present.pop(rest[0], None)
                        await changed.forget(rest[0])
                    else:
                        await changed.move_room("room of here", rest[0])
                await changed.move_room("room of here", "here")
                for key, text in sorted(present.items(), reverse=True):
                    await add_with_names(fresh, key, text)
                for ledger in (changed, fresh):
                    await ledger.project()
                return graph(await changed.export()), graph(await fresh.export())
            finally:
                await changed.ledger.close()
                await fresh.ledger.close()

    found, expected = asyncio.run(compare())
    assert found == expected
