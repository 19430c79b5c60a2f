from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.errors import InvalidQuestion, NotFound
from engine.storage.ledger import Ledger, corrections
from engine.storage.ledger.content import documents
from engine.storage.ledger.names import resolve_aliases
from engine.text.names import normalize_name
from tests.engine.storage.ledger.ledger_fixture import Desk, reading

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path


async def merge(desk: Desk, name: str, into: str) -> list[str]:
    return await desk.ledger.write(corrections.merge_names, "here", name, into)


async def unmerge(desk: Desk, name: str) -> None:
    await desk.ledger.write(corrections.unmerge_name, "here", name)


async def pin(desk: Desk, description: str, name: str, other: str = "") -> None:
    await desk.ledger.write(corrections.pin_description, "here", (name, other), description)


async def hide(desk: Desk, name: str, other: str = "", *, hidden: bool = True) -> None:
    await desk.ledger.write(corrections.set_hidden, "here", (name, other), hidden=hidden)


async def entities(desk: Desk) -> dict[str, int]:
    await desk.project()
    return {row["canonical"]: row["mentions"] for row in await desk.canonical() if row["kind"] == "entity"}


async def relations(desk: Desk) -> dict[str, int]:
    await desk.project()
    return {f"{row['a']} ~ {row['b']}": row["weight"] for row in await desk.canonical() if row["kind"] == "relation"}


async def everything(desk: Desk) -> list[dict[str, Any]]:
    await desk.project()
    return await desk.canonical()


async def test_k8_a_merged_name_is_folded_into_the_other_with_its_relations(desk: Desk) -> None:
    await desk.tell("a", reading("Ada", "Bob"), reading("Lovelace", "Bob"), reading("Lovelace", "Carla"))
    await merge(desk, "LOVELACE", "ada")
    assert await entities(desk) == {"ada": 3, "bob": 2, "carla": 1}
    assert await relations(desk) == {"ada ~ bob": 2, "ada ~ carla": 1}


async def test_a_relation_between_a_name_and_its_alias_vanishes_and_comes_back(desk: Desk) -> None:
    await desk.tell("a", reading("Ada", "Lovelace"))
    await merge(desk, "Lovelace", "Ada")
    assert (await entities(desk), await relations(desk)) == ({"ada": 1}, {})
    await unmerge(desk, "Lovelace")
    assert (await entities(desk), await relations(desk)) == ({"ada": 1, "lovelace": 1}, {"ada ~ lovelace": 1})


async def test_aliases_lead_on_in_chains_whichever_was_made_first(desk: Desk) -> None:
    await desk.tell("a", reading("Ada"), reading("Bob"), reading("Carla"))
    await merge(desk, "Ada", "Bob")
    await merge(desk, "Bob", "Carla")
    assert await entities(desk) == {"carla": 3}
    await unmerge(desk, "Bob")
    assert await entities(desk) == {"bob": 2, "carla": 1}


async def test_a_circle_of_aliases_is_refused_and_nothing_is_changed(desk: Desk) -> None:
    await desk.tell("a", reading("Ada", "Bob"), reading("Carla"))
    await merge(desk, "Ada", "Bob")
    await merge(desk, "Bob", "Carla")
    before = await everything(desk)
    with pytest.raises(InvalidQuestion, match="circle"):
        await merge(desk, "Carla", "Ada")
    assert await everything(desk) == before


async def test_where_names_lead_at_last(desk: Desk) -> None:
    await desk.tell("a", reading("A a", "B b", "C c"))
    await merge(desk, "A a", "B b")
    await merge(desk, "B b", "C c")
    assert await desk.ledger.read(resolve_aliases, 1, ["a a", "b b", "c c", "d d"]) == {
        "a a": "c c",
        "b b": "c c",
        "c c": "c c",
        "d d": "d d",
    }


async def test_a_merge_touches_only_what_it_changes(desk: Desk) -> None:
    names = [f"Name {chr(97 + n)}" for n in range(12)]
    await desk.tell("a", *(reading(name, "Hub", name.replace("Name", "Other")) for name in names))
    await desk.project()
    for name in names[:-1]:
        await merge(desk, name, name.replace("Name", "Other"))
        await desk.project()
    await merge(desk, names[-1], names[-1].replace("Name", "Other"))
    last, other = normalize_name(names[-1]), normalize_name(names[-1].replace("Name", "Other"))
    assert await desk.stale() == {
        (last, ""),
        (other, ""),
        tuple(sorted(("hub", last))),
        tuple(sorted(("hub", other))),
    }
    await desk.project()
    await unmerge(desk, names[3])
    assert {name for name, _ in await desk.stale()} == {
        "hub",
        normalize_name(names[3]),
        normalize_name(names[3].replace("Name", "Other")),
    }


async def test_a_pin_touches_neither_the_neighbours_nor_the_relations(desk: Desk) -> None:
    await desk.tell("a", reading("Ada", "Bob", "Carla"))
    await desk.project()
    await pin(desk, "Countess.", "Bob")
    assert await desk.stale() == {("bob", "")}
    await desk.project()
    await pin(desk, "Friends.", "Bob", "Ada")
    assert await desk.stale() == {("ada", "bob")}
    await desk.project()
    await hide(desk, "Bob", "Carla")
    assert await desk.stale() == {("bob", "carla")}
    await desk.project()
    await hide(desk, "Ada")
    assert await desk.stale() == {("ada", ""), ("ada", "bob")}


@pytest.mark.parametrize(("name", "into"), [("Ada", "ADA"), ("", "Ada"), ("Ada", "7")])
async def test_only_two_different_names_can_be_merged(desk: Desk, name: str, into: str) -> None:
    await desk.tell("a", reading("Ada"))
    with pytest.raises(InvalidQuestion):
        await merge(desk, name, into)


async def test_one_of_two_merged_names_may_be_yet_to_come_and_is_told(desk: Desk) -> None:
    await desk.tell("a", reading("Ada", "Bob"))
    assert await merge(desk, "Ada", "Bob") == []
    assert await merge(desk, "Lovelace", "Ada") == ["Lovelace"]
    assert await merge(desk, "Bob", "Robert") == ["Robert"]


async def test_two_names_that_nobody_knows_are_not_merged(desk: Desk) -> None:
    await desk.tell("a", reading("Ada"))
    before = await everything(desk)
    with pytest.raises(NotFound, match="Neither “Dora” nor “Emil” is known here") as caught:
        await merge(desk, "Dora", "Emil")
    assert "as they appear in the documents" in caught.value.hint
    assert await everything(desk) == before
    assert await desk.rows("SELECT 1 FROM alias UNION ALL SELECT 1 FROM name WHERE canonical <> 'ada'") == []


async def test_a_merge_holds_for_what_is_told_later(desk: Desk) -> None:
    await desk.tell("a", reading("Ada"))
    await merge(desk, "Lovelace", "Ada")
    await desk.tell("b", reading("Lovelace", "Bob"))
    assert await entities(desk) == {"ada": 2, "bob": 1}
    assert await relations(desk) == {"ada ~ bob": 1}


async def test_an_alias_outlives_the_documents_that_used_it(desk: Desk) -> None:
    await desk.tell("a", reading("Ada", "Lovelace"))
    await merge(desk, "Lovelace", "Ada")
    await desk.ledger.write(documents.delete_document, "a")
    assert await entities(desk) == {}
    await desk.tell("b", reading("Lovelace"))
    assert await entities(desk) == {"ada": 1}


async def test_a_merge_holds_in_its_own_space_only(desk: Desk) -> None:
    await desk.tell("a", reading("Ada", "Lovelace"))
    await desk.tell("b", reading("Ada", "Lovelace"), space="there")
    await merge(desk, "Lovelace", "Ada")
    await desk.project()
    found = {(row["space"], row["canonical"]) for row in await desk.canonical() if row["kind"] == "entity"}
    assert found == {("here", "ada"), ("there", "ada"), ("there", "lovelace")}


async def test_what_is_no_alias_cannot_be_unmerged(desk: Desk) -> None:
    await desk.tell("a", reading("Ada"))
    with pytest.raises(NotFound):
        await unmerge(desk, "Ada")
    with pytest.raises(NotFound):
        await desk.ledger.write(corrections.merge_names, "nowhere", "Ada", "Bob")


NAMES = st.sampled_from(["Ada", "Bob", "Carla", "Dora"])
MERGES = st.lists(st.tuples(NAMES, NAMES).filter(lambda pair: pair[0] != pair[1]), max_size=4)


@given(MERGES)
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_taking_every_merge_back_restores_everything(tmp_path: Path, merges: list[tuple[str, str]]) -> None:
    asyncio.run(_merge_and_take_back(tmp_path, merges))


async def _merge_and_take_back(folder: Path, merges: list[tuple[str, str]]) -> None:
    path = folder / "ledger.db"
    path.unlink(missing_ok=True)
    desk = Desk(await Ledger.open(path))
    try:
        await desk.tell("a", reading("Ada", "Bob", "Carla"), reading("Ada", "Dora"), reading("Bob", "Dora"))
        before, made = await everything(desk), set()
        for name, into in merges:
            try:
                await merge(desk, name, into)
            except InvalidQuestion:
                continue
            await desk.project()
            made.add(name)
        for name in made:
            await unmerge(desk, name)
        assert await everything(desk) == before
        assert await desk.column("SELECT COUNT(*) FROM pair p WHERE target <> id") == [0]
    finally:
        await desk.ledger.close()


async def descriptions(desk: Desk) -> set[str]:
    return {row["description"] for row in await everything(desk) if row["kind"] in ("entity", "relation")}


async def test_a_pin_overrides_the_fold_until_it_is_taken_back(desk: Desk) -> None:
    await desk.tell("a", reading("Ada", "Bob", said="met"))
    await pin(desk, "Countess of Lovelace.", "ADA")
    await pin(desk, "Old friends.", "Bob", "Ada")
    assert await descriptions(desk) == {"Countess of Lovelace.", "Old friends.", "met"}
    await pin(desk, "", "Ada")
    await pin(desk, "", "Ada", "Bob")
    assert await descriptions(desk) == {"met"}


async def test_a_hidden_entity_is_gone_with_its_relations_until_it_is_shown_again(desk: Desk) -> None:
    await desk.tell("a", reading("Ada", "Bob", "Carla"))
    before = await everything(desk)
    await hide(desk, "Bob")
    assert (await entities(desk), await relations(desk)) == ({"ada": 1, "carla": 1}, {})
    await hide(desk, "Bob", hidden=False)
    assert await everything(desk) == before


async def test_a_hidden_relation_leaves_its_ends(desk: Desk) -> None:
    await desk.tell("a", reading("Ada", "Bob"))
    await hide(desk, "Bob", "Ada")
    assert (await entities(desk), await relations(desk)) == ({"ada": 1, "bob": 1}, {})


async def test_what_is_hidden_stays_hidden_when_it_is_told_again(desk: Desk) -> None:
    await desk.tell("a", reading("Ada", "Bob"))
    await hide(desk, "Bob")
    await desk.tell("b", reading("Bob", "Carla"))
    assert (await entities(desk), await relations(desk)) == ({"ada": 1, "carla": 1}, {})


@pytest.mark.parametrize(
    ("do", "undo"),
    [
        (lambda desk: pin(desk, "x", "Ada"), lambda desk: pin(desk, "", "Ada")),
        (lambda desk: pin(desk, "x", "Ada", "Bob"), lambda desk: pin(desk, "", "Ada", "Bob")),
        (lambda desk: hide(desk, "Ada"), lambda desk: hide(desk, "Ada", hidden=False)),
        (lambda desk: hide(desk, "Ada", "Bob"), lambda desk: hide(desk, "Ada", "Bob", hidden=False)),
    ],
)
async def test_a_correction_can_be_taken_back_when_its_names_are_forgotten(
    desk: Desk, do: Callable[[Desk], Awaitable[None]], undo: Callable[[Desk], Awaitable[None]]
) -> None:
    await desk.tell("a", reading("Ada", "Bob"))
    await do(desk)
    await desk.ledger.write(documents.delete_document, "a")
    await desk.project()
    await undo(desk)
    assert await desk.rows("SELECT 1 FROM description_override UNION ALL SELECT 1 FROM hidden_key") == []


async def test_what_is_not_known_can_be_neither_pinned_nor_hidden(desk: Desk) -> None:
    await desk.tell("a", reading("Ada", "Bob"))
    with pytest.raises(NotFound):
        await pin(desk, "x", "Dora")
    with pytest.raises(NotFound):
        await hide(desk, "Ada", "Dora")
    with pytest.raises(InvalidQuestion):
        await hide(desk, "Ada", "ADA")
    assert await desk.rows("SELECT 1 FROM description_override UNION ALL SELECT 1 FROM hidden_key") == []
