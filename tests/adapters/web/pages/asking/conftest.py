"""People of a workspace, who use the page."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from adapters.web.app import build_app
from adapters.web.pages.session import PageOptions
from bot.bot import Bot
from bot.capabilities.access.control import AccessControl
from bot.platform.models import Location, Message, Person
from bot.rpc.service import LocalService
from bot.server import build_deps
from bot.store import Expert, Permission, StoredAnswer, Subject
from tests.adapters.web.pages.test_pages import OWN
from tests.support.bot_fixture import BotFixture, open_bot
from tests.support.builders import ROOF


@dataclass
class Visitors:
    """People who use the page, each with a login of their own. `message`: what the channel says of the ferry."""

    bot: BotFixture
    running: Bot
    message: Message
    attic: Location
    client: httpx.AsyncClient
    tokens: dict[str, str]

    def become(self, person: str) -> None:
        self.client.cookies.set("__Host-threadlore", self.tokens[person])

    async def become_subject(self, subject: Subject, permissions: tuple[Permission, ...]) -> None:
        """Have somebody else's token, with these permissions."""
        access = AccessControl(self.bot.store, self.bot.clock)
        token = (await access.create_token("other", subject, permissions, 1000, None))[1]
        self.client.cookies.set("__Host-threadlore", token)

    async def ask(self, question: str, **more: Any) -> dict[str, Any]:
        """The last event of an answer."""
        body = {"question": question, "keep": True, **more}
        response = await self.client.post("/ask", json=body)
        found: dict[str, Any] = json.loads(response.text.splitlines()[-1])
        return found

    async def send(self, path: str, **form: str) -> httpx.Response:
        return await self.client.post(path, data=form)

    async def stored(self, id_: str) -> StoredAnswer:
        found = await self.bot.store.answers.get(id_)
        assert found is not None
        return found


@pytest.fixture
async def visitors(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Visitors]:
    """Ada manages; Bob and Cleo read the same open channel, of which Cleo is an expert; Dan joined a closed one."""
    async with open_bot(tmp_path_factory.mktemp("bot")) as bot:
        for name in ("ada", "bob", "cleo", "dan"):
            bot.platform.people[name] = Person(name, name.title(), is_manager=name == "ada")
        await bot.store.channels.upsert(await bot.join("ROOF", "ada", "bob", "cleo", "dan"), "roof")
        attic = await bot.join("ATTIC", "dan", kind="closed")
        await bot.store.channels.upsert(attic, "attic")
        message = await bot.post_indexed(ROOF, "cleo", "The ferry Gudgeon leaves at noon.")
        await bot.store.experts.add(Expert(ROOF, "cleo", "ferries"))
        async with bot.run_bot() as running:
            service = LocalService(build_deps(running))
            app = build_app(service, running.clock, PageOptions("console:local", "always"))
            transport = httpx.ASGITransport(app, raise_app_exceptions=False)
            async with httpx.AsyncClient(transport=transport, base_url="https://t.example", headers=OWN) as client:
                client.headers["Origin"] = "https://t.example"
                access, tokens = AccessControl(bot.store, bot.clock), dict[str, str]()
                for name in ("ada", "bob", "cleo", "dan"):
                    given = ("ask", "read", "write", *(("manage",) if name == "ada" else ()))
                    subject = Subject("slack", "T1", name)
                    tokens[name] = (await access.create_token(name, subject, given, 1000, None))[1]
                yield Visitors(bot, running, message, attic, client, tokens)
