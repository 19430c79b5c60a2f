"""Commands that list decisions and tasks, what is watched in a space, what disagrees, and who could find something."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from bot.cli.options import RowCommand, add_request

WordsArgument = Annotated[
    str, typer.Argument(metavar="WORDS", help="Such as “somebody decides about the fence”.", show_default=False)
]
WatchArgument = Annotated[str, typer.Argument(metavar="WORDS", help="The words, the id, or “all”.", show_default=False)]
DocumentArgument = Annotated[
    str, typer.Argument(metavar="DOCUMENT", help="A title, link or key; none: what you add.", show_default=False)
]
SourceOption = Annotated[str, typer.Option(metavar="NAME", help="Of a source instead.", show_default=False)]
IdArgument = Annotated[str, typer.Argument(metavar="ID", help="As `contradictions` shows it.", show_default=False)]
RightArgument = Annotated[
    Literal["older", "newer"], typer.Argument(metavar="older|newer", help="Which is right.", show_default=False)
]
WATCH = RowCommand("watch", "List new messages about something from now on, with `threadlore watches`.")
WATCHES = RowCommand("watches", "List what is watched, and the newest message of each.")
UNWATCH = RowCommand("unwatch", "Stop watching something.")
READERS = RowCommand("readers", "Say who could find a document or a source.")
CONTRADICTIONS = RowCommand("contradictions", "List statements that disagree, neither of which replaced the other.")
SETTLE = RowCommand("settle-contradiction", "Say which of two statements is right.")
DISMISS = RowCommand("dismiss-contradiction", "Say that two statements do not disagree.")
FAQ = RowCommand("faq", "Write a FAQ page in Markdown.")
DECISIONS = RowCommand(
    "decisions", "List decisions and tasks with who, until when, the message, and what replaced them."
)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    add_request(app, WATCH, text=WordsArgument)
    add_request(app, WATCHES)
    add_request(app, UNWATCH, subject=WatchArgument)
    add_request(app, READERS, document=(DocumentArgument, ""), source=(SourceOption, ""))
    add_request(app, CONTRADICTIONS)
    add_request(app, SETTLE, id=IdArgument, right=RightArgument)
    add_request(app, DISMISS, id=IdArgument)
    add_request(app, FAQ)
    add_request(
        app,
        DECISIONS,
        channel=(Annotated[str, typer.Option("--in", help="Only of this channel.")], ""),
        person=(Annotated[str, typer.Option("--from", help="Only of this person.")], ""),
        since=(Annotated[str, typer.Option("--since", help="Such as 2026-11-20 or 7d.")], ""),
        until=(Annotated[str, typer.Option("--until", help="As --since.")], ""),
        state=(Annotated[Literal["open", "replaced"] | None, typer.Option("--state", help="Only these.")], None),
        entry_kind=(Annotated[Literal["decision", "task"] | None, typer.Option("--kind", help="Only these.")], None),
        limit=(Annotated[int, typer.Option("--limit", min=1, max=1000, help="How many at most, the newest.")], 200),
        as_csv=(Annotated[bool, typer.Option("--csv", help="As comma-separated values.")], False),
    )
