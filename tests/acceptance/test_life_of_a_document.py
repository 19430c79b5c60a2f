"""A document comes, changes, moves, is corrected and is forgotten; what is left is always as if it had been so."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from engine.errors import BadInput, Empty, NotFound, Refused
from engine.models import Link, Mention, Passage, Question, Reading
from tests.support.embedder import HashEmbedder
from tests.support.engines import HERE, canonical, doc, light_engine, thread

if TYPE_CHECKING:
    from pathlib import Path

    from engine import Engine
    from tests.support.language import ToyLanguage

SHARED = "Ada met Bob."
DIARY = doc("diary", SHARED, "Ada wrote to Carla.")
LETTERS = doc("letters", SHARED, "Bob saw Dora.")


async def state(engine: Engine) -> list[str]:
    await engine.settled()
    return await canonical(engine)


async def told(engine: Engine, kind: str) -> dict[str, dict[str, Any]]:
    """The entities or relations of the export, by name."""
    rows = [json.loads(line) for line in await state(engine)]
    return {row.get("canonical") or f"{row['a']} ~ {row['b']}": row for row in rows if row["kind"] == kind}


async def clean(engine: Engine) -> bool:
    report = await engine.verify()
    assert [str(each) for each in report.differences] == []
    return report.compared > 0


async def test_forgetting_undoes_exactly(engine: Engine) -> None:
    await engine.add(DIARY)
    before = await state(engine)
    await engine.add(LETTERS)
    relations = await told(engine, "relation")
    assert relations["ada ~ bob"]["weight"] == 2
    question = Question("Whom did Bob and Dora see?", HERE, low=("Bob", "Dora"))
    assert "Dora" in await (await engine.ask(question)).text()
    assert await engine.forget("letters")
    assert not await engine.forget("letters")
    assert await state(engine) == before
    assert (await told(engine, "relation"))["ada ~ bob"]["weight"] == 1
    assert "Dora" not in await (await engine.ask(question)).text()
    assert await engine.entity("Dora", HERE) is None
    async with engine._ledger.reader() as db:
        assert not list(await db.execute_fetchall("SELECT 1 FROM reply_cache WHERE text LIKE '%Dora%'"))
        assert not list(await db.execute_fetchall("SELECT 1 FROM vector LIMIT -1 OFFSET 1"))
    assert await clean(engine)


async def test_ingesting_twice_changes_nothing(light: Engine, language: ToyLanguage) -> None:
    assert await light.add(DIARY)
    before = await state(light)
    calls = language.calls["extract"]
    assert not await light.add(DIARY)
    assert await state(light) == before
    assert language.calls["extract"] == calls
    assert await clean(light)


async def test_an_edit_back_and_forth_changes_nothing(light: Engine) -> None:
    await light.add(DIARY)
    await light.add(LETTERS)
    before = await state(light)
    await light.add(doc("diary", "Zoe met Bob.", "Ada wrote to Carla."))
    assert (await told(light, "entity"))["zoe"]["mentions"] == 1
    assert "ada ~ bob" in await told(light, "relation")
    await light.add(DIARY)
    assert await state(light) == before
    assert await clean(light)


async def test_k11_the_same_file_shared_twice_is_read_once_and_counts_twice(
    light: Engine, language: ToyLanguage
) -> None:
    await light.add(thread("first", SHARED, is_open=False))
    await light.settled()
    await light.add(thread("second", SHARED, is_open=False))
    assert (await told(light, "relation"))["ada ~ bob"]["weight"] == 2
    assert language.calls["extract"] == 1


async def test_k11_a_document_that_cannot_be_taken_in_leaves_nothing_behind(light: Engine) -> None:
    with pytest.raises(Empty):
        await light.add(doc("blank", "  ", "\n"))
    with pytest.raises(BadInput, match="same key"):
        await light.add(replace(doc("twice", "x"), passages=(Passage("p", "x"), Passage("p", "y"))))
    assert await state(light) == []


async def test_adding_and_amending_come_to_the_same(light: Engine) -> None:
    """Passages stand in the order of position, time and key, however they are handed in."""
    passages = (Passage("b", "Bob saw Ada.", position=1), Passage("a", "Ada met Bob.", position=0))
    await light.add(replace(doc("story", "x"), passages=passages))
    added = await state(light)
    await light.forget("story")
    await light.add(replace(doc("story", "x"), passages=passages[:1]))
    await light.amend("story", put=passages[1:])
    assert await state(light) == added


async def test_a_room_that_moves_takes_its_facts_along(light: Engine) -> None:
    await light.add(DIARY)
    await light.add(doc("gossip", SHARED, space="elsewhere", room="attic"))
    before = await state(light)
    assert await light.move_room("attic", "here") == 1
    assert (await told(light, "relation"))["ada ~ bob"]["weight"] == 2
    assert '"elsewhere"' not in "".join(await state(light))
    assert await light.move_room("attic", "elsewhere") == 1
    assert await state(light) == before
    assert await clean(light)


async def test_an_open_conversation_is_searchable_and_is_read_when_it_closes(
    light: Engine, language: ToyLanguage
) -> None:
    await light.add(thread("talk", "Ada met Bob."))
    await light.settled()
    assert language.calls["extract"] == 0
    assert [each.status for each in await light.documents(HERE)] == ["searchable"]
    recalled = await light.recall(Question("Ada met Bob", HERE, mode="naive"))
    assert [source.text for source in recalled.sources] == ["Ada met Bob."]
    await light.amend("talk", put=[Passage("m001", "Bob saw Dora.", position=1)], drop=["m000"], open=False)
    await light.settled()
    assert [each.status for each in await light.documents(HERE)] == ["indexed"]
    assert set(await told(light, "entity")) == {"bob", "dora"}
    assert await light.amend("talk", drop=["m001"])
    assert await state(light) == []
    with pytest.raises(NotFound):
        await light.amend("talk", drop=["m001"])


async def test_corrections_by_hand_survive_a_rebuild_and_can_be_taken_back(engine: Engine) -> None:
    await engine.add(DIARY)
    await engine.add(doc("more", "Lovelace met Dora."))
    before = await state(engine)
    await engine.merge("here", "Lovelace", "Ada")
    await engine.pin("here", "Ada", "Countess of Lovelace.")
    await engine.hide("here", "Carla")
    await engine.hide("here", "Bob", "Ada")
    spoken = Reading((Mention("Emil", "person", "The miller."),), (Link("Emil", "Ada", "neighbour", "Next door."),))
    stated = await engine.state("here", "hall", spoken)
    corrected = await state(engine)
    assert (await told(engine, "entity")).keys() == {"ada", "bob", "dora", "emil"}
    assert (await told(engine, "relation")).keys() == {"ada ~ dora", "ada ~ emil"}
    ada = await engine.entity("LOVELACE", HERE)
    assert ada is not None
    assert (ada.name, ada.description) == ("Ada", "Countess of Lovelace.")
    assert await clean(engine)
    await engine.rebuild()
    assert await state(engine) == corrected
    assert await clean(engine)
    await engine.unmerge("here", "Lovelace")
    await engine.pin("here", "Ada", "")
    await engine.unhide("here", "Carla")
    await engine.unhide("here", "Ada", "Bob")
    await engine.forget(stated)
    assert await state(engine) == before
    assert await clean(engine)


async def test_what_is_stated_by_hand_is_kept_once_and_needs_no_reader(light: Engine, language: ToyLanguage) -> None:
    spoken = Reading((Mention("Emil", "person", "The miller."),))
    key = await light.state("here", "hall", spoken)
    before = await state(light)
    assert await light.state("here", "hall", spoken) == key
    assert await state(light) == before
    assert language.calls["extract"] == 0
    with pytest.raises(BadInput):
        await light.state("here", "hall", Reading())


async def test_one_failing_chunk_fails_alone_and_retry_heals_it(light: Engine, language: ToyLanguage) -> None:
    language.failing["extract", "secret"] = Refused("not that")
    long = " ".join(["word"] * 1190)
    await light.add(doc("mixed", f"Ada met Bob. {long}", f"The secret of Carla. {long}"))
    await light.add(LETTERS)
    await light.settled()
    [letters, mixed] = await light.documents(HERE)
    assert (letters.status, letters.error) == ("indexed", "")
    assert (mixed.status, mixed.error) == ("searchable", "not that")
    assert (await light.status(HERE)).failed == 1
    assert {"ada", "bob", "dora"} == set(await told(light, "entity"))
    assert await clean(light)
    language.failing.clear()
    assert await light.retry("mixed") == 1
    await light.settled()
    assert {each.status for each in await light.documents(HERE)} == {"indexed"}
    assert "carla" in await told(light, "entity")
    assert await light.retry() == 0


async def test_a_text_that_cannot_be_embedded_fails_alone_and_retry_heals_it(tmp_path: Path) -> None:
    embedder = HashEmbedder()
    embedder.failing["secret"] = Refused("not that")
    async with light_engine(tmp_path, embedder=embedder) as engine:
        await engine.add(DIARY)
        await engine.add(doc("bad", "The secret of Carla."))
        await engine.add(LETTERS)
        await engine.settled()
        statuses = {each.key: (each.status, each.error) for each in await engine.documents(HERE)}
        assert statuses == {"bad": ("failed", "not that"), "diary": ("indexed", ""), "letters": ("indexed", "")}
        assert await clean(engine)
        embedder.failing.clear()
        assert await engine.retry() == 1
        await engine.settled()
        assert {each.status for each in await engine.documents(HERE)} == {"indexed"}
        assert await clean(engine)


async def test_a_slow_chunk_keeps_no_other_document_waiting(light: Engine, language: ToyLanguage) -> None:
    language.gate.clear()
    await light.add(doc("slow", "Zoe waits."))
    await language.asked("extract", 1)
    await light.add(DIARY)
    await language.asked("extract", 2)
    language.gate.set()
    await light.settled()
    assert "zoe" in await told(light, "entity")


async def test_names_are_completed_as_they_are_typed(light: Engine) -> None:
    await light.add(DIARY)
    await light.settled()
    assert await light.names("A", HERE) == ["Ada"]
    assert await light.names("aDa", HERE) == ["Ada"]
    assert await light.names("", HERE) == ["Ada", "Bob", "Carla"]
    assert await light.names("Q", HERE) == []
