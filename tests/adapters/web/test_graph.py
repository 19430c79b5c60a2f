"""The graph over the API: searched, expanded, checked against its sources, and corrected."""

from __future__ import annotations

from typing import Any

import pytest

from tests.adapters.web.conftest import HERE, SECRET, VAULT, Api

CORRECTIONS = "/api/v1/graph/corrections"


async def get(api: Api, path: str) -> Any:
    response = await api.call("GET", f"/api/v1/{path}")
    assert response.status_code == 200, response.text
    return response.json()


async def correct(api: Api, body: dict[str, Any]) -> Any:
    response = await api.call("POST", CORRECTIONS, body=body)
    assert response.status_code == 200, response.text
    return response.json()


@pytest.fixture
async def manager(api: Api) -> Api:
    api.token = await api.create_token("read", "manage")
    return api


async def test_a_name_is_searched_and_its_neighbors_are_drawn(api: Api) -> None:
    [mina] = (await get(api, "entities?search=mi"))["entities"]
    assert (mina["key"], mina["name"], mina["mentions"]) == ("mina", "Mina", 1)
    graph = await get(api, "graph?entity=Mina&depth=2&limit=200")
    assert graph["nodes"][0] | {"name": "Mina", "ring": 0} == graph["nodes"][0]
    keys = {node["key"] for node in graph["nodes"]}
    assert {end for edge in graph["edges"] for end in (edge["source"], edge["target"])} <= keys
    assert (await get(api, "graph?entity=Mina&type=planet"))["edges"] == []
    times = ("since=2026-01-01T00:00:00", "since=0")
    for wrong in ("entity=", *(f"entity=Mina&{time}" for time in ("depth=3", "limit=201", *times))):
        assert (await api.call("GET", f"/api/v1/graph?{wrong}")).status_code == 422
    early = await api.call("GET", "/api/v1/graph?entity=Mina&until=1999-01-01T00:00:00Z")
    assert (early.status_code, early.json()["detail"]) == (404, "Nothing of this time is known about “Mina”.")
    unknown = await api.call("GET", "/api/v1/graph?entity=Zebra&until=1999-01-01T00:00:00Z")
    assert (unknown.status_code, unknown.json()["detail"]) == (404, "There is no entity “Zebra”.")


async def test_every_fact_leads_to_its_passage(api: Api) -> None:
    found = await get(api, "graph/entity?name=Gudgeon")
    assert (found["entity"]["name"], found["names"], found["spaces"]) == ("Gudgeon", ["Gudgeon"], [HERE])
    numbers = {number for fact in found["facts"] for number in fact["sources"]}
    assert numbers == {each["number"] for each in found["sources"]} == {1}
    source = found["sources"][0]
    assert (source["title"], source["link"]) == ("Note", "https://t.example/note")
    graph = await get(api, "graph?entity=Gudgeon")
    edge = graph["edges"][0]
    relation = await get(api, f"graph/relation?source={edge['source']}&target={edge['target']}")
    assert relation["sources"][0]["link"] == "https://t.example/note"
    assert (await api.call("GET", "/api/v1/graph/relation?source=Gudgeon&target=Zebra")).status_code == 404


async def test_a_split_is_listed_with_its_rule_and_its_undo_ends_it(manager: Api) -> None:
    [key] = {source["document"] for source in (await get(manager, "graph/entity?name=Mina"))["sources"]}
    split = {"action": "split", "name": "Mina", "other": "Mina (boat)", "document": key}
    done = await correct(manager, split)
    assert (await get(manager, "graph/entity?name=Mina (boat)"))["entity"]["name"] == "Mina (boat)"
    listed = [
        correction
        for correction in (await get(manager, "graph/corrections"))["corrections"]
        if correction["kind"] == "split"
    ]
    assert [(correction["name"], correction["other"], correction["description"]) for correction in listed] == [
        ("Mina", "Mina (boat)", f"document {key}")
    ]
    await correct(manager, done["undo"])
    assert (await manager.call("GET", "/api/v1/graph/entity?name=Mina (boat)")).status_code == 404
    without_part = split | {"document": ""}
    assert (await manager.call("POST", "/api/v1/graph/corrections", body=without_part)).status_code == 422


async def test_a_correction_shows_at_once_and_its_undo_ends_it(manager: Api) -> None:
    merged = await correct(manager, {"action": "merge", "name": "Mina", "other": "Gudgeon"})
    assert (await get(manager, "graph/entity?name=Mina"))["entity"]["name"] == "Gudgeon"
    listed = await get(manager, "graph/corrections")
    assert listed["spaces"] == [HERE]
    assert [(correction["kind"], correction["name"], correction["other"]) for correction in listed["corrections"]] == [
        ("merge", "Mina", "Gudgeon")
    ]
    await correct(manager, merged["undo"])
    assert (await get(manager, "graph/entity?name=Mina"))["entity"]["name"] == "Mina"
    hidden = await correct(manager, {"action": "hide", "name": "Mina"})
    assert (await manager.call("GET", "/api/v1/graph/entity?name=Mina")).status_code == 404
    await correct(manager, hidden["undo"])
    pinned = await correct(manager, {"action": "describe", "name": "Mina", "description": "She sells tickets."})
    described = await get(manager, "graph/entity?name=Mina")
    assert (described["entity"]["description"], described["is_pinned"]) == ("She sells tickets.", True)
    await correct(manager, pinned["undo"])
    assert not (await get(manager, "graph/entity?name=Mina"))["is_pinned"]
    await correct(manager, {"action": "hide", "name": "Mina", "other": "Gudgeon"})
    separated = await correct(manager, {"action": "separate", "name": "Mina", "other": "Gudgeon"})
    pages = [await get(manager, f"graph/corrections?limit=1&offset={offset}") for offset in (0, 1, 2)]
    kinds = [([correction["kind"] for correction in page["corrections"]], page["has_more"]) for page in pages]
    assert kinds == [(["separate"], True), (["hide"], False), ([], False)]
    await correct(manager, separated["undo"])
    again = await manager.call("POST", CORRECTIONS, body=separated["undo"])
    assert (again.status_code, again.json()["title"]) == (409, "CorrectionChanged")
    assert [correction["kind"] for correction in (await get(manager, "graph/corrections"))["corrections"]] == ["hide"]


async def test_an_undo_leads_back_to_the_correction_of_another_person(manager: Api) -> None:
    first = {"action": "describe", "name": "Mina", "description": "She sells tickets."}
    await correct(manager, first)
    second = await correct(manager, {**first, "description": " She owns the ferry. "})
    assert (second["undo"]["removed"][0]["description"], second["undo"]["space"]) == ("She sells tickets.", HERE)
    await correct(manager, second["undo"])
    assert (await get(manager, "graph/entity?name=Mina"))["entity"]["description"] == "She sells tickets."
    assert (await correct(manager, first))["undo"] is None  # it was so before
    merged = await correct(manager, {"action": "merge", "name": "Mina", "other": "Gudgeon"})
    assert (await correct(manager, {"action": "merge", "name": "mina", "other": "gudgeon"}))["undo"] is None
    parted = await correct(manager, merged["undo"])
    assert [(each["kind"], each["other"]) for each in parted["undo"]["removed"]] == [("merge", "gudgeon")]
    hide = {"action": "hide", "name": "Mina"}
    assert (await correct(manager, hide))["undo"]["made"][0]["kind"] == "hide"
    assert (await correct(manager, hide))["undo"] is None


async def test_a_correction_needs_the_permission_and_names_of_its_space(manager: Api) -> None:
    reader = await manager.create_token("ask", "read", "write")
    hide = {"action": "hide", "name": "Mina"}
    for method, path, body in (("POST", CORRECTIONS, hide), ("GET", CORRECTIONS, None)):
        assert (await manager.call(method, path, token=reader, body=body)).status_code == 403
    merge = {"action": "merge", "name": "Mina", "other": SECRET.title(), "space": VAULT}
    refused = await manager.call("POST", CORRECTIONS, body=merge)
    assert refused.status_code == 404
    alias = {"kind": "merge", "name": "Mina", "other": SECRET.title()}
    undo = {"action": "undo", "name": "Mina", "space": VAULT, "removed": [alias]}
    assert (await manager.call("POST", CORRECTIONS, body=undo)).status_code == 404
    for wrong in (*({"action": name, "name": "Mina"} for name in ("undo", "merge", "burn")), {"action": "hide"}):
        assert (await manager.call("POST", CORRECTIONS, body=wrong)).status_code == 422
    for path in ("entities", f"entities?search={SECRET}", "graph/entity?name=Mina", "graph?entity=Mina&depth=2"):
        assert SECRET not in (await manager.call("GET", f"/api/v1/{path}")).text.casefold()
