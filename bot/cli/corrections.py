"""Commands that correct by hand: correct merge, unmerge, add, describe, hide, unhide."""

from __future__ import annotations

from typing import Annotated

import typer

from bot.cli.runner import SpaceOption, perform_request

CORRECT_HELP = """Correct by hand what was read; corrections survive a reindex and can be taken back.

Examples:

  threadlore correct merge "Ada L." "Ada Lovelace"

  threadlore correct add "Ada Lovelace" "She wrote the first program." --type person

  threadlore correct add "Ada Lovelace" "They wrote letters to each other." --with "Charles Babbage"

  threadlore correct hide "Analytical Engin"
"""

NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="As it is written somewhere.", show_default=False)]
OtherOption = Annotated[str, typer.Option("--with", metavar="NAME", help="The other end, if a relation is meant.")]
DescriptionArgument = Annotated[str, typer.Argument(metavar="DESCRIPTION", help="In your words.", show_default=False)]

correct = typer.Typer(help=CORRECT_HELP, no_args_is_help=True)


@correct.command()
def merge(context: typer.Context, name: NameArgument, into: NameArgument, space: SpaceOption = "") -> None:
    """Let a name lead to another one: both are the same."""
    from bot.admin.requests import Merge  # noqa: PLC0415  - --help spares it

    perform_request(context, lambda settings: Merge(settings.space, name, into), space=space)


@correct.command()
def unmerge(context: typer.Context, name: NameArgument, space: SpaceOption = "") -> None:
    """Let a name stand for itself again."""
    from bot.admin.requests import Merge  # noqa: PLC0415  - --help spares it

    perform_request(context, lambda settings: Merge(settings.space, name), space=space)


@correct.command()
def add(  # noqa: PLR0913, PLR0917  - each parameter is an option
    context: typer.Context,
    name: NameArgument,
    description: DescriptionArgument,
    other: OtherOption = "",
    kind: Annotated[str, typer.Option("--type", help="What it is: person, place, event …")] = "other",
    keywords: Annotated[str, typer.Option("--keywords", help="Of a relation, with commas between them.")] = "",
    space: SpaceOption = "",
) -> None:
    """Tell what a name is, or what links it with another one. `threadlore forget KEY` takes it back."""
    from bot.admin.requests import AddFact  # noqa: PLC0415  - --help spares it

    perform_request(
        context,
        lambda settings: AddFact(settings.space, name, description, other, kind, keywords),
        space=space,
    )


@correct.command()
def describe(
    context: typer.Context,
    name: NameArgument,
    description: Annotated[str, typer.Argument(metavar="[DESCRIPTION]", help="None: take it back.")] = "",
    other: OtherOption = "",
    space: SpaceOption = "",
) -> None:
    """Describe a name or a relation in your words instead of what was read."""
    from bot.admin.requests import SetDescription  # noqa: PLC0415  - --help spares it

    perform_request(context, lambda settings: SetDescription(settings.space, name, description, other), space=space)


@correct.command()
def hide(context: typer.Context, name: NameArgument, other: OtherOption = "", space: SpaceOption = "") -> None:
    """Take a name with its relations, or one relation, out of sight."""
    from bot.admin.requests import Hide  # noqa: PLC0415  - --help spares it

    perform_request(context, lambda settings: Hide(settings.space, name, other), space=space)


@correct.command()
def unhide(context: typer.Context, name: NameArgument, other: OtherOption = "", space: SpaceOption = "") -> None:
    """Show it again."""
    from bot.admin.requests import Hide  # noqa: PLC0415  - --help spares it

    perform_request(context, lambda settings: Hide(settings.space, name, other, hidden=False), space=space)
