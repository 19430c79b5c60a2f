"""Running a command: settings in, an exit code out; errors are a sentence and a hint."""

from __future__ import annotations

import asyncio
import os
import sys
import traceback
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from engine.errors import EngineError
from engine.memory import collect_rarely

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from bot.admin.requests import Request
    from bot.admin.results import Event
    from bot.admin.rpc.service import Service
    from bot.settings import Settings

FAILED, INTERRUPTED, PIPE_CLOSED = 1, 130, 141

Space = Annotated[
    str, typer.Option("--space", help="Who may read it: documents and answers of one space.", show_default=False)
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for programs instead of text.")]


@dataclass(frozen=True, slots=True)
class Common:
    """The options that stand before every command."""

    home: Path | None = None
    debug: bool = False
    env_file: Path | None = None

    def settings(self, **given: Any) -> Settings:
        """The settings of this run; variables that are misspelt are named. Raises BadSetting."""
        from bot import settings  # noqa: PLC0415  - a quarter of a second that --help spares

        home = {"home": self.home} if self.home else {}
        loaded = settings.load(self.env_file, **home, **{name: value for name, value in given.items() if value})
        for sentence in settings.unknown(self.env_file, loaded.root):
            typer.echo(sentence, err=True)
        return loaded


def run(context: typer.Context, work: Callable[[Common], Awaitable[int]]) -> None:
    """Do the work of a command, and leave with its exit code; errors are told on stderr."""
    common = context.find_object(Common) or Common()
    collect_rarely()
    try:
        code = asyncio.run(_logged(work, common))
    except KeyboardInterrupt:
        code = INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has enough; nothing more may be flushed into the closed pipe.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = PIPE_CLOSED
    except EngineError as error:
        code = tell(error, debug=common.debug)
    except Exception as error:  # noqa: BLE001  - a person is told in a sentence, and the trace on request
        code = tell(unexpected(error), debug=common.debug)
    raise typer.Exit(code)


async def _logged(work: Callable[[Common], Awaitable[int]], common: Common) -> int:
    from bot import log_config  # noqa: PLC0415  - --help spares it

    log_config.set_up(debug=common.debug)
    return await work(common)


def unexpected(error: Exception) -> EngineError:
    """A mistake of the program itself, as an error that can be told."""
    wrapped = EngineError(
        f"Something went wrong that should not: {type(error).__name__}: {error}",
        hint="Run the command again with `threadlore --debug …` to see where.",
    )
    wrapped.__cause__ = error
    return wrapped


def tell(error: EngineError, *, debug: bool) -> int:
    """Show an error, with its trace if asked for; gives the exit code."""
    from bot.cli.render.console import Screen  # noqa: PLC0415  - --help spares it

    if debug:
        traceback.print_exception(error, file=sys.stderr)
    Screen().trouble(error)
    return FAILED


def _service(settings: Settings, request: Request) -> AbstractAsyncContextManager[Service]:
    """What works on a request, opening no more than that needs."""
    from bot.admin import requests  # noqa: PLC0415  - --help spares it

    if isinstance(request, requests.Tell | requests.Catalogue):
        from bot.admin.rpc.ledger_service import reach_ledger  # noqa: PLC0415  - as above

        return reach_ledger(settings)
    from bot.admin.rpc.service import reach  # noqa: PLC0415  - as above

    return reach(settings)


def perform(
    context: typer.Context,
    make: Callable[[Settings], Request],
    *,
    space: str = "",
    as_json: bool = False,
    code: Callable[[Sequence[Event]], int] = lambda _: 0,
) -> None:
    """Let the request that `make` builds from the settings be worked on, and show what comes; `code` judges it."""

    async def work(common: Common) -> int:
        from bot.cli.render.console import Screen  # noqa: PLC0415  - --help spares it
        from bot.cli.render.model_hint import model_hint  # noqa: PLC0415  - --help spares it

        settings = common.settings(space=space)
        screen = Screen(hint=lambda: model_hint(settings))
        request = make(settings)
        async with _service(settings, request) as service:
            stream = service.perform(request)
            seen = await (screen.gather(stream) if as_json else screen.show(stream))
        if as_json:
            from bot.cli.render.tables import as_json as in_json  # noqa: PLC0415  - --help spares it

            screen.out.out(in_json(seen), highlight=False)
        return code(seen)

    run(context, work)
