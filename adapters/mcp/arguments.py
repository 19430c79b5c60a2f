"""Say in a sentence what is wrong with a call of a tool: its name, or an argument."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import ValidationError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mcp.server.mcpserver import Context
    from mcp.types import Tool


class StrictServer(MCPServer[Any]):
    """A server that refuses what no tool knows: an argument that it left out would change the answer unseen."""

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None) -> Any:
        """Call a tool by its name. Raises an error of the protocol, in a sentence."""
        if problem := find_problem(name, arguments, await self.list_tools()):
            raise ToolError(problem)
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            if isinstance(error.__cause__, ValidationError):
                raise ToolError(_describe(name, error.__cause__)) from error
            raise


def find_problem(name: str, arguments: Mapping[str, Any], tools: Sequence[Tool]) -> str:
    """What is wrong with the names in a call, in a sentence; empty if nothing is. Pure."""
    tool = next((offered for offered in tools if offered.name == name), None)
    if tool is None:
        return f"There is no tool “{name}”. The tools are {', '.join(offered.name for offered in tools)}."
    known, needed = tool.input_schema.get("properties", {}), tool.input_schema.get("required", [])
    takes = f"It takes {', '.join(known) or 'none'}."
    if unknown := [argument for argument in arguments if argument not in known]:
        return f"The tool {name} has no argument {', '.join(unknown)}. {takes}"
    missing = [argument for argument in needed if argument not in arguments]
    return f"The tool {name} needs {', '.join(missing)}. {takes}" if missing else ""


def _describe(name: str, error: ValidationError) -> str:
    first = error.errors()[0]
    place = ".".join(map(str, first["loc"]))
    return f"The argument {place} of the tool {name} is not valid: {first['msg'].removeprefix('Value error, ')}."
