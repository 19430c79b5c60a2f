from __future__ import annotations

from datetime import UTC, datetime

from engine import Subgraph, SubgraphQuery
from engine.models import Scope
from tests.support.engine_fixture import HERE, doc
from tests.support.indexed_engine import OpenIndexed

SPRING, AUTUMN = datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 9, 1, tzinfo=UTC)
SUMMER = datetime(2026, 6, 1, tzinfo=UTC)
TOWN = (
    doc("a", "Ada met Bob.", time=SPRING),
    doc("b", "Ada met Bob again.", time=AUTUMN),
    doc("c", "Ada saw Carla.", time=AUTUMN),
    doc("d", "Bob saw Carla.", time=AUTUMN),
    doc("e", "Carla owns Dory.", time=AUTUMN),
    doc("vault", "Ada hid Zircon.", space="cellar"),
)
ADA = SubgraphQuery("Ada", HERE)


def names(graph: Subgraph) -> list[str]:
    return [node.name for node in graph.nodes]


def edges(graph: Subgraph) -> list[tuple[str, str, int]]:
    return [(edge.source, edge.target, edge.weight) for edge in graph.edges]


async def test_a_subgraph_holds_the_strongest_neighbors_and_all_relations_between_them(indexed: OpenIndexed) -> None:
    engine = await indexed(*TOWN)
    near = await engine.graph.get_subgraph(ADA)
    assert names(near) == ["Ada", "Bob", "Carla"]
    assert edges(near) == [("ada", "bob", 2), ("ada", "carla", 1), ("bob", "carla", 1)]
    assert (near.has_more, near.spaces) == (False, ("here",))
    assert (near.nodes[0].degree, near.nodes[0].mentions) == (2, 3)
    far = await engine.graph.get_subgraph(SubgraphQuery("ADA", HERE, depth=2))
    assert [(node.name, node.ring) for node in far.nodes] == [("Ada", 0), ("Bob", 1), ("Carla", 1), ("Dory", 2)]
    few = await engine.graph.get_subgraph(SubgraphQuery("Ada", HERE, limit=1))
    assert (names(few), few.has_more) == (["Ada", "Bob"], True)
    assert await engine.graph.get_subgraph(SubgraphQuery("Zebra", HERE)) == Subgraph()


async def test_types_and_times_leave_out_entities_and_facts(indexed: OpenIndexed) -> None:
    engine = await indexed(*TOWN)
    early = await engine.graph.get_subgraph(SubgraphQuery("Ada", HERE, until=SUMMER))
    assert (names(early), edges(early)) == (["Ada", "Bob"], [("ada", "bob", 1)])
    assert "again" not in early.nodes[0].description
    late = await engine.graph.get_subgraph(SubgraphQuery("Ada", HERE, since=SUMMER))
    assert edges(late) == [("ada", "bob", 1), ("ada", "carla", 1), ("bob", "carla", 1)]
    fact = await engine.graph.search("Bob", HERE)
    typed = await engine.graph.get_subgraph(SubgraphQuery("Ada", HERE, types=(fact[0].type,)))
    assert names(typed) == ["Ada", "Bob", "Carla"]
    assert names(await engine.graph.get_subgraph(SubgraphQuery("Ada", HERE, types=("planet",)))) == ["Ada"]


async def test_what_another_space_states_is_not_in_a_subgraph(indexed: OpenIndexed) -> None:
    engine = await indexed(*TOWN)
    for query in (ADA, SubgraphQuery("Ada", HERE, depth=2), SubgraphQuery("Ada", HERE, since=SPRING)):
        assert "zircon" not in str(await engine.graph.get_subgraph(query)).casefold()
    both = await engine.graph.get_subgraph(SubgraphQuery("Ada", Scope.of("here", "cellar")))
    assert (set(names(both)), both.spaces) == ({"Ada", "Bob", "Carla", "Zircon"}, ("cellar", "here"))
    assert both.nodes[0].degree == 3
    assert (
        await engine.graph.get_subgraph(SubgraphQuery("Ada", Scope(frozenset(), frozenset({TOWN[0].room}))))
        == Subgraph()
    )


async def test_an_alias_leads_to_its_name_within_its_space(indexed: OpenIndexed) -> None:
    engine = await indexed(*TOWN)
    await engine.corrections.merge("here", "Bob", "Ada")
    await engine.wait_until_indexed()
    merged = await engine.graph.get_subgraph(SubgraphQuery("Bob", HERE))
    assert (names(merged), edges(merged)) == (["Ada", "Carla"], [("ada", "carla", 2)])
    await engine.corrections.hide("here", "Carla")
    assert names(await engine.graph.get_subgraph(ADA)) == ["Ada"]
