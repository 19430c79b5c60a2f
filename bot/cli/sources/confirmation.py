"""Perform a request that is rehearsed first: show what it would do, and ask whether to go on."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import typer

from bot.cli.runner import EXIT_FAILED, run_command

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bot.capabilities.results import OperationResult
    from bot.capabilities.sources.requests import AddSource, RemoveSource
    from bot.cli.runner import GlobalOptions


@dataclass(frozen=True, slots=True)
class Rehearsed:
    """A request that is confirmed: what is asked, what is said if it is refused, and whether nobody is asked."""

    request: AddSource | RemoveSource
    question: str
    refused: str
    yes: bool = False


def perform_rehearsed(
    context: typer.Context,
    asked: Rehearsed,
    *,
    space: str = "",
    as_json: bool = False,
    exit_code: Callable[[Sequence[OperationResult]], int] = lambda _: 0,
) -> None:
    """Say what a request does, ask, and perform it."""

    async def work(common: GlobalOptions) -> int:
        from bot.capabilities.requests import AtSpace  # noqa: PLC0415  - keeps --help fast
        from bot.cli.render.console import Screen  # noqa: PLC0415  - keeps --help fast
        from bot.cli.render.tables import to_json  # noqa: PLC0415  - keeps --help fast
        from bot.rpc.service import connect_or_open  # noqa: PLC0415  - keeps --help fast

        settings, screen = common.load_settings(space=space), Screen(common.clock)
        async with connect_or_open(settings, common.clock) as service:
            if not asked.yes:
                rehearsal = service.perform(AtSpace(settings.space, asked.request))
                shown = Screen(common.clock, screen.err, screen.err) if as_json else screen
                await shown.show(rehearsal)
                if not await asyncio.to_thread(_ask, asked.question):
                    screen.err.print(asked.refused if sys.stdin.isatty() else f"{asked.refused} Confirm it with --yes.")
                    return EXIT_FAILED
            stream = service.perform(AtSpace(settings.space, replace(asked.request, confirmed=True)))
            results = await (screen.collect(stream) if as_json else screen.show(stream))
        if as_json:
            screen.out.out(to_json(results), highlight=False)
        return exit_code(results)

    run_command(context, work)


def _ask(question: str) -> bool:
    return sys.stdin.isatty() and typer.confirm(question, default=False, err=True)
