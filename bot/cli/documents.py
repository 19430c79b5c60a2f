"""Commands for documents: ingest, status, documents, forget, retry."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from bot.cli.access.receipts import DryRunOption, ReceiptOption, write_receipt
from bot.cli.options import RowCommand, SpaceOptions, add_command, add_request
from bot.cli.runner import Estimated, EstimateOption, JsonOption, SpaceOption, YesOption, perform_request
from engine.parsers.registry import describe_formats

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.capabilities.results import OperationResult
    from bot.settings import Settings

ChangedOption = Annotated[
    bool,
    typer.Option(
        "--changed", help="Read again what was read for the graph by other settings, another model or prompt."
    ),
]
ProblemsOption = Annotated[bool, typer.Option("--problems", help="Also list what was not read, and why.")]
SearchOption = Annotated[str, typer.Option("--search", help="Only those with these words in their title or key.")]
StatusOption = Annotated[
    Literal["pending", "searchable", "indexed", "failed", "partial"] | None,
    typer.Option("--status", help="Only these; partial: of which something was not read."),
]
DaysOption = Annotated[int, typer.Option("--days", help="Number of days, with today.", min=1, max=366)]
STATUS = RowCommand(
    "status",
    "Show how much is indexed, what is still pending, and what bounds the parsers of files.",
    fixed={"with_sandbox": True},
)
DOCUMENTS = RowCommand("documents", "List documents with their status and keys.")
USAGE = RowCommand("usage", "Show tokens and cost of questions and of indexing by day.")
HEALTH = RowCommand("health", "Show the state of the program, its connections and its models.")
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
    add_command(app, "ingest", IngestOptions, ingest, INGEST_HELP)
    add_request(app, STATUS, space=(SpaceOption, ""), with_problems=(ProblemsOption, False))
    add_request(app, DOCUMENTS, search=(SearchOption, ""), status=(StatusOption, None))
    add_request(app, USAGE, days=(DaysOption, 30))
    add_request(app, HEALTH)
    app.command("forget", help=FORGET_HELP)(forget)
    app.command("forget-workspace", help=FORGET_WORKSPACE_HELP)(forget_workspace)
    app.command("retry", help=RETRY_HELP)(retry)


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestOptions(SpaceOptions):
    """What `ingest` asks for."""

    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH…", help="Files and folders to ingest.", show_default=False)
    ]
    channel: Annotated[
        str, typer.Option("--channel", help="Channel to file documents under; chat exports define their own.")
    ] = "files"
    wait: Annotated[bool, typer.Option("--wait", help="Wait while the model fails or is unreachable.")] = False
    estimate: EstimateOption = False
    yes: YesOption = False


def ingest(context: typer.Context, given: IngestOptions) -> None:
    """Ingest files and folders."""
    from bot.capabilities.documents.lookup import resolve_path  # noqa: PLC0415  - keeps --help fast
    from bot.capabilities.requests import Ingest  # noqa: PLC0415  - as above

    paths, estimate = tuple(str(resolve_path(path, str(Path.cwd()))) for path in given.paths), given.estimate

    def build(settings: Settings) -> Estimated:
        request = Ingest(paths, settings.space, given.channel, wait=given.wait, estimate=estimate)
        return Estimated(request, only=estimate, yes=given.yes)

    perform_request(context, build, space=given.space, as_json=given.as_json, exit_code=ingest_exit_code)


def ingest_exit_code(results: Sequence[OperationResult]) -> int:
    """Return 1 if a file failed or is not indexed yet."""
    from bot.capabilities.results import IngestResult  # noqa: PLC0415  - keeps --help fast

    return int(any(event.failures or event.trouble for event in results if isinstance(event, IngestResult)))


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
