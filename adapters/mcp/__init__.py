"""MCP: let an assistant in an editor ask, retrieve, and look up names and documents, over standard input and output."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from engine.scheduling.supervisor import child_task

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence

    from bot.rpc.service import AdminService
    from bot.settings import Settings
    from engine import Clock


async def serve(
    service: AdminService,
    settings: Settings,
    stop: asyncio.Event,
    *,
    clock: Clock,
    listening: asyncio.Event | None = None,
) -> None:
    """Serve one client until it closes standard input, or `stop` is set.

    With THREADLORE_ACCESS_TOKEN the client reads what the token may; without one, the space of the terminal.
    """
    from adapters.mcp.server import build_server  # noqa: PLC0415  - takes a second, which only this needs

    server = build_server(service, clock, settings.access_token.get_secret_value(), settings.space)
    if listening is not None:
        listening.set()
    async with child_task(server.run_stdio_async(), "mcp") as serving, child_task(stop.wait(), "stop") as stopping:
        await asyncio.wait({serving, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if serving.done():
            serving.result()


async def read_replies(
    service: AdminService, clock: Clock, token: str, words: Mapping[str, Sequence[str]]
) -> AsyncIterator[tuple[str, str, str]]:
    """Call every tool that reads, and read the documents; yield the tool, what was asked and what came of it."""
    from adapters.mcp import replies  # noqa: PLC0415  - as above

    async for found in replies.read_replies(service, clock, token, words):
        yield found
