"""A stock MCP client lists and calls every tool, within what its token may read."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from adapters.mcp import resources
from adapters.mcp.resources import document_uri
from adapters.mcp.server import build_server
from adapters.web.app import build_app
from bot.capabilities.access.control import AccessControl
from bot.context import EngineContext
from bot.rpc.service import LocalService
from bot.rpc.socket import serve_socket
from bot.store import BotStore, Permission, Subject
from engine.clock import SYSTEM_CLOCK
from engine.models import Document, Passage
from tests.support import echo_language
from tests.support.services import build_deps

HERE, VAULT, SECRET = "console:local", "slack:T1:VAULT", "zircon"
ADDRESS = "http://127.0.0.1"
FERRY = {"question": "When does the ferry Gudgeon leave?"}
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("ask", FERRY),
    ("retrieve", FERRY),
    ("entity", {"name": "Mina"}),
    ("neighborhood", {"name": "Mina", "depth": 2}),
    ("documents", {}),
    ("summary", {"since": "90 days", "form": "digest"}),
    ("history", {"subject": "Mina"}),
    ("decisions", {}),
    ("contradictions", {}),
    ("faq", {}),
    ("watch", {"text": "the ferry"}),
    ("watches", {}),
    ("readers", {}),
    ("unwatch", {"subject": "the ferry"}),
]


class Desk:
    """An engine with a note and a secret beside it, and tokens."""

    def __init__(self, context: EngineContext, store: BotStore) -> None:
        self.access = AccessControl(store, SYSTEM_CLOCK)
        self._context = context
        self.service = LocalService(build_deps(context, store, self.access))

    async def add_note(self, key: str, *texts: str) -> None:
        passages = tuple(Passage(str(number), text, position=number) for number, text in enumerate(texts))
        await self._context.engine.documents.add(Document(key, HERE, f"{HERE}:room", key, passages))

    async def create_token(self, *permissions: Permission) -> str:
        return (await self.access.create_token("t", Subject(space=HERE), permissions, 1000, None))[1]

    @asynccontextmanager
    async def connect(self, token: str = "", space: str = HERE, mode: str = "auto") -> AsyncIterator[Client]:
        async with Client(build_server(self.service, self.service.clock, token, space), mode=mode) as client:
            yield client

    @asynccontextmanager
    async def connect_over_http(self, token: str, mode: str = "auto") -> AsyncIterator[Client]:
        transport = httpx2.ASGITransport(build_app(self.service, self.service.clock))
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        async with (
            httpx2.AsyncClient(transport=transport, base_url=ADDRESS, headers=headers) as http,
            Client(streamable_http_client(f"{ADDRESS}/mcp", http_client=http), mode=mode) as client,
        ):
            yield client


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with (
        BotStore.open(tmp_path / "bot.db", SYSTEM_CLOCK) as store,
        echo_language.open_engine_context(tmp_path / "home") as context,
    ):
        for space, text in ((HERE, "The ferry Gudgeon leaves at noon. Mina sells the tickets."), (VAULT, SECRET)):
            passage = Passage("1", text, link="https://t.example/note")
            await context.engine.documents.add(Document(f"note:{space}", space, f"{space}:room", "Note", (passage,)))
        await context.engine.wait_until_indexed()
        yield Desk(context, store)


async def call(client: Client, name: str, arguments: dict[str, Any]) -> Any:
    return await client.call_tool(name, arguments)


@pytest.mark.share(2)
@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize("way", ["connect", "connect_over_http"])
async def test_every_tool_is_listed_with_its_meaning_and_called(desk: Desk, way: str, mode: str) -> None:
    async with getattr(desk, way)(await desk.create_token("ask", "read", "write"), mode=mode) as client:
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(listed) == {name for name, _ in CALLS}
        assert all(each.description for each in listed.values())
        deepest = listed["neighborhood"].input_schema["properties"]["depth"]["maximum"]
        assert not (await call(client, "neighborhood", {"name": "Mina", "depth": deepest})).is_error
        found = {name: await call(client, name, arguments) for name, arguments in CALLS}
    assert {name: str(result.content) for name, result in found.items() if result.is_error} == {}
    answer = found["ask"].structured_content
    assert "noon" in answer["answer"]
    assert answer["sources"][0]["link"] == "https://t.example/note"
    assert found["entity"].structured_content["name"] == "Mina"
    assert found["neighborhood"].structured_content["entities"][0]["name"] == "Mina"
    assert SECRET not in str(found)


@pytest.mark.parametrize("token", ["nonsense", "tl_0123456789_secret"])
async def test_a_wrong_token_gets_an_error_and_nothing_else(desk: Desk, token: str) -> None:
    async with desk.connect(token, space=VAULT) as client:
        for name, arguments in CALLS:
            refused = await call(client, name, arguments)
            assert refused.is_error
            assert "access token" in str(refused.content)
            assert SECRET not in str(refused)


@pytest.mark.parametrize("way", ["connect", "connect_over_http"])
async def test_documents_are_resources_within_the_scope(desk: Desk, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    await desk.add_note("second", "More of the ferry.", "Even more.")
    monkeypatch.setattr(resources, "PAGE", 1)
    monkeypatch.setattr(resources, "MAX_PASSAGES", 1)
    async with getattr(desk, way)(await desk.create_token("read")) as client:
        first = await client.list_resources()
        second = await client.list_resources(cursor=first.next_cursor)
        listed = [*first.resources, *second.resources]
        assert ({resource.name for resource in listed}, second.next_cursor) == ({f"note:{HERE}", "second"}, None)
        texts = [str(await client.read_resource(resource.uri)) for resource in listed]
        assert "More of the ferry." in "".join(texts)
        assert "Even more." in str(await client.read_resource(document_uri("second", 1)))
        for key, offset in ((f"note:{VAULT}", 0), (f"note:{HERE}/../note:{VAULT}", 0), ("second", 10**12)):
            with pytest.raises(MCPError):
                await client.read_resource(document_uri(key, offset))
        with pytest.raises(MCPError):
            await client.list_resources(cursor="-1")
        templates = (await client.list_resource_templates()).resource_templates
    assert [template.uri_template for template in templates] == [resources.TEMPLATE]
    assert SECRET not in str(texts)


async def test_an_answer_is_reported_while_it_is_written(desk: Desk) -> None:
    said: list[str] = []

    async def show(progress: float, total: float | None, message: str | None) -> None:
        said.append(message or "")

    async with desk.connect_over_http(await desk.create_token("ask")) as client:
        answer = await client.call_tool("ask", FERRY, progress_callback=show)
        prompts = {prompt.name for prompt in (await client.list_prompts()).prompts}
        text = str(await client.get_prompt("decisions", {"topic": "the roof"}))
    assert answer.structured_content is not None
    assert said
    assert answer.structured_content["answer"].startswith(said[0])
    assert (prompts, "the roof" in text) == ({"decisions", "catch_up"}, True)


async def test_over_http_nobody_is_let_in_without_a_token_or_from_a_foreign_page(desk: Desk) -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "documents", "arguments": {}}}
    token = await desk.create_token("read")
    revoked = await desk.create_token("read")
    await desk.access.revoke_token(revoked.split("_")[1])
    good = {"Authorization": f"Bearer {token}", "Accept": "application/json, text/event-stream"}
    transport = httpx2.ASGITransport(build_app(desk.service, desk.service.clock))
    async with httpx2.AsyncClient(transport=transport, base_url=ADDRESS) as http:
        assert (await http.post("/mcp", json=body, headers=good)).status_code == 200
        for changed, status in (
            ({"Authorization": ""}, 401),
            ({"Authorization": "Bearer nonsense"}, 401),
            ({"Authorization": f"Bearer {revoked}"}, 401),
            ({"Origin": "https://evil.example"}, 403),
            ({"Origin": "null"}, 403),
            ({"Host": "evil.example"}, 421),
        ):
            refused = await http.post("/mcp", json=body, headers={**good, **changed})
            assert (refused.status_code, SECRET in refused.text) == (status, False), changed
        assert (await http.post("/mcp", json=body, headers={**good, "Origin": ADDRESS})).status_code == 200
        proxied = {"Host": "lore.example", "X-Forwarded-For": "192.0.2.1", "Origin": "https://lore.example"}
        assert (await http.post("/mcp", json=body, headers={**good, **proxied})).status_code == 200
        for method in ("GET", "DELETE"):
            assert (await http.request(method, "/mcp", headers=good)).status_code == 405


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


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("aks", FERRY, "There is no tool “aks”. The tools are ask, retrieve"),
        ("ask", {**FERRY, "since": "2026-13-45"}, "The tool ask has no argument since. It takes question, as_of."),
        ("ask", {}, "The tool ask needs question. It takes question, as_of."),
        ("ask", {**FERRY, "as_of": "yesterdy"}, "I don't know the day “yesterdy”."),
        ("ask", {"question": "When? in:#nowhere"}, "Nothing that can be read here is in #nowhere. Check the name."),
        (
            "entity",
            {"name": "x" * 501},
            "The argument name of the tool entity is not valid: String",
        ),
    ],
)
async def test_a_mistake_of_a_client_has_a_sentence_that_mends_it(
    desk: Desk, name: str, arguments: dict[str, Any], words: str
) -> None:
    async with desk.connect() as client:
        found = await call(client, name, arguments)
    assert found.is_error
    assert words in str(found.content[0])


@pytest.mark.long
async def test_the_command_serves_on_standard_input_and_output(desk: Desk, tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    token = await desk.create_token("ask", "read", "write")
    settings = os.environ | {"THREADLORE_DATA_DIR": str(data), "THREADLORE_ACCESS_TOKEN": token}
    command = StdioServerParameters(command=sys.executable, args=["-m", "bot", "mcp"], env=settings)
    async with serve_socket(data, desk.service.perform), Client(command) as client:  # as a running bot does
        assert {tool.name for tool in (await client.list_tools()).tools} == {name for name, _ in CALLS}
        found = [await call(client, name, arguments) for name, arguments in CALLS]
        texts = [
            str(await client.read_resource(resource.uri)) for resource in (await client.list_resources()).resources
        ]
    assert not any(each.is_error for each in found)
    assert ("noon" in str(texts), SECRET in str(found) + str(texts)) == (True, False)
