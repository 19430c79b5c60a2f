"""The commands about statements that disagree."""

from __future__ import annotations

from typing import Annotated

import typer

from bot.cli.runner import JsonOption, SpaceOption, perform_request

IdArgument = Annotated[str, typer.Argument(metavar="ID", help="As `contradictions` shows it.", show_default=False)]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command()(contradictions)
    app.command("settle-contradiction")(settle)
    app.command("dismiss-contradiction")(dismiss)


def contradictions(
    context: typer.Context,
    space: SpaceOption = "",
    as_json: JsonOption = False,  # noqa: FBT002  - an option
) -> None:
    """List statements that disagree, neither of which replaced the other."""
    from bot.capabilities.contradictions.requests import ListContradictions  # noqa: PLC0415  - keeps --help fast

    perform_request(context, lambda _: ListContradictions(), space=space, as_json=as_json)


def settle(
    context: typer.Context,
    id_: IdArgument,
    right: Annotated[str, typer.Argument(metavar="older|newer", help="Which is right.", show_default=False)],
    space: SpaceOption = "",
    as_json: JsonOption = False,  # noqa: FBT002  - an option
) -> None:
    """Say which of two statements is right."""
    from bot.capabilities.contradictions.requests import SettleContradiction  # noqa: PLC0415  - keeps --help fast

    if right not in {"older", "newer"}:
        raise typer.BadParameter("Say older or newer.")
    request = SettleContradiction(id_, "older" if right == "older" else "newer")
    perform_request(context, lambda _: request, space=space, as_json=as_json)


def dismiss(
    context: typer.Context,
    id_: IdArgument,
    space: SpaceOption = "",
    as_json: JsonOption = False,  # noqa: FBT002  - an option
) -> None:
    """Say that two statements do not disagree."""
    from bot.capabilities.contradictions.requests import DismissContradiction  # noqa: PLC0415  - keeps --help fast

    perform_request(context, lambda _: DismissContradiction(id_), space=space, as_json=as_json)
