"""What a token answers is what its person could ask for privately, at that moment."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import httpx
import pytest

from adapters.web.app import build_app
from bot.capabilities.access.control import AccessControl
from bot.rpc.service import LocalService
from bot.server import build_deps
from bot.store import Subject
from tests.support.town.live_bot import LiveBot
from tests.support.town.slack import SlackTown
from tests.support.verbatim_language import QUESTION, find_secrets

pytestmark = pytest.mark.asyncio(loop_scope="module")


class TokenHolders:
    """Programs of the people of a town; each asks with a token of its own."""

    def __init__(self, live: LiveBot[Any]) -> None:
        self._live = live
        self._tokens: dict[str, str] = {}
        service = LocalService(build_deps(live.bot))
        transport = httpx.ASGITransport(build_app(service, service.clock), raise_app_exceptions=False)
        self.client = httpx.AsyncClient(transport=transport, base_url="http://testserver")

    async def get_token(self, person: str) -> str:
        if person not in self._tokens:
            [place] = {each.workspace for each in await self.list_joined()}
            subject = Subject(self._live.town.platform, place, str(self._live.town.person(person).id))
            access = AccessControl(self._live.bot.store, self._live.bot.clock)
            made = await access.create_token(person, subject, ("ask", "read", "write", "manage"), 1000, None)
            self._tokens[person] = made[1]
        return self._tokens[person]

    async def call(
        self, person: str, path: str, body: dict[str, Any] | None = None, method: str = ""
    ) -> httpx.Response:
        headers = {"Authorization": f"Bearer {await self.get_token(person)}"}
        return await self.client.request(method or ("POST" if body else "GET"), path, headers=headers, json=body)

    async def upload(self, person: str, name: str, text: str) -> httpx.Response:
        headers = {"Authorization": f"Bearer {await self.get_token(person)}"}
        return await self.client.post("/api/v1/documents", headers=headers, files={"file": (name, text.encode())})

    async def ask(self, person: str) -> str:
        """The passwords in an answer and in everything that comes with it."""
        texts = [(await self.call(person, f"/api/v1/{path}", {"question": QUESTION})).text for path in PATHS]
        texts.append((await self.call(person, "/api/v1/documents")).text)
        texts.append((await self.call(person, "/api/v1/summaries", {"kind": "digest"})).text)
        return find_secrets("\n".join(texts))

    async def list_joined(self) -> list[Any]:
        return list(await self._live.bot.store.channels.list_joined(self._live.town.platform))


PATHS = ("query", "query/stream", "query/data")
CORRECTIONS = "/api/v1/graph/corrections"
EXPLORED = (
    *(f"entities?search={text}" for text in ("", "Zir", "Zirkon%20Vale", "Mill")),
    *(f"graph?entity={name}&depth=2&limit=200" for name in ("Ada%20Mill", "Zircon%20Vale")),
    *(f"graph/entity?name={name}" for name in ("Ada%20Mill", "Zircon%20Vale")),
    "graph?entity=Ada%20Mill&since=2020-01-01T00:00:00Z",
    "graph/relation?source=Ada%20Mill&target=Zircon%20Vale",
    "graph/corrections",
)


@pytest.mark.long
async def test_channels_are_named_over_http_as_in_the_chat(live: LiveBot[Any]) -> None:
    town = live.town
    town.add_channel("square", "ada bob")
    town.add_channel("cellar", "ada", "private")
    await live.post_passwords(square="agate", cellar="beryl")
    people = TokenHolders(live)
    for named, found in (({"channels": ["square"]}, "agate"), ({"channels": ["#cellar"]}, "beryl")):
        asked = {"question": QUESTION, **named}
        assert find_secrets((await people.call("ada", "/api/v1/query/data", asked)).text) == found
        assert find_secrets((await people.call("bob", "/api/v1/query/data", asked)).text) == found.replace("beryl", "")
    asked = {"question": f"in:#square {QUESTION}"}
    assert find_secrets((await people.call("ada", "/api/v1/query/data", asked)).text) == "agate"
    summary = await people.call("bob", "/api/v1/summaries", {"channel": "square"})
    assert find_secrets(summary.text) == "agate"
    hidden = await people.call("bob", "/api/v1/summaries", {"channel": "cellar"})
    unknown = await people.call("bob", "/api/v1/summaries", {"channel": "nowhere"})
    assert find_secrets(hidden.text) == ""
    assert hidden.status_code == unknown.status_code


@pytest.mark.long
async def test_a_fact_is_added_over_http_where_its_person_may_post(live: LiveBot[Any]) -> None:
    town = live.town
    square, cellar = town.add_channel("square", "ada bob"), town.add_channel("cellar", "ada", "private")
    await live.post_passwords(square="agate", cellar="beryl")
    people, fact = TokenHolders(live), {"name": "Zirkon Vale", "description": "Zirkon Vale keeps the lamp."}
    rooms = {each.channel: each.room for each in await people.list_joined()}
    to_square, to_cellar = ({**fact, "channel": rooms[str(each.id)]} for each in (square, cellar))
    assert (await people.call("bob", "/api/v1/graph/facts", fact)).status_code == 404
    assert (await people.call("bob", "/api/v1/graph/facts", to_cellar)).status_code == 404
    added = await people.call("bob", "/api/v1/graph/facts", to_square)
    if town.platform == "discord":  # an open channel has no members there, and only an interaction says who may post
        assert added.status_code == 403
        return
    assert added.status_code == 200, added.text
    await live.bot.context.engine_context.engine.wait_until_indexed()
    assert "lamp" in (await people.call("ada", "/api/v1/graph/entity?name=Zirkon%20Vale")).text
    key = quote(added.json()["document"], safe="")
    assert (await people.call("ada", f"/api/v1/documents/{key}", method="DELETE")).status_code == 403
    assert (await people.call("bob", f"/api/v1/documents/{key}", method="DELETE")).status_code == 204
    assert "lamp" not in (await people.call("ada", "/api/v1/graph/entity?name=Zirkon%20Vale")).text


@pytest.mark.long
async def test_a_verified_answer_comes_first_for_programs_of_those_who_may_read_it(live: LiveBot[Any]) -> None:
    town = live.town
    live.add_manager("mayor")
    town.add_channel("square", "ada bob mayor")
    town.add_channel("cellar", "ada mayor", "private")
    await live.post_passwords(cellar="beryl")
    way = "command" if town.platform == "discord" else "mention"
    [*_, answer] = [post for post in await live.posts(await town.ask("ada", "cellar", way=way)) if post.buttons]
    assert "Verified. I show this answer first" in await live.improve("mayor", answer, "Verify")
    people, asked = TokenHolders(live), {"question": QUESTION}
    mine = (await people.call("ada", "/api/v1/query", asked)).json()
    assert find_secrets(mine["answer"]) == "beryl"
    assert f"Verified by {town.person('mayor').name}" in " ".join(mine["notices"])
    other = (await people.call("bob", "/api/v1/query", asked)).text
    assert (find_secrets(other), "Verified" in other) == ("", False)
    later = {"question": QUESTION, "history": [{"role": "user", "content": "Hello?"}]}
    assert "Verified by" in (await people.call("ada", "/api/v1/query", later)).text


@pytest.mark.long
@pytest.mark.platforms("slack")  # on Discord people have no relations unless a setting says so
async def test_the_graph_of_a_private_channel_does_not_exist_for_others(live: LiveBot[Any]) -> None:
    live.add_manager("mayor")
    live.town.add_channel("square", "ada bob mayor")
    live.town.add_channel("attic", "ada", "private")
    await live.read("square", "attic")
    await live.town.say_fact("square", "Ada Mill met Carl Brook in Paris.")
    await live.town.say_fact("attic", "Ada Mill married Zircon Vale in Paris.")
    await live.close_conversations()
    holders = TokenHolders(live)

    async def explore(person: str) -> list[str]:
        return [(await holders.call(person, f"/api/v1/{path}")).text for path in EXPLORED]

    assert "Zircon Vale" in "".join(await explore("ada"))
    for person in ("bob", "mayor"):
        found = await explore(person)
        assert "zircon vale" not in "".join(found).casefold().replace("“zircon vale”", "")  # as it was asked for
        assert "attic" not in "".join(found)
        center = (await holders.call(person, "/api/v1/graph?entity=Ada%20Mill")).json()["nodes"][0]
        assert (center["mentions"], center["relations"]) == (1, 2)
    unknown = [(await holders.call("bob", f"/api/v1/graph?entity={name}")).status_code for name in ("Zircon Vale", "X")]
    assert unknown == [404, 404]

    provenance = (await holders.call("mayor", "/api/v1/graph/entity?name=Ada%20Mill")).json()
    [space] = provenance["spaces"]
    hide = {"action": "hide", "name": "Carl Brook", "space": space}
    merge = {"action": "merge", "name": "Zircon Vale", "other": "Ada Mill"}
    [attic] = {*(await holders.call("ada", "/api/v1/graph/entity?name=Zircon%20Vale")).json()["spaces"]}
    refusals = [
        await holders.call("bob", CORRECTIONS, hide),  # no manager
        await holders.call("ada", CORRECTIONS, merge | {"space": attic}),  # as in the chat: a reader, but no manager
        await holders.call("mayor", CORRECTIONS, merge | {"space": attic}),  # a manager, but no reader
        await holders.call("mayor", CORRECTIONS, merge | {"space": "slack:T1:nowhere"}),
    ]
    assert [refusal.status_code for refusal in refusals] == [403] * 4
    assert refusals[2].json()["detail"] == refusals[3].json()["detail"]
    # A name that only the private channel knows is merged nowhere else: an alias there would give it away.
    assert (await holders.call("ada", CORRECTIONS, merge | {"space": space})).status_code == 403
    assert (await holders.call("mayor", CORRECTIONS, merge | {"space": space})).status_code == 404
    listed = (await holders.call("mayor", CORRECTIONS)).json()
    assert (space in listed["spaces"], attic in listed["spaces"], listed["corrections"]) == (True, False, [])

    done = await holders.call("mayor", CORRECTIONS, hide)
    assert '"carl brook"' not in (await holders.call("bob", "/api/v1/graph?entity=Ada%20Mill")).text
    await holders.call("mayor", CORRECTIONS, done.json()["undo"])
    assert '"carl brook"' in (await holders.call("bob", "/api/v1/graph?entity=Ada%20Mill")).text
    await live.town.remove_member("ada", "attic")
    await live.wait_until_idle()
    assert "Zircon Vale" not in "".join(await explore("ada")).replace("“Zircon Vale”", "")


async def test_a_token_reads_what_its_person_can_read_now(live: LiveBot[Any]) -> None:
    live.town.add_channel("square", "ada bob")
    live.town.add_channel("cellar", "ada bob", "private")
    live.town.add_channel("attic", "ada", "private")
    await live.post_passwords(square="agate", cellar="beryl", attic="topaz")
    holders = TokenHolders(live)
    assert [await holders.ask("ada"), await holders.ask("bob")] == ["agate beryl topaz", "agate beryl"]
    await live.town.remove_member("bob", "cellar")
    await live.wait_until_idle()
    assert await holders.ask("bob") == "agate"
    live.town.clock.advance(60)  # nobody asked in the minute before
    live.bot.quotas.per_minute = 1
    assert "agate" in await live.ask("bob", "square")
    assert (await holders.call("bob", "/api/v1/query", {"question": QUESTION})).status_code == 429
    assert await holders.ask("ada") == "agate beryl topaz"


@pytest.mark.long
@pytest.mark.platforms("slack")
async def test_the_token_of_somebody_who_left_is_refused(live: LiveBot[SlackTown]) -> None:
    await live.build_square()
    holders = TokenHolders(live)
    assert await holders.ask("bob") == "agate"
    await live.town.person("bob").becomes("deactivated")
    await live.wait_until_idle()
    assert (await holders.call("bob", "/api/v1/query", {"question": QUESTION})).status_code == 401
    assert await holders.ask("bob") == ""


@pytest.mark.long
async def test_a_token_is_refused_while_the_platform_cannot_say_who_reads_what(live: LiveBot[Any]) -> None:
    await live.build_square()
    holders = TokenHolders(live)
    assert await holders.ask("ada") == "agate"
    live.bot.context.audience.platforms = {}
    live.bot.suspend_visibility(live.town.platform)
    refused = await holders.call("ada", "/api/v1/query", {"question": QUESTION})
    assert refused.status_code == 503
    assert find_secrets(refused.text) == ""


@pytest.mark.long
async def test_an_upload_is_read_by_its_person_alone_and_forgotten_with_them(live: LiveBot[Any]) -> None:
    await live.build_square()
    holders = TokenHolders(live)
    added = await holders.upload("ada", "vault.txt", "The password of the vault is jasper.")
    assert added.status_code == 201
    key = added.json()["documents"][0]["key"]
    assert [await holders.ask("ada"), await holders.ask("bob")] == ["agate jasper", "agate"]
    assert (await holders.call("bob", f"/api/v1/documents/{key}")).status_code == 404
    assert (await holders.call("bob", f"/api/v1/documents/{key}", method="DELETE")).status_code == 404
    assert (await holders.call("ada", "/api/v1/documents/vault.txt", method="DELETE")).status_code == 204
    assert await holders.ask("ada") == "agate"


MANAGER_PATHS = ("channels", "questions", "verified-answers", "usage", "health/details")


@pytest.mark.long
async def test_managers_see_their_workspace_and_others_nothing_of_it(live: LiveBot[Any]) -> None:
    live.add_manager("mayor")
    live.town.add_channel("square", "ada bob mayor")
    live.town.add_channel("attic", "ada", "private")
    await live.post_passwords(square="agate", attic="topaz")
    holders = TokenHolders(live)
    for path in MANAGER_PATHS:
        asked = {name: await holders.call(name, f"/api/v1/{path}") for name in ("ada", "bob", "mayor")}
        assert [asked[each].status_code for each in asked] == [403, 403, 200], path
        assert find_secrets("".join(each.text for each in asked.values())) == ""
    rooms = {
        channel["name"]: channel["room"]
        for channel in (await holders.call("mayor", "/api/v1/channels")).json()["channels"]
    }
    assert set(rooms) == {"square"}
    changed = {"values": {"style": "Short."}}
    square = f"/api/v1/channels/{rooms['square']}"
    statuses = [(await holders.call(name, square, changed, "PATCH")).status_code for name in ("bob", "mayor")]
    assert statuses == [403, 200]
    hidden = next(each for each in await holders.list_joined() if each.room != rooms["square"])
    for path in (f"channels/{hidden.room}", f"questions?room={hidden.room}", f"verified-answers?room={hidden.room}"):
        assert (await holders.call("mayor", f"/api/v1/{path}")).status_code == 404
