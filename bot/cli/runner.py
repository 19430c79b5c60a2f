"""Run a command: load the settings, perform a request, show errors and return the exit code."""

from __future__ import annotations

import asyncio
import os
import sys
import traceback
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bot.rpc.lifecycle import ending_quickly
from engine.clock import SYSTEM_CLOCK
from engine.errors import EngineError
from engine.memory import pause_garbage_collection, raise_gc_threshold

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from bot.capabilities.requests import ImportHistory, Ingest, OperationRequest, Retry
    from bot.capabilities.results import OperationResult
    from bot.cli.render.console import Screen
    from bot.rpc.service import AdminService
    from bot.settings import Settings
    from engine import Clock

EXIT_FAILED, EXIT_INTERRUPTED, EXIT_PIPE_CLOSED = 1, 130, 141

SpaceOption = Annotated[
    str,
    typer.Option("--space", help="Space to work in; a space defines who can read its documents.", show_default=False),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


EstimateOption = Annotated[bool, typer.Option("--estimate", help="Only say what a model takes to read the new texts.")]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before much is spent on a model.")]


@dataclass(frozen=True, slots=True)
class Estimated:
    """A request whose costs are estimated first. `only`: and not performed; `yes`: nobody is asked."""

    request: Ingest | ImportHistory | Retry
    only: bool = False
    yes: bool = False


@dataclass(frozen=True, slots=True)
class GlobalOptions:
    """Options before every command, and the clock of the program."""

    data_dir: Path | None = None
    debug: bool = False
    env_file: Path | None = None
    clock: Clock = SYSTEM_CLOCK

    def load_settings(self, **overrides: Any) -> Settings:
        """Load the settings and print a warning for each unknown variable. Raises BadSetting."""
        from bot import settings  # noqa: PLC0415  - takes a quarter of a second, which --help avoids

        data_dir = {"data_dir": self.data_dir} if self.data_dir else {}
        loaded = settings.load_settings(
            self.env_file, **data_dir, **{name: value for name, value in overrides.items() if value}
        )
        self.warn_of_file(loaded)
        return loaded

    def warn_of_file(self, loaded: Settings) -> None:
        """Print a warning for lines that are not read, and for each unknown variable."""
        from bot import plugins, settings  # noqa: PLC0415  - as above

        found = settings.list_unread_lines(self.env_file, loaded.data_path)
        found += settings.list_unknown_variables(self.env_file, loaded.data_path, plugins.list_adapter_names)
        for sentence in found:
            typer.echo(sentence, err=True)


def run_program(app: Callable[[], object]) -> None:
    """Run a command line as the program of this process."""
    raise_gc_threshold()
    with ending_quickly():
        app()


def run_command(context: typer.Context, work: Callable[[GlobalOptions], Awaitable[int]]) -> None:
    """Run a command and exit with its code; errors are printed to stderr."""
    run_blocking(context, lambda common: asyncio.run(_run_with_logging(work, common)))


def run_blocking(context: typer.Context, work: Callable[[GlobalOptions], int]) -> None:
    """Run a command that reads from a person: outside of an event loop, Ctrl-C ends it at once."""
    common = context.find_object(GlobalOptions) or GlobalOptions()
    try:
        code = work(common)
    except KeyboardInterrupt:
        code = EXIT_INTERRUPTED
    except BrokenPipeError:
        # The reader closed the pipe: nothing more may be flushed into it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = EXIT_PIPE_CLOSED
    except EngineError as error:
        code = report_error(error, common)
    except Exception as error:  # noqa: BLE001  - shown as one sentence, with a traceback on request
        code = report_error(wrap_unexpected(error), common)
    raise typer.Exit(code)


async def _run_with_logging(work: Callable[[GlobalOptions], Awaitable[int]], common: GlobalOptions) -> int:
    from bot.monitoring import log_config  # noqa: PLC0415  - keeps --help fast

    log_config.configure_logging(common.clock, debug=common.debug)
    return await work(common)


def wrap_unexpected(error: Exception) -> EngineError:
    """Wrap a bug as an error that can be shown."""
    wrapped = EngineError(
        f"Unexpected error: {type(error).__name__}: {error}",
        hint="Run the command again with `threadlore --debug …` to see the traceback.",
    )
    wrapped.__cause__ = error
    return wrapped


def report_error(error: EngineError, common: GlobalOptions) -> int:
    """Show an error, with its traceback in debug mode; returns the exit code."""
    from bot.cli.render.console import Screen  # noqa: PLC0415  - keeps --help fast

    if common.debug:
        traceback.print_exception(error, file=sys.stderr)
    Screen(common.clock).show_error(error)
    return EXIT_FAILED


def _open_service(
    settings: Settings, clock: Clock, request: OperationRequest
) -> AbstractAsyncContextManager[AdminService]:
    """The service that performs a request; read-only requests open only the ledger."""
    from bot.capabilities import requests  # noqa: PLC0415  - keeps --help fast

    if isinstance(request, requests.GetStatus | requests.ListDocuments):
        from bot.rpc.ledger_service import connect_or_open_ledger  # noqa: PLC0415  - keeps --help fast

        return connect_or_open_ledger(settings, clock)
    from bot.rpc.service import connect_or_open  # noqa: PLC0415  - keeps --help fast

    return connect_or_open(settings, clock)


async def accept_estimate(screen: Screen, stream: AsyncGenerator[OperationResult], asked: Estimated) -> bool:
    """Show what a request takes on stderr, and ask whether to go on if that is much."""
    from bot.capabilities.results import Completed, EstimateResult  # noqa: PLC0415  - keeps --help fast
    from bot.cli.render.estimates import ask_to_go_on, format_estimate  # noqa: PLC0415  - keeps --help fast

    results = await screen.collect(stream)
    said = [result.text for result in results if isinstance(result, Completed)]  # such as who will find it
    for result in [estimate for estimate in results if isinstance(estimate, EstimateResult)]:
        if result.files or result.messages or result.chunks:
            screen.err.print("\n".join([*said, format_estimate(result)]), markup=False)
            if not (asked.yes or await asyncio.to_thread(ask_to_go_on, result)):
                screen.err.print("Nothing was read.")
                return False
    return True


def _check_embedder(settings: Settings) -> None:
    """Check the embedder before files are read. Raises ModelNotInstalled."""
    from bot.model_setup.openers import check_weights  # noqa: PLC0415  - lists and numbers need no such library

    check_weights(settings)


def perform_request(
    context: typer.Context,
    build_request: Callable[[Settings], OperationRequest | Estimated],
    *,
    space: str = "",
    as_json: bool = False,
    exit_code: Callable[[Sequence[OperationResult]], int] = lambda _: 0,
) -> None:
    """Perform a request and show its results; `exit_code` derives the exit code from them, once they are shown."""

    async def work(common: GlobalOptions) -> int:
        with pause_garbage_collection():
            from bot.capabilities.requests import AtSpace  # noqa: PLC0415  - keeps --help fast
            from bot.cli.render.console import Screen, model_hint  # noqa: PLC0415  - keeps --help fast

        settings = common.load_settings(space=space)
        screen = Screen(common.clock, hint=lambda: model_hint(settings))
        asked = build_request(settings)
        request = asked.request if isinstance(asked, Estimated) else asked
        if isinstance(asked, Estimated) and not asked.only:
            _check_embedder(settings)
        async with _open_service(settings, common.clock, request) as service:
            if isinstance(asked, Estimated) and settings.llm_model and not asked.only:
                estimate = replace(asked.request, estimate=True)
                if not await accept_estimate(screen, service.perform(AtSpace(settings.space, estimate)), asked):
                    return EXIT_FAILED
            stream = service.perform(AtSpace(settings.space, request))
            results = await show_results(screen, stream, as_json=as_json)
        return exit_code(results)

    run_command(context, work)


async def show_results(
    screen: Screen, stream: AsyncGenerator[OperationResult], *, as_json: bool
) -> list[OperationResult]:
    """Show results as they arrive, or all of them as JSON; returns them."""
    if not as_json:
        return await screen.show(stream)
    from bot.cli.render.tables import to_json  # noqa: PLC0415  - keeps --help fast

    results = await screen.collect(stream)
    screen.out.out(to_json(results), highlight=False)
    return results
