"""Commands that correct by hand: correct merge, unmerge, state, pin, hide, unhide."""

from __future__ import annotations

from typing import Annotated

import typer

from bot.cli.runner import Space, perform

ABOUT = """Correct by hand what was read; corrections outlive a rebuild and can be taken back.

Examples:

  threadlore correct merge "Ada L." "Ada Lovelace"

  threadlore correct state "Ada Lovelace" "She wrote the first program." --type person

  threadlore correct state "Ada Lovelace" "They wrote letters to each other." --with "Charles Babbage"

  threadlore correct hide "Analytical Engin"
"""

Name = Annotated[str, typer.Argument(metavar="NAME", help="As it is written somewhere.", show_default=False)]
Other = Annotated[str, typer.Option("--with", metavar="NAME", help="The other end, if a relation is meant.")]
Words = Annotated[str, typer.Argument(metavar="DESCRIPTION", help="In your words.", show_default=False)]

correct = typer.Typer(help=ABOUT, no_args_is_help=True)


@correct.command()
def merge(context: typer.Context, name: Name, into: Name, space: Space = "") -> None:
    """Let a name lead to another one: both are the same."""
    from bot.admin.requests import Merge  # noqa: PLC0415  - --help spares it

    perform(context, lambda settings: Merge(settings.space, name, into), space=space)


@correct.command()
def unmerge(context: typer.Context, name: Name, space: Space = "") -> None:
    """Let a name stand for itself again."""
    from bot.admin.requests import Merge  # noqa: PLC0415  - --help spares it

    perform(context, lambda settings: Merge(settings.space, name), space=space)


@correct.command()
def state(  # noqa: PLR0913, PLR0917  - each parameter is an option
    context: typer.Context,
    name: Name,
    description: Words,
    other: Other = "",
    kind: Annotated[str, typer.Option("--type", help="What it is: person, place, event …")] = "other",
    keywords: Annotated[str, typer.Option("--keywords", help="Of a relation, with commas between them.")] = "",
    space: Space = "",
) -> None:
    """Tell what a name is, or what links it with another one. `threadlore forget KEY` takes it back."""
    from bot.admin.requests import State  # noqa: PLC0415  - --help spares it

    perform(
        context,
        lambda settings: State(settings.space, name, description, other, kind, keywords),
        space=space,
    )


@correct.command()
def pin(
    context: typer.Context,
    name: Name,
    description: Annotated[str, typer.Argument(metavar="[DESCRIPTION]", help="None: take it back.")] = "",
    other: Other = "",
    space: Space = "",
) -> None:
    """Describe a name or a relation in your words instead of what was read."""
    from bot.admin.requests import Pin  # noqa: PLC0415  - --help spares it

    perform(context, lambda settings: Pin(settings.space, name, description, other), space=space)


@correct.command()
def hide(context: typer.Context, name: Name, other: Other = "", space: Space = "") -> None:
    """Take a name with its relations, or one relation, out of sight."""
    from bot.admin.requests import Hide  # noqa: PLC0415  - --help spares it

    perform(context, lambda settings: Hide(settings.space, name, other), space=space)


@correct.command()
def unhide(context: typer.Context, name: Name, other: Other = "", space: Space = "") -> None:
    """Show it again."""
    from bot.admin.requests import Hide  # noqa: PLC0415  - --help spares it

    perform(context, lambda settings: Hide(settings.space, name, other, hidden=False), space=space)
