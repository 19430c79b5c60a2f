from __future__ import annotations

from datetime import UTC, datetime

from engine.models import Document, Passage, Scope
from tests.support.engine_fixture import HERE, doc
from tests.support.indexed_engine import OpenIndexed

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
TALK = Document(
    "talk",
    "here",
    "hall",
    "#hall",
    (
        Passage("1", "Ada rows the Ferry.", "line 1", "https://t.example/1", "Bob", NOON),
        Passage("2", "It rains.", "line 2", "https://t.example/2", "Bob", NOON),
        Passage("3", "Ada paints the Harbor.", "line 3", "https://t.example/3", "Bob", NOON),
    ),
)
SECRET = doc("vault", "Ada hid Zircon.", space="cellar")


async def test_every_fact_leads_to_the_passages_that_state_it(indexed: OpenIndexed) -> None:
    engine = await indexed(TALK, doc("note", "Ada keeps the Inn."), SECRET)
    found = await engine.graph.get_provenance("ada", HERE)
    assert found.entity is not None
    assert (found.entity.name, found.names, found.spaces, found.is_pinned) == ("Ada", ("Ada",), ("here",), False)
    by_text = {fact.description: fact for fact in found.facts}
    sources = {source.number: source for source in found.sources}
    [rowing] = [fact for text, fact in by_text.items() if "Ferry" in text]
    assert [(sources[number].link, sources[number].author) for number in rowing.sources] == [
        ("https://t.example/1", "Bob")
    ]
    assert rowing.time == NOON
    assert sorted(sources) == [1, 2, 3]
    assert "zircon" not in str(found).casefold()
    assert len((await engine.graph.get_provenance("Ada", HERE, limit=1)).facts) == 1


async def test_a_relation_has_its_facts_and_an_unknown_one_has_none(indexed: OpenIndexed) -> None:
    engine = await indexed(TALK, SECRET)
    found = await engine.graph.get_provenance("Ferry", HERE, "Ada")
    assert found.relation is not None
    assert {found.relation.source, found.relation.target} == {"Ada", "Ferry"}
    assert [(source.link, source.text) for source in found.sources] == [("https://t.example/1", "Ada rows the Ferry.")]
    for name, other, scope in (("Ada", "Zircon", HERE), ("Ada", "Nobody", HERE), ("Zircon", "", HERE)):
        unknown = await engine.graph.get_provenance(name, scope, other)
        assert (unknown.entity, unknown.relation, unknown.facts, unknown.sources) == (None, None, (), ())
    both = await engine.graph.get_provenance("Ada", Scope.of("here", "cellar"))
    assert both.spaces == ("cellar", "here")


async def test_a_merged_and_described_entity_says_so(indexed: OpenIndexed) -> None:
    engine = await indexed(TALK, doc("note", "Lovelace keeps the Inn."))
    await engine.corrections.merge("here", "Lovelace", "Ada")
    await engine.corrections.describe("here", "Ada", "She wrote it.")
    await engine.wait_until_indexed()
    found = await engine.graph.get_provenance("Lovelace", HERE)
    assert found.entity is not None
    assert (found.entity.name, found.entity.description, found.is_pinned) == ("Ada", "She wrote it.", True)
    assert set(found.names) == {"Ada", "Lovelace"}
    made = [(each.kind, each.name, each.other, each.description) for each in await engine.corrections.list(HERE)]
    assert made == [("merge", "Lovelace", "Ada", "Ada"), ("describe", "Ada", "", "She wrote it.")]
    assert await engine.corrections.list(Scope.of("cellar")) == []
