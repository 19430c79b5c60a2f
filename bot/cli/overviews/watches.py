"""The commands `watch`, `watches` and `unwatch`: standing requests of a space of the terminal."""

from __future__ import annotations

from typing import Annotated

import typer

from bot.cli.runner import JsonOption, SpaceOption, perform_request

WordsArgument = Annotated[
    str, typer.Argument(metavar="WORDS", help="Such as “somebody decides about the fence”.", show_default=False)
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command()(watch)
    app.command()(watches)
    app.command()(unwatch)


def watch(
    context: typer.Context,
    words: WordsArgument,
    space: SpaceOption = "",
    as_json: JsonOption = False,  # noqa: FBT002  - an option
) -> None:
    """List new messages about something from now on, with `threadlore watches`."""
    from bot.capabilities.watches.requests import AddWatch  # noqa: PLC0415  - keeps --help fast

    perform_request(context, lambda _: AddWatch(words), space=space, as_json=as_json)


def watches(
    context: typer.Context,
    space: SpaceOption = "",
    as_json: JsonOption = False,  # noqa: FBT002  - an option
) -> None:
    """List what is watched, and the newest message of each."""
    from bot.capabilities.watches.requests import ListWatches  # noqa: PLC0415  - keeps --help fast

    perform_request(context, lambda _: ListWatches(), space=space, as_json=as_json)


def unwatch(
    context: typer.Context,
    words: Annotated[str, typer.Argument(metavar="WORDS", help="The words, the id, or “all”.", show_default=False)],
    space: SpaceOption = "",
    as_json: JsonOption = False,  # noqa: FBT002  - an option
) -> None:
    """Watch something no more."""
    from bot.capabilities.watches.requests import EndWatch  # noqa: PLC0415  - keeps --help fast

    perform_request(context, lambda _: EndWatch(words), space=space, as_json=as_json)
