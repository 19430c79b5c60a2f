from __future__ import annotations

from engine.engine import Engine
from engine.models import Scope
from tests.support.engine_fixture import HERE, doc
from tests.support.indexed_engine import OpenIndexed

SECRET = doc("vault", "Zircon opens the Vault.", space="cellar")
TOWN = (doc("ferry", "Ada rows the Ferry to Brook."), doc("inn", "Bob keeps the Inn at Brook."), SECRET)


async def find(engine: Engine, text: str, scope: Scope = HERE) -> list[str]:
    return [each.name for each in await engine.graph.search(text, scope)]


async def test_names_are_found_by_their_start_a_word_or_a_similar_spelling(indexed: OpenIndexed) -> None:
    engine = await indexed(*TOWN)
    await engine.documents.add(doc("long", "Old Mill. Ada met Bob.", "Grist"))
    await engine.corrections.merge("here", "Boat", "Ferry", allow_unknown=True)
    await engine.wait_until_indexed()
    assert [await find(engine, text) for text in ("fer", "FERRY", "boat", "Brok", "xyz")] == [
        ["Ferry"],
        ["Ferry"],
        ["Ferry"],
        ["Brook"],
        [],
    ]
    [brook] = await engine.graph.search("Brook", HERE)
    assert (brook.key, brook.mentions, brook.degree) == ("brook", 2, 2)
    assert {"Ada", "Bob", "Brook"} <= set(await find(engine, ""))


async def test_a_name_of_another_space_is_found_by_nothing(indexed: OpenIndexed) -> None:
    engine = await indexed(*TOWN)
    for text in ("Zircon", "zir", "Zirkon", "Vault", ""):
        assert not {"Zircon", "Vault"} & set(await find(engine, text))
    rooms = Scope(frozenset(), frozenset({SECRET.room}))
    assert await find(engine, "Zircon", rooms) == []
    assert await find(engine, "Zirkon", Scope.of("cellar")) == ["Zircon"]
