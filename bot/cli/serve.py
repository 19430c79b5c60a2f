"""The serve command: run the bot on its chat platforms."""

from __future__ import annotations

import asyncio
import signal
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.runner import GlobalOptions, run_command

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.settings import Settings
    from engine import Clock

SERVE_HELP = """Run the bot on all platforms whose tokens are set until it is stopped (Ctrl-C, SIGTERM).

`threadlore init` sets the tokens; `.env.example` lists them. While the bot is running, other threadlore \
commands are executed by this process.
"""


def register(app: typer.Typer) -> None:
    """Add the command to the app."""
    app.command("serve", help=SERVE_HELP)(serve)


def serve(
    context: typer.Context,
    platform: Annotated[
        list[str] | None, typer.Option("--platform", help="Serve only this platform; repeatable.", show_default=False)
    ] = None,
    web: Annotated[bool, typer.Option("--web", help="Serve the page and the HTTP API, too.")] = False,  # noqa: FBT002  - an option
) -> None:
    """Serve until a signal arrives; a second signal exits immediately."""
    run_command(context, partial(serve_until_stopped, platforms=platform or (), web=web))


async def serve_until_stopped(common: GlobalOptions, *, platforms: Sequence[str] = (), web: bool = False) -> int:
    """Serve these platforms, or all configured ones, until a signal arrives; returns the exit code."""
    from bot.model_setup.openers import check_weights  # noqa: PLC0415  - keeps --help fast
    from bot.monitoring import log_config  # noqa: PLC0415  - keeps --help fast
    from bot.monitoring.watchdog import watchdog  # noqa: PLC0415  - keeps --help fast
    from bot.server import configured_platforms  # noqa: PLC0415  - keeps --help fast
    from bot.server import serve as serve_platforms  # noqa: PLC0415  - keeps --help fast

    log_config.configure_logging(common.clock, debug=common.debug, serving=True)
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    for each in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(each, _handle_signal, stop, each)
    settings = common.load_settings()
    check_weights(settings)
    try:
        with watchdog(settings.active_watchdog_seconds):
            if web and not platforms and not configured_platforms(settings):
                await _serve_web(settings, common.clock, stop)
            else:
                await serve_platforms(settings, stop, common.clock, platforms, ("web",) if web else ())
    finally:
        for each in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(each)
    return 0


async def _serve_web(settings: Settings, clock: Clock, stop: asyncio.Event) -> None:
    """Serve the HTTP API without a platform: beside a running process, or on an engine of its own."""
    from bot.plugins import load_door  # noqa: PLC0415  - keeps --help fast
    from bot.rpc.monitored_session import open_monitored_session  # noqa: PLC0415  - keeps --help fast

    async with open_monitored_session(settings, clock) as (session, health):
        await load_door("web")(session, settings, stop, clock=clock, listening=health.expect_door("web"))


def _handle_signal(stop: asyncio.Event, number: signal.Signals) -> None:
    if stop.is_set():
        asyncio.get_running_loop().remove_signal_handler(number)
        signal.raise_signal(number)
    stop.set()
