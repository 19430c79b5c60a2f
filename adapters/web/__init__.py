"""HTTP API and page: serve questions, documents and the graph to programs and browsers."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import structlog

from engine.scheduling.supervisor import child_task

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence

    import uvicorn

    from bot.rpc.service import AdminService
    from bot.settings import Settings
    from engine import Clock

log = structlog.get_logger(__name__)

DRAIN_SECONDS = 10  # for requests that are running when the program stops


async def serve(
    service: AdminService,
    settings: Settings,
    stop: asyncio.Event,
    *,
    clock: Clock,
    listening: asyncio.Event | None = None,
) -> None:
    """Serve the API and the page on the host and port of the settings until `stop` is set. Raises BadSetting.

    `listening` is set while requests are accepted.
    """
    from adapters.web.protocol import bind, describe_address  # noqa: PLC0415  - takes a second, which only this needs

    server = _build_server(service, settings, clock)
    with bind(settings.web_host, settings.web_port) as bound:
        log.info("web.listening", url=describe_address(bound))
        listening = listening or asyncio.Event()
        listening.set()
        async with child_task(_stop_with(server, stop, listening), "stop web"):
            try:
                await server.serve(sockets=[bound])
            finally:
                listening.clear()


async def read_replies(
    service: AdminService, clock: Clock, token: str, words: Mapping[str, Sequence[str]]
) -> AsyncIterator[tuple[str, str, str]]:
    """Ask every route and page that reads; yield the path, what was asked and what came of it."""
    from adapters.web.routes import replies  # noqa: PLC0415  - as above

    async for found in replies.read_replies(service, clock, token, words):
        yield found


def _build_server(service: AdminService, settings: Settings, clock: Clock) -> uvicorn.Server:
    """The server of the API and the page as the settings say. Raises BadSetting."""
    from adapters.web.app import build_app  # noqa: PLC0415  - as above
    from adapters.web.oauth import read_login_options  # noqa: PLC0415  - as above
    from adapters.web.pages.session import OPEN_HINT, read_page_options  # noqa: PLC0415  - as above
    from adapters.web.protocol import build_server  # noqa: PLC0415  - as above
    from bot.capabilities.caller import ALL_PERMISSIONS  # noqa: PLC0415  - as above
    from bot.listeners.admission import parse_proxies  # noqa: PLC0415  - as above

    page_options, proxies = read_page_options(settings), parse_proxies(settings.trusted_proxies)
    if page_options.is_open:
        log.warning("web.open_to_this_machine", permits=list(ALL_PERMISSIONS), hint=OPEN_HINT)
    app = build_app(service, clock, page_options, read_login_options(settings, clock), proxies)
    return build_server(app, proxies, DRAIN_SECONDS)


async def _stop_with(server: uvicorn.Server, stop: asyncio.Event, listening: asyncio.Event) -> None:
    await stop.wait()
    listening.clear()
    server.should_exit = True
