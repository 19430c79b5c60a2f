"""Commands for manual corrections: merge, unmerge, separate, split, unsplit, add, describe, hide, unhide, undo."""

from __future__ import annotations

from typing import Annotated

import typer

from bot.cli.runner import SpaceOption, perform_request

CORRECT_HELP = """Correct the graph manually. Corrections survive a reindex and can be undone.

Examples:

  threadlore correct merge "Ada L." "Ada Lovelace"

  threadlore correct add "Ada Lovelace" "She wrote the first program." --type person

  threadlore correct add "Ada Lovelace" "They wrote letters to each other." --with "Charles Babbage"

  threadlore correct hide "Analytical Engin"
"""

NameArgument = Annotated[
    str, typer.Argument(metavar="NAME", help="An entity, spelled as in a document.", show_default=False)
]
IntoArgument = Annotated[str, typer.Argument(metavar="INTO", help="The entity whose name remains.", show_default=False)]
OtherOption = Annotated[str, typer.Option("--with", metavar="NAME", help="The other entity, to correct a relation.")]
DescriptionArgument = Annotated[str, typer.Argument(metavar="DESCRIPTION", help="New description.", show_default=False)]

correct = typer.Typer(help=CORRECT_HELP, no_args_is_help=True)


@correct.command()
def merge(context: typer.Context, name: NameArgument, into: IntoArgument, space: SpaceOption = "") -> None:
    """Merge the entity NAME into the entity INTO: both names mean the same."""
    from bot.capabilities.requests import Merge  # noqa: PLC0415  - keeps --help fast

    perform_request(context, lambda _: Merge(name, into), space=space)


@correct.command()
def unmerge(context: typer.Context, name: NameArgument, space: SpaceOption = "") -> None:
    """Undo a merge or an automatic join; the names are not joined automatically again."""
    from bot.capabilities.requests import Merge  # noqa: PLC0415  - keeps --help fast

    perform_request(context, lambda _: Merge(name), space=space)


@correct.command()
def separate(
    context: typer.Context,
    name: NameArgument,
    other: Annotated[str, typer.Argument(metavar="OTHER", help="An entity that is another one.", show_default=False)],
    space: SpaceOption = "",
) -> None:
    """Keep two entities apart: they are never joined automatically, and not listed as duplicates."""
    from bot.capabilities.requests import Separate  # noqa: PLC0415  - keeps --help fast

    perform_request(context, lambda _: Separate(name, other), space=space)


@correct.command()
def split(
    context: typer.Context,
    name: NameArgument,
    part: Annotated[str, typer.Argument(metavar="PART", help="A name for the other thing.", show_default=False)],
    kind: Annotated[str, typer.Option("--type", help="What is said of this entity type is about PART.")] = "",
    document: Annotated[str, typer.Option("--document", help="So is everything in it; a key or a title.")] = "",
    space: SpaceOption = "",
) -> None:
    """Tell two things under one name apart, such as a town and a person."""
    from bot.capabilities.requests import Split  # noqa: PLC0415  - keeps --help fast

    perform_request(context, lambda _: Split(name, part, kind, document), space=space)


@correct.command()
def unsplit(context: typer.Context, part: NameArgument, space: SpaceOption = "") -> None:
    """Undo a split: give what was split off as NAME back."""
    from bot.capabilities.requests import Split  # noqa: PLC0415  - keeps --help fast

    perform_request(context, lambda _: Split(part), space=space)


@correct.command()
def add(  # noqa: PLR0913, PLR0917  - each parameter is an option
    context: typer.Context,
    name: NameArgument,
    description: DescriptionArgument,
    other: OtherOption = "",
    kind: Annotated[str, typer.Option("--type", help="Entity type: person, place, event …")] = "other",
    keywords: Annotated[str, typer.Option("--keywords", help="Keywords of a relation, separated by commas.")] = "",
    space: SpaceOption = "",
) -> None:
    """Add a fact about an entity, or a relation to another one. `threadlore forget KEY` removes it."""
    from bot.capabilities.requests import AddFact  # noqa: PLC0415  - keeps --help fast

    perform_request(
        context,
        lambda _: AddFact(name, description, other, kind, keywords),
        space=space,
    )


@correct.command()
def describe(
    context: typer.Context,
    name: NameArgument,
    description: Annotated[
        str, typer.Argument(metavar="[DESCRIPTION]", help="New description; empty restores the original.")
    ] = "",
    other: OtherOption = "",
    space: SpaceOption = "",
) -> None:
    """Replace the description of an entity or a relation."""
    from bot.capabilities.requests import SetDescription  # noqa: PLC0415  - keeps --help fast

    perform_request(context, lambda _: SetDescription(name, description, other), space=space)


@correct.command()
def hide(context: typer.Context, name: NameArgument, other: OtherOption = "", space: SpaceOption = "") -> None:
    """Hide an entity with its relations, or a single relation."""
    from bot.capabilities.requests import Hide  # noqa: PLC0415  - keeps --help fast

    perform_request(context, lambda _: Hide(name, other), space=space)


@correct.command()
def unhide(context: typer.Context, name: NameArgument, other: OtherOption = "", space: SpaceOption = "") -> None:
    """Undo hide."""
    from bot.capabilities.requests import Hide  # noqa: PLC0415  - keeps --help fast

    perform_request(context, lambda _: Hide(name, other, hidden=False), space=space)


@correct.command()
def undo(
    context: typer.Context,
    id_: Annotated[str, typer.Argument(metavar="ID", help="As printed by the correction.", show_default=False)],
    space: SpaceOption = "",
) -> None:
    """Undo exactly what a correction of the last 30 days changed."""
    from bot.capabilities.requests import UndoCorrection  # noqa: PLC0415  - keeps --help fast

    perform_request(context, lambda _: UndoCorrection(id=id_), space=space)
