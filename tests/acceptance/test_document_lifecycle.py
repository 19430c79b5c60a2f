"""A document comes, changes, moves, is corrected and is forgotten; what is left is always as if it had been so."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine import Engine
from engine.errors import EmptyDocument, InvalidDocument, ModelRefused, NotFound
from engine.models import Extraction, Link, Mention, Passage, Question
from tests.support.engine_fixture import HERE, doc, export_state, fetch_rows, is_clean, open_memory_engine, thread
from tests.support.fake_embedder import HashEmbedder
from tests.support.toy_language import ToyLanguage

SHARED = "Ada met Bob."
DIARY = doc("diary", SHARED, "Ada wrote to Carla.")
LETTERS = doc("letters", SHARED, "Bob saw Dora.")


async def export_rows(engine: Engine, kind: str) -> dict[str, dict[str, Any]]:
    """The entities or relations of the export, by name."""
    rows = [json.loads(line) for line in await export_state(engine)]
    return {row.get("canonical") or f"{row['a']} ~ {row['b']}": row for row in rows if row["kind"] == kind}


async def test_forgetting_undoes_exactly(engine: Engine) -> None:
    await engine.documents.add(DIARY)
    before = await export_state(engine)
    await engine.documents.add(LETTERS)
    relations = await export_rows(engine, "relation")
    assert relations["ada ~ bob"]["weight"] == 2
    question = Question("Whom did Bob and Dora see?", HERE, low=("Bob", "Dora"))
    assert "Dora" in await (await engine.ask(question)).collect_text()
    assert await engine.documents.forget("letters")
    assert not await engine.documents.forget("letters")
    assert await export_state(engine) == before
    assert (await export_rows(engine, "relation"))["ada ~ bob"]["weight"] == 1
    assert "Dora" not in await (await engine.ask(question)).collect_text()
    assert await engine.graph.get_entity("Dora", HERE) is None
    assert not await fetch_rows(engine._ledger, "SELECT 1 FROM answer_cache WHERE text LIKE '%Dora%'")
    assert not await fetch_rows(engine._ledger, "SELECT 1 FROM vector LIMIT 1 OFFSET 1")
    assert await is_clean(engine)


async def test_ingesting_twice_changes_nothing(light: Engine, language: ToyLanguage) -> None:
    assert await light.documents.add(DIARY)
    before = await export_state(light)
    calls = language.calls["extract"]
    assert not await light.documents.add(DIARY)
    assert await export_state(light) == before
    assert language.calls["extract"] == calls
    assert await is_clean(light)


async def test_an_edit_back_and_forth_changes_nothing(light: Engine) -> None:
    await light.documents.add(DIARY)
    await light.documents.add(LETTERS)
    before = await export_state(light)
    await light.documents.add(doc("diary", "Zoe met Bob.", "Ada wrote to Carla."))
    assert (await export_rows(light, "entity"))["zoe"]["mentions"] == 1
    assert "ada ~ bob" in await export_rows(light, "relation")
    await light.documents.add(DIARY)
    assert await export_state(light) == before
    assert await is_clean(light)


async def test_k11_the_same_file_shared_twice_is_read_once_and_counts_twice(
    light: Engine, language: ToyLanguage
) -> None:
    await light.documents.add(thread("first", SHARED, is_open=False))
    await light.wait_until_indexed()
    await light.documents.add(thread("second", SHARED, is_open=False))
    assert (await export_rows(light, "relation"))["ada ~ bob"]["weight"] == 2
    assert language.calls["extract"] == 1


async def test_k11_rejected_document_leaves_nothing_behind(light: Engine) -> None:
    with pytest.raises(EmptyDocument):
        await light.documents.add(doc("blank", "  ", "\n"))
    with pytest.raises(InvalidDocument, match="same key"):
        await light.documents.add(replace(doc("twice", "x"), passages=(Passage("p", "x"), Passage("p", "y"))))
    assert await export_state(light) == []


async def test_adding_equals_amending(light: Engine) -> None:
    """Passages stand in the order of position, time and key, however they are handed in."""
    passages = (Passage("b", "Bob saw Ada.", position=1), Passage("a", "Ada met Bob.", position=0))
    await light.documents.add(replace(doc("story", "x"), passages=passages))
    added = await export_state(light)
    await light.documents.forget("story")
    await light.documents.add(replace(doc("story", "x"), passages=passages[:1]))
    await light.documents.amend("story", upsert=passages[1:])
    assert await export_state(light) == added


async def test_a_room_that_moves_takes_its_facts_along(light: Engine) -> None:
    await light.documents.add(DIARY)
    await light.documents.add(doc("gossip", SHARED, space="elsewhere", room="attic"))
    before = await export_state(light)
    assert await light.documents.move_room("attic", "here") == 1
    assert (await export_rows(light, "relation"))["ada ~ bob"]["weight"] == 2
    assert '"elsewhere"' not in "".join(await export_state(light))
    assert await light.documents.move_room("attic", "elsewhere") == 1
    assert await export_state(light) == before
    assert await is_clean(light)


async def test_an_open_conversation_is_searchable_and_is_read_when_it_closes(
    light: Engine, language: ToyLanguage
) -> None:
    await light.documents.add(thread("talk", "Ada met Bob."))
    await light.wait_until_indexed()
    assert language.calls["extract"] == 0
    assert [document.status for document in await light.documents.list(HERE)] == ["searchable"]
    recalled = await light.retrieve(Question("Ada met Bob", HERE, mode="naive"))
    assert [source.text for source in recalled.sources] == ["Ada met Bob."]
    await light.documents.amend(
        "talk", upsert=[Passage("m001", "Bob saw Dora.", position=1)], remove=["m000"], is_open=False
    )
    await light.wait_until_indexed()
    assert [document.status for document in await light.documents.list(HERE)] == ["indexed"]
    assert set(await export_rows(light, "entity")) == {"bob", "dora"}
    assert await light.documents.amend("talk", remove=["m001"])
    assert await export_state(light) == []
    with pytest.raises(NotFound):
        await light.documents.amend("talk", remove=["m001"])


@pytest.mark.long
async def test_manual_corrections_survive_a_reindex_and_can_be_undone(engine: Engine) -> None:
    await engine.documents.add(DIARY)
    await engine.documents.add(doc("more", "Lovelace met Dora."))
    before = await export_state(engine)
    await engine.corrections.merge("here", "Lovelace", "Ada")
    await engine.corrections.describe("here", "Ada", "Countess of Lovelace.")
    await engine.corrections.hide("here", "Carla")
    await engine.corrections.hide("here", "Bob", "Ada")
    spoken = Extraction((Mention("Emil", "person", "The miller."),), (Link("Emil", "Ada", "neighbor", "Next door."),))
    stated = await engine.corrections.add_facts("here", "hall", spoken)
    corrected = await export_state(engine)
    assert (await export_rows(engine, "entity")).keys() == {"ada", "bob", "dora", "emil"}
    assert (await export_rows(engine, "relation")).keys() == {"ada ~ dora", "ada ~ emil"}
    ada = await engine.graph.get_entity("LOVELACE", HERE)
    assert ada is not None
    assert (ada.name, ada.description) == ("Ada", "Countess of Lovelace.")
    assert await is_clean(engine)
    await engine.maintenance.reindex()
    assert await export_state(engine) == corrected
    assert await is_clean(engine)
    await engine.corrections.unmerge("here", "Lovelace")
    await engine.corrections.describe("here", "Ada", "")
    await engine.corrections.unhide("here", "Carla")
    await engine.corrections.unhide("here", "Ada", "Bob")
    await engine.documents.forget(stated)
    assert await export_state(engine) == before
    assert await is_clean(engine)


async def test_what_is_stated_by_hand_is_kept_once_and_needs_no_reader(light: Engine, language: ToyLanguage) -> None:
    spoken = Extraction((Mention("Emil", "person", "The miller."),))
    key = await light.corrections.add_facts("here", "hall", spoken)
    before = await export_state(light)
    assert await light.corrections.add_facts("here", "hall", spoken) == key
    assert await export_state(light) == before
    assert language.calls["extract"] == 0
    with pytest.raises(InvalidDocument):
        await light.corrections.add_facts("here", "hall", Extraction())


async def test_one_failing_chunk_fails_alone_and_retry_heals_it(light: Engine, language: ToyLanguage) -> None:
    language.failing["extract", "secret"] = ModelRefused("not that")
    long = " ".join(["word"] * 1190)
    await light.documents.add(doc("mixed", f"Ada met Bob. {long}", f"The secret of Carla. {long}"))
    await light.documents.add(LETTERS)
    await light.wait_until_indexed()
    [letters, mixed] = await light.documents.list(HERE)
    assert (letters.status, letters.error) == ("indexed", "")
    assert (mixed.status, mixed.error) == ("searchable", "not that")
    assert (await light.maintenance.get_status(HERE)).failed == 1
    assert {"ada", "bob", "dora"} == set(await export_rows(light, "entity"))
    assert await is_clean(light)
    language.failing.clear()
    assert await light.maintenance.retry("mixed") == 1
    await light.wait_until_indexed()
    assert {document.status for document in await light.documents.list(HERE)} == {"indexed"}
    assert "carla" in await export_rows(light, "entity")
    assert await light.maintenance.retry() == 0


async def test_a_text_that_cannot_be_embedded_fails_alone_and_retry_heals_it(tmp_path: Path) -> None:
    embedder = HashEmbedder()
    embedder.failing["secret"] = ModelRefused("not that")
    async with open_memory_engine(tmp_path, embedder=embedder) as engine:
        await engine.documents.add(DIARY)
        await engine.documents.add(doc("bad", "The secret of Carla."))
        await engine.documents.add(LETTERS)
        await engine.wait_until_indexed()
        statuses = {document.key: (document.status, document.error) for document in await engine.documents.list(HERE)}
        assert statuses == {"bad": ("failed", "not that"), "diary": ("indexed", ""), "letters": ("indexed", "")}
        assert await is_clean(engine)
        embedder.failing.clear()
        assert await engine.maintenance.retry() == 1
        await engine.wait_until_indexed()
        assert {document.status for document in await engine.documents.list(HERE)} == {"indexed"}
        assert await is_clean(engine)


async def test_a_slow_chunk_keeps_no_other_document_waiting(light: Engine, language: ToyLanguage) -> None:
    language.gate.clear()
    await light.documents.add(doc("slow", "Zoe waits."))
    await language.wait_for_calls("extract", 1)
    await light.documents.add(DIARY)
    await language.wait_for_calls("extract", 2)
    language.gate.set()
    await light.wait_until_indexed()
    assert "zoe" in await export_rows(light, "entity")


async def test_names_are_completed_as_they_are_typed(light: Engine) -> None:
    await light.documents.add(DIARY)
    await light.wait_until_indexed()
    assert await light.graph.find_names("A", HERE) == ["Ada"]
    assert await light.graph.find_names("aDa", HERE) == ["Ada"]
    assert await light.graph.find_names("", HERE) == ["Ada", "Bob", "Carla"]
    assert await light.graph.find_names("Q", HERE) == []
