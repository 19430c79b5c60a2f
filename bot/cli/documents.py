"""Commands about documents: ingest, status, documents, forget, retry."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.runner import JsonOption, SpaceOption, perform_request
from engine import describe_formats

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.admin.results import OperationResult

INGEST_HELP = f"""Take in files and whole folders; what is unchanged since the last time is skipped.

Reads {describe_formats()}.
Chat messages have an id, user, text and time, and may have a thread and a link; other JSON Lines are read as records.
Broken off, it goes on with the next run.
Exit code 1 if anything could not be taken in, or if a model that fails for 30 seconds keeps it from
being indexed; the next run goes on, and `threadlore retry` tries again what was given up.

Examples:

  threadlore ingest notes/ minutes.pdf

  threadlore ingest export/general.jsonl --space team
"""
FORGET_HELP = """Forget a document: text, graph, vectors and all that rested on it alone.

The path of a file of chat messages means all its conversations; each has a key of its own.

Examples:

  threadlore forget notes/old.md

  threadlore forget export/general.jsonl

  threadlore forget "Minutes of May"
"""


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("ingest", help=INGEST_HELP)(ingest)
    app.command("status", help="Show how much is known, and what is still worked on.")(status)
    app.command("documents", help="List the documents with their state and their keys.")(documents)
    app.command("forget", help=FORGET_HELP)(forget)
    app.command("retry", help="Try again what failed, for instance because the model was out of reach.")(retry)


def ingest(
    context: typer.Context,
    paths: Annotated[list[Path], typer.Argument(metavar="PATH…", help="Files and folders.", show_default=False)],
    channel: Annotated[str, typer.Option("--channel", help="The channel of files; chats have their own.")] = "files",
    wait: Annotated[bool, typer.Option("--wait", help="Wait for a model that fails or cannot be reached.")] = False,  # noqa: FBT002  - an option
    space: SpaceOption = "",
    as_json: JsonOption = False,  # noqa: FBT002  - an option
) -> None:
    """Take in files and folders."""
    from bot.admin.document_lookup import resolve_path  # noqa: PLC0415  - --help spares it
    from bot.admin.requests import Ingest  # noqa: PLC0415  - --help spares it

    found = tuple(str(resolve_path(path, str(Path.cwd()))) for path in paths)
    perform_request(
        context,
        lambda settings: Ingest(found, settings.space, channel, wait=wait),
        space=space,
        as_json=as_json,
        code=ingest_exit_code,
    )


def ingest_exit_code(seen: Sequence[OperationResult]) -> int:
    """1 if anything is not taken in, or not indexed yet."""
    from bot.admin.results import IngestResult  # noqa: PLC0415  - --help spares it

    return int(any(event.failures or event.trouble for event in seen if isinstance(event, IngestResult)))


def status(context: typer.Context, space: SpaceOption = "", as_json: JsonOption = False) -> None:  # noqa: FBT002  - an option
    """Show numbers."""
    from bot.admin.requests import GetStatus  # noqa: PLC0415  - --help spares it

    perform_request(context, lambda settings: GetStatus((settings.space,)), space=space, as_json=as_json)


def documents(context: typer.Context, space: SpaceOption = "", as_json: JsonOption = False) -> None:  # noqa: FBT002  - an option
    """List documents."""
    from bot.admin.requests import ListDocuments  # noqa: PLC0415  - --help spares it

    perform_request(context, lambda settings: ListDocuments((settings.space,)), space=space, as_json=as_json)


def forget(
    context: typer.Context,
    document: Annotated[str, typer.Argument(metavar="DOCUMENT", help="Its key, its path or its title.")],
    space: SpaceOption = "",
) -> None:
    """Forget one document, or a chat."""
    from bot.admin.requests import Forget  # noqa: PLC0415  - --help spares it

    perform_request(context, lambda settings: Forget(document, (settings.space,), str(Path.cwd())), space=space)


def retry(context: typer.Context, space: SpaceOption = "") -> None:
    """Try again what failed."""
    from bot.admin.requests import Retry  # noqa: PLC0415  - --help spares it

    perform_request(context, lambda settings: Retry((settings.space,)), space=space)
