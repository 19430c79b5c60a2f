"""A town and a person under one name: suggested to those who may read both, told apart, and given back exactly."""

from __future__ import annotations

from pathlib import Path

from engine import Engine, build_fact
from engine.knowledge.duplicates.report import Homonym, HomonymSense
from engine.models import Scope
from tests.support.engine_fixture import HERE, canonical_export, open_memory_engine

THERE = Scope(frozenset({"there"}), frozenset())
FACTS = (
    ("Avon", "Avon plays the violin.", "person"),
    ("Avon", "Avon lies at the river.", "location"),
    ("Avon", "Avon teaches on Mondays.", "person"),
    ("Avon", "Avon has two bridges.", "location"),
)


async def state(engine: Engine, space: str, *facts: tuple[str, str, str]) -> list[str]:
    """The keys of documents that state these facts: name, description, type."""
    keys = [
        await engine.corrections.add_facts(space, f"room of {space}", build_fact(name, text, type_=type_))
        for name, text, type_ in facts
    ]
    await engine.wait_until_indexed()
    return keys


async def describe(engine: Engine, name: str, scope: Scope = HERE) -> tuple[str, str, set[str]] | None:
    found = await engine.graph.get_entity(name, scope)
    return None if found is None else (found.name, found.type, set(found.description.split("\n")))


async def test_a_town_and_a_person_under_one_name_are_suggested_and_told_apart(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path) as engine:
        *_, last = await state(engine, "here", *FACTS)
        assert (await engine.corrections.find_duplicates(HERE)).homonyms == (
            Homonym(
                "here",
                "Avon",
                (
                    HomonymSense("location", 2, "Avon (location): Avon lies at the river."),
                    HomonymSense("person", 2, "Avon (person): Avon plays the violin."),
                ),
            ),
        )
        change = await engine.corrections.split("here", "Avon", "Avon (Town)", types=["location"])
        await engine.wait_until_indexed()
        assert await describe(engine, "avon") == ("Avon", "person", {FACTS[0][1], FACTS[2][1]})
        assert await describe(engine, "avon (town)") == ("Avon (Town)", "location", {FACTS[1][1], FACTS[3][1]})
        report = await engine.corrections.find_duplicates(HERE)
        assert (report.homonyms, report.suggested) == ((), ())
        assert (await engine.maintenance.verify()).differences == ()

        await engine.documents.forget(last)
        await state(engine, "here", ("Avon", "Avon has a market.", "location"))
        await engine.maintenance.reindex()
        await engine.wait_until_indexed()
        town = {FACTS[1][1], "Avon has a market."}
        assert await describe(engine, "Avon (Town)") == ("Avon (Town)", "location", town)
        assert (await engine.maintenance.verify()).differences == ()

        await engine.corrections.undo("here", change)
        await engine.wait_until_indexed()
        assert await describe(engine, "Avon (Town)") is None
        undone = await canonical_export(engine)
        assert (await engine.maintenance.verify()).differences == ()
    async with open_memory_engine(tmp_path / "plain") as engine:
        await state(engine, "here", *FACTS[:3], ("Avon", "Avon has a market.", "location"))
        assert await canonical_export(engine) == undone


async def test_a_suggestion_counts_only_what_the_asker_may_read(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path) as engine:
        await state(engine, "here", *FACTS[:3])
        await state(engine, "there", FACTS[3])
        both = Scope(frozenset({"here", "there"}), frozenset())
        for scope in (HERE, THERE, both):
            assert (await engine.corrections.find_duplicates(scope)).homonyms == ()
        await state(engine, "there", *FACTS[:3])
        assert (await engine.corrections.find_duplicates(HERE)).homonyms == ()
        assert [homonym.space for homonym in (await engine.corrections.find_duplicates(both)).homonyms] == ["there"]


async def test_a_split_changes_nothing_where_it_was_not_made(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path) as engine:
        await state(engine, "here", *FACTS)
        await state(engine, "there", *FACTS)
        before = await describe(engine, "Avon", THERE)
        await engine.corrections.split("here", "Avon", "Avon (Town)", types=["location"])
        await engine.wait_until_indexed()
        assert await describe(engine, "Avon", THERE) == before
        assert await describe(engine, "Avon (Town)", THERE) is None
        assert await engine.corrections.list(THERE) == []
