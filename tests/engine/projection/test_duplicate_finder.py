from __future__ import annotations

from pathlib import Path

import pytest

from engine import DuplicateReport, Engine, build_fact
from engine.errors import InvalidQuestion
from engine.knowledge.duplicates.report import Duplicate
from engine.models import Scope
from engine.options import EngineOptions
from tests.support.engine_fixture import HERE, canonical_export, doc, open_engine, open_memory_engine

THERE = Scope(frozenset({"there"}), frozenset())
NO_STEP = EngineOptions(suggest_duplicates=False)
# The toy language finds capitalized words, one word a name.
TEXTS = ("Otto saw Margarethenberg at the Harbor.", "Otto saw Margaretenberg at the Harbor.", "Gudgeon left Carla.")


async def fill(engine: Engine, *texts: str, space: str = "here") -> None:
    for text in texts:
        await engine.documents.add(doc(f"{space} {text}", text, space=space, room=f"room of {space}"))
    await engine.wait_until_indexed()


def pairs(found: tuple[Duplicate, ...]) -> set[frozenset[str]]:
    return {frozenset((duplicate.name, duplicate.other)) for duplicate in found}


async def test_a_likely_pair_is_suggested_with_its_evidence(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path, options=NO_STEP) as engine:
        await fill(engine, *TEXTS)
        report = await engine.corrections.find_duplicates(HERE)
    [pair] = report.suggested
    assert {pair.name, pair.other} == {"Margarethenberg", "Margaretenberg"}
    assert not pair.is_joined
    assert (pair.space, pair.shared, pair.shared_count) == ("here", ("Harbor", "Otto"), 2)
    assert pair.spelling > 85
    assert pair.similarity > 0.5
    assert set(pair.excerpts) == set(TEXTS[:2])
    assert report.joined == ()
    assert report.uncompared == 0


async def test_the_worker_compares_new_names_by_itself(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path) as engine:
        await fill(engine, *TEXTS)
        while (await engine.corrections.find_duplicates(HERE, compare_all=False)).uncompared:
            await engine._worker.wait_for_progress()
        assert len((await engine.corrections.find_duplicates(HERE, compare_all=False)).suggested) == 1


async def test_only_names_of_the_scope_are_compared_and_shown(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path, options=NO_STEP) as engine:
        await fill(engine, TEXTS[0])
        await fill(engine, *TEXTS[1:], space="there")
        for scope in (HERE, THERE, Scope(frozenset({"here", "there"}), frozenset())):
            assert (await engine.corrections.find_duplicates(scope)).suggested == ()
        await fill(engine, TEXTS[0], space="there")
        assert (await engine.corrections.find_duplicates(HERE)).suggested == ()
        assert len((await engine.corrections.find_duplicates(THERE)).suggested) == 1
        rooms = Scope(frozenset(), frozenset({"room of there"}))
        assert await engine.corrections.find_duplicates(rooms) == DuplicateReport((), ())


async def test_separated_merged_and_forgotten_names_are_not_suggested(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path, options=NO_STEP) as engine:
        await fill(engine, *TEXTS)
        await engine.corrections.separate("here", "Margarethenberg", "Margaretenberg")
        assert (await engine.corrections.find_duplicates(HERE)).suggested == ()
        await engine.corrections.merge("here", "Margaretenberg", "Margarethenberg")
        await engine.wait_until_indexed()
        assert (await engine.corrections.find_duplicates(HERE)).suggested == ()
        await engine.documents.forget(f"here {TEXTS[1]}")
        await engine.wait_until_indexed()
        assert (await engine.corrections.find_duplicates(HERE)).suggested == ()


async def test_a_limit_out_of_range_is_refused(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path) as engine:
        with pytest.raises(InvalidQuestion):
            await engine.corrections.find_duplicates(HERE, 0)


@pytest.mark.long
async def test_an_automatic_join_survives_a_reindex_and_is_undone_for_good(tmp_path: Path) -> None:
    texts = ("Ada met Otto in the Café.", "Bob left the Cafe.")
    async with open_engine(tmp_path, options=NO_STEP) as engine:
        await engine.corrections.add_facts("here", "room", build_fact("Garden-Café", "It opens at noon."))
        await engine.corrections.add_facts("here", "room", build_fact("garden cafe", "It closes at dusk."))
        await fill(engine, *texts)
        report = await engine.corrections.find_duplicates(HERE)
        [joined] = [each for each in report.joined if each.reason == "spelling"]
        assert {joined.name, joined.other} == {"garden cafe", "Garden-Café"}
        assert joined.is_joined
        before = await canonical_export(engine)
        await engine.maintenance.reindex()
        assert await canonical_export(engine) == before
        assert (await engine.maintenance.verify()).is_clean
        entity = await engine.graph.get_entity("garden cafe", HERE)
        assert entity is not None
        assert "noon" in entity.description
        assert "dusk" in entity.description
        await engine.corrections.unmerge("here", "garden cafe")
        await fill(engine, "Carla met Dora.")
        assert (await engine.corrections.find_duplicates(HERE)).joined == ()
    async with open_engine(tmp_path, options=NO_STEP) as engine:
        separate = await engine.graph.get_entity("garden cafe", HERE)
        assert separate is not None
        assert "noon" not in separate.description


async def test_one_name_in_two_scripts_is_suggested_and_not_merged(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path, options=NO_STEP) as engine:
        for name in ("Москва", "Moskva", "Tula"):
            for other in ("Otto", "Carla", "Gudgeon") if name != "Tula" else ("Otto", "Moskva"):
                await engine.corrections.add_facts("here", "room", build_fact(name, f"{name} has {other}.", other))
        await engine.wait_until_indexed()
        report = await engine.corrections.find_duplicates(HERE)
        assert pairs(report.suggested) == {frozenset({"Moskva", "Москва"})}
        assert report.joined == ()
