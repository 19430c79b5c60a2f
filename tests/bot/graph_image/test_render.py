from __future__ import annotations

import asyncio

import pytest

from bot.context import EngineContext
from bot.graph_image.model import build_graph_model
from bot.graph_image.render import build_alt_text, load_graph_model, render_graph
from engine.errors import NotFound
from engine.models import Document, Passage, Scope
from tests.bot.graph_image.town import around

HERE = Scope(frozenset({"here"}), frozenset())


async def tell(engine_context: EngineContext, text: str, space: str = "here") -> None:
    await engine_context.engine.documents.add(Document(f"{space}:{text}", space, "room", "Note", (Passage("1", text),)))
    await engine_context.engine.wait_until_indexed()


async def test_a_name_is_seen_with_what_lies_behind_its_neighbors(engine_context: EngineContext) -> None:
    await tell(engine_context, "Ada met Bob. Bob met Carla.")
    near, drawn = await load_graph_model(engine_context.engine, "ada", HERE)
    assert near.entity is not None
    assert [(node.name, node.ring) for node in drawn.nodes] == [("Ada", 0), ("Bob", 1), ("Carla", 2)]


async def test_nothing_of_another_space_is_in_the_picture(engine_context: EngineContext) -> None:
    await tell(engine_context, "Ada met Bob.")
    await tell(engine_context, "Ada met Mallory. Bob met Mallory.", "elsewhere")
    _, drawn = await load_graph_model(engine_context.engine, "Ada", HERE)
    assert {node.name for node in drawn.nodes} == {"Ada", "Bob"}


async def test_an_unknown_name_is_answered_with_names_of_the_scope_that_are_alike(
    engine_context: EngineContext,
) -> None:
    await tell(engine_context, "Ada met Bob.")
    await tell(engine_context, "Adam met Adalbert.", "elsewhere")
    with pytest.raises(NotFound) as caught:
        await load_graph_model(engine_context.engine, "Adan", HERE)
    assert "Ada?" in caught.value.hint
    assert "Adalbert" not in caught.value.hint


async def test_a_picture_is_drawn_while_the_loop_goes_on() -> None:
    drawn = build_graph_model(around("Ada Lovelace", ["Bob", "Carla"]))
    beats = 0

    async def beat() -> None:
        nonlocal beats
        while True:
            await asyncio.sleep(0.001)
            beats += 1

    beating = asyncio.create_task(beat())
    made = await render_graph(drawn)
    beating.cancel()
    assert beats > 1
    assert made.picture.name == "ada-lovelace.png"
    assert made.picture.data.startswith(b"\x89PNG")


@pytest.mark.long
async def test_pictures_drawn_at_once_are_as_those_drawn_alone() -> None:
    drawn = [build_graph_model(around(name, ["Bob", "Carla"])) for name in ("Ada", "Eve")]
    alone = [(await render_graph(model)).picture.data for model in drawn]
    assert [result.picture.data for result in await asyncio.gather(*map(render_graph, drawn))] == alone


async def test_a_name_without_drawable_letters_is_told_by_number() -> None:
    made = await render_graph(build_graph_model(around("Ada", ["\U0001e900\U0001e901"])))
    assert made.numbered_names in ({"№ 1": "\U0001e900\U0001e901"}, {})  # empty where a font has these letters
    assert "\U0001e900\U0001e901" in made.picture.alt_text


def test_the_words_tell_what_the_picture_shows() -> None:
    words = build_alt_text(build_graph_model(around("Ada", ["Bob", "Carla"], [1, 4])))
    assert words.startswith("A graph of Ada (")
    assert "and 2 names around it. Ada – Carla (trade); Ada – Bob (trade)." in words


def test_the_words_of_a_full_picture_are_short_enough_for_an_alternative_text() -> None:
    words = build_alt_text(build_graph_model(around("Ada", [f"Somebody of the harbour {n}" for n in range(39)])))
    assert len(words) <= 902
    assert words.endswith("…")
