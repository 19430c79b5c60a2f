"""The serve command: run the bot on its chat platforms."""

from __future__ import annotations

import asyncio
import signal
from contextlib import AsyncExitStack
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

With --web, and before anything is set up, a page asks for it first: open the address that is shown in a browser of \
this computer, and enter the code that is shown with it.
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
    setup: Annotated[
        bool | None,
        typer.Option(
            "--setup/--no-setup",
            help="Set everything up on the page first, or never; with --web, by default if nothing is set up.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Serve until a signal arrives; a second signal exits immediately."""
    run_command(context, partial(serve_until_stopped, platforms=platform or (), web=web, setup=setup))


async def serve_until_stopped(
    common: GlobalOptions, *, platforms: Sequence[str] = (), web: bool = False, setup: bool | None = False
) -> int:
    """Serve these platforms, or all configured ones, until a signal arrives; returns the exit code.

    `setup`: whether the page sets everything up first; None: if nothing is set up.
    """
    from bot.model_setup.openers import check_weights  # noqa: PLC0415  - keeps --help fast
    from bot.monitoring import log_config  # noqa: PLC0415  - keeps --help fast
    from bot.monitoring.watchdog import watchdog  # noqa: PLC0415  - keeps --help fast
    from bot.server import configured_platforms  # noqa: PLC0415  - keeps --help fast
    from bot.server import serve as serve_platforms  # noqa: PLC0415  - keeps --help fast

    log_config.configure_logging(common.clock, debug=common.debug, serving=True)
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, _handle_signal, stop, number)
    try:
        ready = await _set_up(common, stop, is_asked=bool(setup)) if web and setup is not False else common
        if ready is None:
            return 0
        settings = ready.load_settings()
        check_weights(settings)
        with watchdog(settings.active_watchdog_seconds):
            if web and not platforms and not configured_platforms(settings):
                await _serve_web(settings, common.clock, stop)
            else:
                await serve_platforms(settings, stop, common.clock, platforms, ("web",) if web else ())
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
    return 0


async def _set_up(common: GlobalOptions, stop: asyncio.Event, *, is_asked: bool) -> GlobalOptions | None:
    """Have the page set everything up, if that is needed or asked for. Raises BadSetting.

    Returns the options to go on with; None if it was stopped.
    """
    from bot.cli.init.ending import open_draft, without_missing_file  # noqa: PLC0415  - keeps --help fast
    from bot.setup.draft import is_untouched  # noqa: PLC0415  - keeps --help fast
    from bot.setup.page import load_setup_page  # noqa: PLC0415  - keeps --help fast

    draft, page = open_draft(common), load_setup_page()
    if page is None or not (is_asked or is_untouched(draft)):
        return common
    is_written = await page(draft, stop, clock=common.clock, announce=_announce_setup)
    return without_missing_file(common) if is_written else None


def _announce_setup(address: str, code: str) -> None:
    typer.echo(f"Set everything up in a browser on this computer: {address}")
    typer.echo(f"Code: {code}")
    typer.echo("Or in this terminal: threadlore init. Without setting anything up: threadlore serve --web --no-setup")


async def _serve_web(settings: Settings, clock: Clock, stop: asyncio.Event) -> None:
    """Serve the HTTP API without a platform: beside a running process, or on an engine of its own."""
    from bot.model_setup.checks import log_problems  # noqa: PLC0415  - keeps --help fast
    from bot.plugins import load_door  # noqa: PLC0415  - keeps --help fast
    from bot.rpc.monitored_session import open_monitored_session  # noqa: PLC0415  - keeps --help fast
    from engine.scheduling.supervisor import child_task  # noqa: PLC0415  - keeps --help fast

    async with AsyncExitStack() as stack:
        session, health = await stack.enter_async_context(open_monitored_session(settings, clock))
        if session.holds_data:  # otherwise the process that answers checks its models
            await stack.enter_async_context(child_task(log_problems(settings, clock), "check models"))
        await load_door("web")(session, settings, stop, clock=clock, listening=health.expect_door("web"))


def _handle_signal(stop: asyncio.Event, number: signal.Signals) -> None:
    if stop.is_set():
        asyncio.get_running_loop().remove_signal_handler(number)
        signal.raise_signal(number)
    stop.set()
