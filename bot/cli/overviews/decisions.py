"""The command `decisions`: decisions and tasks of a space, also as a table for a spreadsheet."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from bot.cli.runner import JsonOption, SpaceOption, perform_request


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(decisions)


def decisions(  # noqa: PLR0913, PLR0917  - each parameter is an option
    context: typer.Context,
    channel: Annotated[str, typer.Option("--in", help="Only of this channel.")] = "",
    person: Annotated[str, typer.Option("--from", help="Only of this person.")] = "",
    since: Annotated[str, typer.Option("--since", help="Such as 2026-11-20 or 7d.")] = "",
    until: Annotated[str, typer.Option("--until", help="As --since.")] = "",
    state: Annotated[Literal["", "open", "replaced"], typer.Option("--state", help="open or replaced.")] = "",
    kind: Annotated[Literal["", "decision", "task"], typer.Option("--kind", help="decision or task.")] = "",
    limit: Annotated[int, typer.Option("--limit", min=1, max=1000, help="How many at most, the newest.")] = 200,
    as_csv: Annotated[bool, typer.Option("--csv", help="As comma-separated values.")] = False,  # noqa: FBT002  - an option
    space: SpaceOption = "",
    as_json: JsonOption = False,  # noqa: FBT002  - an option
) -> None:
    """List decisions and tasks with who, until when, the message, and what replaced them."""
    from bot.capabilities.decisions.requests import ListDecisions  # noqa: PLC0415  - keeps --help fast

    request = ListDecisions(channel, person, since, until, state, kind, limit, as_csv)
    perform_request(context, lambda _: request, space=space, as_json=as_json)
