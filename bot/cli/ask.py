"""Commands that ask: ask, recall, prompt."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.runner import AsJson, Space, perform
from bot.text import utc_times
from engine.models import Mode

if TYPE_CHECKING:
    from collections.abc import Callable

    from bot.admin.requests import Outcome
    from bot.settings import Settings

Text = Annotated[str, typer.Argument(metavar="QUESTION", help="What you want to know.", show_default=False)]
How = Annotated[Mode | None, typer.Option("--mode", help="How to search; mix is graph and text together.")]
Rooms = Annotated[list[str] | None, typer.Option("--room", help="Only from this room; may be repeated.")]
Documents = Annotated[
    list[str] | None,
    typer.Option("--document", help="Only from this document (key, path or title); may be repeated."),
]
Authors = Annotated[list[str] | None, typer.Option("--author", help="Only what this person wrote; may be repeated.")]
Since = Annotated[str, typer.Option("--since", metavar="DATE", help="Not what is older (2026-05-12).")]
Until = Annotated[str, typer.Option("--until", metavar="DATE", help="Not what is newer.")]
ASK = """Answer a question, streamed, with numbered sources.

Examples:

  threadlore ask "Who looks after the lighthouse?"

  threadlore ask "What did I miss?" --room harbour --since 2026-06-01

  threadlore ask "What is the berth fee?" --document harbour-rules.pdf --json
"""
RECALL = "Show what an answer would rest on: entities, relations and passages, without an answer."
PROMPT = "Show what the model would be sent for an answer."


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("ask", help=ASK)(_asker("answer"))
    app.command("recall", help=RECALL)(_asker("context"))
    app.command("prompt", help=PROMPT)(_asker("prompt"))


def _asker(outcome: Outcome) -> Callable[..., None]:
    """The three take the same question, and differ in how far they go with it."""

    def command(  # noqa: PLR0913, PLR0917  - each parameter is an option
        context: typer.Context,
        text: Text,
        mode: How = None,
        rooms: Rooms = None,
        documents: Documents = None,
        authors: Authors = None,
        since: Since = "",
        until: Until = "",
        space: Space = "",
        as_json: AsJson = False,  # noqa: FBT002  - an option
    ) -> None:
        from bot.admin.requests import Ask  # noqa: PLC0415  - --help spares it

        begin, end = utc_times.since(since), utc_times.until(until)

        def make(settings: Settings) -> Ask:
            return Ask(
                text,
                (settings.space,),
                mode=mode or settings.mode,
                outcome=outcome,
                documents=tuple(documents or ()),
                rooms=tuple(rooms or ()),
                authors=tuple(authors or ()),
                since=begin,
                until=end,
                here=str(Path.cwd()),
            )

        perform(context, make, space=space, as_json=as_json)

    return command
