"""Running a command: settings in, an exit code out; errors are a sentence and a hint."""

from __future__ import annotations

import asyncio
import os
import sys
import traceback
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from engine import raise_gc_threshold
from engine.errors import EngineError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from bot.admin.requests import OperationRequest
    from bot.admin.results import OperationResult
    from bot.admin.rpc.service import AdminService
    from bot.settings import Settings

EXIT_FAILED, EXIT_INTERRUPTED, EXIT_PIPE_CLOSED = 1, 130, 141

SpaceOption = Annotated[
    str, typer.Option("--space", help="Who may read it: documents and answers of one space.", show_default=False)
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for programs instead of text.")]


@dataclass(frozen=True, slots=True)
class GlobalOptions:
    """The options that stand before every command."""

    data_dir: Path | None = None
    debug: bool = False
    env_file: Path | None = None

    def load_settings(self, **given: Any) -> Settings:
        """The settings of this run; variables that are misspelt are named. Raises BadSetting."""
        from bot import settings  # noqa: PLC0415  - a quarter of a second that --help spares

        data_dir = {"data_dir": self.data_dir} if self.data_dir else {}
        loaded = settings.load_settings(
            self.env_file, **data_dir, **{name: value for name, value in given.items() if value}
        )
        for sentence in settings.list_unknown_variables(self.env_file, loaded.data_path):
            typer.echo(sentence, err=True)
        return loaded


def run_command(context: typer.Context, work: Callable[[GlobalOptions], Awaitable[int]]) -> None:
    """Do the work of a command, and leave with its exit code; errors are told on stderr."""
    common = context.find_object(GlobalOptions) or GlobalOptions()
    raise_gc_threshold()
    try:
        code = asyncio.run(_run_with_logging(work, common))
    except KeyboardInterrupt:
        code = EXIT_INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has enough; nothing more may be flushed into the closed pipe.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = EXIT_PIPE_CLOSED
    except EngineError as error:
        code = report_error(error, debug=common.debug)
    except Exception as error:  # noqa: BLE001  - a person is told in a sentence, and the trace on request
        code = report_error(wrap_unexpected(error), debug=common.debug)
    raise typer.Exit(code)


async def _run_with_logging(work: Callable[[GlobalOptions], Awaitable[int]], common: GlobalOptions) -> int:
    from bot import log_config  # noqa: PLC0415  - --help spares it

    log_config.configure_logging(debug=common.debug)
    return await work(common)


def wrap_unexpected(error: Exception) -> EngineError:
    """A mistake of the program itself, as an error that can be told."""
    wrapped = EngineError(
        f"Something went wrong that should not: {type(error).__name__}: {error}",
        hint="Run the command again with `threadlore --debug …` to see where.",
    )
    wrapped.__cause__ = error
    return wrapped


def report_error(error: EngineError, *, debug: bool) -> int:
    """Show an error, with its trace if asked for; gives the exit code."""
    from bot.cli.render.console import Screen  # noqa: PLC0415  - --help spares it

    if debug:
        traceback.print_exception(error, file=sys.stderr)
    Screen().show_error(error)
    return EXIT_FAILED


def _open_service(settings: Settings, request: OperationRequest) -> AbstractAsyncContextManager[AdminService]:
    """What works on a request, opening no more than that needs."""
    from bot.admin import requests  # noqa: PLC0415  - --help spares it

    if isinstance(request, requests.GetStatus | requests.ListDocuments):
        from bot.admin.rpc.ledger_service import connect_or_open_ledger  # noqa: PLC0415  - as above

        return connect_or_open_ledger(settings)
    from bot.admin.rpc.service import connect_or_open  # noqa: PLC0415  - as above

    return connect_or_open(settings)


def perform_request(
    context: typer.Context,
    make: Callable[[Settings], OperationRequest],
    *,
    space: str = "",
    as_json: bool = False,
    code: Callable[[Sequence[OperationResult]], int] = lambda _: 0,
) -> None:
    """Let the request that `make` builds from the settings be worked on, and show what comes; `code` judges it."""

    async def work(common: GlobalOptions) -> int:
        from bot.cli.render.console import Screen  # noqa: PLC0415  - --help spares it
        from bot.cli.render.model_hint import model_hint  # noqa: PLC0415  - --help spares it

        settings = common.load_settings(space=space)
        screen = Screen(hint=lambda: model_hint(settings))
        request = make(settings)
        async with _open_service(settings, request) as service:
            stream = service.perform(request)
            seen = await (screen.collect(stream) if as_json else screen.show(stream))
        if as_json:
            from bot.cli.render.tables import to_json as in_json  # noqa: PLC0415  - --help spares it

            screen.out.out(in_json(seen), highlight=False)
        return code(seen)

    run_command(context, work)
