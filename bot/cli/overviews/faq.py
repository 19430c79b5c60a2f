"""The command `faq`: the page of frequent questions of a space."""

from __future__ import annotations

import typer  # noqa: TC002  - read at run time

from bot.cli.runner import JsonOption, SpaceOption, perform_request


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(faq)


def faq(
    context: typer.Context,
    space: SpaceOption = "",
    as_json: JsonOption = False,  # noqa: FBT002  - an option
) -> None:
    """Write a FAQ page in Markdown."""
    from bot.capabilities.faq.requests import GetFaq  # noqa: PLC0415  - keeps --help fast

    perform_request(context, lambda _: GetFaq(), space=space, as_json=as_json)
