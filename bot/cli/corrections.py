"""Commands for manual corrections: merge, unmerge, separate, split, unsplit, add, describe, hide, unhide, undo."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from bot.cli.options import RowCommand, add_request

if TYPE_CHECKING:
    from collections.abc import Mapping

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

OtherArgument = Annotated[
    str, typer.Argument(metavar="OTHER", help="An entity that is another one.", show_default=False)
]
PartArgument = Annotated[str, typer.Argument(metavar="PART", help="A name for the other thing.", show_default=False)]
NewDescriptionArgument = Annotated[
    str, typer.Argument(metavar="[DESCRIPTION]", help="New description; empty restores the original.")
]
IdArgument = Annotated[str, typer.Argument(metavar="ID", help="As printed by the correction.", show_default=False)]

correct = typer.Typer(help=CORRECT_HELP, no_args_is_help=True)


def _add(name: str, text: str, /, *, row: str = "", fixed: Mapping[str, Any] | None = None, **asked: Any) -> None:
    add_request(correct, RowCommand(name, text, row, has_json=False, fixed=fixed or {}), **asked)


_add(
    "merge",
    "Merge the entity NAME into the entity INTO: both names mean the same.",
    name=NameArgument,
    into=IntoArgument,
)
_add(
    "unmerge",
    "Undo a merge or an automatic join; the names are not joined automatically again.",
    row="merge",
    name=NameArgument,
)
_add(
    "separate",
    "Keep two entities apart: they are never joined automatically, and not listed as duplicates.",
    name=NameArgument,
    other=OtherArgument,
)
_add(
    "split",
    "Tell two things under one name apart, such as a town and a person.",
    name=NameArgument,
    part=PartArgument,
    type=(Annotated[str, typer.Option("--type", help="What is said of this entity type is about PART.")], ""),
    document=(Annotated[str, typer.Option("--document", help="So is everything in it; a key or a title.")], ""),
)
_add("unsplit", "Undo a split: give what was split off as NAME back.", row="split", name=NameArgument)
_add(
    "add",
    "Add a fact about an entity, or a relation to another one. `threadlore forget KEY` removes it.",
    row="add-fact",
    name=NameArgument,
    description=DescriptionArgument,
    other=(OtherOption, ""),
    type=(Annotated[str, typer.Option("--type", help="Entity type: person, place, event …")], "other"),
    keywords=(Annotated[str, typer.Option("--keywords", help="Keywords of a relation, separated by commas.")], ""),
)
_add(
    "describe",
    "Replace the description of an entity or a relation.",
    name=NameArgument,
    description=(NewDescriptionArgument, ""),
    other=(OtherOption, ""),
)
_add("hide", "Hide an entity with its relations, or a single relation.", name=NameArgument, other=(OtherOption, ""))
_add("unhide", "Undo hide.", row="hide", fixed={"hidden": False}, name=NameArgument, other=(OtherOption, ""))
_add("undo", "Undo exactly what a correction of the last 30 days changed.", id=IdArgument)
