"""The page that sets the program up before it starts: for one browser on this computer, with a one-time code."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from adapters.web.pages.session import is_loopback_host
from bot.errors import BadSetting
from bot.listeners.admission import bracket_host
from engine.scheduling.supervisor import child_task

if TYPE_CHECKING:
    from collections.abc import Callable

    import uvicorn

    from bot.settings import Settings
    from bot.setup.draft import SetupDraft
    from bot.setup.state import SetupState
    from engine import Clock

LAST_SECONDS = 5  # for the last page to load its script and style


async def set_up(draft: SetupDraft, stop: asyncio.Event, *, clock: Clock, announce: Callable[[str, str], None]) -> bool:
    """Serve the page until the settings are written, or until `stop` is set; returns whether they are.

    Raises BadSetting for an address that others can reach, and PortInUse.
    """
    from adapters.web.protocol import bind, build_server, describe_address  # noqa: PLC0415  - takes a second
    from adapters.web.setup.app import build_setup_app  # noqa: PLC0415  - as above
    from adapters.web.setup.session import SetupSession  # noqa: PLC0415  - as above
    from bot.listeners.admission import TrustedProxies  # noqa: PLC0415  - as above
    from bot.setup.state import SetupState  # noqa: PLC0415  - as above

    check_place(draft.present)
    with bind(draft.present.web_host, draft.present.web_port) as bound:
        session, state = SetupSession(clock, partial(announce, describe_address(bound))), SetupState(draft, clock)
        server = build_server(build_setup_app(state, session), TrustedProxies(), LAST_SECONDS)
        session.renew_code()
        async with child_task(_stop_when_done(server, stop, state), "stop setup"):
            await server.serve(sockets=[bound])
    return state.is_written


def check_place(settings: Settings) -> None:
    """Raise BadSetting unless the page is served for this computer alone."""
    public = settings.web_url.partition("://")[2].partition("/")[0] if settings.web_url else "localhost"
    if not (is_loopback_host(bracket_host(settings.web_host)) and is_loopback_host(public)):
        raise BadSetting(
            "The page that sets everything up is for this computer alone, but others can reach the page.",
            hint="Run `threadlore init` in a terminal, or leave out THREADLORE_WEB_HOST and THREADLORE_WEB_URL.",
        )


async def _stop_when_done(server: uvicorn.Server, stop: asyncio.Event, state: SetupState) -> None:
    """Stop the server once it is told to, or once the last page is shown."""
    async with child_task(stop.wait(), "stop") as stopping, child_task(state.written.wait(), "written") as writing:
        await asyncio.wait({stopping, writing}, return_when=asyncio.FIRST_COMPLETED)
        if not stop.is_set():
            with suppress(TimeoutError):
                async with asyncio.timeout(LAST_SECONDS):
                    await state.left.wait()
    server.should_exit = True
