from __future__ import annotations

from bot.graph_image.model import GraphModel, build_graph_model
from engine.models import ContextEntity
from engine.retrieval.retriever import Neighborhood
from tests.bot.graph_image.town import around, link, row


def names(drawn: GraphModel, ring: int) -> list[str]:
    return [node.name for node in drawn.nodes if node.ring == ring]


def test_an_unknown_name_has_no_picture() -> None:
    assert build_graph_model(Neighborhood(None)).nodes == ()


def test_the_name_that_was_asked_for_stands_in_the_middle_and_the_weightiest_come_first() -> None:
    drawn = build_graph_model(around("Ada", ["Bob", "Carla", "Dan"], [1, 5, 2]))
    assert drawn.center.name == "Ada"
    assert names(drawn, 1) == ["Carla", "Dan", "Bob"]


def test_names_behind_are_added_with_the_links_between_those_that_are_shown() -> None:
    drawn = build_graph_model(around("Ada", ["Bob", "Carla"]), [around("Bob", ["Carla", "Eve", "Ada"])])
    assert names(drawn, 2) == ["Eve"]
    assert {edge.ends for edge in drawn.edges} == {("ada", "bob"), ("ada", "carla"), ("bob", "carla"), ("bob", "eve")}


def test_one_name_brings_only_a_few_along() -> None:
    drawn = build_graph_model(around("Ada", ["Bob"]), [around("Bob", [f"N{n}" for n in range(9)])])
    assert len(names(drawn, 2)) == 3


def test_there_are_never_more_names_than_can_be_read() -> None:
    first = [f"A{n:02}x" for n in range(60)]
    drawn = build_graph_model(around("Ada", first), [around(name, ["Zed", "Yan"]) for name in first])
    assert len(drawn.nodes) == 40
    shown = {node.key for node in drawn.nodes}
    assert all(set(edge.ends) <= shown for edge in drawn.edges)


def test_a_link_tells_its_first_keyword_only() -> None:
    near = Neighborhood(
        row("Ada"), (link("Bob", "Ada", 2.0, "letters, friends"),), (ContextEntity("Bob", "person", ""),)
    )
    assert [edge.keyword for edge in build_graph_model(near).edges] == ["letters"]


def test_spellings_of_one_name_are_one_node() -> None:
    drawn = build_graph_model(around("Ada", ["Bob"]), [around("BOB", ["ada", "Eve"])])
    assert sorted(node.key for node in drawn.nodes) == ["ada", "bob", "eve"]
