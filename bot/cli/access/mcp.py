"""The mcp command: let an assistant in an editor ask."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import typer  # noqa: TC002  - typer reads the annotation at run time

from bot.cli.runner import GlobalOptions, run_command

if TYPE_CHECKING:
    from bot.settings import Settings
    from engine import Clock

MCP_HELP = """Serve an assistant over the Model Context Protocol, on standard input and output.

Its tools ask, retrieve, and list names and documents: of the space of the terminal, or with THREADLORE_ACCESS_TOKEN \
of whoever the token speaks for. While the bot is running, its process does the work.

Example, in the settings of an editor:

  {"command": "threadlore", "args": ["mcp"]}
"""


def register(app: typer.Typer) -> None:
    """Add the command to the app."""
    app.command("mcp", help=MCP_HELP)(serve)


def serve(context: typer.Context) -> None:
    """Serve until the client closes standard input."""

    async def work(common: GlobalOptions) -> int:
        await _serve(common.load_settings(), common.clock)
        return 0

    run_command(context, work)


async def _serve(settings: Settings, clock: Clock) -> None:
    from bot.plugins import load_door  # noqa: PLC0415  - keeps --help fast
    from bot.rpc.monitored_session import open_monitored_session  # noqa: PLC0415  - keeps --help fast

    async with open_monitored_session(settings, clock, lazily=True) as (session, health):
        stop = asyncio.Event()
        await load_door("mcp")(session, settings, stop, clock=clock, listening=health.expect_door("mcp"))
