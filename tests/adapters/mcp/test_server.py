"""A stock MCP client lists and calls every tool, within what its token may read."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters

from adapters.mcp.server import build_server
from bot.access.control import AccessControl
from bot.admin.rpc.service import LocalService
from bot.context import EngineContext
from bot.store import BotStore, Permission, Subject
from engine.models import Document, Passage
from tests.support import echo_language

HERE, VAULT, SECRET = "console:local", "slack:T1:VAULT", "zircon"
FERRY = {"question": "When does the ferry Gudgeon leave?"}
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("ask", FERRY),
    ("retrieve", FERRY),
    ("entity", {"name": "Mina"}),
    ("documents", {}),
]


class Desk:
    """An engine with a note and a secret beside it, and tokens."""

    def __init__(self, context: EngineContext, access: AccessControl) -> None:
        self.access = access
        self._service = LocalService(replace(context, open_access=lambda: nullcontext(access)))

    async def create_token(self, *permissions: Permission) -> str:
        return (await self.access.create_token("t", Subject(space=HERE), permissions, 1000, None))[1]

    @asynccontextmanager
    async def connect(self, token: str = "", space: str = HERE) -> AsyncIterator[Client]:
        async with Client(build_server(self._service, token, space)) as client:
            yield client


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with (
        BotStore.open(tmp_path / "bot.db") as store,
        echo_language.open_engine_context(tmp_path / "home") as context,
    ):
        for space, text in ((HERE, "The ferry Gudgeon leaves at noon. Mina sells the tickets."), (VAULT, SECRET)):
            passage = Passage("1", text, link="https://t.example/note")
            await context.engine.add(Document(f"note:{space}", space, f"{space}:room", "Note", (passage,)))
        await context.engine.wait_until_indexed()
        yield Desk(context, AccessControl(store))


async def call(client: Client, name: str, arguments: dict[str, Any]) -> Any:
    return await client.call_tool(name, arguments)


async def test_every_tool_is_listed_with_its_meaning_and_called(desk: Desk) -> None:
    async with desk.connect(await desk.create_token("ask", "read")) as client:
        listed = {each.name: each.description for each in (await client.list_tools()).tools}
        assert set(listed) == {name for name, _ in CALLS}
        assert all(listed.values())
        found = {name: await call(client, name, arguments) for name, arguments in CALLS}
    assert not any(each.is_error for each in found.values())
    answer = found["ask"].structured_content
    assert "noon" in answer["answer"]
    assert answer["sources"][0]["link"] == "https://t.example/note"
    assert found["entity"].structured_content["name"] == "Mina"
    assert SECRET not in str(found)


@pytest.mark.parametrize("token", ["nonsense", "tl_0123456789_secret"])
async def test_a_wrong_token_gets_an_error_and_nothing_else(desk: Desk, token: str) -> None:
    async with desk.connect(token, space=VAULT) as client:
        for name, arguments in CALLS:
            refused = await call(client, name, arguments)
            assert refused.is_error
            assert "access token" in str(refused.content)
            assert SECRET not in str(refused)


async def test_a_token_permits_only_what_it_says(desk: Desk) -> None:
    async with desk.connect(await desk.create_token("read")) as client:
        assert (await call(client, "ask", FERRY)).is_error
        assert not (await call(client, "documents", {})).is_error


async def test_without_a_token_it_is_the_space_of_the_terminal(desk: Desk) -> None:
    async with desk.connect() as client:
        assert SECRET not in str([await call(client, name, arguments) for name, arguments in CALLS])


async def test_what_does_not_fit_is_refused_in_words(desk: Desk) -> None:
    async with desk.connect() as client:
        for name, arguments in (("ask", {"question": ""}), ("entity", {"name": "x" * 501}), ("entity", {"name": "Q"})):
            assert (await call(client, name, arguments)).is_error


async def test_the_command_serves_on_standard_input_and_output(tmp_path: Path) -> None:
    settings = os.environ | {"THREADLORE_DATA_DIR": str(tmp_path / "data")}
    command = StdioServerParameters(command=sys.executable, args=["-m", "bot", "mcp"], env=settings)
    async with Client(command) as client:
        assert (await call(client, "documents", {})).structured_content == {"result": []}
