"""The explorer shows what its viewer may read, and offers corrections to those who may make them."""

from __future__ import annotations

import html
import json

import pytest

from adapters.web.pages.graph import name_space
from bot.store import Permission
from tests.adapters.web.conftest import SECRET, Api

OWN = {"Origin": "http://testserver", "Sec-Fetch-Site": "same-origin"}
PARTS = ("/graph", "/graph/entities?search=Mi", "/graph/around?entity=Mina", "/graph/details?name=Mina")
HIDE = {"action": "hide", "name": "Mina"}


async def enter(api: Api, *permissions: Permission) -> None:
    token = await api.create_token(*permissions)
    api.client.cookies.set("__Host-threadlore", token)


async def test_a_name_leads_to_its_neighbors_and_their_passages(api: Api) -> None:
    await enter(api, "read", "manage")
    shown = [(await api.client.get(path)).text for path in PARTS]
    assert all("Mina" in text for text in shown)
    assert "https://t.example/note" in shown[-1]
    assert "data-action=" in shown[-1]
    relation = await api.client.get("/graph/details?name=Mina&other=Gudgeon")
    assert relation.status_code in {200, 404}
    for path in ("/graph", "/graph/entities?search=zir", "/graph/around?entity=Vault", "/graph/details?name=Vault"):
        assert SECRET not in (await api.client.get(path)).text
    assert (await api.client.get("/graph/details?name=Vault", headers={"Accept": "*/*"})).status_code == 404


async def test_a_correction_needs_the_permission_and_comes_from_the_page(api: Api) -> None:
    await enter(api, "read")
    assert "data-action=" not in (await api.client.get("/graph/details?name=Mina")).text
    assert (await api.client.post("/graph/corrections", json=HIDE, headers=OWN)).status_code == 403
    await enter(api, "read", "manage")
    assert (await api.client.post("/graph/corrections", json=HIDE)).status_code == 403
    done = await api.client.post("/graph/corrections", json=HIDE, headers=OWN)
    listed = html.unescape((await api.client.get("/graph/corrections")).text)
    undo = json.loads(listed.partition('data-undo="')[2].partition('">')[0])
    assert (undo["action"], undo["space"], "data-offset" in listed) == ("undo", done.json()["undo"]["space"], False)
    await api.client.post("/graph/corrections", json=undo, headers=OWN)
    assert "Mina" in (await api.client.get("/graph/details?name=Mina")).text


@pytest.mark.parametrize(
    ("space", "words"),
    [
        ("slack:T1:open", "Public channels"),
        ("slack:T1:dm:U1", "Your own files"),
        ("slack:T1:C1", "Channel C1"),
        ("console:local", "This computer"),
    ],
)
def test_a_space_is_named_by_who_reads_it(space: str, words: str) -> None:
    assert name_space(space) == words
