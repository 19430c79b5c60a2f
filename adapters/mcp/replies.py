"""Call every tool that reads and read every document, without a pipe: for the test of what somebody could learn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcp.client import Client
from mcp.shared.exceptions import MCPError

from adapters.mcp.resources import document_uri
from adapters.mcp.server import build_server
from bot.capabilities.table import list_rows

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Mapping, Sequence

    from bot.rpc.service import AdminService
    from engine import Clock

# The kinds of words that arguments take.
KINDS = {"name": "name", "search": "name", "question": "text", "text": "text", "channel": "room", "document": "key"}
KINDS |= {"subject": "name", "key": "key", "room": "room", "answer": "answer", "share": "link"}
NOWHERE = "leak-test:nowhere"  # the space of calls without a token


async def read_replies(
    service: AdminService, clock: Clock, token: str, words: Mapping[str, Sequence[str]]
) -> AsyncIterator[tuple[str, str, str]]:
    """Yield each tool that reads, its arguments and its result."""
    async with Client(build_server(service, clock, token, NOWHERE)) as client:
        changing = {row.name for row in list_rows() if row.permission not in {"read", "ask"}}
        for tool in (await client.list_tools()).tools:
            for arguments in _fill(tool.input_schema, words) if tool.name not in changing else ():
                yield f"tool {tool.name}", str(arguments), await _call(client, tool.name, arguments)
        try:
            yield "list of resources", "", repr(await client.list_resources())
        except MCPError as error:
            yield "list of resources", "", str(error)
        for key in words["key"]:
            yield "resource", key, await _read(client, key)


def _fill(schema: Mapping[str, Any], words: Mapping[str, Sequence[str]]) -> Iterator[dict[str, str]]:
    """The arguments of a tool: for each argument that takes words, one call a word; the required ones always."""
    names = [text for text in schema.get("properties", {}) if text in KINDS]
    required = [text for text in schema.get("required", ()) if text in KINDS]
    if not required:
        yield {}
    for name in names:
        for word in words[KINDS[name]]:
            others = {text: words[KINDS[text]][0] for text in required if text != name and words[KINDS[text]]}
            yield {**others, name: word}


async def _call(client: Client, tool: str, arguments: Mapping[str, str]) -> str:
    try:
        return repr(await client.call_tool(tool, dict(arguments)))
    except MCPError as error:
        return str(error)


async def _read(client: Client, key: str) -> str:
    try:
        return repr(await client.read_resource(document_uri(key)))
    except MCPError as error:
        return str(error)
