"""What a token answers is what its person could ask for privately, at that moment."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from adapters.web.app import build_app
from bot.access.control import AccessControl
from bot.admin.rpc.service import LocalService
from bot.server import build_admin_context
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
        context = build_admin_context(live.bot, live.bot.context.engine_context)
        transport = httpx.ASGITransport(build_app(LocalService(context)), raise_app_exceptions=False)
        self.client = httpx.AsyncClient(transport=transport, base_url="http://testserver")

    async def get_token(self, person: str) -> str:
        if person not in self._tokens:
            [place] = {each.workspace for each in await self._list_joined()}
            subject = Subject(self._live.town.platform, place, str(self._live.town.person(person).id))
            access = AccessControl(self._live.bot.store)
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
        return find_secrets("\n".join(texts))

    async def _list_joined(self) -> list[Any]:
        return list(await self._live.bot.store.channels.list_joined(self._live.town.platform))


PATHS = ("query", "query/stream", "query/data")


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


@pytest.mark.platforms("slack")
async def test_the_token_of_somebody_who_left_is_refused(live: LiveBot[SlackTown]) -> None:
    await live.build_square()
    holders = TokenHolders(live)
    assert await holders.ask("bob") == "agate"
    await live.town.person("bob").becomes("deactivated")
    await live.wait_until_idle()
    assert (await holders.call("bob", "/api/v1/query", {"question": QUESTION})).status_code == 401
    assert await holders.ask("bob") == ""


async def test_a_token_is_refused_while_the_platform_cannot_say_who_reads_what(live: LiveBot[Any]) -> None:
    await live.build_square()
    holders = TokenHolders(live)
    assert await holders.ask("ada") == "agate"
    live.bot.context.audience.platforms = {}
    live.bot.suspend_visibility(live.town.platform)
    refused = await holders.call("ada", "/api/v1/query", {"question": QUESTION})
    assert refused.status_code == 503
    assert find_secrets(refused.text) == ""


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
