"""The import command: take over the past of a workspace from an export."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path  # noqa: TC003  - typer reads it at run time
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.options import JsonOptions, add_command
from bot.cli.runner import Estimated, EstimateOption, YesOption, perform_request

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.capabilities.results import OperationResult

IMPORT_HELP = """Import the messages and files of a workspace from an export.

Run it again after an interruption, or with a newer export: what is stored already is skipped, and edits are applied. \
Nothing is deleted. The report lists what was left out; --report FILE writes all of it as JSON Lines.

With a language model, what it takes is estimated first; at a terminal you are asked if that is much. Files are not \
counted.

Channels become readable as they were: a private channel only for itself. While the bot is connected, a channel that \
it is not in stays closed until somebody adds it there.

The bot does not run on Mattermost. Without --into, only this command line reads what is imported from there.

An unknown PLATFORM lists the known ones.
"""


def register(app: typer.Typer) -> None:
    """Add the command to the app."""
    add_command(app, "import", ImportOptions, import_history, IMPORT_HELP)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportOptions(JsonOptions):
    """What `import` asks for."""

    platform: Annotated[str, typer.Argument(metavar="PLATFORM", help="Whose export it is.", show_default=False)]
    path: Annotated[
        Path, typer.Argument(metavar="PATH", help="The export: a file or a folder.", show_default=False, exists=True)
    ]
    workspace: Annotated[
        str, typer.Option("--workspace", help="Id of the workspace, if the export does not say it.", show_default=False)
    ] = ""
    url: Annotated[
        str, typer.Option("--url", help="Address of the workspace, for links to messages.", show_default=False)
    ] = ""
    direct_messages: Annotated[
        bool, typer.Option("--direct-messages", help="Also import direct messages between people.")
    ] = False
    into: Annotated[
        str,
        typer.Option(
            "--into",
            metavar="PLATFORM:ID",
            help="Workspace whose full members read the open channels.",
            show_default=False,
        ),
    ] = ""
    channel_map: Annotated[
        list[str] | None,
        typer.Option(
            "--channel-map",
            metavar="NAME=ID",
            help="A private channel, and the one there whose readers read it.",
            show_default=False,
        ),
    ] = None
    report: Annotated[
        Path | None,
        typer.Option(
            "--report", metavar="FILE", help="Write what was left out, by channel and name.", show_default=False
        ),
    ] = None
    estimate: EstimateOption = False
    yes: YesOption = False


def import_history(context: typer.Context, given: ImportOptions) -> None:
    """Import an export."""
    from bot.capabilities.requests import ImportHistory  # noqa: PLC0415  - keeps --help fast

    def finish(results: Sequence[OperationResult]) -> int:
        from bot.capabilities.results import HistoryImportResult  # noqa: PLC0415  - as above
        from bot.cli.render.import_report import write_report  # noqa: PLC0415  - as above

        for result in results:
            if given.report is not None and isinstance(result, HistoryImportResult):
                write_report(result, given.report)
        return 0

    request = ImportHistory(
        given.platform,
        str(given.path.resolve()),
        given.workspace,
        given.url,
        given.direct_messages,
        given.into,
        tuple(given.channel_map or ()),
        given.estimate,
    )
    asked = Estimated(request, only=given.estimate, yes=given.yes)
    perform_request(context, lambda _: asked, as_json=given.as_json, exit_code=finish)
