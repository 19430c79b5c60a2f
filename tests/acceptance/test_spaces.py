"""Two spaces know the same names; nothing of one is ever visible through a scope without it."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any, get_args

import pytest

from engine import Engine
from engine.models import ChatTurn, Document, Filters, Passage, Question, RetrievalMode, Scope
from engine.storage.ledger.records.query_results import IndexStatus
from tests.support.engine_fixture import doc

OPEN = Scope(frozenset({"open"}), frozenset())
CLOSED = Scope(frozenset({"closed"}), frozenset())
BOTH = Scope(frozenset({"open", "closed"}), frozenset())
ROOM = Scope(frozenset(), frozenset({"square"}))
NOTHING = Scope(frozenset(), frozenset())
SECRETS = ("zanzibarine", "quillfeather", "Quillfeather", "mirabellum", "vault", "Vault Of Closed")
MODES = [mode for mode in get_args(RetrievalMode) if mode != "bypass"]
QUESTIONS = ("Whom did Ada meet?", "What of the zanzibarine Quillfeather?", "Ada Bob mirabellum")


@pytest.fixture
async def town(light: Engine) -> Engine:
    await light.documents.add(doc("news", "Ada met Bob.", "Bob saw Carla.", space="open", room="square"))
    secret = ("Ada met Bob zanzibarine.", "Ada met Quillfeather.", "Bob kept Ada in a vault.", "Carla, mirabellum.")
    await light.documents.add(
        doc("vault of closed", *secret, *[f"Ada did {n}." for n in range(9)], space="closed", room="vault")
    )
    await light.wait_until_indexed()
    await light.corrections.merge("closed", "Enchantress", "Ada", allow_unknown=True)
    await light.corrections.describe("closed", "Bob", "Keeper of the mirabellum.")
    await light.wait_until_indexed()
    return light


async def visible_output(engine: Engine, scope: Scope) -> str:
    """All that the engine gives out through a scope, as one text."""
    told: list[Any] = [await engine.documents.list(scope), await engine.maintenance.get_status(scope)]
    told += [await engine.graph.find_names(prefix, scope) for prefix in ("", "a", "q", "e")]
    for name in ("Ada", "Bob", "Carla", "Quillfeather", "Enchantress"):
        told += [await engine.graph.get_entity(name, scope), await engine.graph.get_neighborhood(name, scope)]
    for text in QUESTIONS:
        for mode in MODES:
            question = Question(text, scope, mode=mode, threshold=-1.0)
            context = await engine.retrieve(question)
            told += [context.entities, context.relations, context.sources]
    told += [line async for line in engine.maintenance.export("jsonl", scope)]
    told += [line async for line in engine.maintenance.export("graphml", scope)]
    return "\n".join(map(str, told))


async def ask_all_modes(engine: Engine, scope: Scope) -> str:
    """Answers and prompts, without the question's own words."""
    told: list[Any] = []
    for mode in MODES:
        question = Question("Ada Bob", scope, mode=mode, threshold=-1.0, history=(ChatTurn("user", "Carla"),))
        answer = await engine.ask(question)
        told += [await answer.collect_text(), answer.sources, await engine.build_messages(question)]
    return "\n".join(map(str, told))


async def test_planted_text_is_visible_only_in_its_space(town: Engine) -> None:
    through_closed = await visible_output(town, CLOSED)
    assert [word for word in SECRETS if word not in through_closed] == []
    found = await visible_output(town, OPEN)
    assert [word for word in SECRETS if word in found.replace(QUESTIONS[1], "").replace(QUESTIONS[2], "")] == []


async def test_answers_and_what_the_model_is_sent_hold_nothing_of_the_other_space(town: Engine) -> None:
    through_closed = await ask_all_modes(town, CLOSED)
    assert "zanzibarine" in through_closed
    for scope in (OPEN, ROOM):
        through = await ask_all_modes(town, scope)
        assert "Ada met Bob." in through
        assert [word for word in SECRETS if word in through] == []
    assert "zanzibarine" in await ask_all_modes(town, BOTH)
    assert [word for word in SECRETS if word in await ask_all_modes(town, OPEN)] == []  # also from the cache


async def test_shared_entity_shows_only_the_counts_of_the_scope(town: Engine) -> None:
    alone = await town.graph.get_neighborhood("Ada", OPEN)
    assert [(relation.source, relation.target, relation.weight) for relation in alone.relations] == [("Ada", "Bob", 1)]
    assert alone.entity is not None
    assert alone.entity.description == "Ada met Bob."
    lines = [json.loads(line) async for line in town.maintenance.export("jsonl", OPEN)]
    [ada] = [line for line in lines if line["kind"] == "entity" and line["canonical"] == "ada"]
    assert (ada["mentions"], ada["degree"]) == (1, 1)
    together = await town.graph.get_neighborhood("Ada", BOTH)
    assert [
        relation.weight for relation in together.relations if {relation.source, relation.target} == {"Ada", "Bob"}
    ] == [2]


async def test_status_ignores_the_other_space(town: Engine) -> None:
    before = await town.maintenance.get_status(OPEN)
    await town.documents.add(doc("more", "Ada met Zoe. Zoe met Bob.", space="closed", room="vault"))
    assert await town.maintenance.get_status(OPEN) == before
    await town.wait_until_indexed()
    assert await town.maintenance.get_status(OPEN) == before


async def export_text(engine: Engine, scope: Scope) -> str:
    """All that is exported through a scope."""
    lines = [line async for line in engine.maintenance.export("jsonl", scope)]
    return "\n".join(lines + [line async for line in engine.maintenance.export("graphml", scope)])


@pytest.mark.parametrize("way", ["move", "forget"])
async def test_export_omits_removed_facts_before_projection(light: Engine, way: str) -> None:
    await light.documents.add(
        doc("news", "Ada met Bob.", "Bob saw Ada.", "Ada met Bob, says Carla.", space="open", room="square")
    )
    await light.documents.add(
        doc("secret", "Ada met Bob zanzibarine.", "Quillfeather met Ada.", space="open", room="vault")
    )
    await light.wait_until_indexed()
    assert "zanzibarine" in await export_text(light, OPEN)
    async with light._projector.suspend():
        await (light.documents.move_room("vault", "closed") if way == "move" else light.documents.forget("secret"))
        left = await export_text(light, OPEN)
        assert [word for word in ("zanzibarine", "Quillfeather", "quillfeather") if word in left] == []
        shown = await light.graph.get_entity("Ada", OPEN)
        assert shown is not None
        assert "Carla" in shown.description or "saw" in shown.description
        assert "zanzibarine" not in shown.description
    await light.wait_until_indexed()
    assert "zanzibarine" not in await export_text(light, OPEN)


async def test_what_is_pinned_or_hidden_shows_at_once(light: Engine) -> None:
    await light.documents.add(doc("news", "Ada met Bob.", "Bob saw Carla.", space="open", room="square"))
    await light.wait_until_indexed()
    async with light._projector.suspend():
        await light.corrections.describe("open", "Bob", "Keeper of keys.")
        await light.corrections.hide("open", "Carla")
        around = await light.graph.get_neighborhood("Bob", OPEN)
        assert around.entity is not None
        assert around.entity.description == "Keeper of keys."
        assert [(relation.source, relation.target) for relation in around.relations] == [("Ada", "Bob")]
        assert await light.graph.get_entity("Carla", OPEN) is None
        context = await light.retrieve(Question("Bob Carla", OPEN, mode="local", threshold=-1.0))
        assert {row.name: row.description for row in context.entities}["Bob"] == "Keeper of keys."
        assert "Carla" not in [row.name for row in context.entities]


async def test_an_alias_made_in_one_space_leads_nowhere_in_the_other(town: Engine) -> None:
    assert await town.graph.get_entity("Enchantress", CLOSED) is not None
    assert await town.graph.get_entity("Enchantress", OPEN) is None


async def test_a_scope_of_rooms_has_passages_and_no_graph(town: Engine) -> None:
    for mode in MODES:
        context = await town.retrieve(Question("Whom did Ada meet?", ROOM, mode=mode, threshold=-1.0))
        assert (context.entities, context.relations) == ((), ())
        assert {source.room for source in context.sources} == {"square"}
    assert await town.graph.find_names("", ROOM) == []
    assert await town.graph.get_entity("Ada", ROOM) is None
    assert (await town.graph.get_neighborhood("Ada", ROOM)).relations == ()
    status = await town.maintenance.get_status(ROOM)
    assert (status.documents, status.entities, status.relations) == ({"indexed": 1}, 0, 0)


async def test_a_room_of_another_space_may_be_added_to_a_scope(town: Engine) -> None:
    scope = Scope(frozenset({"closed"}), frozenset({"square"}))
    context = await town.retrieve(Question("Whom did Ada meet?", scope, threshold=-1.0))
    assert {source.room for source in context.sources} == {"vault", "square"}
    assert all("Carla" not in (row.source, row.target) for row in context.relations)


async def test_an_empty_scope_gives_nothing(town: Engine) -> None:
    for scope in (NOTHING, Scope(frozenset({"nowhere"}), frozenset({"no room"}))):
        for mode in MODES:
            assert (await town.retrieve(Question("Ada", scope, mode=mode, threshold=-1.0))).is_empty
        assert await town.documents.list(scope) == []
        assert await town.maintenance.get_status(scope) == IndexStatus({}, 0, 0, 0, 0, 0, 0, 0)
        assert [line async for line in town.maintenance.export("jsonl", scope)] == []


async def test_a_question_may_be_narrowed_to_documents_rooms_authors_and_times(light: Engine) -> None:
    noon = datetime(2026, 11, 20, 12, tzinfo=UTC)
    for n, author in enumerate(("Ada", "Bob")):
        passages = (
            Passage("m", f"Zoe met Carla, says number {n}.", author=author, time=noon.replace(hour=10 + 4 * n)),
        )
        room = ("square", "hall")[n]
        await light.documents.add(Document(f"talk {n}", "open", room, f"Talk {n}", passages, kind="conversation"))
    await light.wait_until_indexed()

    async def texts(**narrow: Any) -> set[str]:
        question = Question("Zoe met Carla", OPEN, filters=Filters(**narrow), threshold=-1.0)
        context = await light.retrieve(question)
        told = " ".join([row.description for row in context.entities] + [row.description for row in context.relations])
        numbers = {source.text[-2] for source in context.sources}
        assert {n for n in "01" if f"number {n}" in told} == numbers
        return numbers

    assert await texts() == {"0", "1"}
    assert await texts(documents=frozenset({"talk 0"})) == {"0"}
    assert await texts(rooms=frozenset({"hall"})) == {"1"}
    assert await texts(authors=frozenset({"Ada"})) == {"0"}
    assert await texts(since=noon) == {"1"}
    assert await texts(until=noon) == {"0"}
    assert await texts(until=noon, authors=frozenset({"Bob"})) == set()


async def test_a_context_names_the_spaces_whose_facts_it_tells(town: Engine) -> None:
    told = {}
    for scope in (OPEN, CLOSED, BOTH, ROOM, NOTHING):
        context = await town.retrieve(Question("Whom did Ada meet?", scope, threshold=-1.0))
        told[scope] = context.spaces
    assert told == {OPEN: ("open",), CLOSED: ("closed",), BOTH: ("closed", "open"), ROOM: (), NOTHING: ()}
