"""Make tools of the rows of capabilities that say enough."""

from __future__ import annotations

from contextlib import aclosing
from inspect import Parameter
from typing import TYPE_CHECKING, Any

from mcp.server.mcpserver import Context

from adapters.mcp.caller import read_headers
from bot.capabilities.fields import build_request, list_fields
from bot.capabilities.results import ProgressUpdate
from bot.capabilities.row import Surface
from bot.capabilities.table import list_rows
from bot.rpc.codec import dump_fields
from bot.text.signature import build_parameter, give_signature

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

    from adapters.mcp.caller import Caller
    from bot.capabilities.row import Capability


def add_tools(server: MCPServer[Any], caller: Caller) -> None:
    """Add the tools of all rows that MCP derives."""
    for row in list_rows():
        if Surface.MCP in row.derived:
            server.add_tool(build_tool(row, caller), name=row.name, description=row.request.__doc__)


def build_tool(row: Capability, caller: Caller) -> Any:
    """The tool of a row: a function with a parameter for each field, which returns the last result."""

    async def tool(context: Context[Any, Any], **values: Any) -> dict[str, Any]:
        found: dict[str, Any] = {}
        headers = read_headers(context.request_context.request)
        async with aclosing(caller.perform(headers, build_request(row, values))) as results:
            async for result in results:
                if not isinstance(result, ProgressUpdate):
                    found = dump_fields(result)
        return found

    parameters = [
        build_parameter(field.name, field.type, Parameter.empty if field.is_required else field.default)
        for field in list_fields(row)
    ]
    context_parameter = Parameter("context", Parameter.POSITIONAL_OR_KEYWORD, annotation=Context[Any, Any])
    give_signature(tool, [context_parameter, *parameters], dict[str, Any])
    tool.__name__ = row.name.replace("-", "_")
    return tool
