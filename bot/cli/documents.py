"""Commands for documents: ingest, status, documents, forget, retry."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.access.receipts import DryRunOption, ReceiptOption, write_receipt
from bot.cli.runner import Estimated, EstimateOption, JsonOption, SpaceOption, YesOption, perform_request
from engine.parsers.registry import describe_formats

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.capabilities.results import OperationResult

ChangedOption = Annotated[
    bool,
    typer.Option(
        "--changed", help="Read again what was read for the graph by other settings, another model or prompt."
    ),
]
ProblemsOption = Annotated[bool, typer.Option("--problems", help="Also list what was not read, and why.")]
RETRY_HELP = """Retry failed documents, for example after the model was unreachable.

With --changed, read again what another choice of extraction read than today's: THREADLORE_EXTRACTION_BY, another \
model, or another version of the prompts. What it takes is estimated first. New texts come first, documents are found \
meanwhile, and the work goes on in the background if you stop waiting while the bot runs, else with the next command.
"""
INGEST_HELP = f"""Ingest files and folders. Files that have not changed since the last run are skipped.

Reads {describe_formats()}.
Chat messages have an id, user, text and time, and optionally a thread and a link; other JSON Lines are read as records.
An interrupted run continues with the next one.
With a language model, what it takes is estimated first; at a terminal you are asked if that is much.
Exits with 1 if a file could not be ingested, or if indexing stopped because the model failed for 30 seconds, \
or at once because of its key, its name or its credit. The next \
run continues, and `threadlore retry` retries documents that failed permanently.

Examples:

  threadlore ingest notes/ minutes.pdf

  threadlore ingest export/general.jsonl --space team
"""
FORGET_WORKSPACE_HELP = "Delete everything of a workspace that the bot was removed from."
FORGET_HELP = """Delete a document with its text, vectors and every fact that no other document supports.

The path of a chat export deletes all its conversations; each conversation also has its own key.
With --dry-run, only say how much would go. With --receipt, write the signed receipt of it to a file.

Examples:

  threadlore forget notes/old.md

  threadlore forget export/general.jsonl

  threadlore forget "Minutes of May"
"""


def register(app: typer.Typer) -> None:
    """Add the commands to the app."""
    app.command("ingest", help=INGEST_HELP)(ingest)
    app.command(
        "status", help="Show how much is indexed, what is still pending, and what bounds the parsers of files."
    )(status)
    app.command("documents", help="List documents with their status and keys.")(documents)
    app.command("usage", help="Show tokens and cost of questions and of indexing by day.")(usage)
    app.command("health", help="Show the state of the program, its connections and its models.")(health)
    app.command("forget", help=FORGET_HELP)(forget)
    app.command("forget-workspace", help=FORGET_WORKSPACE_HELP)(forget_workspace)
    app.command("retry", help=RETRY_HELP)(retry)


def ingest(  # noqa: PLR0913, PLR0917  - each parameter is an option
    context: typer.Context,
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH…", help="Files and folders to ingest.", show_default=False)
    ],
    channel: Annotated[
        str, typer.Option("--channel", help="Channel to file documents under; chat exports define their own.")
    ] = "files",
    wait: Annotated[bool, typer.Option("--wait", help="Wait while the model fails or is unreachable.")] = False,  # noqa: FBT002  - an option
    estimate: EstimateOption = False,  # noqa: FBT002  - an option
    yes: YesOption = False,  # noqa: FBT002  - an option
    space: SpaceOption = "",
    as_json: JsonOption = False,  # noqa: FBT002  - an option
) -> None:
    """Ingest files and folders."""
    from bot.capabilities.documents.lookup import resolve_path  # noqa: PLC0415  - keeps --help fast
    from bot.capabilities.requests import Ingest  # noqa: PLC0415  - keeps --help fast

    resolved = tuple(str(resolve_path(path, str(Path.cwd()))) for path in paths)
    perform_request(
        context,
        lambda settings: Estimated(
            Ingest(resolved, settings.space, channel, wait=wait, estimate=estimate), only=estimate, yes=yes
        ),
        space=space,
        as_json=as_json,
        exit_code=ingest_exit_code,
    )


def ingest_exit_code(results: Sequence[OperationResult]) -> int:
    """Return 1 if a file failed or is not indexed yet."""
    from bot.capabilities.results import IngestResult  # noqa: PLC0415  - keeps --help fast

    return int(any(event.failures or event.trouble for event in results if isinstance(event, IngestResult)))


def status(
    context: typer.Context,
    space: SpaceOption = "",
    problems: ProblemsOption = False,  # noqa: FBT002  - an option
    as_json: JsonOption = False,  # noqa: FBT002  - an option
) -> None:
    """Show the index status, with --problems also what was not read and why."""
    from bot.capabilities.requests import GetStatus  # noqa: PLC0415  - keeps --help fast

    perform_request(
        context,
        lambda _: GetStatus(with_sandbox=True, with_problems=problems),
        space=space,
        as_json=as_json,
    )


def documents(
    context: typer.Context,
    search: Annotated[str, typer.Option("--search", help="Only those with these words in their title or key.")] = "",
    status: Annotated[str, typer.Option("--status", help="pending, searchable, indexed or failed.")] = "",
    space: SpaceOption = "",
    as_json: JsonOption = False,  # noqa: FBT002  - an option
) -> None:
    """List documents."""
    from bot.capabilities.requests import ListDocuments  # noqa: PLC0415  - keeps --help fast

    perform_request(context, lambda _: ListDocuments(search, status), space=space, as_json=as_json)


def usage(
    context: typer.Context,
    days: Annotated[int, typer.Option("--days", help="Number of days, with today.", min=1, max=366)] = 30,
    space: SpaceOption = "",
    as_json: JsonOption = False,  # noqa: FBT002  - an option
) -> None:
    """Show what questions and indexing took."""
    from bot.capabilities.management.requests import GetUsage  # noqa: PLC0415  - keeps --help fast

    perform_request(context, lambda _: GetUsage(days), space=space, as_json=as_json)


def health(context: typer.Context, space: SpaceOption = "", as_json: JsonOption = False) -> None:  # noqa: FBT002  - an option
    """Show the state of the program."""
    from bot.capabilities.management.requests import GetHealth  # noqa: PLC0415  - keeps --help fast

    perform_request(context, lambda _: GetHealth(), space=space, as_json=as_json)


def forget(
    context: typer.Context,
    document: Annotated[str, typer.Argument(metavar="DOCUMENT", help="Key, path or title of the document.")],
    space: SpaceOption = "",
    dry_run: DryRunOption = False,  # noqa: FBT002  - an option
    receipt: ReceiptOption = None,
    as_json: JsonOption = False,  # noqa: FBT002  - an option
) -> None:
    """Delete one document or one chat."""
    from bot.capabilities.requests import Forget  # noqa: PLC0415  - keeps --help fast

    perform_request(
        context,
        lambda _: Forget(document, str(Path.cwd()), dry_run),
        space=space,
        as_json=as_json,
        exit_code=lambda results: write_receipt(results, None if dry_run else receipt),
    )


def forget_workspace(
    context: typer.Context,
    workspace: Annotated[str, typer.Argument(metavar="PLATFORM:ID", help="The workspace, as in names of rooms.")],
    dry_run: DryRunOption = False,  # noqa: FBT002  - an option
    receipt: ReceiptOption = None,
) -> None:
    """Delete a workspace."""
    from bot.capabilities.requests import ForgetWorkspace  # noqa: PLC0415  - keeps --help fast

    platform, _, id_ = workspace.partition(":")
    if not (platform and id_):
        raise typer.BadParameter("Expected PLATFORM:ID.")
    perform_request(
        context,
        lambda _: ForgetWorkspace(platform, id_, dry_run),
        exit_code=lambda results: write_receipt(results, None if dry_run else receipt),
    )


def retry(
    context: typer.Context,
    changed: ChangedOption = False,  # noqa: FBT002  - an option
    estimate: EstimateOption = False,  # noqa: FBT002  - an option
    yes: YesOption = False,  # noqa: FBT002  - an option
    space: SpaceOption = "",
) -> None:
    """Try again what failed, or read again what other settings read."""
    from bot.capabilities.requests import Retry  # noqa: PLC0415  - keeps --help fast

    if estimate and not changed:
        raise typer.BadParameter("--estimate needs --changed.")
    request = Retry(changed=changed, estimate=estimate)
    asked = Estimated(request, only=estimate, yes=yes) if changed else request
    perform_request(context, lambda _: asked, space=space)
