"""The command `readers`: who could find a document or a source."""

from __future__ import annotations

from typing import Annotated

import typer

from bot.cli.runner import JsonOption, SpaceOption, perform_request


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(readers)


def readers(
    context: typer.Context,
    document: Annotated[
        str, typer.Argument(metavar="DOCUMENT", help="A title, link or key; none: what you add.", show_default=False)
    ] = "",
    source: Annotated[str, typer.Option(metavar="NAME", help="Of a source instead.", show_default=False)] = "",
    space: SpaceOption = "",
    as_json: JsonOption = False,  # noqa: FBT002  - an option
) -> None:
    """Say who could find a document or a source."""
    from bot.capabilities.readers.requests import FindReaders  # noqa: PLC0415  - keeps --help fast

    perform_request(context, lambda _: FindReaders(document, source=source), space=space, as_json=as_json)
